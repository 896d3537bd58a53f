"""What became of a reply: its entry, and how far it is known to have come."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from bot.events.kinds import DELIVERY
from bot.turn.entries.delivery import (
    SCAN_MAX,
    Arrivals,
    Deliveries,
    Delivery,
    arrival,
    arrival_of,
    expected,
)
from grounding.errors import StoreError
from rai.records import Entry
from tests.fakes.ledger import FakeLedger

AT = "2026-11-20T09:30:00.250Z"
SENT = Delivery("e1", "msteams", handed_over="2026-11-20T09:30:00.300Z")


def entry(kind: str, body: dict[str, Any], *, at: str = AT, seq: int = 1, entry_id: str = "e1") -> Entry:
    return Entry(entry_id, seq, at, kind, body, "", "")


TURN = entry("turn", {"delivery": "follows"})
WAYS = [
    (
        replace(SENT, delivered="2026-11-20T09:30:00.900Z"),
        "delivered",
        "recorded 09:30:00.250 · handed over 09:30:00.300 · delivered 09:30:00.900",
    ),
    (
        replace(SENT, failed="500"),
        "failed 500",
        "recorded 09:30:00.250 · handed over 09:30:00.300 · not delivered: 500",
    ),
    (SENT, "handed over", "recorded 09:30:00.250 · handed over 09:30:00.300 · not known to have arrived"),
    (
        Delivery("e1", "msteams", failed="unreachable"),
        "failed unreachable",
        "recorded 09:30:00.250 · not delivered: unreachable",
    ),
]


@pytest.mark.parametrize(("delivery", "word", "line"), WAYS)
def test_the_marks_that_a_reply_reached(delivery: Delivery, word: str, line: str) -> None:
    told = arrival(TURN, entry(DELIVERY, delivery.body(), entry_id="e2"))
    assert told is not None
    assert (told.word, told.line, told.entry_id) == (word, line, "e2")


def test_a_turn_that_nothing_follows_is_not_known_to_have_arrived() -> None:
    told = arrival(TURN, None)
    assert told is not None
    assert (told.word, told.line) == ("recorded", "recorded 09:30:00.250 · not known to have arrived")
    assert told.as_json() == {
        "mark": "recorded",
        "handed_over": None,
        "delivered": None,
        "failed": None,
        "entry_id": None,
    }


@pytest.mark.parametrize("other", [entry("turn", {}), entry("turn", {"delivery": "none"}), entry("ingest", {})])
def test_what_does_not_tell_is_not_called_lost(other: Entry) -> None:
    """Turns of older programs, turns that nobody waited for, what is no turn."""
    assert arrival(other, None) is None


def test_nobody_waits_for_a_measured_turn() -> None:
    assert [expected(channel) for channel in ("eval", "cli", "http", "msteams", "")] == ["none", *["follows"] * 4]


async def test_it_is_found_behind_its_turn() -> None:
    ledger = FakeLedger()
    first = await ledger.append("turn", {"delivery": "follows"})
    second = await ledger.append("turn", {"delivery": "follows"})
    deliveries = Deliveries(ledger)
    await deliveries.write(Delivery(second.entry_id, "http").began().ended())
    told = [await arrival_of(ledger, turn) for turn in (first, second)]
    assert [each and each.mark for each in told] == ["recorded", "delivered"]
    assert await arrival_of(ledger, ledger.kept[-1]) is None


async def test_it_is_not_looked_for_for_ever() -> None:
    """A delivery of the next day ends the search: whatever stands behind it, a channel is not waited for so long."""

    class Counting(FakeLedger):
        seen = 0

        async def entries(self, **options: Any) -> Any:
            async for found in super().entries(**options):
                self.seen += 1
                yield found

    ledger = Counting()
    turn = await ledger.append("turn", {"delivery": "follows"})
    for _ in range(3):
        await ledger.append("delivery", {"entry_id": "of another turn"})
    ledger.kept[1:] = [replace(e, at="2026-11-21T09:30:00Z") for e in ledger.kept[1:]]
    told = await arrival_of(ledger, turn)
    assert told is not None
    assert (told.mark, ledger.seen) == ("recorded", 1)
    assert SCAN_MAX > 1


async def test_pairs_are_found_from_the_newest_on() -> None:
    ledger = FakeLedger()
    for kind in ("turn", "turn", "ingest"):
        await ledger.append(kind, {"delivery": "follows"})
    deliveries = Deliveries(ledger)
    await deliveries.write(Delivery("e00001x7q", "http").began().ended("client_gone"))
    arrivals = Arrivals()
    told = [arrivals.of(e) async for e in ledger.entries(newest_first=True)]
    assert [each and each.word for each in told] == [None, None, "recorded", "failed client_gone"]


class Locked(FakeLedger):
    """Refuses to be written to, in the way that `error` says."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        raise self._error


@pytest.mark.parametrize("error", [StoreError("the ledger is locked"), RuntimeError("words of a customer")])
async def test_what_cannot_be_recorded_is_logged_and_counted(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    counted: list[str] = []
    with caplog.at_level(logging.ERROR, "attest.turn"):
        await Deliveries(Locked(error), counted.append).write(SENT.ended("500"))
    assert counted == ["unrecorded"]
    assert "what became of the reply of entry e1 (failed 500) could not be recorded" in caplog.text
    assert "customer" not in caplog.text


async def test_each_is_counted_by_its_mark() -> None:
    counted: list[str] = []
    ledger = FakeLedger()
    deliveries = Deliveries(ledger, counted.append)
    for delivery in (SENT.ended(), SENT.ended("500"), SENT):
        deliveries.soon(delivery)
    await deliveries.drain()
    assert sorted(counted) == ["delivered", "failed", "handed_over"]
    assert [e.kind for e in ledger.kept] == [DELIVERY] * 3


async def test_a_reply_without_an_entry_has_no_delivery() -> None:
    """Where the ledger could not be written, only a fixed notice left."""
    ledger = FakeLedger()
    await Deliveries(ledger).write(Delivery("", "http").began().ended())
    assert ledger.kept == []
