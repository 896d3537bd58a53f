"""Sentences of an answer made ready for the rules: cut into clauses, each beside the clauses of the sources that say most of the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rai.check.context import CheckContext
from rai.check.statements.align import Aligned, Field, align, gather
from rai.check.statements.clauses import Clause, clauses
from rai.check.statements.contrast import Beside, beside
from rai.check.statements.source_pieces import SourcePiece
from rai.check.statements.terms import language
from rai.records import EvidenceSpan, Source, Status

_BACK = 0.5
"""How much the share of a source's clause that the answer's holds counts, beside 1 for the share of the answer's that the source's holds."""
_MOST = 8
"""Most clauses of the sources that are kept beside one of the answer."""


@dataclass(frozen=True, slots=True)
class ClauseCandidate:
    """A clause of a source beside one of the answer. `unit`: the piece of a source it is in; `rank`: how much the two share, in [0, 1.5]."""

    unit: SourcePiece
    two: Beside
    rank: float


@dataclass(frozen=True, slots=True)
class PreparedClause:
    """A clause of the answer with its candidates, best first; `aligned` is None if no source shares a word with it."""

    clause: Clause
    aligned: Aligned | None
    candidates: tuple[ClauseCandidate, ...]


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A sentence of an answer beside the sources. `plain`: as `plain_words` writes it; `parts`: its clauses."""

    plain: str
    field: Field
    parts: tuple[PreparedClause, ...]
    context: CheckContext

    @property
    def code(self) -> str:
        """The language that both are read in."""
        return self.field.code


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule makes of a sentence: its status, the places that show it, and the reason, a sentence for a person."""

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str


def read_statement(plain: str, context: CheckContext) -> PreparedStatement:
    """Prepares a sentence for the rules. `plain`: it as `plain_words` writes it.

    Takes time linear in the sources for the first sentence, for the next ones in the pieces that share a word.
    """
    sources = tuple(p.source for p in context.sources)
    field = gather(sources, context.question.source.text if context.question else "", _code(sources))
    return PreparedStatement(plain, field, tuple(_part(c, field) for c in clauses(plain, field.code)), context)


@lru_cache(maxsize=64)
def _code(sources: tuple[Source, ...]) -> str:
    return language("\n".join(s.text for s in sources))


def _part(clause: Clause, field: Field) -> PreparedClause:
    aligned = align(clause, field)
    if aligned is None:
        return PreparedClause(clause, None, ())
    found = []
    for unit in aligned.units:
        if unit.question:
            continue
        for piece in clauses(unit.span.text, field.code):
            two = beside(clause, piece, field.weight, field.unseen, unit)
            if two is not None:
                found.append(ClauseCandidate(unit, two, two.mine + _BACK * two.theirs))
    found.sort(key=lambda c: -c.rank)
    return PreparedClause(clause, aligned, tuple(found[:_MOST]))
