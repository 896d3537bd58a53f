"""Features of a sentence beside the pieces of the sources it speaks of, as numbers: what they hold of it, and in what they differ.

Those that compare are 0 for a sentence that stands in a source word for word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from rai.check.lexicon.load import Cue
from rai.check.statements.contrast import denies
from rai.check.statements.order import in_order, sequence
from rai.check.statements.prepared import ClauseCandidate, PreparedClause, PreparedStatement
from rai.check.statements.source_pieces import SourcePiece
from rai.check.statements.terms import within_compounds

FEATURES = (
    "unheld_worst",  # share of what its least held clause tells that the nearest two pieces lack
    "unheld_mean",  # the same of all clauses, by how much they tell
    "unheld_one",  # share that the nearest single piece lacks, over all clauses
    "unsaid",  # share of its words that no source and no question has
    "unsaid_many",  # log of 1 + how many
    "parted",  # share of its neighbouring words that stand apart in every piece
    "left_out",  # share of the nearest clauses of the sources that it leaves out
    "scattered",  # share of its clauses that speak of another source or of a far piece
    "denies",  # 1 if it negates and no piece it speaks of does
    "denied",  # 1 if a clause it speaks of negates and it does not
    "sides",  # scales on which it and what it speaks of stand on other sides
    "bounds_more",  # bounds that no piece it speaks of has
    "bounds_less",  # bounds of the nearest clauses that it leaves out
    "only_less",  # 1 if a nearest clause has "only" or "unless" and it has none
    "if_less",  # 1 if a nearest piece sets a condition and it sets none
    "only_more",  # 1 if it has "only" or "unless" and no piece has
    "if_more",  # 1 if it sets a condition and no piece does
    "regardless",  # 1 if it holds whatever, and no piece says so
    "all_more",  # 1 if it speaks of all and no piece does
    "surer",  # 1 if a nearest clause says what may be and it says neither may nor can
    "ordered",  # steps that it puts in an order which no source shows
    "figures",  # share of its numbers that the pieces it speaks of lack
    "astray",  # share of its numbers that the nearest piece of their clause lacks
    "bare",  # 1 if it has no number
    "names",  # share of its capitalised words, the first left out, that the pieces it speaks of lack
    "unheld_light",  # share of its words without numbers and names that the pieces it speaks of lack
    "other",  # 1 if it is in a language whose words have no thesaurus here
    "length",  # log of 1 + words that tell something
)


def features(said: PreparedStatement) -> list[float]:
    """The features of a sentence, in the order of `FEATURES`."""
    parts = [p for p in said.parts if p.clause.terms]
    units = _units(parts)
    return [*_held(said, parts, units), *_differences(said, parts, units), *_form(said, parts, units)]


def _units(parts: Sequence[PreparedClause]) -> list[SourcePiece]:
    """The pieces that the clauses speak of: of each its nearest, and the next where it adds."""
    found = [u for p in parts if p.aligned is not None for u in p.aligned.units[:2]]
    return list({id(u): u for u in found}.values())


def _held(said: PreparedStatement, parts: Sequence[PreparedClause], units: Sequence[SourcePiece]) -> list[float]:
    sizes = [len(p.clause.terms) for p in parts]
    many = max(1, sum(sizes))
    two = [p.aligned.two if p.aligned else 0.0 for p in parts]
    one = [p.aligned.share if p.aligned else 0.0 for p in parts]
    unsaid = sum(len(p.aligned.unsaid) if p.aligned else _unsaid(said, p) for p in parts)
    best = [p.candidates[0] for p in parts if p.candidates]
    far = {(u.span.source, u.number // 3) for u in (c.unit for c in best)}
    return [
        1 - min(two, default=0.0),
        1 - sum(a * n for a, n in zip(two, sizes, strict=True)) / many,
        1 - sum(a * n for a, n in zip(one, sizes, strict=True)) / many,
        unsaid / many,
        math.log1p(unsaid),
        _parted(parts, units),
        1 - sum(c.two.theirs for c in best) / len(best) if best else 1.0,
        (len(far) - 1) / len(parts) if far else 1.0,
    ]


def _unsaid(said: PreparedStatement, part: PreparedClause) -> int:
    return sum(not within_compounds(t.word, said.field.words, said.code) for t in part.clause.terms)


def _parted(parts: Sequence[PreparedClause], units: Sequence[SourcePiece]) -> float:
    mine = [(a.key, b.key) for p in parts for a, b in pairwise(p.clause.terms)]
    theirs = {(a.key, b.key) for u in units for a, b in pairwise(u.terms)}
    return sum(pair not in theirs for pair in mine) / len(mine) if mine else 1.0


def _differences(said: PreparedStatement, parts: Sequence[PreparedClause], units: Sequence[SourcePiece]) -> list[float]:
    mine = [c for p in said.parts for c in p.clause.cues]
    theirs = [c for u in units for c in (*u.cues, *u.over)]
    best = [p.candidates[0] for p in parts if p.candidates]
    near = [c for b in best for c in b.two.piece.cues]
    whole = [c for b in best for c in (*b.unit.cues, *b.unit.over)]
    return [
        float(denies(mine) and not denies(theirs)),
        float(denies(near) and not denies(mine)),
        float(sum(_apart(b) for b in best)),
        float(len(_bounds(mine) - _bounds(theirs))),
        float(len(_bounds(near) - _bounds(mine))),
        float(_any(near, _only) and not _any(mine, _only)),
        float(_any(whole, _if) and not _any(mine, _if)),
        float(_any(mine, _only) and not _any(theirs, _only)),
        float(_any(mine, _if) and not _any(theirs, _if)),
        float(_any(mine, _regardless) and not _any(theirs, _regardless)),
        float(any(_wider(p) for p in parts)),
        float(_any(near, _may) and not _any(mine, _may)),
    ]


def _form(said: PreparedStatement, parts: Sequence[PreparedClause], units: Sequence[SourcePiece]) -> list[float]:
    figures = {t.key for p in parts for t in p.clause.terms if t.digits}
    held = {k for u in units for k in (*u.keys, *u.above)} | said.field.asked
    return [
        float(sum(not in_order(*pair) for pair in sequence(parts))),
        len(figures - held) / len(figures) if figures else 0.0,
        _astray(parts),
        float(not figures),
        *_words(said, parts, held),
        float(said.code != "en"),
        math.log1p(sum(len(p.clause.terms) for p in parts)),
    ]


def _astray(parts: Sequence[PreparedClause]) -> float:
    figures = [(t.key, p) for p in parts for t in p.clause.terms if t.digits]
    away = sum(
        not p.candidates or key not in p.candidates[0].unit.keys | p.candidates[0].unit.above for key, p in figures
    )
    return away / len(figures) if figures else 0.0


def _words(
    said: PreparedStatement, parts: Sequence[PreparedClause], held: frozenset[str] | set[str]
) -> tuple[float, float]:
    """Shares of its names and of its other words that `held` lacks."""
    told = [
        (t, p.clause.text[t.start].isupper() and p.clause.start + t.start > 0)
        for p in parts
        for t in p.clause.terms
        if not t.digits
    ]
    lacking = [
        [t.key not in held and t.alike.isdisjoint(held) for t, name in told if name is kind] for kind in (True, False)
    ]
    names, others = (sum(part) / len(part) if part else 0.0 for part in lacking)
    return (0.0 if said.code == "de" else names), others


def _any(cues: Iterable[Cue], test: Callable[[Cue], bool]) -> bool:
    return any(test(c) for c in cues)


def _only(cue: Cue) -> bool:
    return cue.concept == "conditions" and cue.key in ("only", "unless")


def _if(cue: Cue) -> bool:
    return cue.concept == "conditions" and cue.key == "if"


def _regardless(cue: Cue) -> bool:
    return cue.concept == "conditions" and cue.key == "regardless"


def _all(cue: Cue) -> bool:
    return cue.concept == "universals" and cue.key == "all"


def _may(cue: Cue) -> bool:
    return cue.concept == "hedges" and cue.key == "may"


def _wider(part: PreparedClause) -> bool:
    """True if a clause speaks of all and neither of the two nearest clauses of the sources does."""
    return _any(part.clause.cues, _all) and not _any((c for b in part.candidates[:2] for c in b.unit.cues), _all)


def _bounds(cues: Iterable[Cue]) -> set[str]:
    return {c.key for c in cues if c.concept in ("bounds", "bounds_behind")} - {"exact"}


def _apart(candidate: ClauseCandidate) -> int:
    mine, theirs = (
        {c.key for c in part.cues if c.concept == "opposites" and c.scale not in _LOOSE}
        for part in (candidate.two.clause, candidate.two.piece)
    )
    return sum(
        a.partition("/")[0] == b.partition("/")[0] and b not in mine and a not in theirs for a in mine for b in theirs
    )


_LOOSE = frozenset({"way", "extent", "time"})
