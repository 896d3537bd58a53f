"""The seam of a service that embeds in jobs, within a day."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grounding.ports import Vectors


@dataclass(frozen=True, slots=True)
class JobState:
    """How far a job is: texts done, whether it is over, and why it failed as a whole, empty where it did not."""

    done: int
    is_over: bool
    failed: str = ""


class EmbeddingJobs(Protocol):
    """A service that embeds in jobs. Raises ServiceError."""

    async def submit(self, texts: Sequence[tuple[str, str]], token: str) -> str:
        """Hand in texts, each with an id of its own, as one job, unless there is one with this token already; the job's id."""
        ...

    async def state(self, job: str) -> JobState | None:
        """How far a job is; None if the service knows none of this id."""
        ...

    def vectors(self, job: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """The vectors that came of a job that is over, in parts: ids, and rows of length one. What failed is left out; none where the service no longer has them."""
        ...

    async def forget(self, job: str) -> None:
        """Delete what the service keeps of the job's texts."""
        ...
