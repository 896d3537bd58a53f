"""A question over the blocks that may be quoted, each with how likely it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grounding.quoting.features import BlockCandidate
from grounding.quoting.question_parts import Reading
from grounding.quoting.siblings import FittedTable
from grounding.records import Passage


@dataclass(frozen=True, slots=True)
class Weighed:
    """A question over blocks: `scores` has for each part of it one for each of them; `fitted` are the tables among them. `alone`: the scores
    before rows that compete took the chance that one of them answers. `near`: how near each block is to the question in meaning, in [-1, 1]; empty where nobody
    asks whether to quote at all.
    """

    reading: Reading
    found: Sequence[BlockCandidate]
    passages: Sequence[Passage]
    fitted: Sequence[FittedTable]
    scores: Sequence[Sequence[float]]
    alone: Sequence[Sequence[float]]
    near: Sequence[float] = ()

    @property
    def best(self) -> int:
        """The block with the highest score."""
        return max(range(len(self.found)), key=lambda i: max(part[i] for part in self.scores))
