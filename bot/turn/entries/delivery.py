"""Whether a reply arrived: the entry that follows a turn's, and what the two tell together.

Recorded, handed over and delivered are three marks. A turn's entry is there before its reply leaves: recorded. What became of the reply is known
later, so one entry of kind `delivery` follows, which names the turn's and is written behind the answer, never in its way. Where none follows,
because the process ended in between, that tells it too: the reply is not known to have arrived.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from bot.events.kinds import DELIVERY
from grounding.errors import AttestError, kind_and_way
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry

LOG = logging.getLogger("attest.turn")
FOLLOWS, NONE = "follows", "none"
"""What a turn's entry says under `delivery`: that such an entry is to follow, or that nobody waits for the reply."""
_UNHEARD = frozenset({"eval"})
"""Channels on which nobody waits."""
LATEST = timedelta(minutes=75)
"""An entry that was written longer after its turn than the channel is waited for is not looked for."""
SCAN_MAX = 20_000
"""Deliveries behind a turn that are looked at, should the clock have been set back."""
Mark = Literal["delivered", "failed", "handed over", "recorded"]
"""How far a reply is known to have come."""
Count = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the reply of the turn `entry_id`; times are UTC in ISO 8601.

    `handed_over`: when it was given to the channel: a connector called, a response written, a text printed. `delivered`: when the channel said that
    it has it, or had taken the last byte with the caller still there. `failed`: why that is not so, a status or a word of ours. Neither: the channel
    did not answer, and may have it or not. `message`: the id that the channel gave it.
    """

    entry_id: str
    channel: str
    handed_over: str | None = None
    delivered: str | None = None
    failed: str | None = None
    message: str | None = None

    @property
    def mark(self) -> Mark:
        """How far it came."""
        if self.delivered or self.failed:
            return "delivered" if self.delivered else "failed"
        return "handed over" if self.handed_over else "recorded"

    def body(self) -> dict[str, Any]:
        """The body of its entry."""
        return {
            NAME: SCHEMA,
            "entry_id": self.entry_id,
            "channel": self.channel,
            "handed_over": self.handed_over,
            "delivered": self.delivered,
            "failed": self.failed,
            "message": self.message,
        }

    def began(self) -> Delivery:
        """The same, handed over now."""
        return replace(self, handed_over=now())

    def ended(self, failed: str | None = None, message: str | None = None) -> Delivery:
        """The same, delivered now or failed."""
        return replace(self, delivered=None if failed else now(), failed=failed, message=message)


@dataclass(frozen=True, slots=True)
class Arrival:
    """How far the reply of a turn is known to have come, in its entry and the one that follows. `entry_id`: of that, None if there is none."""

    mark: Mark
    recorded: str
    handed_over: str | None = None
    delivered: str | None = None
    failed: str | None = None
    entry_id: str | None = None

    @property
    def word(self) -> str:
        """The mark in a list: with why a delivery failed."""
        return f"{self.mark} {self.failed}" if self.failed else self.mark

    @property
    def line(self) -> str:
        """All marks in one line, or which is missing."""
        said = [f"recorded {_clock(self.recorded)}"]
        said += [f"handed over {_clock(self.handed_over)}"] if self.handed_over else []
        said += [f"delivered {_clock(self.delivered)}"] if self.delivered else []
        said += [f"not delivered: {self.failed}"] if self.failed else []
        said += ["not known to have arrived"] if not (self.delivered or self.failed) else []
        return " · ".join(said)

    def as_json(self) -> dict[str, Any]:
        """The form of `delivery` in `attest ledger list --json` and `show --json`."""
        return {
            "mark": self.mark,
            "handed_over": self.handed_over,
            "delivered": self.delivered,
            "failed": self.failed,
            "entry_id": self.entry_id,
        }


class Deliveries:
    """Writes what became of replies. A record that cannot be written is logged and counted, and takes no answer back."""

    def __init__(self, ledger: Ledger, count: Count = lambda _mark: None) -> None:
        self._ledger = ledger
        self._count = count
        self._writing: set[asyncio.Task[None]] = set()

    async def write(self, delivery: Delivery) -> None:
        """Write it; raises nothing but a cancellation. Nothing to write for a turn without an entry."""
        if not delivery.entry_id:
            return
        try:
            await self._ledger.append(DELIVERY, delivery.body())
        except AttestError as error:
            self._lost(delivery, str(error))
        except Exception as error:  # noqa: BLE001 - the answer has left: nothing may follow it
            self._lost(delivery, kind_and_way(error))
        else:
            self._count(delivery.mark.replace(" ", "_"))

    def soon(self, delivery: Delivery) -> None:
        """Write it in the background."""
        task = asyncio.create_task(self.write(delivery))
        self._writing.add(task)  # the loop itself keeps only a weak reference
        task.add_done_callback(self._writing.discard)

    async def drain(self) -> None:
        """Wait for what is being written."""
        while self._writing:
            await asyncio.wait(set(self._writing))

    def _lost(self, delivery: Delivery, why: str) -> None:
        said = " ".join(part for part in (delivery.mark, delivery.failed) if part)
        LOG.error("what became of the reply of entry %s (%s) could not be recorded: %s", delivery.entry_id, said, why)
        self._count("unrecorded")


def now() -> str:
    """The time, as entries have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def expected(channel: str) -> str:
    """What a turn's entry says under `delivery`."""
    return NONE if channel in _UNHEARD else FOLLOWS


def arrival(turn: Entry, delivery: Entry | None) -> Arrival | None:
    """How far the reply of `turn` came; None for what is no turn, for one that nobody waited for, and for older turns, which do not tell."""
    if turn.kind != "turn" or (delivery is None and turn.body.get("delivery") != FOLLOWS):
        return None
    if delivery is None:
        return Arrival("recorded", turn.at)
    told = Delivery(turn.entry_id, "", *(_text(delivery.body, name) for name in ("handed_over", "delivered", "failed")))
    return Arrival(told.mark, turn.at, told.handed_over, told.delivered, told.failed, delivery.entry_id)


async def arrival_of(ledger: Ledger, turn: Entry) -> Arrival | None:
    """The same, with the entry that follows looked up."""
    if turn.kind != "turn" or turn.body.get("delivery") != FOLLOWS:
        return None
    recorded = datetime.fromisoformat(turn.at)
    async for entry in ledger.entries(after=turn.seq, limit=SCAN_MAX, kinds=(DELIVERY,)):
        if entry.body.get("entry_id") == turn.entry_id:
            return arrival(turn, entry)
        if datetime.fromisoformat(entry.at) - recorded > LATEST:
            break
    return arrival(turn, None)


class Arrivals:
    """Pairs turns with the deliveries that follow them, while entries pass by the newest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, Entry] = {}

    def of(self, entry: Entry) -> Arrival | None:
        """Take the next older entry; how far its reply came, None if it is no turn or does not tell."""
        if entry.kind == DELIVERY:
            self._waiting[str(entry.body.get("entry_id"))] = entry
            return None
        return arrival(entry, self._waiting.pop(entry.entry_id, None))


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def _clock(at: str) -> str:
    """The time of day, to the millisecond, of a time in ISO 8601."""
    return at.partition("T")[2].removesuffix("Z") or at
