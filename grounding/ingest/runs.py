"""A planned run: an ingest of one root that any number of processes, on any number of machines, do together. Its records, and what keeps its book.

Who plans writes down which documents are to be read, in batches. Who leases a batch has a number of its own for it, the fence, that a later lease of the same batch
outbids: whatever is written under an outbid lease is refused, in the transaction that would write it. Times are the database's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from grounding.errors import StoreError

ROOT = "root:"
"""What the root of a document begins with that was taken in under a name and not from a folder of this machine."""
WHOLE = -1
"""Number of the lease of whoever plans a run, and of whoever ends it."""
LEASE_S = 60.0
"""Seconds that a lease holds without being renewed."""


class LeaseLost(StoreError):
    """Another process has taken over what this one was at work on, or the run was ended: nothing of it may be written any more."""


class PlannedItem(NamedTuple):
    """A document to be read: its id, which in a folder is its path below that; the stamp of its file; and the byte at which its line begins in a corpus, 0 in a folder."""

    doc_id: str
    stamp: str
    place: int


@dataclass(frozen=True, slots=True)
class Lease:
    """A batch of a run that is one's own as long as nobody has a higher `fence`. `batch` is WHOLE for the run itself."""

    run: str
    batch: int
    fence: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that was found or begun. `told`: what it was planned with, as JSON; `by`: host and process that began it; `began`: seconds since the epoch, by the database;
    `lease`: for whoever has to plan it, None where that is done or another is at it.
    """

    run: str
    told: str
    by: str
    began: float
    is_planned: bool
    lease: Lease | None


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as it stands. Numbers count documents of the plan; `workers`: leases that hold; `rate`: documents a second in the last ten minutes, or since it began;
    `left_s`: seconds left at this rate, None where that is not known; `began`, `ended`: seconds since the epoch, None while it is not ended.
    """

    run: str
    root: str
    state: str
    by: str
    began: float
    ended: float | None
    documents: int
    done: int
    workers: int
    rate: float
    left_s: float | None


class RunBook(Protocol):
    """What keeps the book of planned runs: the tables beside the store. `lease_s`: seconds that a lease holds. Raises StoreError, and LeaseLost where a lease was outbid."""

    lease_s: float

    def begin(self, root: str, told: str, by: str) -> Begun:
        """The run of this root that is not ended, or a new one. Whoever planned it and died is taken over from."""
        ...

    def add(self, lease: Lease, batches: Sequence[Sequence[PlannedItem]], first: int) -> None:
        """Write down batches of a plan, numbered from `first`."""
        ...

    def planned(self, lease: Lease, result: str, gone: Sequence[str]) -> None:
        """The plan is whole: work may begin. `result`: what was found without reading, as JSON; `gone`: documents to be deleted at the end."""
        ...

    def sample(self, run: str) -> list[PlannedItem]:
        """Some documents of the plan, spread over it."""
        ...

    def lease(self, run: str, by: str) -> Lease | None:
        """A batch that nobody has, or whose lease is over; the run itself when all batches are done and nobody ends it; None if there is nothing to do now."""
        ...

    def items(self, lease: Lease) -> list[PlannedItem]:
        """The documents of a batch, in their order."""
        ...

    def renew(self, lease: Lease) -> bool:
        """Hold a lease for its full time again; False where it was lost."""
        ...

    def give_back(self, lease: Lease) -> None:
        """Let others have the batch at once; nothing for a lease that was lost."""
        ...

    def done(self, lease: Lease, result: str, gone: Sequence[str]) -> None:
        """A batch is done. `result`: what became of its documents, as JSON, unless that was written with them; `gone`: documents to be deleted at the end."""
        ...

    def gone(self, run: str) -> list[str]:
        """Documents to be deleted at the end."""
        ...

    def results(self, run: str) -> list[str]:
        """What became of the documents: a result of the plan, and of each batch that is done."""
        ...

    def end(self, lease: Lease, report: str) -> None:
        """The run is done, and this is what whoever ended it reports, as JSON."""
        ...

    def is_ended(self, run: str) -> bool:
        """True if the run is done, or was ended."""
        ...

    def is_planned(self, run: str) -> bool:
        """True if the plan is whole."""
        ...

    def report(self, run: str) -> str | None:
        """What whoever ended the run reported, as JSON; None where it was broken off."""
        ...

    def age(self, run: str) -> float:
        """Seconds since the run began."""
        ...

    def counts(self, run: str) -> tuple[int, int]:
        """Documents that are done, and those of the plan."""
        ...
