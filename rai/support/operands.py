"""Operands: the few values of which an answer may have worked out another one.

An operand stands in a source, or the customer said it in the question; what only the answer says is none. Operands go
together if the answer's own sentence says them, if its words tell each of them apart from other values, if one sentence
or row of a source holds just them, or if they are the whole of a column. A combination across these is a coincidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from rai.claims.find import find_values
from rai.claims.found import Found
from rai.claims.rates import same_per
from rai.records import EvidenceSpan
from rai.support.amounts import MOST_CANDIDATES, Spot, kindred, number_of, role_fitting
from rai.support.setting import Around, Setting, confirming
from rai.support.sources import Place, Prepared
from rai.support.words import role_terms

Words = frozenset[str]
MOST_OPERANDS = 4
CLOSEST = 3
"""Values of a source that are weighed where nothing but the role tells which is meant."""
LEAST_SHARED = 2
"""Words that a sentence of a source shares with the answer's, before its values are taken together."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value to reckon with. `place`: where a source says it, None if only the customer does.

    `context[start:end]` is the value in the text in which it was read, and `names` the words that name it there.
    """

    found: Found
    text: str
    context: str
    start: int
    end: int
    place: Place | None
    names: Words

    @property
    def amount(self) -> Decimal:
        """Its number."""
        return number_of(self.found) or Decimal(0)

    @property
    def heads(self) -> Words:
        """The words after it, and of a row those that name it: what a bare number counts."""
        row = self.place is not None and self.place.unit.row
        return following(self.context, self.end) | (self.names if row else frozenset())


@dataclass(frozen=True, slots=True)
class Desk:
    """What a derivation works from: the claim's value in its sentence, and what it is judged against."""

    found: Found
    spot: Spot
    around: Around
    setting: Setting
    said: list[list[Operand]] = field(default_factory=list, compare=False)
    """What `said_here` found, once: every operation asks for it."""

    def like(self, other: Found) -> bool:
        """True if a value is of the claim's kind and in its unit or currency."""
        return kindred(self.found, other)

    def counts(self, group: Sequence[Operand]) -> bool:
        """True unless these are bare numbers that do not count what the claim counts: guests are not added to rooms."""
        mine = following(self.spot.sentence, self.spot.end)
        return self.found.kind != "number" or all(mine & o.heads for o in group)

    @property
    def words(self) -> Words:
        """Words of the sentence and of the question."""
        return self.spot.words | self.setting.question_terms


def following(text: str, end: int) -> Words:
    """Role words of the two words after a value."""
    return role_terms(" ".join(re.findall(r"[^\W\d_]+", text[end : end + 40])[:2]))


def evidence(operands: Sequence[Operand]) -> tuple[EvidenceSpan, ...]:
    """Where the sources say them, each place once."""
    return tuple(dict.fromkeys(o.place.span() for o in operands if o.place is not None))


def said_here(desk: Desk) -> list[Operand]:
    """Values of the claim's own sentence that a source or the question says too."""
    if desk.said:
        return desk.said[0]
    spot = desk.spot
    out: list[Operand] = []
    for value in find_values(spot.sentence):
        if value.end <= spot.start or value.start >= spot.end:
            place = confirming(value, desk.setting.sources)
            if place is not None or confirming(value, _asked(desk.setting)) is not None:
                text = spot.sentence[value.start : value.end]
                out.append(Operand(value, text, spot.sentence, value.start, value.end, place, frozenset()))
    desk.said.append(out)
    return out


def asked(desk: Desk) -> list[Operand]:
    """Values of the question."""
    return [_operand(p, known=False) for t in _asked(desk.setting) for p in t.places]


def _asked(setting: Setting) -> tuple[Prepared, ...]:
    return (*((setting.question,) if setting.question else ()), *setting.given)


def _operand(place: Place, *, known: bool = True) -> Operand:
    names = frozenset(w for w in place.frame.local if not w.startswith("="))
    text = place.text()
    found = place.found
    return Operand(found, text[found.start : found.end], text, found.start, found.end, place if known else None, names)


def in_sources(desk: Desk, wanted: Callable[[Found], bool], most: int = MOST_CANDIDATES) -> list[Operand]:
    """Values of the sources whose sentence, title or heading shares words with the claim's, the most in common first."""
    words = desk.words
    ranked = [
        (-len(words & p.unit.terms), -len(shared), p.source.id, p.found.start, p)
        for s in desk.setting.sources
        for p in s.places
        if wanted(p.found) and p.unit.field == "text" and (shared := words & (p.unit.terms | p.unit.context))
    ]
    ranked.sort(key=lambda r: r[:4])
    return [_operand(r[-1]) for r in ranked[:most]]


def in_role_of(desk: Desk) -> list[Operand]:
    """Values of the sources of the claim's measure that stand in its role, the most words in common first."""
    pool = [o.place for o in in_sources(desk, desk.like) if o.place]
    return [_operand(p) for p in role_fitting(pool, desk.spot, desk.around, desk.setting)]


def groups(desk: Desk, *, columns: bool = True) -> Iterator[tuple[Operand, ...]]:
    """Sets of two to four operands of the claim's kind and measure that go together; those that the answer says first.

    `columns`: whether the whole of a column is such a set.
    """
    seen: set[tuple[tuple[str, int], ...]] = set()
    for group in _every_group(desk, columns=columns):
        key = tuple((o.found.value, o.start) for o in group)
        if 2 <= len(group) <= MOST_OPERANDS and key not in seen and any(o.place for o in group):
            seen.add(key)
            if desk.counts(group):
                yield group


def _every_group(desk: Desk, *, columns: bool) -> Iterator[tuple[Operand, ...]]:
    here = [o for o in said_here(desk) if desk.like(o.found)]
    for length in range(min(len(here), MOST_OPERANDS), 1, -1):
        for at in range(len(here) - length + 1):
            yield tuple(here[at : at + length])
    pool = in_sources(desk, desk.like)
    yield named(desk, pool)
    for column in list(_by_column(pool).values())[:CLOSEST]:
        yield named(desk, column)
    told = [o for o in asked(desk) if desk.like(o.found)][:1]
    if told:
        yield from ((o, *told) for o in (here or pool)[:1])
    yield from _of_one_unit(desk, pool)
    if columns:
        yield from _columns(desk, pool)


def named(desk: Desk, pool: Sequence[Operand]) -> tuple[Operand, ...]:
    """Those of `pool` that words of the claim's sentence or of the question tell apart from the others; a value once."""
    if len(pool) < 2:
        return ()
    common = frozenset.intersection(*(o.names for o in pool))
    by_name: dict[tuple[Decimal, Words], Operand] = {}
    for operand in pool:
        telling = (operand.names - common) & desk.words
        if telling:
            by_name.setdefault((operand.amount, telling), operand)
    # two values of one name cannot be told apart, and only one of them can be meant
    alone = [o for (_, telling), o in by_name.items() if sum(telling <= other for _, other in by_name) == 1]
    return tuple(alone)


def _of_one_unit(desk: Desk, pool: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    by_unit: dict[tuple[str, int], list[Operand]] = {}
    for operand in pool:
        # cells of a row are of different things, and go together only if they are named
        if (
            operand.place
            and not column_of(operand.place)
            and len(operand.place.unit.terms & desk.words) >= LEAST_SHARED
        ):
            by_unit.setdefault((operand.place.source.id, operand.place.unit.start), []).append(operand)
    for group in list(by_unit.values())[:CLOSEST]:
        yield tuple(sorted(group, key=lambda o: o.start))


def passages(desk: Desk, *, total: bool = False) -> Iterator[tuple[Operand, ...]]:
    """All values of the claim's measure of a paragraph that holds two to four of them and speaks of what the claim speaks of.

    No part of them is ever tried: with all of them there is one sum. A claim that has hardly a word of its own ("In total
    you pay $75") speaks of the only such paragraph. Values per month and per year, or per something and once, are not added.
    `total`: a claim that names some of them adds up those, and not all.
    """
    if desk.found.kind not in ("money", "quantity", "number"):
        return
    own = desk.words - _REMARKS
    found = [p for s in desk.setting.sources for p in _paragraphs(desk, s)]
    for group, words in found:
        told = bool(own & words) or (len(own) <= FEW and len(found) == 1)
        if told and _one_per(group, total=total) and _summed(desk, group) and not (total and _some_named(desk, group)):
            yield group


FEW = 2
"""Words of a claim that may stand in no source where one paragraph alone can be meant."""
_REMARKS = role_terms(
    "total sum altogether together combined overall both pay cost costs price save saving savings difference remaining left more less "
    "faster slower cheaper longer shorter would get have fee fees amount"
)


def _paragraphs(desk: Desk, prepared: Prepared) -> Iterator[tuple[tuple[Operand, ...], Words]]:
    """Of each paragraph its values of the claim's measure, and its words; of bare numbers those of one sentence."""
    text = prepared.source.text
    by_paragraph: dict[int, list[Place]] = {}
    for place in prepared.kinds.get(desk.found.kind, ())[:MOST_CANDIDATES]:
        if place.unit.field == "text" and desk.like(place.found) and not column_of(place):
            bare = desk.found.kind == "number"
            opens = place.unit.start if bare else text.rfind("\n\n", 0, place.found.start) + 1
            by_paragraph.setdefault(opens, []).append(place)
    for places in by_paragraph.values():
        if 2 <= len(places) <= MOST_OPERANDS:
            words = frozenset().union(*(p.unit.terms | p.unit.context for p in places))
            yield tuple(_operand(p) for p in places), words


def _summed(desk: Desk, group: Sequence[Operand]) -> bool:
    """Bare numbers count different things that the claim's noun may cover: 4 screwdrivers and 5 wrenches, but not 4 beds and 5 windows."""
    if desk.found.kind != "number":
        return True
    mine = following(desk.spot.sentence, desk.spot.end)
    agree = [bool(mine & o.heads) for o in group]
    return bool(mine) and (all(agree) or not any(agree)) and all(following(o.context, o.end) for o in group)


def _one_per(group: Sequence[Operand], *, total: bool) -> bool:
    """What is added is per the same, or all of it once; what is compared must not be per different things."""
    periods = {o.found.per for o in group}
    return len(periods) == 1 or (not total and all(same_per(a, b) for a in periods for b in periods))


def _some_named(desk: Desk, group: Sequence[Operand]) -> bool:
    common = frozenset.intersection(*(o.names for o in group))
    return len({bool((o.names - common) & desk.words) for o in group}) == 2


def _columns(desk: Desk, pool: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    for (_, label), group in _by_column(pool).items():
        if role_terms(label) & desk.words:
            yield tuple(sorted(group, key=lambda o: o.start))


def _by_column(pool: Sequence[Operand]) -> dict[tuple[str, str], list[Operand]]:
    found: dict[tuple[str, str], list[Operand]] = {}
    for operand in pool:
        label = column_of(operand.place) if operand.place else ""
        if operand.place and label:
            found.setdefault((operand.place.source.id, label), []).append(operand)
    return found


def column_of(place: Place) -> str:
    """The label of the cell that a value stands in: "Price" of "Plan: Pro | Price: $29", or its table's heading; else ""."""
    row = place.text()[place.unit.start : place.unit.end]
    cut = re.compile(r" \| |\t")
    cells = cut.split(row)
    if len(cells) < 2:
        return ""
    at = len(cut.findall(row[: place.found.start - place.unit.start]))
    label, colon, _ = cells[at].partition(": ")
    heads = cut.split(place.unit.header)
    return label if colon else heads[at] if place.unit.header != row and len(heads) == len(cells) else ""
