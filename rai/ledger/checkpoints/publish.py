"""Checkpoints of a ledger in a second place: signed when something was added, and compared with what is there already."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from grounding.errors import InputError, ServiceRejected, StoreError
from rai.ledger.chain import NAMING
from rai.ledger.checkpoints.checkpoint import (
    Checkpoint,
    VerifierKey,
    open_checkpoint,
    origin_of,
    parse_checkpoint,
    parse_note,
)
from rai.ports import CheckpointSink
from rai.records import Entry

_NAME = re.compile(r"([0-9a-f]{32})-([0-9]{12,19})\.txt")


class ContradictionError(StoreError):
    """The ledger and what is published contradict each other, or what is published was altered."""


class Signable(Protocol):
    """What is asked of the ledger whose checkpoints are published."""

    @property
    def ledger_id(self) -> str | None:
        """The id of the ledger, 32 hex digits; None if it has none yet."""
        ...

    async def checkpoint(self, published: Checkpoint | None = None) -> str:
        """The signed note over all entries that are stored now. Raises StoreError for a chain that does not verify, or that `published` is not a part of."""
        ...

    async def compare(self, published: Checkpoint) -> None:
        """Raises StoreError if a checkpoint is over other entries than these."""
        ...

    def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        """The entries, as of `rai.ports.Ledger`."""
        ...


@dataclass(frozen=True, slots=True)
class Published:
    """A checkpoint that is in its place. `size`: entries that it covers; `at`: when it was written; `says`: what it says, whose signature holds, None where it may not be read."""

    name: str
    size: int
    at: datetime
    says: Checkpoint | None = None


def name_of(ledger_id: str, size: int) -> str:
    """The name of the checkpoint over `size` entries; names of one ledger sort by size."""
    return f"{ledger_id}-{size:012d}.txt"


def size_in(name: str) -> int | None:
    """How many entries the checkpoint of that name covers; None if it is no name of one."""
    found = _NAME.fullmatch(name)
    return int(found[2]) if found else None


class Publisher:
    """Signs checkpoints of `ledger` and puts them into `sink`, one at a time.

    `last`: the newest that is known to be there; `now` gives the time.
    """

    def __init__(
        self, ledger: Signable, sink: CheckpointSink, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._ledger = ledger
        self._sink = sink
        self._now = now
        self._one = asyncio.Lock()
        self.last: Published | None = None

    @property
    def place(self) -> str:
        """Where the checkpoints are, for a person."""
        return self._sink.place

    async def look(self) -> Published | None:
        """The newest checkpoint in the place. Raises StoreError or ServiceError where that cannot be found out, StoreError where it is not one that this ledger signed."""
        found = await self._sink.newest(f"{self._id()}-")
        size = None if found is None else size_in(found.name)
        if found is not None and size is not None:
            self.last = Published(found.name, size, found.at, await self._said(found.name, size))
        return self.last

    async def publish(self, *, younger_than_s: float = 0.0) -> Published | None:
        """Signs and publishes a checkpoint if entries were added since the last, and returns it.

        None if there is nothing new, or if another process published one within the last `younger_than_s` seconds. Raises StoreError for a ledger that does
        not hold, or that contradicts what is in the place, StoreError or ServiceError where it cannot be written.
        """
        async with self._one:
            return await self._publish(younger_than_s)

    async def _publish(self, younger_than_s: float) -> Published | None:
        last, count = await self._compared(await self._known())
        if count == 0 or (last is not None and last.size == count):
            return None
        if last is not None and abs((self._now() - last.at).total_seconds()) < younger_than_s:
            return None  # one from far ahead was written before the clock was set back, and must not keep the next from coming
        note = await self._ledger.checkpoint(last.says if last is not None else None)
        text, _ = parse_note(note.encode())
        size = parse_checkpoint(text).size
        name = name_of(self._id(), size)
        there = await self._sink.put(name, note)
        if there is not None and _text_of(there, name) != text:
            raise StoreError(f"another checkpoint of {size} entries is published already: two histories were signed")
        self.last = Published(name, size, self._now(), parse_checkpoint(text))
        return self.last

    async def compare(self) -> tuple[Published | None, int]:
        """The newest checkpoint in the place, and how many entries there are. Raises StoreError where they contradict each other, and what `look` raises."""
        return await self._compared(await self.look())

    async def _compared(self, last: Published | None) -> tuple[Published | None, int]:
        count = await self.entries()
        if last is not None and last.size > count:
            raise ContradictionError(
                f"the ledger has {count} entries, but a checkpoint of {last.size} is published: it was cut, replaced or restored"
            )
        if last is not None and last.says is not None:
            try:
                await self._ledger.compare(last.says)
            except StoreError as error:
                raise ContradictionError(str(error)) from None
        return last, count

    async def entries(self) -> int:
        """How many entries the ledger has."""
        return max([entry.seq async for entry in self._ledger.entries(limit=1, newest_first=True)], default=0)

    async def _said(self, name: str, size: int) -> Checkpoint | None:
        """What the note of that name says, for anybody who may write there can give a file any name."""
        note = await self._sink.read(name)
        if note is None:
            return None
        try:
            said = open_checkpoint(note.encode(), await self._keys())
            if said.size != size or said.origin != origin_of(self._id()):
                raise InputError(f"it is one of {said.size} entries")
        except InputError as error:
            raise ContradictionError(
                f"{name} in {self.place} is no checkpoint that this ledger signed ({error}): it was put there or altered; move it away"
            ) from None
        return said

    async def _keys(self) -> list[VerifierKey]:
        """The public keys that the ledger has named."""
        named = [entry.body.get("verifier_key") async for entry in self._ledger.entries(kinds=NAMING)]
        return [VerifierKey.from_line(line) for line in dict.fromkeys(named) if isinstance(line, str)]

    def _id(self) -> str:
        found = self._ledger.ledger_id
        if found is None:
            raise StoreError("this ledger has no id yet; opening it to write gives it one")
        return found

    async def _known(self) -> Published | None:
        """The newest in the place; where it may not be listed, the newest of this process."""
        try:
            return await self.look()
        except ServiceRejected:
            return self.last


def _text_of(note: str, name: str) -> str:
    """What a note says, whoever signed it."""
    try:
        return parse_note(note.encode())[0]
    except InputError:
        raise StoreError(f"{name} is there already and is no whole checkpoint; move it away") from None
