"""Bounds that an answer turns round: at least eight for at most eight."""

from __future__ import annotations

from rai.check.lexicon.load import Cue, rows
from rai.check.statements.clauses import Clause
from rai.check.statements.prepared import ClauseCandidate, Decision, PreparedStatement
from rai.check.statements.terms import Term

_FEWEST = 2
"""Fewest words that two clauses share before their bounds are set against each other."""
_LOWER, _UPPER = frozenset({"least", "over", "from", "after"}), frozenset({"most", "under", "until", "before"})
_APART = ({"least", "most"}, {"from", "until"})
"""Bounds that exclude one another; "more than 250" and "up to 250" do not: each tells one half."""


def bound_turned(said: PreparedStatement) -> Decision | None:
    """`contradicted` if a source bounds the same number the other way: at least eight, at most eight; else None."""
    for part in said.parts:
        for candidate in part.candidates:
            found = _bounds_apart(part.clause, candidate)
            if found and not any(_bounds_together(part.clause, c) for c in part.candidates if c is not candidate):
                mine, theirs = found
                return Decision(
                    "contradicted",
                    (candidate.unit.span,),
                    f"Says “{mine}” where {candidate.unit.span.source} says “{theirs}”.",
                )
    return None


def _bounds_apart(clause: Clause, candidate: ClauseCandidate) -> tuple[str, str] | None:
    if candidate.two.mine < 0.4 or len(candidate.two.shared) < _FEWEST or candidate.unit.row:
        return None
    for a, b, mine, theirs in _bound_pairs(clause, candidate):
        piece = candidate.two.piece
        if (
            {mine.key, theirs.key} in _APART
            and not (mine.key in ("least", "most") and _ahead(clause, piece))
            and not (_weak(clause, mine) or _weak(piece, theirs))
        ):
            return _stretch(clause, mine, a), _stretch(piece, theirs, b)
    return None


def _ahead(clause: Clause, piece: Clause) -> bool:
    """True if both count back from a day: up to a day ahead and at least a day ahead are one."""
    return all(any(c.key in ("time/before", "before") for c in side.cues) for side in (clause, piece))


def _weak(clause: Clause, cue: Cue) -> bool:
    """True of a preposition that says where as often as when: from Denver, by post."""
    return clause.text[cue.start : cue.end].lower() in rows("weak")["preposition"][clause.code]


def _bounds_together(clause: Clause, candidate: ClauseCandidate) -> bool:
    return any((m.key in _LOWER) == (t.key in _LOWER) for _, _, m, t in _bound_pairs(clause, candidate))


def _bound_pairs(clause: Clause, candidate: ClauseCandidate) -> list[tuple[Term, Term, Cue, Cue]]:
    found = []
    for a, b in candidate.two.shared:
        mine, theirs = _bound_of(clause, a), _bound_of(candidate.two.piece, b)
        if mine and theirs and (a.digits or mine.concept == theirs.concept):
            found.append((a, b, mine, theirs))
    return found


def _bound_of(clause: Clause, term: Term) -> Cue | None:
    """The bound directly before a word ("at least 8"), or behind a number and what it counts ("8 days or more", "by 15:00 at the latest")."""
    found = [cue for cue in clause.cues if cue.key in _LOWER | _UPPER and _binds(clause, cue, term)]
    return next((cue for cue in found if not _weak(clause, cue)), found[0] if found else None)


def _binds(clause: Clause, cue: Cue, term: Term) -> bool:
    if cue.concept == "bounds":
        return 0 <= term.start - cue.end < _NEXT and _between(clause, cue.end, term.start) == 0
    behind = cue.concept == "bounds_behind" and cue.key in ("least", "most", "until") and term.digits
    return behind and cue.start >= term.end and _between(clause, term.end, cue.start) <= 1


_NEXT = 12
"""Characters from a bound to what it bounds."""


def _between(clause: Clause, start: int, end: int) -> int:
    return sum(start <= t.start < end for t in clause.terms)


def _stretch(clause: Clause, cue: Cue, term: Term) -> str:
    return clause.text[min(cue.start, term.start) : max(cue.end, term.end)]
