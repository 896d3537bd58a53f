"""One entry of the ledger, shaped for reading. Nothing is computed anew: what the page shows is what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.http.markup import Mark, Segment, segments
from rai.records import CONTACT_KINDS, UNSUPPORTED, Entry

_DOUBTFUL = ("conflict", "unchecked")


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim of the map. `key` ties it to its pieces on both sides; `tone` is ok, doubt or bad."""

    key: str
    kind: str
    entity: str
    text: str
    value: str
    status: str
    why: str
    tone: str


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage of the evidence with the characters that support claims marked."""

    n: int | str
    title: str
    locator: str
    origin: str
    score: float
    pieces: list[Segment]


@dataclass(frozen=True, slots=True)
class MapView:
    """An answer or draft on the left, the evidence on the right, the claims that tie them."""

    claims: tuple[ClaimView, ...]
    pieces: list[Segment]
    passages: tuple[PassageView, ...]

    def tone(self, keys: tuple[str, ...]) -> str:
        """The gravest tone among the claims that cover a piece; values count before the sentence around them."""
        covering = [c for c in self.claims if c.key in keys]
        values = [c for c in covering if c.kind != "statement"]
        tones = {c.tone for c in values or covering}
        return next((t for t in ("bad", "doubt", "ok") if t in tones), "")

    def value(self, keys: tuple[str, ...]) -> bool:
        """True if a checkable value, not just a sentence, covers the piece."""
        return any(c.key in keys and c.kind != "statement" for c in self.claims)


def tone(claim: dict[str, Any]) -> str:
    """ok: supported; doubt: delivered and marked; bad: never delivered."""
    status, kind = claim.get("status"), claim.get("kind")
    if status in UNSUPPORTED or (status in _DOUBTFUL and kind in CONTACT_KINDS):
        return "bad"
    return "doubt" if status in _DOUBTFUL else "ok"


def claim_map(text: str, claims: list[dict[str, Any]], evidence: list[dict[str, Any]], prefix: str) -> MapView:
    """The map of `claims` over `text`; keys begin with `prefix` so that two maps of a page stay apart."""
    numbers = {str(e.get("chunk_id")): f"[{e.get('n')}]" for e in evidence if e.get("chunk_id")}
    views = tuple(_claim(claim, f"{prefix}{i}", numbers) for i, claim in enumerate(claims))
    marks = [Mark(c["start"], c["end"], view.key) for c, view in zip(claims, views, strict=True)]
    passages = tuple(_passage(item, claims, views) for item in evidence)
    return MapView(views, segments(text, marks), passages)


def _claim(claim: dict[str, Any], key: str, numbers: dict[str, str]) -> ClaimView:
    why = str(claim.get("why") or "")
    for chunk, number in numbers.items():  # reasons name sources by id; a person knows them by their number
        why = why.replace(chunk, number)
    return ClaimView(
        key=key,
        kind=str(claim.get("kind", "")),
        entity=str(claim.get("entity") or ""),
        text=str(claim.get("text", "")),
        value=str(claim.get("value") or ""),
        status=str(claim.get("status", "")),
        why=why,
        tone=tone(claim),
    )


def _passage(item: dict[str, Any], claims: list[dict[str, Any]], views: tuple[ClaimView, ...]) -> PassageView:
    text = str(item.get("text", ""))
    marks = [
        Mark(span["start"], span["end"], view.key)
        for claim, view in zip(claims, views, strict=True)
        for span in claim.get("evidence") or ()
        if _stands(span, item, text)
    ]
    return PassageView(
        n=item.get("n", ""),
        title=str(item.get("title") or ""),
        locator=str(item.get("locator") or ""),
        origin=str(item.get("origin") or ""),
        score=float(item.get("score") or 0.0),
        pieces=segments(text, marks),
    )


def _stands(span: dict[str, Any], item: dict[str, Any], text: str) -> bool:
    # a highlight in the wrong place is worse than none: the characters must be the ones that were recorded
    here = span.get("source") == item.get("chunk_id") and span.get("field") == "text"
    return here and text[span["start"] : span["end"]] == span["text"]


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn as the page shows it; `answer` maps the delivered answer, `draft` what it was before repair."""

    ask: dict[str, Any]
    reply: dict[str, Any]
    policy: dict[str, Any]
    grades: tuple[dict[str, Any], ...]
    passages: tuple[dict[str, Any], ...]
    prompt: dict[str, Any] | None
    screenings: tuple[dict[str, Any], ...]
    stages: tuple[tuple[str, float], ...]
    answer: MapView
    draft: MapView | None


def turn_view(entry: Entry) -> TurnView:
    """The parts of a turn's entry. A part that the entry lacks is empty."""
    body = entry.body
    reply = body.get("reply") or {}
    evidence = body.get("evidence") or []
    draft = reply.get("draft")
    titles = {p.get("chunk_id"): p.get("title") for p in [*(body.get("passages") or ()), *evidence]}
    return TurnView(
        ask=body.get("ask") or {},
        reply=reply,
        policy=body.get("policy") or {},
        grades=tuple({**g, "title": titles.get(g.get("id")) or g.get("id")} for g in reply.get("grades") or ()),
        passages=tuple(body.get("passages") or ()),
        prompt=body.get("prompt"),
        screenings=tuple(body.get("screenings") or ()),
        stages=tuple((str(s.get("name")), float(s.get("ms") or 0.0)) for s in body.get("stages") or ()),
        answer=claim_map(str(reply.get("answer", "")), reply.get("claims") or [], evidence, "a"),
        draft=claim_map(draft["text"], draft["claims"], evidence, "d") if draft else None,
    )


def tidy(value: Any, name: str = "") -> list[tuple[str, str]]:
    """A body of any shape as lines of name and value; names inside names are joined by dots, items count from 1."""
    if isinstance(value, dict) and value:
        return [line for key, inner in value.items() for line in tidy(inner, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return [line for i, item in enumerate(value, 1) for line in tidy(item, f"{name}.{i}")]
    if isinstance(value, list):
        return [(name, ", ".join(_plain(item) for item in value) or "none")]
    return [(name, _plain(value))]


def _plain(value: Any) -> str:
    words = {None: "none", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words[value]
    return "none" if value == {} else str(value)
