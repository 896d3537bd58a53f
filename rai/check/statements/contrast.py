"""The contrast of a clause of an answer with one of a source: what they share, and whether one turns the other round, by a negation or opposites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rai.check.lexicon.load import Cue
from rai.check.phrasing.antonyms import exclusive, generic, opposite
from rai.check.statements.clauses import SAME_START, Clause
from rai.check.statements.source_pieces import SourcePiece
from rai.check.statements.terms import Term

_REACH = 1
"""Words that tell something, counted from a negation on, which it reaches."""
_REPEATED = 0.65
"""Least share of each clause that the other holds before an opposite word, which has many uses, is taken for one."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A clause of an answer beside one of a source.

    `shared`: pairs of words that mean the same; `scales`: the scales on which both stand (free or charged, allowed or forbidden), with the
    cue of each; `mine`, `theirs`: the share of each by weight that the other holds, in [0, 1]; `near`: keys of the whole piece of the source
    and of what stands above it.
    """

    clause: Clause
    piece: Clause
    shared: tuple[tuple[Term, Term], ...]
    scales: dict[str, tuple[Cue, Cue]]
    mine: float
    theirs: float
    near: frozenset[str] = frozenset()

    def alone(self) -> tuple[list[Term], list[Term]]:
        """The words of each that the other lacks. Words of `near`, for the first, and cues of a shared scale do not count as lacking."""
        cues = [c for c, _ in self.scales.values()], [c for _, c in self.scales.values()]
        said = [t.key for t, _ in self.shared]
        mine = [t for t in self.clause.terms if t.key not in said and t.key not in self.near and not _in(t, cues[0])]
        theirs = [t for t in self.piece.terms if all(t is not b for _, b in self.shared) and not _in(t, cues[1])]
        return mine, theirs


@dataclass(frozen=True, slots=True)
class Turn:
    """How one of two clauses turns the other round: the words of each that do, "" if it has none, and the scale.

    `scale`: "word" for two opposite words, "" for a negation.
    """

    mine: str
    theirs: str
    scale: str = ""


def same_word(a: Term, b: Term) -> bool:
    """True if two words may stand for each other, or one is made of the other."""
    if a.key == b.key or b.key in a.alike:
        return True
    if a.digits or b.digits or min(len(a.word), len(b.word)) < SAME_START:
        return False
    return a.word[:SAME_START] == b.word[:SAME_START]


def beside(clause: Clause, piece: Clause, weight: dict[str, float], unseen: float, unit: SourcePiece) -> Beside | None:
    """Two clauses with what they share; None where that is no word and no scale. `weight`, `unseen`: as in `align.Field`; `unit`: the piece of a source that `piece` is
    a clause of.
    """
    pairs: list[tuple[Term, Term]] = []
    free = list(piece.terms)
    for term in clause.terms:
        if not _may_stand_in(term, piece):
            continue
        match = next((t for t in free if same_word(term, t)), None)
        if match is not None:
            pairs.append((term, match))
            free.remove(match)
    scales = _scales(clause, piece)
    if not pairs and not scales:
        return None
    mine = [
        t
        for t in clause.terms
        if t.key in unit.above or any(t is a for a, _ in pairs) or _in(t, [a for a, _ in scales.values()])
    ]
    theirs = [t for t in piece.terms if any(t is b for _, b in pairs) or _in(t, [b for _, b in scales.values()])]
    return Beside(
        clause,
        piece,
        tuple(pairs),
        scales,
        _share(mine, clause.terms, weight, unseen),
        _share(theirs, piece.terms, weight, unseen),
        unit.above | unit.keys,
    )


def _may_stand_in(term: Term, piece: Clause) -> bool:
    """False of a word that is the `same_word` as none of a clause: most are, and the clause is looked through for the others alone."""
    return term.key in piece.keys or not term.alike.isdisjoint(piece.keys) or term.word[:SAME_START] in piece.starts


def _in(term: Term, cues: Sequence[Cue]) -> bool:
    return any(c.start <= term.start < c.end for c in cues)


def _scales(clause: Clause, piece: Clause) -> dict[str, tuple[Cue, Cue]]:
    if not (clause.cues and piece.cues):
        return {}
    mine, theirs = (
        {c.scale: c for c in reversed(part.cues) if c.concept == "opposites" and c.scale in TURNING}
        for part in (clause, piece)
    )
    return {scale: (mine[scale], theirs[scale]) for scale in mine if scale in theirs}


def _share(part: Sequence[Term], whole: Sequence[Term], weight: dict[str, float], unseen: float) -> float:
    total = sum(weight.get(t.key, unseen) for t in whole)
    return sum(weight.get(t.key, unseen) for t in part) / total if total else 0.0


def turned(two: Beside) -> Turn | None:
    """How one of two clauses turns the other round; None if neither does, or if it is unclear.

    Negations and opposites count alike: an odd number of differences turns, an even one does not ("not free", "charged").
    """
    words = _antonyms(two)
    pairs = [(a, b) for a, b in (*two.shared, *words) if a.key == b.key or b.key not in a.alike]
    mine = _Denied(two.clause, [a for a, _ in pairs], [c for c, _ in two.scales.values()])
    theirs = _Denied(two.piece, [b for _, b in pairs], [c for _, c in two.scales.values()])
    if mine.unclear or theirs.unclear or _negative_alone(two) or _of_another(two, words):
        return None
    scales = [s for s, (a, b) in two.scales.items() if a.key != b.key]
    if (len(mine.bearing) + len(theirs.bearing) + len(scales) + len(words)) % 2 == 0:
        return None
    denied = [c for side in (mine, theirs) for c in side.bearing]
    told = scales or [
        s for s, pair in two.scales.items() if any(0 <= c.start - d.end < _NEAR for c in pair for d in denied)
    ]
    if told and not words:
        scale = told[0]
        a, b = two.scales[scale]
        return Turn(mine.said(a), theirs.said(b), scale)
    if words:
        return Turn(words[0][0].word, words[0][1].word, "word")
    return Turn(*(side.said(side.bearing[0]) if side.bearing else "" for side in (mine, theirs)))


NEGATIVE = frozenset(
    {"part/excluded", "may/forbidden", "refund/kept", "hold/exempt", "need/optional", "hours/closed", "cost/free"}
)
"""Sides of scales that deny by themselves."""


def denies(cues: Iterable[Cue]) -> bool:
    """True if one of `cues` denies what is said: a negation, or the denying side of a scale."""
    return any((c.concept == "negation" and c.key in ("not", "without")) or c.key in NEGATIVE for c in cues)


def _negative_alone(two: Beside) -> bool:
    """True if one of the two is on the denying side of a scale on which the other does not stand: "not allowed", "cannot"."""
    cues = [c for c in (*two.clause.cues, *two.piece.cues) if c.concept == "opposites" and c.key in NEGATIVE]
    return any(c.scale not in two.scales for c in cues)


def _of_another(two: Beside, words: Sequence[tuple[Term, Term]]) -> bool:
    """True if the two may speak of different things: adults and children, Mondays and Tuesdays, or words of each stand in place of the other's."""
    if any(c.concept == "universals" and c.key == "some" for part in (two.clause, two.piece) for c in part.cues):
        return True
    if any(_part_denied(part) for part in (two.clause, two.piece)):
        return True
    if words and min(two.mine, two.theirs) < _REPEATED:
        return True
    sides = [
        {c.key for c in part.cues if c.concept == "opposites" and c.scale not in TURNING}
        for part in (two.clause, two.piece)
    ]
    if any(a.partition("/")[0] == b.partition("/")[0] and a != b for a in sides[0] for b in sides[1]):
        return True
    opposed = [t for pair in words for t in pair]
    mine, theirs = (
        [t for t in part if not t.digits and not generic(t.key) and all(t is not o for o in opposed)]
        for part in two.alone()
    )
    return any(exclusive(a.key, b.key) for a in mine for b in theirs) or bool(mine and theirs)


def _part_denied(clause: Clause) -> bool:
    """True of "not every room": of some it is true, of some it is not."""
    every = [c.start for c in clause.cues if c.concept == "universals" and c.key == "all"]
    return any(0 < at - c.end < _NEXT for at in every for c in clause.cues if c.concept == "negation")


_NEXT = 3
"""Characters from a negation to the "every" that it denies."""


def side_of(clause: Clause, scale: str) -> bool | None:
    """True if a clause is on the affirming side of a scale, False on the denying one; None if it does not stand on it."""
    cue = next((c for c in clause.cues if c.concept == "opposites" and c.scale == scale), None)
    if cue is None:
        return None
    denied = any(c.concept == "negation" and c.key == "not" and 0 <= cue.start - c.end < _NEAR for c in clause.cues)
    return (cue.key not in NEGATIVE) != denied


class _Denied:
    """The negations of a clause. `bearing`: those that bear on what both clauses share; `unclear`: whether others, or a condition, leave its sense open."""

    def __init__(self, clause: Clause, shared: Sequence[Term], cues: Sequence[Cue]) -> None:
        self.clause = clause
        self.bearing = _bearing(clause, shared, cues)
        sided = {c.start for c in clause.cues if c.concept == "opposites" and c.scale in TURNING}
        others = [
            c
            for c in clause.cues
            if c.concept == "negation"
            and c.key in ("not", "without")
            and c not in self.bearing
            and c.start not in sided
        ]
        limits = any(c.concept == "conditions" and c.key != "requires" for c in clause.cues)
        self.unclear = limits or (bool(others) and not self.bearing)

    def said(self, cue: Cue) -> str:
        """The words of a cue, with the negation that bears on it."""
        start = min([cue.start, *(c.start for c in self.bearing if 0 <= cue.start - c.end < _NEAR)])
        return self.clause.text[start : cue.end]


_NEAR = 25
"""Characters from a negation to the cue that it bears on."""
_LIMITING = frozenset({"least", "most", "over", "under", "before", "after", "until"})


def bounds_of(cues: Sequence[Cue]) -> set[str]:
    """The kinds of bounds among cues that limit what is said: least, most, over, under, before, after, until."""
    return {
        c.key
        for c in cues
        if c.key in _LIMITING
        and (c.concept == "bounds" or (c.concept == "bounds_behind" and c.key not in ("before", "after")))
    }


def _bearing(clause: Clause, shared: Sequence[Term], scales: Sequence[Cue]) -> list[Cue]:
    """Negations that reach a word which both say; two that follow each other ("ne … pas") are one."""
    found: list[Cue] = []
    sided = {c.start for c in clause.cues if c.concept == "opposites" and c.scale in TURNING}
    for cue in clause.cues:
        if (
            cue.concept != "negation"
            or cue.key != "not"
            or cue.start in sided
            or clause.text[cue.end : cue.end + 1] in (",", ".")
        ):
            continue
        ahead = [t for t in clause.terms if t.start >= cue.end][:_REACH]
        reached = any(t is s for t in ahead for s in shared) or any(_in(t, scales) for t in ahead)
        if reached and not (found and _double(clause, found[-1], cue)):
            found.append(cue)
    return found


def _double(clause: Clause, one: Cue, other: Cue) -> bool:
    return sum(one.end <= t.start < other.start for t in clause.terms) <= 1


TURNING = frozenset({"cost", "part", "may", "hours", "refund", "need", "hold"})
"""Scales of which one side is what the other denies; adults and children are no denial of each other."""


def _antonyms(two: Beside) -> list[tuple[Term, Term]]:
    cues = [c for pair in two.scales.values() for c in pair]
    mine = [t for t in two.clause.terms if all(t is not a for a, _ in two.shared) and not _in(t, cues)]
    theirs = [t for t in two.piece.terms if all(t is not b for _, b in two.shared) and not _in(t, cues)]
    return [(a, b) for a in mine for b in theirs if opposite(a.key, b.key)]
