"""The running system as its users hold it: command line, pages and channel get this and nothing below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bot.privacy.retention import Retained
from bot.records import Answer, Rerun, Versions
from bot.settings.settings import Settings
from grounding.errors import SettingsError
from grounding.policy import Policy
from grounding.ports import ChatModel, Directory, Embedder, Grader, Library, Retriever
from grounding.query.linking import QueryBuilder
from rai.ledger.checkpoints.proof_file import Proven
from rai.ledger.checkpoints.publish import Publisher
from rai.ledger.watch import LOOK_S, Watched
from rai.ports import Ledger, PromptScreen
from rai.records import Report, Source
from rai.screening.quarantine import Nothing, Quarantine

if TYPE_CHECKING:
    from rai.ledger.store import SqlLedger


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """An answer and the sources to check it against, as `attest check` and `POST /api/check` take them.

    `at`: when the conversation takes place, with or without a zone: the day that "tomorrow" is counted from.
    """

    answer: str
    sources: tuple[Source, ...]
    question: str | None = None
    given: tuple[str, ...] = ()
    at: datetime | None = None


class Look(Protocol):
    """Looks at the ledger for what was done to it: at what is new, and for `budget_s` seconds at the rest."""

    async def __call__(self, budget_s: float = LOOK_S, /) -> Watched:
        """What all looks so far came to. Raises StoreError where the store cannot be read."""
        ...


async def sound(_budget_s: float = LOOK_S) -> Watched:
    """A look at a ledger that nobody watches: nothing is known to be wrong."""
    return Watched()


async def nothing_due() -> Retained:
    """The retention of a system that keeps nothing."""
    return Retained()


async def no_rerun(_wanted: Rerun) -> dict[str, Any]:
    """The rerun of a system that has none."""
    raise SettingsError("this system cannot run a turn again")


async def no_proofs(_entry_ids: Collection[str]) -> Proven:
    """The proofs of a system whose ledger signs nothing."""
    raise SettingsError("this system's ledger has no proofs")


async def no_recheck(_request: CheckRequest, _policy: str) -> Report:
    """The check of a system that has none for recorded turns."""
    raise SettingsError("this system cannot check a recorded answer")


@dataclass(frozen=True, slots=True)
class OpenLedger:
    """A ledger that is opened without a system, who publishes its checkpoints where there is a place for them, and the file of the key that signs them."""

    ledger: SqlLedger
    publisher: Publisher | None
    signing_key_file: Path


@dataclass(frozen=True, slots=True)
class System:
    """Everything that is switched on, ready to use. Built by `bot.compose.system.compose`; closed once, by whoever built it.

    `ready` answers a dict of part to reason for every part that is not ready; empty means ready. `degraded`: services that turns go on
    without for now, with why. `warm` loads in the
    background what the first turn of a long-running server should not wait for. `recall`: of approximate vectors, the share of
    the exact best 50 that they find; None while the search is exact. `chunks_without_vector`: passages without a vector of the embedder that search
    uses, and how many of them have one of another. `quarantine`: passages that were taken for planted orders. `look`: at the ledger, for what was done to it. `checkpoints`: publishes those of the ledger, where there is a place for them. `retain`: take away what has been kept for long enough. `versions`: what its turns run on. `rerun`: a recorded turn once more, as the body of an entry that is not written; `recheck`: a recorded answer under the policy of that name, without a judge. `prove`: entries of the ledger with what proves them. `keep_up`: has the search indexes of this machine follow a store that other machines write to; None where no other does. `incoming`: a block that belongs to the trace which the headers of a request name.
    """

    settings: Settings
    answer: Answer
    check: Callable[[CheckRequest], Awaitable[Report]]
    queries: QueryBuilder
    embedder: Embedder | None
    retriever: Retriever
    grader: Grader
    screen: PromptScreen
    library: Library
    directory: Directory
    ledger: Ledger
    ready: Callable[[], Awaitable[dict[str, str]]]
    close: Callable[[], Awaitable[None]]
    warm: Callable[[], object] = lambda: None
    degraded: Callable[[], dict[str, str]] = dict
    recall: Callable[[], float | None] = lambda: None
    chunks_without_vector: Callable[[], tuple[int, int]] = lambda: (0, 0)
    graders: Callable[[Policy], Grader] | None = None
    rewriter: ChatModel | None = None
    quarantine: Quarantine = field(default_factory=Nothing)
    look: Look = sound
    checkpoints: Publisher | None = None
    retain: Callable[[], Awaitable[Retained]] = nothing_due
    versions: Versions = field(default_factory=Versions)
    rerun: Callable[[Rerun], Awaitable[dict[str, Any]]] = no_rerun
    recheck: Callable[[CheckRequest, str], Awaitable[Report]] = no_recheck
    prove: Callable[[Collection[str]], Awaitable[Proven]] = no_proofs
    keep_up: Callable[[], Awaitable[object]] | None = None
    incoming: Callable[[Mapping[str, str]], AbstractContextManager[None]] = lambda _headers: nullcontext()

    def grader_of(self, policy: Policy) -> Grader:
        """Who grades under this policy: a model speaks in its style, the embedded grader is the same for all."""
        return self.graders(policy) if self.graders else self.grader
