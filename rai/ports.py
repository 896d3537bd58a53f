"""The seams of responsible AI. All async; implementations live in embedded/ and azure/, named only by bot.compose.system."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from rai.judgement import Case, Proposal
from rai.personal.known import Personal
from rai.records import EntityType, Entry, Screening, Verification


class PromptScreen(Protocol):
    """Decides what may reach a model. Any block blocks; failure is closed."""

    @property
    def name(self) -> str: ...

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judge `text` as a request and each of `documents` as data. Raises ServiceError when it cannot decide."""
        ...


class LocalScreen(PromptScreen, Protocol):
    """A screen whose verdicts on documents may be kept."""

    @property
    def version(self) -> str:
        """Changes whenever a verdict on a document may change."""
        ...


class EntityTagger(Protocol):
    """Finds names in a text."""

    async def tag(self, text: str) -> tuple[tuple[int, int, EntityType], ...]:
        """Spans (start, end, type), ascending, not overlapping."""
        ...


class PersonalFinder(Protocol):
    """Finds personal data beside our own rules, which need none: a service with a model."""

    async def find(self, texts: Sequence[str]) -> Sequence[Personal]:
        """What is personal in these texts, read as one. Raises ServiceError if any part of them could not be read."""
        ...


class AnswerScorer(Protocol):
    """How well an answer meets its question."""

    async def relevance(self, question: str, answer: str) -> float:
        """In [0, 1]; higher is better: the chance that `answer` belongs to `question`, right or wrong in what it says.

        `question` may be several sentences, or lean on an earlier turn. Nothing told ("I don't know", a question back) is
        0. Raises ServiceError: then relevance is not judged.
        """
        ...


class StatementJudge(Protocol):
    """A second opinion on claims, sentences and values alike, that the check itself leaves in doubt. It proposes; `rai.check.judging` verifies."""

    @property
    def name(self) -> str: ...

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        """A proposal for each of `case.claims`, in their order; `UNSURE` where it cannot say.

        One call for all, none if there are no claims. Raises ServiceError, ContentFiltered or PromptBlocked: then the claims stay as they are.
        """
        ...


class Ledger(Protocol):
    """The append-only, keyed record of every turn."""

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        """Write durably, then return. `body` is redacted by the one writer. Raises StoreError: nothing may leave."""
        ...

    async def get(self, entry_id: str) -> Entry | None: ...

    def entries(self, *, after: int = 0, limit: int | None = None, newest_first: bool = False) -> AsyncIterator[Entry]:
        """Entries with `seq` > `after`, oldest first unless `newest_first`."""
        ...

    def export(self) -> AsyncIterator[str]:
        """The whole ledger as lines that can be verified elsewhere: a heading, the entries, and a sealed last line."""
        ...

    async def verify(self) -> Verification:
        """Walk the whole chain with the key; compare count and head with the anchor kept outside the store."""
        ...
