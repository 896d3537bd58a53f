"""The grading and decision of a turn over one query: is there enough to answer from, before anything is corrected?"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from bot.evaluate.questions import Where
from bot.evaluate.rows import Row, T
from bot.rows import fields
from bot.system import System
from grounding.corrective.decide import Decision
from grounding.corrective.find import EvidenceSearch, Finders, find
from grounding.ports import Retriever
from grounding.records import Access, Grading, Query, Retrieval

_WHERE: Mapping[str, Where | None] = {"ANSWERABLE": "present", "PARTIAL": "present", "UNANSWERABLE": "absent"}
"""Kinds of MTRAG-UN that say where the answer is; a conversational or underspecified turn says nothing of it."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """What the corrective step decided over the passages of one query. `answered`: something was kept to answer from.

    `grade`: the best of the passages that may be answered from, in [0, 1]; None without one, or where nothing was graded.
    """

    decision: Decision
    grading: Grading
    answered: bool
    grade: float | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """A retriever that has searched once: what is asked for again is not searched for again."""

    retriever: Retriever
    query: Query
    access: Access
    k: int
    found: Retrieval

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """What was found, for the same query, user and `k`; a new search for any other."""
        if (query, access, k) == (self.query, self.access, self.k):
            return self.found
        return await self.retriever.retrieve(query, access, k)


def kind_of(row: Row, relevant: Sequence[str]) -> tuple[str | None, Where | None]:
    """The row's `answerability` in its own word, and where the answer is; without it, what `relevant` says. Raises InputError."""
    given = row.get("answerability")
    names = (given,) if isinstance(given, str) else fields.texts(row, "answerability")
    if names:
        return names[0].upper(), _WHERE.get(names[0].upper())
    if "relevant" not in row:
        return None, None
    return None, "present" if relevant else "absent"


async def judged(system: System, query: Query, access: Access, retriever: Retriever | None = None) -> JudgedQuestion:
    """What a turn decides before it corrects anything. `retriever` in place of the system's."""
    policy = system.settings.files.policies[system.settings.answering.policy]
    f = EvidenceSearch(query, access, policy, Finders(retriever or system.retriever, system.grader), _unstaged)
    await find(f)
    usable = {p.chunk_id for p in f.passages if not p.internal}
    grades = [g.score for g in f.grading.grades if g.chunk_id in usable]
    best = max(grades, default=None) if f.grading.status == "graded" else None
    return JudgedQuestion(f.decision, f.grading, any(not p.internal for p in f.result().kept), best)


async def _unstaged(_name: str, work: Awaitable[T], /) -> T:
    return await work
