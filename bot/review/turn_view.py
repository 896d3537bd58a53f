"""One entry of the ledger, shaped for reading. Nothing is computed anew: what the page shows is what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.desk.rows import DocumentFacts, row_of
from bot.review.policy_lines import in_order, policy_lines, stands
from bot.view.claim_map import ClaimMap, claim_map
from bot.view.passages import shown_passage
from bot.view.reply import ReplyView, reply_view
from bot.wording.reviewing.usage import price_words
from rai.records import Entry


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn as the page shows it; `answer` maps the delivered answer, `draft` what it was before repair.

    `ran_on`: who asked and how that is known, what the turn could read, and the versions of what the turn ran on, as lines of name and value.
    `unreadable`: why the entry cannot be read whole, empty if it can. `ended`: how the person who waited ended it, empty if they did not.
    `coverage`: each part of what was asked, and whether it was answered; `judgements`: what a model was asked as judge, and said; `redrafted`: a second draft.
    """

    ask: dict[str, Any]
    reply: ReplyView
    policy: dict[str, Any]
    grades: tuple[dict[str, Any], ...]
    passages: tuple[dict[str, Any], ...]
    prompt: dict[str, Any] | None
    screenings: tuple[dict[str, Any], ...]
    stages: tuple[StageLine, ...]
    answer: ClaimMap
    draft: ClaimMap | None
    policy_lines: tuple[tuple[str, str], ...] = ()
    policy_fields: tuple[tuple[str, str], ...] = ()
    searched: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    prices: str = ""
    unfit: tuple[str, ...] = ()
    web: tuple[dict[str, Any], ...] = ()
    ran_on: tuple[tuple[str, str], ...] = ()
    unreadable: str = ""
    ended: str = ""
    coverage: tuple[tuple[str, bool], ...] = ()
    judgements: tuple[dict[str, str], ...] = ()
    redrafted: dict[str, Any] | None = None

    @property
    def answered_all_the_same(self) -> bool:
        """True of an answer although no passage was graded good enough, by a policy that fills the evidence and lets whoever drafts decide."""
        return self.reply.action == "incorrect" and self.reply.delivered and bool(self.policy.get("fill"))


@dataclass(frozen=True, slots=True)
class StageLine:
    """A stage; `node` is what the policy's source document calls it, empty without one. `ms`: milliseconds."""

    name: str
    node: str
    ms: float


def turn_view(entry: Entry) -> TurnView:
    """The parts of a turn's entry. A part that the entry lacks is empty."""
    body = entry.body
    reply = body.get("reply") or {}
    tiers = {c.get("chunk_id"): c.get("tier") for c in reply.get("citations") or ()}
    evidence = [{"tier": tiers.get(e.get("chunk_id")), **e} for e in body.get("evidence") or ()]
    view = reply_view(reply)
    shown = [shown_passage(item, (), None) for item in evidence]
    policy = body.get("policy") or {}
    return TurnView(
        ask=body.get("ask") or {},
        reply=view,
        policy=policy,
        grades=_grades(body, reply, policy, evidence),
        passages=tuple(body.get("passages") or ()),
        prompt=body.get("prompt"),
        screenings=tuple(body.get("screenings") or ()),
        stages=tuple(
            StageLine(str(s.get("name")), str(s.get("node") or ""), float(s.get("ms") or 0.0))
            for s in body.get("stages") or ()
        ),
        answer=claim_map(view.answer, view.claims, shown, "a-"),
        draft=claim_map(view.draft.text, view.draft.claims, shown, "d-") if view.draft else None,
        unfit=tuple(body.get("unfit") or ()),
        unreadable=str(body.get("unreadable") or ""),
        ended=str(body.get("ended") or ""),
        coverage=tuple((str(c.get("part") or ""), bool(c.get("answered"))) for c in reply.get("coverage") or ()),
        judgements=tuple(
            {name: str(each.get(name) or "") for name in ("model", "prompt", "reply")}
            for each in body.get("judgements") or ()
        ),
        redrafted=body.get("regeneration"),
        web=tuple(body.get("web") or ()),
        policy_lines=tuple(policy_lines(policy)),
        policy_fields=tuple(tidy(in_order(policy))) if policy else (),
        searched=str(body.get("searched") or ""),
        calls=tuple(body.get("calls") or ()),
        prices=price_words(body.get("prices") or {}),
        ran_on=tuple(
            line for name in ("actor", "access", "versions") if name in body for line in tidy(body[name], name)
        ),
    )


def _grades(
    body: dict[str, Any], reply: dict[str, Any], policy: dict[str, Any], evidence: list[dict[str, Any]]
) -> tuple[dict[str, Any], ...]:
    """The grades, each with the title of its passage and what became of it."""
    passages = body.get("passages") or ()
    titles = {p.get("chunk_id"): p.get("title") for p in [*passages, *evidence]}
    found = {p.get("chunk_id") for p in passages}
    decision = reply.get("decision")
    kept = frozenset(decision.get("kept") or ()) if isinstance(decision, dict) else None
    return tuple(
        {
            **g,
            "title": titles.get(g.get("id")) or g.get("id"),
            "stands": stands(g, policy, kept, web=g.get("id") not in found),
        }
        for g in reply.get("grades") or ()
    )


def documents_of(entry: Entry) -> tuple[DocumentFacts, ...]:
    """The documents in the evidence of a turn, one line each however many of its versions stood there: quoted if one of them is."""
    found: dict[str, DocumentFacts] = {}
    for each in row_of(entry).documents:
        if each.doc_id not in found or (each.quoted and not found[each.doc_id].quoted):
            found[each.doc_id] = each
    return tuple(found.values())


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
