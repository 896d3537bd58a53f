"""Mutants of supported answers: as many of each kind of edit as are wanted, spread evenly over the origins, seeded."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.evaluate.suites.provenance.mutate import membership
from bot.evaluate.suites.provenance.mutate.contact_edits import host, phone
from bot.evaluate.suites.provenance.mutate.figure_edits import digit, shifted, unit
from bot.evaluate.suites.provenance.mutate.records import KINDS, Edit, Mutant, Slot, Supported
from bot.evaluate.suites.provenance.mutate.surfaces import Surface, surfaces
from bot.evaluate.suites.provenance.mutate.wording_edits import (
    TYPED,
    another_name,
    name_of_source,
    names,
    negated,
    telling,
)

_ENTITIES = ("person", "doctor", "organisation", "product", "code", "address")
_SURFACE = {"weekday": "date"}
_Pools = dict[str, list[str]]
_Key = tuple[str, str, bool]
"""Kind, origin, whether kept aside."""


@dataclass(frozen=True, slots=True)
class Made:
    """The mutants by kind, and how many answers there were from each origin."""

    mutants: tuple[Mutant, ...]
    answers: dict[str, int]


def build(answers: Sequence[Supported], wanted: int, seed: int = 1) -> Made:
    """Up to `wanted` mutants of each kind on the development part and half as many of the part kept aside.

    An answer gives at most one mutant of a kind; an origin with fewer gives what it has and others fill up.
    """
    rng = random.Random(f"mutants:{seed}")  # noqa: S311 - a seeded instrument, no secret
    shuffled = list(answers)
    rng.shuffle(shuffled)
    pools = _pools(shuffled)
    caps = {False: wanted, True: wanted // 2}
    found: dict[_Key, list[Mutant]] = defaultdict(list)
    for supported in shuffled:
        own = random.Random(f"{seed}:{supported.id}")  # noqa: S311 - as above
        aside = supported.kept_aside
        for kind in KINDS:
            mine = found[kind, supported.origin, aside]
            if len(mine) < _cap(kind, caps[aside], supported):
                edit = _edit(kind, supported, pools, own)
                if edit is not None:
                    mine.append(Mutant(f"{kind}:{supported.id}", supported, edit))
    chosen = [m for kind in KINDS for aside, cap in caps.items() for m in _spread(found, kind, cap, aside=aside)]
    counts: dict[str, int] = defaultdict(int)
    for supported in answers:
        counts[supported.origin] += 1
    return Made(tuple(chosen), dict(counts))


def _cap(kind: str, cap: int, supported: Supported) -> int:
    """Collected answers are never asked for all that is wanted: generated ones come beside them."""
    return cap if supported.slots else cap * 2 // 3 if kind != "name_of_source" else cap // 4


def _spread(found: dict[_Key, list[Mutant]], kind: str, cap: int, *, aside: bool) -> Iterator[Mutant]:
    """`cap` mutants of a kind, as even over the origins as they allow."""
    lists = sorted((rows for (k, _, a), rows in found.items() if (k, a) == (kind, aside)), key=len)
    left = cap
    for n, rows in enumerate(lists):
        take = min(len(rows), left // (len(lists) - n))
        left -= take
        yield from rows[:take]


def _edit(kind: str, supported: Supported, pools: _Pools, rng: random.Random) -> Edit | None:
    """The first edit of a kind that the answer allows, its values in random order."""
    if supported.origin == "generated" and not supported.slots and kind != "negation":
        return None
    if kind == "negation":
        return _first(lambda span: negated(supported, span, rng), telling(supported))
    if kind == "name":
        return _name(supported, pools, rng)
    if kind == "name_of_source":
        return (
            _first(lambda span: name_of_source(supported, span, rng), names(supported.answer))
            if not supported.slots
            else None
        )
    if supported.slots:
        slots = list(supported.slots)
        rng.shuffle(slots)
        return _first(lambda slot: _slot_edit(kind, supported, slot, rng), slots)
    values = list(surfaces(supported.answer))
    rng.shuffle(values)
    return _first(lambda surface: _surface_edit(kind, supported, surface, rng), values)


def _first(edit: Callable[..., Edit | None], places: Iterable[object]) -> Edit | None:
    return next((made for place in places if (made := edit(place)) is not None), None)


def _slot_edit(kind: str, supported: Supported, slot: Slot, rng: random.Random) -> Edit | None:
    surface = Surface(_SURFACE.get(slot.kind, slot.kind), slot.start, slot.end, supported.answer[slot.start : slot.end])
    if kind in ("sibling", "plan"):
        return _sibling(kind, supported, slot, rng)
    if kind == "phone":
        return phone(supported, surface, rng, slot.siblings)
    return _surface_edit(kind, supported, surface, rng)


def _sibling(kind: str, supported: Supported, slot: Slot, rng: random.Random) -> Edit | None:
    if slot.prose != (kind == "plan") or slot.kind == "phone" or not slot.siblings:
        return None
    others = [s for s in slot.siblings if s != supported.answer[slot.start : slot.end]]
    return Edit(kind, slot.kind, slot.start, slot.end, rng.choice(others), "another subject's") if others else None


def _surface_edit(kind: str, supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    edits: dict[str, Callable[[Supported, Surface, random.Random], Edit | None]] = {
        "digit": digit,
        "unit": unit,
        "date": shifted,
        "phone": phone,
        "host": host,
        "sibling": _of_row,
        "plan": _of_prose,
    }
    return edits[kind](supported, surface, rng)


def _of_row(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    return _of_text("sibling", supported, surface, rng) if " | " in supported.answer else None


def _of_prose(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    return _of_text("plan", supported, surface, rng) if " | " not in supported.answer else None


def _of_text(kind: str, supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    """Another value of the same kind and unit that the first source tells in lines or sentences of its own."""
    if surface.kind not in ("money", "quantity", "percent", "time", "date", "number"):
        return None
    text = supported.sources[0].text
    units = [u for line in text.split("\n") for u in line.replace(". ", ".\n").split("\n")]
    if not any(surface.text in u for u in units):
        return None
    pool = []
    for told in units:
        for other in surfaces(told):
            same = (other.kind, _measure(other)) == (surface.kind, _measure(surface))
            if same and not _near(other.text, surface.text, supported.answer, units):
                pool.append(other.text)
    return (
        Edit(kind, surface.kind, surface.start, surface.end, rng.choice(pool), "of the same source") if pool else None
    )


def _measure(surface: Surface) -> str:
    """What is left of a value without its figures: the unit, the sign, the month."""
    shape = "".join(c if c.isalpha() or c in "$€£%" else "" for c in surface.text).lower()
    return shape.rstrip("s") if surface.kind in ("quantity", "money") else ""


def _near(other: str, mine: str, answer: str, units: Sequence[str]) -> bool:
    """True if the other value is told where mine is, or in the answer: it might be right there too."""
    if other == mine or membership.holds_words(other, [answer]):
        return True
    return any(membership.holds_words(other, [u]) for u in units if membership.holds_words(mine, [u]))


def _name(supported: Supported, pools: _Pools, rng: random.Random) -> Edit | None:
    if supported.slots:
        spans = [(s.start, s.end, s.kind) for s in supported.slots if s.kind in _ENTITIES]
    else:
        spans = list(names(supported.answer))
    rng.shuffle(spans)
    return _first(
        lambda span: another_name(supported, span, pools.get(_pool_of(supported, span[2]), []), rng),
        [s for s in spans if pools.get(_pool_of(supported, s[2]))],
    )


def _pool_of(supported: Supported, kind: str) -> str:
    return f"{'generated' if supported.slots else 'told'}:{kind}"


def _pools(answers: Sequence[Supported]) -> _Pools:
    """Names of every type that answers tell, generated ones apart from collected ones.

    A capitalised phrase whose first word is an ordinary one somewhere ("Know Before") is no name to replace another by.
    """
    pools: dict[str, set[str]] = defaultdict(set)
    ordinary = {w for a in answers if a.origin != "generated" for w in re.findall(r"(?<!\w)[a-z]+(?!\w)", a.answer)}
    for supported in answers:
        for slot in supported.slots:
            if slot.kind in _ENTITIES:
                pools[_pool_of(supported, slot.kind)].add(supported.answer[slot.start : slot.end])
        if not supported.slots:
            for start, end, kind in names(supported.answer):
                name = supported.answer[start:end]
                if kind in TYPED or name.split()[0].lower() not in ordinary:
                    pools[_pool_of(supported, kind)].add(name)
    return {kind: sorted(found) for kind, found in pools.items()}
