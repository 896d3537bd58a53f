"""Hooks for observing a turn: calls of services, stages and failures are reported to watchers. Knows neither traces nor metrics.

Watchers stand in a context variable: they see what happens in the task that set them and in tasks and threads started from it, and nothing
costs more than a look-up where nobody watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from grounding.errors import ServiceError
from grounding.records import Completion

BreakerState = Literal["closed", "open", "half-open"]
RemoteOutcome = Literal[
    "ok", "timeout", "unavailable", "throttled", "rejected", "invalid", "filtered", "left_alone", "cancelled", "failed"
]
"""`filtered`: the service's own filter refused. `left_alone`: the breaker was open. `failed`: an error that is none of ours."""
Seam = Literal[
    "summarizer",
    "embedder",
    "grader",
    "web",
    "model",
    "directory",
    "tagger",
    "judge",
    "relevance",
    "ranker",
    "agentic",
    "pii",
]


class HasState(Protocol):
    """A circuit breaker, as far as a watcher sees it."""

    @property
    def state(self) -> BreakerState:
        """State of the breaker now."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """How an operation failed. `type` names the exception; `message` is ours, or empty: foreign words are not passed on."""

    type: str
    message: str = ""


@dataclass(slots=True, kw_only=True)
class Operation:
    """Base of what can be watched: something with a beginning and an end. `fault` is known when it has ended; None: it succeeded."""

    fault: Fault | None = field(default=None, init=False)


@dataclass(slots=True)
class StageRun(Operation):
    """A stage of a turn, under the name that it has in the record."""

    name: str


@dataclass(slots=True)
class RemoteCall(Operation):
    """A call of a remote service with all its attempts. `attempts` is 0 when the breaker let none pass."""

    service: str
    breaker: HasState
    attempts: int = 0
    outcome: RemoteOutcome = "ok"


@dataclass(slots=True)
class ChatCall(Operation):
    """A call of a chat model, screened and about to be sent. `completion` is there once it came.

    `unused`: tokens of replies that could not be used, as far as the service tells them: they are billed like others.
    """

    model: str
    purpose: str
    max_tokens: int
    system: str
    user: str
    completion: Completion | None = None
    unused: dict[str, int] = field(default_factory=dict)

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of all replies, as the service counts them."""
        return added(self.completion.usage if self.completion else {}, self.unused)


@dataclass(slots=True)
class EmbedCall(Operation):
    """A call of a service for the vectors of texts. `usage`: `prompt_tokens` of all its requests, if the service tells them. `backend`: which
    of several was asked, "" where there is one.
    """

    model: str
    texts: int
    backend: str = ""
    usage: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class ReplyUnused(Operation):
    """A reply that nobody can use (empty, cut off at its length, refused, filtered), with the tokens that the service counted for it."""

    usage: Mapping[str, int]


@dataclass(slots=True)
class GoneWithout(Operation):
    """A port failed, and the turn goes on without it."""

    seam: Seam


@dataclass(slots=True)
class RuleFailed(Operation):
    """A rule of ours raised an unexpected error, and the work went on without it. `rule`: type and line of ours."""

    rule: str


Op = TypeVar("Op", bound=Operation)
Watcher = Callable[[Operation], AbstractContextManager[object]]
"""Is entered when an operation begins and left when it has ended. Must not raise."""

_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Context manager: `watcher` sees what happens in the block; one that watches already is not added again."""
    before = _watchers.get()
    token = _watchers.set(before if watcher in before else (*before, watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


@contextmanager
def observed(operation: Op) -> Iterator[Op]:
    """Context manager: report `operation` to the watchers for the length of the block, which writes into it what it learns."""
    watchers = _watchers.get()
    if not watchers:
        yield operation
        return
    with ExitStack() as looking_on:
        for watcher in watchers:
            looking_on.enter_context(watcher(operation))
        try:
            yield operation
        except BaseException as error:
            operation.fault = Fault(type(error).__name__, str(error) if isinstance(error, ServiceError) else "")
            raise


def reply_unused(usage: Mapping[str, int]) -> None:
    """Report the token counts of a reply that is thrown away; nothing if there are none."""
    if usage and _watchers.get():
        with observed(ReplyUnused(usage)):
            pass


def added(*usages: Mapping[str, int]) -> dict[str, int]:
    """Sum of token counts, name by name."""
    names = dict.fromkeys(name for usage in usages for name in usage)
    return {name: sum(usage.get(name, 0) for usage in usages) for name in names}


def record_degraded(seam: Seam) -> None:
    """Report that the turn goes on without `seam`, which failed."""
    if _watchers.get():
        with observed(GoneWithout(seam)):
            pass


def rule_failed(rule: str) -> None:
    """Report that a rule raised and that the work goes on without it."""
    if _watchers.get():
        with observed(RuleFailed(rule)):
            pass
