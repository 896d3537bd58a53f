"""Citations, attached in code from the map of evidence: never asked of a model and believed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.records import Citation, InternalNote
from bot.view.place import named_place
from grounding.evidence.overlap import apart
from grounding.records import Evidence, Grade, Passage, Span
from grounding.text import BAR, before_end, body_start, sentences
from rai.records import SUPPORTED, Claim

_BARE = re.compile(r" ?\[\d{1,2}\]")
_MARKER = re.compile(r"\[(\d{1,2})\]")
_QUOTE = 300
_MOST_MARKERS = 3
LIKELY_AT = 0.5


def markers(text: str) -> list[int]:
    """Numbers of the [n] in `text`, in order, each once."""
    return list(dict.fromkeys(int(m.group(1)) for m in _MARKER.finditer(text)))


def without_markers(text: str) -> str:
    """The text without its markers, and the spaces before them."""
    return _BARE.sub("", text)


def with_markers(text: str, claims: Sequence[Claim], evidence: Sequence[Evidence]) -> str:
    """`text` with an [n] at the end of every sentence that has none: of what its supported claims rest on, or else of the place that
    likely supports what nobody could decide. What no place supports has none.

    Markers that name no evidence are taken out.
    """
    number = {e.passage.chunk_id: e.n for e in evidence}
    known = set(number.values())
    inserts: list[tuple[int, str]] = []
    for span in sentences(text):
        if any(n in known for n in markers(span.text)) or any(n in known for n in markers(_item_around(text, span))):
            continue
        inside = [c for c in claims if span.start <= c.start and c.end <= span.end]
        rests = [c for c in inside if c.status in SUPPORTED] or [c for c in inside if _likely(c)]
        if found := _resting_on(rests, number):
            at = span.start + before_end(span.text)
            inserts.append((at, "".join(f" [{n}]" for n in found)))
    for at, marker in reversed(inserts):
        text = text[:at] + marker + text[at:]
    return _MARKER.sub(lambda m: m.group() if int(m.group(1)) in known else "", text)


def _resting_on(claims: Sequence[Claim], number: Mapping[str, int]) -> list[int]:
    """Numbers of the fewest pieces of evidence that hold `claims` together, at most three: of several that hold as many, the one that a whole
    sentence rests on, then the one that a claim names first.

    What was worked out takes each of its operands. So a row that stands in one place is cited there, and not wherever one of its values stands too.
    """
    uncited: list[dict[int, None]] = []
    for c in sorted(claims, key=lambda c: c.kind != "statement"):
        places = [number[e.source] for e in c.evidence if e.source in number]
        uncited += [{n: None} for n in places] if c.status == "derived" else [dict.fromkeys(places)]
    found: list[int] = []
    while len(found) < _MOST_MARKERS and (uncited := [places for places in uncited if places]):
        held = Counter(n for places in uncited for n in places)
        found.append(max(held, key=held.__getitem__))
        uncited = [places for places in uncited if found[-1] not in places]
    return found


def _item_around(text: str, span: Span) -> str:
    """The list item that a sentence stands in, "" if it stands in none: one citation is enough for an item."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    line = text[start : end if end >= 0 else len(text)]
    return line if body_start(line) else ""


def _likely(claim: Claim) -> bool:
    """True for a sentence that nobody could decide and that its nearest place more likely supports than not."""
    return claim.status == "unchecked" and (claim.score or 0.0) >= LIKELY_AT


def with_mended_markers(text: str, claims: Sequence[Claim], evidence: Sequence[Evidence]) -> str:
    """`text` whose marks name the evidence of what now stands in their sentence, after values in it were replaced.

    A sentence that cites none of a value's places gets one in place of the marks that nothing in it rests on.
    """
    number = {e.passage.chunk_id: e.n for e in evidence}
    for span in reversed(sentences(text)):
        inside = [c for c in claims if span.start <= c.start and c.end <= span.end and c.status in SUPPORTED]
        rests = [[number[e.source] for e in c.evidence if e.source in number] for c in inside]
        cited = markers(span.text)
        missing = list(dict.fromkeys(ns[0] for ns in rests if ns and not set(ns) & set(cited)))
        if not cited or not missing:
            continue
        told = {n for ns in rests for n in ns}
        kept = [n for n in cited if n in told]
        now = "".join(f"[{n}]" for n in [*kept, *missing][:3])
        last = list(_MARKER.finditer(span.text))[-1]
        body = _MARKER.sub("", span.text[: last.start()]) + now + span.text[last.end() :]
        text = text[: span.start] + body + text[span.end :]
    return text


def with_numbers(text: str, claims: Sequence[Claim], evidence: Sequence[Evidence]) -> tuple[Claim, ...]:
    """Claims whose reasons name evidence as [n], as a person knows it; the evidence that their own sentence cites comes first."""
    number = {e.passage.chunk_id: e.n for e in evidence}
    if not number:
        return tuple(claims)
    ids = re.compile("|".join(map(re.escape, number)))
    spans = sentences(text)
    return tuple(_numbered(c, number, ids, _cited(c, spans)) for c in claims)


def _cited(claim: Claim, spans: Sequence[Span]) -> frozenset[int]:
    """Numbers that the sentence of a claim cites."""
    return frozenset(n for s in spans if s.start <= claim.start and claim.end <= s.end for n in markers(s.text))


def _numbered(claim: Claim, number: Mapping[str, int], ids: re.Pattern[str], cited: frozenset[int]) -> Claim:
    before = claim.evidence[0].source if claim.evidence else ""
    ordered = tuple(
        sorted(claim.evidence, key=lambda e: (number.get(e.source, 99) not in cited, number.get(e.source, 99)))
    )
    why = claim.why.replace(before, ordered[0].source) if ordered else claim.why
    return replace(claim, evidence=ordered, why=ids.sub(lambda m: f"[{number[m.group()]}]", why))


def citations(
    text: str, claims: Sequence[Claim], evidence: Sequence[Evidence], grades: Sequence[Grade]
) -> tuple[Citation, ...]:
    """One citation for each [n] of `text`, with the words of the passage that carry it."""
    by_number = {e.n: e for e in evidence}
    return tuple(_citation(by_number[n], claims, grades, _citing(text, n)) for n in markers(text) if n in by_number)


def _citing(text: str, n: int) -> str:
    """The lines of an answer that cite [n], without markers."""
    return "\n".join(without_markers(line) for line in text.splitlines() if n in markers(line))


def offered(evidence: Sequence[Evidence], grades: Sequence[Grade]) -> tuple[Citation, ...]:
    """Every piece of evidence as a citation: what a person may read when no answer is given."""
    return tuple(_citation(e, (), grades) for e in evidence)


def _citation(item: Evidence, claims: Sequence[Claim], grades: Sequence[Grade], cited: str = "") -> Citation:
    p = item.passage
    quote = _row_of(p, cited) or _quote(item, claims, grades)
    return Citation(item.n, p.title, p.url, p.doc_id, p.chunk_id, p.locator, quote, p.origin, p.tier, p.trust)


_ABOVE = re.compile(r" \([^()|]{1,80}\)$")
"""What a quoted row says of its heading, behind its last cell: (Plans per month)."""


def _row_of(passage: Passage, cited: str) -> str:
    """The row of a passage that the first line which cites it quotes, also some of its cells alone: what a person sees who points at [n] is that, and no sibling."""
    line = next((line for line in cited.splitlines() if BAR in line), "")
    said = [part.strip(" -") for part in _ABOVE.sub("", line).split(BAR)]
    rows = (row.strip() for row in passage.text.splitlines() if BAR in row)
    return next((row for row in rows if line and all(part in row for part in said)), "") if len(said) > 1 else ""


def _quote(item: Evidence, claims: Sequence[Claim], grades: Sequence[Grade]) -> str:
    """Verbatim words of the passage: the sentences that the answer repeats, else those its values stand in, else the
    grader's extract, else its beginning.
    """
    passage = item.passage
    mine = [
        (c.kind, e)
        for c in claims
        if c.status in SUPPORTED
        for e in c.evidence
        if e.source == passage.chunk_id and e.field == "text"
    ]
    said = [e for kind, e in mine if kind == "statement"] or [e for _, e in mine[:1]]
    if said:
        around = [s for s in sentences(passage.text) if any(s.start < e.end and e.start < s.end for e in said)]
        together = [s for i, s in enumerate(around) if s.end - around[0].start <= _QUOTE or i == 0]
        if together:
            return passage.text[together[0].start : together[-1].end]
    return _extract(passage, grades)


def _extract(passage: Passage, grades: Sequence[Grade]) -> str:
    """The grader's extract, if the passage still holds it: of passages that overlap one was cut. Else its beginning."""
    extracts = (g.extract.text for g in grades if g.chunk_id == passage.chunk_id and g.extract)
    return next((text for text in extracts if text in passage.text), passage.text[:_QUOTE].strip())


def internal_notes(passages: Sequence[Passage], grades: Sequence[Grade], limit: int = 2) -> tuple[InternalNote, ...]:
    """What the human agent may read and a customer may not: the paragraph that is to the point, with the section that it stands in."""
    return tuple(
        InternalNote(named_place(p.title, p.locator), p.doc_id, p.chunk_id, _paragraph(p, _extract(p, grades)))
        for p in apart(passages[:limit])
    )


def _paragraph(passage: Passage, extract: str) -> str:
    """The lines around an extract as far as no empty line parts them and no more than `_NOTE` characters: "Do not promise this date" says nothing without it.
    Of a list the item alone.
    """
    at = passage.text.find(extract)
    begin = passage.text.rfind("\n\n", 0, at) + 2 if "\n\n" in passage.text[:at] else 0
    end = passage.text.find("\n\n", at + len(extract))
    lines = passage.text[begin : end if end >= 0 else None]
    if any(_ITEM.match(line) or BAR in line for line in lines.splitlines()):
        begin = passage.text.rfind("\n", 0, at) + 1
        end = passage.text.find("\n", at + len(extract))
        lines = passage.text[begin : end if end >= 0 else None]
    return _ITEM.sub("", lines.strip(), count=1) if at >= 0 and len(lines) <= _NOTE else extract


_NOTE = 300
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s")
