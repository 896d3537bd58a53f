"""The ports (interfaces) of responsible AI, all async. Implementations live in embedded/ and azure/ and are named only by bot.compose.system."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, Protocol, TypeVar

from grounding.bounded.pool import Run
from grounding.records import OnProgress
from rai.judgement import Case, Proposal
from rai.personal.known import Personal
from rai.records import EntityType, Entry, KeptCheckpoint, Screening, Verification

T = TypeVar("T")


class PromptScreen(Protocol):
    """Decides what may reach a model. Any block blocks; where it cannot decide nothing passes."""

    @property
    def name(self) -> str:
        """The screen's name in notes and records."""
        ...

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judges `text` as a request and each of `documents` as data. Raises ServiceError when it cannot decide."""
        ...


class LocalScreen(PromptScreen, Protocol):
    """A screen whose verdicts on documents may be kept."""

    @property
    def version(self) -> str:
        """The version of the screen, which changes whenever a verdict on a document may change."""
        ...


class EntityTagger(Protocol):
    """Finds names in a text."""

    async def tag(self, text: str) -> tuple[tuple[int, int, EntityType], ...]:
        """The names of `text` as (start, end, type), ascending, not overlapping; offsets are code points."""
        ...


class PersonalFinder(Protocol):
    """Finds personal data beside what our own rules find: a service with a model."""

    async def find(self, texts: Sequence[str]) -> Sequence[Personal]:
        """The personal data in `texts`, read as one with a line each. Raises ServiceError if any part of them could not be read."""
        ...


class AnswerScorer(Protocol):
    """Scores how well an answer meets its question."""

    async def relevance(self, question: str, answer: str) -> float:
        """The chance, in [0, 1], that `answer` belongs to `question`, right or wrong in what it says.

        `question` may be several sentences, or lean on an earlier turn. Nothing told ("I don't know", a question back) is
        0. Raises ServiceError: then relevance is not judged.
        """
        ...


class StatementJudge(Protocol):
    """Gives a second opinion on claims, sentences and values alike, that the check leaves in doubt. It proposes; `rai.check.judging` verifies."""

    @property
    def name(self) -> str:
        """The judge's name in reasons and records."""
        ...

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        """A proposal for each of `case.claims`, in their order; `UNSURE` where it cannot say.

        One call for all, none if there are no claims. Raises ServiceError, ContentFiltered or PromptBlocked: then the claims stay as they are.
        """
        ...


class Ledger(Protocol):
    """The append-only record of every turn, sealed with a key."""

    @property
    def ledger_id(self) -> str | None:
        """The id that the ledger was given when it was begun; None where it has none, or none yet."""
        ...

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        """Writes an entry durably, then returns it. `body` is redacted by the one writer. Raises StoreError: then no answer may leave."""
        ...

    async def get(self, entry_id: str) -> Entry | None:
        """The entry with that id, or None."""
        ...

    async def holds(self, entry_id: str) -> bool:
        """True if what is stored under that id is what was sealed, as far as the entry itself tells: its place in the chain is for `verify`. False if there is none."""
        ...

    def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        """The entries with `seq` > `after`, at most `limit`, oldest first unless `newest_first`; of these `kinds` alone if they are given."""
        ...

    async def each(
        self,
        make: Callable[[Entry], T],
        *,
        after: int = 0,
        limit: int,
        run: Run = asyncio.to_thread,
        at_once: int = 1,
    ) -> list[T]:
        """What `make`, a function of a module, gives of each of the oldest `limit` entries with `seq` > `after`, oldest first.

        It is called by `run`, for `at_once` parts of them at once, on one entry at a time, none of which is kept: of many that takes less time than `entries` does, and with a
        pool of processes it goes on beside everything else.
        """
        ...

    def export(self) -> AsyncIterator[str]:
        """The whole ledger as lines that can be verified elsewhere: a heading, the entries, and a sealed last line."""
        ...

    async def verify(self, on_progress: OnProgress | None = None) -> Verification:
        """Checks the whole chain with the key, and compares count and head with the anchor kept outside the store. `on_progress` is told of entries that were read, and may be called in another thread."""
        ...


class CheckpointSink(Protocol):
    """A second place for the ledger's signed checkpoints, where each is written once and never changed."""

    @property
    def place(self) -> str:
        """Where that is, for a person to read; no secret in it."""
        ...

    async def put(self, name: str, note: str) -> str | None:
        """Writes `note` durably under `name` unless there is one already, and returns what stands there then; None if that may not be read.

        Raises StoreError or ServiceError if it cannot be written.
        """
        ...

    async def read(self, name: str) -> str | None:
        """The note that stands under `name`; None if there is none, or if it may not be read. Raises StoreError or ServiceError if that cannot be found out."""
        ...

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        """The last by name of those that begin with `prefix`, or None. Raises StoreError or ServiceError if that cannot be found out."""
        ...
