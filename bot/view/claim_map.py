"""An answer and its sources side by side, cut into pieces that the same claims cover: what ties a claim to its evidence.

Nothing is decided here. A span whose characters are not the ones that were recorded is not drawn: a highlight in the
wrong place is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.view.markup import Mark, segments
from bot.view.place import place_in
from bot.view.status_words import SIGNS, WORDS, said
from bot.view.told import told_values
from bot.wording.contacts import whose
from bot.wording.conversation.card import CardWords
from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from rai.check.catalogue import BY_ID, Rule
from rai.records import Claim, EvidenceSpan, Source

Tone = Literal["ok", "doubt", "bad"]
TONES: tuple[Tone, ...] = ("bad", "doubt", "ok")
_CITE = re.compile(r"\[(\d{1,3})\]")
_QUOTED = "quote"
FOLD_ABOVE = 1500
"""Characters above which a text is folded at all."""
_AROUND = 260
"""Characters that are shown before and after what is marked."""
_NEAR = 48
"""Characters that stand around the place of a claim where it is quoted in its line."""
_WORTH = 400
"""Characters that a fold must save."""


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source as the view lists it. `n` is what the text cites it by, `name` what reasons may call it, where a person knows it.

    `web`: the mark of a web page, empty for a document. `link` is a path of this server, `quotes` is what is cited of the text.
    """

    source: Source
    n: str
    locator: str = ""
    web: str = ""
    name: str = ""
    link: str | None = None
    quotes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where in its document it stands, beside its title."""
        return place_in(self.source.title or "", self.locator)


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The characters of a source that a claim rests on, or that say otherwise (`instead`), with what stands around them. `n`: what the text cites the source by."""

    n: str
    before: str
    text: str
    after: str
    instead: bool = False


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim of the list. `href` leads to its evidence, or to its own line if it has none that can be drawn; `places`: its evidence, each with some words around. `label`: its status,
    `kind`: what sort of thing it is, each in a word or two; `why`: the check's own reason, for reviewers.
    """

    key: str
    claim: Claim
    tone: Tone
    sign: str
    label: str
    kind: str
    words: str
    why: str
    instead: str
    href: str
    places: tuple[SourcePlace, ...] = ()

    @property
    def is_value(self) -> bool:
        """False of a sentence."""
        return self.claim.kind != "statement"

    @property
    def read_as(self) -> str:
        """The normal form, where it tells more than the text; that of weekdays is for machines."""
        value = self.claim.value or ""
        return "" if value == self.claim.text or value.startswith("-W") else value

    @property
    def rule(self) -> Rule | None:
        """The rule that decided; None where none did."""
        return BY_ID.get(self.claim.rule or "")


@dataclass(frozen=True, slots=True)
class AnswerSegment:
    """A piece of text that the same claims cover. `anchor` is its id, `also` more ids, `href` where it leads, `ends` the claims that end with it."""

    text: str
    keys: str = ""
    look: str = ""
    tone: str = ""
    anchor: str = ""
    also: tuple[str, ...] = ()
    href: str = ""
    stop: bool = False
    cited: str | None = None
    web: str = ""
    ends: tuple[ClaimRow, ...] = ()
    gap: bool = False


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A source with what supports claims marked; a long one is folded around it."""

    shown: ShownSource
    anchor: str
    title: tuple[AnswerSegment, ...]
    pieces: tuple[AnswerSegment, ...]

    @property
    def folded(self) -> bool:
        return any(piece.gap for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ClaimMap:
    """An answer and its sources, tied by its claims. `prefix` sets the ids of one view apart from those of another on the same page; `counted`: how many values
    there are, as everywhere, at how many places, and how many sentences.
    """

    prefix: str
    pieces: tuple[AnswerSegment, ...]
    rows: tuple[ClaimRow, ...]
    cards: tuple[SourceCard, ...]
    counted: str = ""


def tone(claim: Claim) -> Tone:
    """ok: supported; doubt: delivered and marked; bad: never delivered."""
    if claim.unsupported:
        return "bad"
    return "doubt" if claim.status in ("conflict", "unchecked") or claim.trust is not None else "ok"


def claim_map(
    text: str, claims: Sequence[Claim], shown: Sequence[ShownSource], prefix: str = "", w: EvidenceWords | None = None
) -> ClaimMap:
    """The map of `claims` over `text` and of their evidence over the sources. `w`: the words for the person who asked; None: those for reviewers."""
    w = w or EvidenceWords(FALLBACK, for_reviewers=True)
    spans = _spans(claims, shown)
    cards, places = _cards(spans, shown, {str(i): claim for i, claim in enumerate(claims)}, prefix)
    rows = tuple(
        _row(key, claim, shown, places.get(key, f"{prefix}k{key}"), w)
        for key, claim in ((str(i), claim) for i, claim in enumerate(claims))
    )
    pieces = list(_answer(text, rows, {s.n: s.web for s in shown}, prefix))
    if pieces:
        pieces[0] = replace(pieces[0], text=CardWords(w.language).worded(pieces[0].text))
    return ClaimMap(prefix, tuple(pieces), rows, tuple(cards), _counted(text, claims, w))


def _counted(text: str, claims: Sequence[Claim], w: EvidenceWords) -> str:
    """Each value counts once, as in the line of the verdict, and is listed at every place where it stands."""
    values, places = len(told_values(claims, text)), sum(c.kind != "statement" for c in claims)
    card = CardWords(w.language)
    told = [card.count("checked", values) if values else card("nothing_checked")]
    told += [w.count("places", places)] if places != values else []
    told += [w.count("sentences", len(claims) - places)] if len(claims) > places else []
    return " · ".join(told)


def _row(key: str, claim: Claim, shown: Sequence[ShownSource], href: str, w: EvidenceWords) -> ClaimRow:
    numbers = {s.source.id: s.n for s in shown}
    ours = whose(claim.trust, w.language)
    instead = claim.instead
    return ClaimRow(
        key=key,
        claim=claim,
        tone=tone(claim),
        sign=SIGNS[claim.status],
        label=said(claim.status) if w.own else CardWords(w.language).status(claim.status),
        kind=claim.entity or claim.kind if w.own else w(f"kind_{claim.kind}"),
        words=", ".join(part for part in (WORDS[claim.status] if w.own else "", ours) if part),
        why=_numbered(claim.why, shown) if w.own else "",
        instead=f"{instead.text} [{numbers.get(instead.source, instead.source)}]" if instead is not None else "",
        href=href,
        places=tuple(_places(claim, {item.source.id: item for item in shown})),
    )


def _places(claim: Claim, shown: Mapping[str, ShownSource]) -> Iterable[SourcePlace]:
    spans = [(span, False) for span in claim.evidence] + ([(claim.instead, True)] if claim.instead else [])
    for span, instead in spans:
        item = shown.get(span.source)
        if item is None or not _stands(span, item.source):
            continue
        text = item.source.title if span.field == "title" else item.source.text
        begin, end = max(0, span.start - _NEAR), min(len(text), span.end + _NEAR)
        before = text[begin : span.start] if not begin else f"… {text[begin : span.start].partition(' ')[2]}"
        after = text[span.end : end] if end == len(text) else f"{text[span.end : end].rpartition(' ')[0]} …"
        yield SourcePlace(item.n, before, span.text, after, instead)


def _numbered(why: str, shown: Sequence[ShownSource]) -> str:
    """Reasons name sources by id; a person knows them by their number. An id that is shown may be any word, and stays."""
    for item in shown:
        name = item.source.id
        if item.source.title:
            why = why.replace(f"{name} ({item.source.title})", f"[{item.n}] {item.source.title}")
        if not item.name:
            why = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", f"[{item.n}]", why)
    return why


def _answer(text: str, rows: Sequence[ClaimRow], cited: Mapping[str, str], prefix: str) -> Iterable[AnswerSegment]:
    by_key = {row.key: row for row in rows}
    marks = [Mark(c.start, c.end, row.key) for row in rows if text[(c := row.claim).start : c.end] == c.text]
    ends: dict[int, list[ClaimRow]] = {}
    for mark in marks:
        ends.setdefault(mark.end, []).append(by_key[mark.key])
    begun: set[str] = set()
    at = 0
    for segment in segments(text, marks):
        at += len(segment.text)
        over = [by_key[key] for key in segment.keys]
        told = [row for row in over if row.is_value] or over  # a value counts before the sentence around it
        new = [row.key for row in dict.fromkeys([*told, *over]) if row.key not in begun]
        begun.update(new)
        piece = AnswerSegment(
            segment.text,
            keys=" ".join(segment.keys),
            look=("value" if told[0].is_value else "statement") if told else "",
            tone=_gravest(told),
            anchor=f"{prefix}c{new[0]}" if new else "",
            also=tuple(f"{prefix}c{key}" for key in new[1:]),
            href=told[0].href if told else "",
            stop=any(row.key in new for row in told),
            ends=tuple(row for row in ends.get(at, ()) if row.is_value or row.claim.status != "unchecked"),
        )
        yield from [piece] if piece.look == "value" else _with_citations(piece, cited, prefix)


def _with_citations(piece: AnswerSegment, cited: Mapping[str, str], prefix: str) -> Iterable[AnswerSegment]:
    """`piece`, with the marks in it that cite a source apart, as links to that source."""
    begin = 0
    for match in _CITE.finditer(piece.text):
        if match[1] in cited:
            yield replace(
                piece,
                text=piece.text[begin : match.start()],
                anchor="" if begin else piece.anchor,
                also=() if begin else piece.also,
                ends=(),
            )
            yield replace(
                piece,
                text=match[1],
                anchor="",
                also=(),
                href=f"{prefix}s{match[1]}",
                cited=match[1],
                web=cited[match[1]],
                ends=(),
            )
            begin = match.end()
    yield replace(
        piece, text=piece.text[begin:], anchor="" if begin else piece.anchor, also=() if begin else piece.also
    )


def _gravest(rows: Iterable[ClaimRow]) -> str:
    tones = {row.tone for row in rows}
    return next((mood for mood in TONES if mood in tones), "")


_Spans = Mapping[tuple[str, str], list[Mark]]


def _spans(claims: Sequence[Claim], shown: Sequence[ShownSource]) -> _Spans:
    """Marks by source and field, of every span that stands where it says."""
    texts = {s.source.id: s.source for s in shown}
    found: dict[tuple[str, str], list[Mark]] = {}
    for i, claim in enumerate(claims):
        for span in [*claim.evidence, *([claim.instead] if claim.instead else [])]:
            source = texts.get(span.source)
            if source is not None and _stands(span, source):
                found.setdefault((span.source, span.field), []).append(Mark(span.start, span.end, str(i)))
    return found


def _stands(span: EvidenceSpan, source: Source) -> bool:
    field = source.title if span.field == "title" else source.text
    return 0 <= span.start < span.end and field[span.start : span.end] == span.text


def _cards(
    spans: _Spans, shown: Sequence[ShownSource], claims: Mapping[str, Claim], prefix: str
) -> tuple[list[SourceCard], dict[str, str]]:
    """The sources, and for each claim the id of the first piece that supports it."""
    places: dict[str, str] = {}
    cards = []
    for item in shown:
        source = item.source
        title = _evidence(source.title, spans.get((source.id, "title"), []), claims, places, prefix)
        marks = [*spans.get((source.id, "text"), []), *_quotes(item)]
        pieces = _evidence(source.text, marks, claims, places, prefix)
        if len(source.text) > FOLD_ABOVE:
            pieces = _folded(pieces)
        cards.append(SourceCard(item, f"{prefix}s{item.n}", tuple(title), tuple(pieces)))
    return cards, places


def _quotes(item: ShownSource) -> list[Mark]:
    at = [(item.source.text.find(quote), len(quote)) for quote in item.quotes if quote]
    return [Mark(start, start + length, _QUOTED) for start, length in at if start >= 0]


def _evidence(
    text: str, marks: list[Mark], claims: Mapping[str, Claim], places: dict[str, str], prefix: str
) -> list[AnswerSegment]:
    pieces = []
    for segment in segments(text, marks):
        keys = [key for key in segment.keys if key != _QUOTED]
        values = [key for key in keys if claims[key].kind != "statement"]
        look = ["ev"] if keys else []
        look += ["soft"] if keys and not values else []
        look += ["cited"] if _QUOTED in segment.keys else []
        new = [key for key in keys if key not in places]
        anchor = f"{prefix}e{new[0]}" if new else ""
        places.update(dict.fromkeys(new, anchor))
        href = f"{prefix}c{(values or keys)[0]}" if keys else ""
        pieces.append(
            AnswerSegment(segment.text, " ".join(keys), " ".join(look), anchor=anchor, href=href, stop=bool(new))
        )
    return pieces


def _folded(pieces: Sequence[AnswerSegment]) -> list[AnswerSegment]:
    """Long stretches that support nothing are folded; the text keeps its order and loses nothing."""
    made: list[AnswerSegment] = []
    for i, piece in enumerate(pieces):
        if piece.look:
            made.append(piece)
            continue
        for text, gap in folds(piece.text, first=i == 0, last=i + 1 == len(pieces)):
            made.append(AnswerSegment(text, gap=gap))
    return made


def folds(text: str, *, first: bool, last: bool) -> list[tuple[str, bool]]:
    """`text`, a stretch without marks, in pieces with whether each is folded. Joined they are `text`.

    `first`: nothing marked stands before it, `last`: nothing after it; a text without any mark shows its beginning.
    """
    head = 0 if first and not last else _AROUND
    tail = 0 if last else _AROUND
    if len(text) - head - tail < _WORTH:
        return [(text, False)]
    begin = _space(text, head, min(len(text), head + 60)) if head else 0
    end = _space(text, len(text) - tail - 60, len(text) - tail) if tail else len(text)
    parts = [(text[:begin], False), (text[begin:end], True), (text[end:], False)]
    return [(part, gap) for part, gap in parts if part]


def _space(text: str, begin: int, end: int) -> int:
    """The place after the first white space in [begin, end), else `end`: words are not cut where that can be helped."""
    return next((i + 1 for i in range(begin, end) if text[i].isspace()), end)
