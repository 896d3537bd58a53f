"""Tallies: "three plans" where the answer or a source lists just so many, or a table has so many rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from grounding.text import caseless, terms
from rai.records import Claim, EvidenceSpan
from rai.support.operands import Desk
from rai.support.setting import Finding
from rai.support.sources import Prepared, Unit, caseless_field

MOST = 20
"""The largest number that is taken for a tally."""
MOST_UNITS = 2000
"""Sentences and rows of a source in which a list is looked for."""

_LEADS = re.compile(r"^[^:;.–—(]{0,60}?(?::|\s[–—-]\s|\s?\()\s*")
_INTRODUCES = re.compile(r":\s|\b(?:are|include|includes|including|namely|offers?|such as)\s", re.IGNORECASE)
_AND = re.compile(r"[,;]\s+(?:(?:and|or|as well as)\s+)?|(?<!\s)\s+(?:and|or|as well as)\s+", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*•‣]|\d{1,3}[.)])\s+")
_LONGEST = 600
_ITEM_WORDS = 8


def tallied(claim: Claim, desk: Desk) -> Finding | None:
    """`derived` with what was counted as evidence."""
    value = desk.found.value
    if desk.found.kind != "number" or not value.isdigit() or not 2 <= int(value) <= MOST:
        return None
    heads = terms(desk.spot.after[:40])[:2]
    number = int(value)
    for counted in _tallies(desk, frozenset(heads)):
        if len(counted) == number:
            names = ", ".join(e.text for e in counted)
            return Finding("derived", counted, f"{names}: these are {claim.text}.")
    return None


def _tallies(desk: Desk, heads: frozenset[str]) -> Iterator[tuple[EvidenceSpan, ...]]:
    own = _own_list(desk)
    if own:
        yield own
    if not heads:
        return
    for prepared in desk.setting.sources:
        yield from _rows(prepared, heads)
        yield from _listed(prepared, heads)
        yield from _enumerated(prepared, heads)


def _own_list(desk: Desk) -> tuple[EvidenceSpan, ...]:
    """The items that the sentence lists after the number, if a source names each of them."""
    lead = _LEADS.match(desk.spot.after)
    if lead is None:
        return ()
    items = [t for _, _, t in _items(desk.spot.after, lead.end(), len(desk.spot.after))]
    places = [_named(item.rstrip(").!?"), desk) for item in items]
    return tuple(p for p in places if p is not None) if items and all(places) else ()


def _named(item: str, desk: Desk) -> EvidenceSpan | None:
    wanted = caseless(item.strip())
    if len(wanted) < 2:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    for prepared in desk.setting.sources:
        match = pattern.search(caseless_field(prepared.source.text))
        if match:
            return EvidenceSpan(prepared.source.id, "text", *match.span(), prepared.source.text[slice(*match.span())])
    return None


def _items(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """The items of "A, B and C"; empty if it is one, or if one of them is a sentence of its own."""
    edges, at = [], start
    for match in _AND.finditer(text, start, end):
        edges.append((at, match.start()))
        at = match.end()
    edges.append((at, end))
    items = [(a, b, text[a:b]) for a, b in edges if text[a:b].strip(" .!?)")]
    return items if len(items) > 1 and all(len(t.split()) <= _ITEM_WORDS for _, _, t in items) else []


def _rows(prepared: Prepared, heads: frozenset[str]) -> Iterator[tuple[EvidenceSpan, ...]]:
    """The keys of a table whose first column is called so: two plans of "Plan: Basic | …" and "Plan: Pro | …"."""
    text = prepared.source.text
    rows = [u for u in prepared.units[:MOST_UNITS] if u.field == "text"]
    for label, group in groupby(rows, key=lambda u: _label(text, u)):
        if label and set(terms(label)) & heads:
            spans = [_key(prepared, u, label) for u in group]
            yield tuple({caseless(s.text): s for s in spans}.values())


def _label(text: str, unit: Unit) -> str:
    first, bar, _ = text[unit.start : min(unit.end, unit.start + _LONGEST)].partition(" | ")
    label, colon, _ = first.partition(": ")
    return label if bar and colon else ""


def _key(prepared: Prepared, unit: Unit, label: str) -> EvidenceSpan:
    text = prepared.source.text
    start = unit.start + len(label) + 2
    end = text.find(" | ", start)
    return EvidenceSpan(prepared.source.id, "text", start, end, text[start:end])


def _listed(prepared: Prepared, heads: frozenset[str]) -> Iterator[tuple[EvidenceSpan, ...]]:
    """The items of a list below a line or heading that names what is counted."""
    text = prepared.source.text
    leads = False
    spans: list[EvidenceSpan] = []
    for unit in [u for u in prepared.units[:MOST_UNITS] if u.field == "text"]:
        bullet = _BULLET.match(text, unit.start, unit.end)
        if bullet and leads:
            spans.append(
                EvidenceSpan(prepared.source.id, "text", bullet.end(), unit.end, text[bullet.end() : unit.end])
            )
            continue
        if spans:
            yield tuple(spans)
        line = text[unit.start : min(unit.end, unit.start + _LONGEST)]
        leads = (line.endswith(":") or line.startswith("#")) and bool(set(terms(line)) & heads)
        spans = []
    if spans:
        yield tuple(spans)


def _enumerated(prepared: Prepared, heads: frozenset[str]) -> Iterator[tuple[EvidenceSpan, ...]]:
    """The items of "Breakfast options are A, B and C."."""
    text = prepared.source.text
    for unit in prepared.units[:MOST_UNITS]:
        if unit.field != "text" or unit.row or unit.end - unit.start > _LONGEST or not unit.terms & heads:
            continue
        lead = _INTRODUCES.search(text, unit.start, unit.end)
        if lead and set(terms(text[unit.start : lead.start()])) & heads:
            end = unit.end - (1 if text[unit.end - 1] in ".!" else 0)
            items = _items(text, lead.end(), end)
            if items:
                yield tuple(EvidenceSpan(prepared.source.id, "text", a, b, t) for a, b, t in items)
