"""Values given to the wrong thing, told by the keys that a source puts to each: the row or column of a table, the heading above a line.

Two values can be taken for each other where a source writes them side by side: in two rows or columns of a table, in lines of one label
below two headings. (The lines of a list are more often several things of one than one thing of several.) What the answer names decides,
its sentence first, then what stands around it, then the question: if it names the key of another value there and not that of this one,
the value is in the wrong role. Where nothing is named nothing is decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from grounding.text import STOP_WORDS, fold, stem
from rai.check.reading.keys import Axis, Key, Spoken, axes_of, rows_apart
from rai.check.reading.sources import Place


@dataclass(frozen=True, slots=True)
class Rival:
    """The value of a source that the answer should have said. `by`: the name of the rule, by what tells the two apart; `clause`: the claim's own clause names it."""

    place: Place
    by: str
    clause: bool = False


def rival_of(place: Place, others: Sequence[Place], layers: Sequence[Spoken], itself: Spoken) -> Rival | None:
    """The value of `others` that the answer's own words ask for in place of `place`; None if none is.

    `others`: of one kind and measure. `layers`: what the answer names around the value, the nearest first; `itself`: the value's own
    characters, which may name its key: claims@….
    """
    if place.unit.field != "text":
        return None
    near = [o for o in others if o.source == place.source and o.unit.field == "text"]
    axes = [(_told_apart(a, place), near) for a in axes_of(place.text(), place.found.start)]
    for axis, there in (*axes, *_in_other_passages(place, others)):
        own = axis.keys.get(axis.own)
        if (
            own is None
            or not own.is_namable()
            or any(itself.has(w) for w in own.every)
            or (place.found.kind == "date" and axis.named(itself))
        ):
            continue
        other = _asked(axis, own, place, there, layers)
        if other is not None:
            return Rival(other, axis.by, clause=bool(layers) and len(axis.named(layers[0])) == 1)
    return None


def part_named(place: Place, others: Sequence[Place], clause: str) -> tuple[Place, str] | None:
    """The value of the row that a clause names as a part of what the row of `place` is of, and the word, stemmed: "the battery of the Perch C2", of a table with a row for
    cameras and one for batteries. None if it names no such row, or several. `others`: of one kind and measure.
    """
    if not place.unit.row:
        return None
    near = [o for o in others if o.source == place.source and o.unit.field == "text"]
    tokens = [t.lower() for t in _TOKEN.findall(fold(clause))]
    said = [stem(t) for t in tokens]
    for axis in axes_of(place.text(), place.found.start) if near else ():
        own = axis.keys.get(axis.own) if axis.by == "cell-row" else None
        owns = [at for at, word in enumerate(said) if own is not None and word in own.every]
        parts = {
            number: word
            for number, key in axis.keys.items()
            for at, word in enumerate(said)
            if number != axis.own
            and len(word) > _SHORT
            and word in key.alone
            and any(_is_of(tokens, at, o) for o in owns)
        }
        if len(parts) == 1:
            [(number, word)] = parts.items()
            other = _within(axis, number, near, place)
            return None if other is None else (other, word)
    return None


def _is_of(tokens: Sequence[str], part: int, whole: int) -> bool:
    """True if nothing but words without a meaning of their own stands between two words: "battery of the C2", "C2 battery"."""
    first, last = sorted((part, whole))
    return last - first <= _NEAR and all(token in STOP_WORDS for token in tokens[first + 1 : last])


_NEAR = 4
_TOKEN = re.compile(r"[^\W_]+")


def _in_other_passages(place: Place, others: Sequence[Place]) -> Iterator[tuple[Axis, Sequence[Place]]]:
    """The rows of a long table that other passages of the same document hold, with the values that stand there."""
    if not place.unit.row:
        return
    apart: dict[str, list[Place]] = {}
    for other in others:
        if other.unit.row and other.unit.field == "text" and _is_of_one_document(place, other):
            apart.setdefault(other.source.id, []).append(other)
    for there in islice(apart.values(), MOST_PASSAGES):
        yield from ((axis, there) for axis in rows_apart(place.text(), place.found.start, there[0].text()))


def _is_of_one_document(place: Place, other: Place) -> bool:
    return place.source.id != other.source.id and bool(place.source.title) and place.source.title == other.source.title


MOST_PASSAGES = 20
"""Most passages of one document that are read for other rows of a value's table."""


def _told_apart(axis: Axis, place: Place) -> Axis:
    """An axis with the keys by which values of its kind are told apart.

    The lines of a list are more often several things of one than one thing of several: of other than names only those count whose labels differ in
    their number alone, "index 1.60" and "index 1.67".
    """
    own = axis.keys.get(axis.own)
    if axis.by != "list-item" or place.found.kind == "entity" or own is None:
        return axis
    alike = {n: key for n, key in axis.keys.items() if all(w[-1].isdigit() for w in key.every ^ own.every)}
    return replace(axis, by="list-number", keys=alike if len(alike) > 1 else {})


def _asked(axis: Axis, own: Key, place: Place, others: Sequence[Place], layers: Sequence[Spoken]) -> Place | None:
    """The value whose key is named by the first of `layers` that names a key; None if it names the value's own, or a word that only this one has of the two."""
    for at, layer in enumerate(layers):
        named = _longest(axis, axis.named(layer))
        if axis.own in named or len(named) > 1:
            return None
        for key in named:
            if axis.keys[key].every <= own.every and (axis.keys[key].every == own.every or not axis.keys[key].plain):
                return None  # "A -> B" beside "B -> A": its words are the own key's as well
            nearer = layers[: at + 1] if axis.by == "list-item" else layers
            if any(said.has(word) for word in own.every - axis.keys[key].every for said in nearer):
                return _by_all_words(axis, own, place, others, layers)
            return _within(axis, key, others, place)
    return _by_all_words(axis, own, place, others, layers)


def _longest(axis: Axis, named: frozenset[int]) -> frozenset[int]:
    """Of named keys those that no other of them has all words of and more: "Folio M Layflat" names no "Folio M"."""
    every = {key: axis.keys[key].every for key in named}
    return frozenset(key for key in named if not any(every[key] < every[other] for other in named))


def _by_all_words(
    axis: Axis, own: Key, place: Place, others: Sequence[Place], layers: Sequence[Spoken]
) -> Place | None:
    """The value whose key the layers say in all its words, one of them in the nearest, while a word of the own key is said in none; None if there is none."""
    if not layers or all(any(said.has(w) for said in layers) for w in own.every):
        return None
    found = [
        key
        for key, other in axis.keys.items()
        if len(other.every) > 1
        and other.every - own.every
        and any(layers[0].has(w) for w in other.every)
        and all(len(w) < _SHORT or any(said.has(w) for said in layers) for w in other.every)
    ]
    return _within(axis, found[0], others, place) if len(found) == 1 else None


_SHORT = 3


def _within(axis: Axis, key: int, others: Sequence[Place], place: Place) -> Place | None:
    """The first value of a key; of hours the one that ends them in the place of one that does."""
    start, end = axis.spans.get(key, (0, 0))
    there = sorted((o for o in others if start <= o.found.start < end), key=_start)
    alike = (o for o in there if o.frame.bound == place.frame.bound)
    return next(alike, there[0] if there else None)


def _start(place: Place) -> int:
    return place.found.start
