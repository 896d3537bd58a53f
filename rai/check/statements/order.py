"""The order of steps: which of them an answer puts first, and whether a source has them so or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from rai.check.lexicon.load import Cue
from rai.check.statements.clauses import Clause
from rai.check.statements.prepared import ClauseCandidate, PreparedClause

CLOSE = 0.5
"""Least share of what a clause tells that a clause of a source has to hold to tell the same step."""
_FEWEST, _FEWEST_BEHIND = 2, 3
"""Fewest words that both share then; more are wanted of a clause that hangs on another (", away from her other medicines")."""
_OPENING = 3
"""Most characters of a clause before the word that it opens with."""


def sequence(parts: Sequence[PreparedClause]) -> list[tuple[PreparedClause, PreparedClause]]:
    """Pairs of clauses of which the answer says that the first comes before the second."""
    found: list[tuple[PreparedClause, PreparedClause]] = []
    for n, part in enumerate(parts):
        told = {c.key: c for c in part.clause.cues if c.concept == "order"}
        if n and ("then" in told or "finally" in told or ("before" in told and told["before"].start <= _OPENING)):
            found.append((parts[n - 1], part))
        elif "first" in told and n + 1 < len(parts) and _adverb(part.clause, told["first"]):
            found.append((part, parts[n + 1]))
    return found


def reversed_order(first: PreparedClause, second: PreparedClause) -> tuple[ClauseCandidate, ClauseCandidate] | None:
    """The clauses of a source that tell two steps, if it puts the second before the first; None if it does not, or no source tells both."""
    a, b = _step(first), _step(second)
    if a and b and a.unit.span.source == b.unit.span.source and _place(a) > _place(b) and _ordered(b, a):
        return a, b
    return None


def in_order(first: PreparedClause, second: PreparedClause) -> bool:
    """True if a source tells the first step before the second, as the answer does."""
    a, b = _step(first), _step(second)
    return bool(a and b and a.unit.span.source == b.unit.span.source and _place(a) < _place(b))


def _adverb(clause: Clause, cue: Cue) -> bool:
    """True of "first" that tells when, at the beginning or the end of a clause, not of "the first week"."""
    return cue.start <= _OPENING or not any(t.start >= cue.end for t in clause.terms)


def _step(part: PreparedClause) -> ClauseCandidate | None:
    """The clause of a source that tells the step of a clause; None if none tells enough of it."""
    if not part.candidates:
        return None
    best = part.candidates[0]
    fewest = _FEWEST_BEHIND if part.clause.text.startswith(",") else _FEWEST
    return best if best.two.mine >= CLOSE and len(best.two.shared) >= fewest and not best.unit.row else None


def _place(candidate: ClauseCandidate) -> tuple[int, int]:
    return candidate.unit.number, candidate.two.piece.start


def _ordered(one: ClauseCandidate, other: ClauseCandidate) -> bool:
    """True if the source itself puts the two in order: by numbers, or by saying that the later comes then."""
    if one.unit.step and other.unit.step and one.unit.step < other.unit.step:
        return True
    later = {
        c.key for c in (other.two.piece.cues if one.unit is other.unit else other.unit.cues) if c.concept == "order"
    }
    earlier = {c.key for c in one.unit.cues if c.concept == "order"}
    if one.unit is other.unit:
        return bool(later & {"then", "finally"}) and "after" not in later
    if "before" in later | earlier:
        return False
    return bool(later & {"then", "after", "finally"}) or "first" in earlier
