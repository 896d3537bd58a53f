"""The pieces of the sources that a clause of an answer speaks of: those that share most of its words, rare words counting more."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rai.check.phrasing.evidence import inverted
from rai.check.statements.clauses import Clause
from rai.check.statements.source_pieces import SourcePiece, SourcePieces, read
from rai.check.statements.terms import Term, terms, within_compounds
from rai.records import Source

CANDIDATES = 4
"""Most pieces that a clause is compared with."""


@dataclass(frozen=True, slots=True)
class Field:
    """All sources of an answer in pieces, indexed by their words.

    `places`: by key of a word, the numbers of the pieces (`units`) that hold it; `weight`: how telling it is, log(1 + pieces / those with
    it); `unseen`: the weight of a word that no piece has; `asked`: keys of the question; `words`, `keys`: those of all sources; `code`:
    their language.
    """

    reads: tuple[SourcePieces, ...]
    units: tuple[SourcePiece, ...]
    places: dict[str, tuple[int, ...]]
    weight: dict[str, float]
    unseen: float
    asked: frozenset[str]
    words: frozenset[str]
    keys: frozenset[str]
    code: str


@dataclass(frozen=True, slots=True)
class Aligned:
    """The pieces that share most with a clause, best first, and how much of it they hold.

    `share`: the share of its words, by weight, that the first holds with what stands above it, in [0, 1]; `two`: the same of the first
    and that other which adds most, with the question; `unsaid`: words that no source and no question has.
    """

    units: tuple[SourcePiece, ...]
    share: float
    two: float
    unsaid: tuple[Term, ...]


@lru_cache(maxsize=64)
def gather(sources: tuple[Source, ...], question: str, code: str) -> Field:
    """The pieces of several sources with their index. `question`: "" if there is none. Time and memory are linear in the text."""
    reads = tuple(read(source, code) for source in sources)
    units = tuple(unit for one in reads for unit in one.units)
    return Field(
        reads,
        units,
        *inverted([unit.keys for unit in units]),
        math.log(1 + len(units)),
        frozenset(t.key for t in terms(question, code)),
        frozenset().union(*(r.words for r in reads)) if reads else frozenset(),
        frozenset().union(*(r.keys for r in reads)) if reads else frozenset(),
        code,
    )


def align(clause: Clause, field: Field) -> Aligned | None:
    """The pieces that share most with a clause; None if none shares a word with it."""
    told = {t.key: t for t in clause.terms}
    weights = {k: field.weight.get(k, field.unseen) for k in told}
    units = _nearest(told, weights, field)
    if not units:
        return None
    first = units[0].keys | units[0].above
    total = sum(weights.values())
    left = {k: t for k, t in told.items() if not _held(t, first | field.asked)}
    more = max((_weight(left, weights, u.keys | u.above) for u in units[1:]), default=0.0)
    missing = sum(weights[k] for k in left)
    every = field.keys | field.asked
    unsaid = [t for t in told.values() if not _held(t, every) and not within_compounds(t.word, field.words, field.code)]
    return Aligned(units, _weight(told, weights, first) / total, 1 - (missing - more) / total, tuple(unsaid))


def _nearest(told: Mapping[str, Term], weights: Mapping[str, float], field: Field) -> tuple[SourcePiece, ...]:
    shared: defaultdict[int, float] = defaultdict(float)
    for key, term in told.items():
        for number in {n for k in (key, *term.alike) for n in field.places.get(k, ())}:
            shared[number] += weights[key]
    for number in shared:
        unit = field.units[number]
        shared[number] += _ABOVE * sum(weights[k] for k in told if k in unit.above and k not in unit.keys)
    ranked = sorted(shared, key=lambda n: (-shared[n], n))[:CANDIDATES]
    return tuple(field.units[n] for n in ranked)


def _weight(told: Mapping[str, Term], weights: Mapping[str, float], keys: frozenset[str]) -> float:
    return sum(weights[k] for k, term in told.items() if _held(term, keys))


def _held(term: Term, keys: frozenset[str]) -> bool:
    return term.key in keys or not term.alike.isdisjoint(keys)


_ABOVE = 0.5
"""How much a word counts that stands above a piece (in its heading, its title), beside 1 for one within it."""
