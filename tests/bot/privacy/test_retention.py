"""Retention: what is due by its age and kind goes, in batches on record; what is held or not due stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.privacy import erasure
from bot.privacy.conversations import Kept
from bot.privacy.hold import place, release
from bot.privacy.retention import REASON, Terms, retain
from bot.records import Actor
from bot.settings.forms import RETAINED
from rai.records import Entry
from tests.bot.privacy.conftest import Home, NotesOnTheWay

WHO = Actor("svc", "account")


def after(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


@pytest.mark.parametrize(
    ("terms", "kind", "days", "due"),
    [
        (Terms(30, 30), "turn", 30, True),
        (Terms(30, 30), "turn", 29.9, False),
        (Terms(None, 30), "turn", 9999, False),
        (Terms(30, 30), "feedback", 9999, False),
        (Terms(None, 30, {"feedback": 10}), "feedback", 10, True),
        (Terms(None, 30, {"feedback": 10}), "refusal_report", 9999, False),
        (Terms(1, 30, {"erase": 1}), "erase", 9999, False),
    ],
)
def test_what_is_due(terms: Terms, kind: str, days: float, *, due: bool) -> None:
    now = datetime(2026, 11, 25, 12, tzinfo=UTC)
    at = (now - timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert terms.is_due(kind, at, now) is due


def test_a_time_that_cannot_be_read_keeps_its_entry() -> None:
    assert not Terms(1, 1).is_due("turn", "yesterday", after(0))


async def test_a_turn_goes_with_all_that_refers_to_it(home: Home) -> None:
    """Off until it is set; then a turn goes with what refers to it, younger or not, and one record says so."""
    turn = await home.turn("canary-1")
    feedback = await home.feedback(turn, "canary-2")
    await home.said("a:1", "canary-3", sent=turn)
    assert (await retain(home.stores, Terms(None, 9999), after(9000), WHO)).entries == ()
    assert (await retain(home.stores, Terms(40, 9999), after(39), WHO)).entries == ()
    assert await home.kinds() == ["turn", "feedback"]
    done = await retain(home.stores, Terms(40, 9999), after(40), WHO)
    assert await home.gone() == {turn, feedback}
    assert done.kept == Kept(1, turns=1, sent=1), "conversations go with the turns, however long they may stay"
    assert home.left("canary-1", "canary-2", "canary-3") == []
    [record] = done.records
    entry = await home.ledger.get(record)
    assert entry is not None
    assert (entry.kind, entry.body["reason"], set(entry.body["entry_ids"])) == ("erase", REASON, {turn, feedback})
    assert entry.body["actor"] == {"user": "svc", "authenticated_by": "account", "tenant": None}
    assert (await home.ledger.verify()).ok
    again = await retain(home.stores, Terms(40, 9999), after(40), WHO)
    assert (again.entries, again.records) == ((), ())


async def test_by_kind(home: Home) -> None:
    turn = await home.turn("one")
    feedback = await home.feedback(turn, "no")
    report = await home.report(turn, "why")
    decision = await home.decision(turn, report, "honest")
    await retain(home.stores, Terms(None, 30, {"feedback": 10}), after(11), WHO)
    assert await home.gone() == {feedback}
    await retain(home.stores, Terms(None, 30, {"refusal_report": 10}), after(11), WHO)
    assert await home.gone() == {feedback, report, decision}
    assert turn not in await home.gone()


@pytest.mark.parametrize("kind", RETAINED)
async def test_each_kind_that_settings_take_goes_by_its_days(home: Home, kind: str) -> None:
    entry = await home.stores.ledger.append(kind, {"schema": 2})
    await retain(home.stores, Terms(None, 30, {kind: 10}), after(9), WHO)
    assert await home.gone() == set()
    await retain(home.stores, Terms(None, 30, {kind: 10}), after(11), WHO)
    assert await home.gone() == {entry.entry_id}


async def test_conversations_by_their_own_days(home: Home) -> None:
    await home.said("a:1", "canary-1")
    await home.turn("stays-1")
    assert (await retain(home.stores, Terms(None, 30), after(29), WHO)).kept == Kept()
    assert (await retain(home.stores, Terms(None, 30), after(30.1), WHO)).kept == Kept(1, turns=1)
    assert home.left("canary-1", "stays-1") == ["stays-1"]


async def test_what_is_held_stays_and_is_named(home: Home) -> None:
    held, free = await home.turn("one", "ada", "a:1"), await home.turn("two", "bob", "a:2")
    feedback = await home.feedback(held, "no", "bob")
    await home.said("a:1", "kept-1", sent=held)
    await home.said("a:2", "canary-1", sent=free)
    placed, _ = await place(home.ledger, "person", "ada", "claim", WHO)
    assert isinstance(placed, Entry)
    done = await retain(home.stores, Terms(1, 1), after(2), WHO)
    assert await home.gone() == {free}
    assert {name: hold.hold_id for name, hold in done.held.items()} == dict.fromkeys((held, feedback), placed.entry_id)
    assert home.left("kept-1", "canary-1") == ["kept-1"]


async def test_what_is_held_while_it_runs_stays_and_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    held, free = await home.turn("one", "ada"), await home.turn("two", "bob")
    of_held, also_held = await home.feedback(held, "no", "bob"), await home.turn("three", "ada")
    stores = replace(home.stores, notes=NotesOnTheWay(lambda: place(home.ledger, "person", "ada", "claim", WHO)))
    done = await retain(stores, Terms(1, 1), after(2), WHO)
    assert await home.gone() == {free} == {facts.entry_id for facts in done.entries}
    assert done.held.keys() == {held, of_held, also_held}
    [record] = done.records
    assert (await home.bodies())[record]["entry_ids"] == [free]
    assert (await home.ledger.verify()).ok


async def test_a_hold_that_is_placed_and_released_while_it_runs_keeps_nothing(home: Home) -> None:
    turn = await home.turn("one")

    async def mistaken() -> None:
        placed, _ = await place(home.ledger, "person", "ada", "claim", WHO)
        assert isinstance(placed, Entry)
        await release(home.ledger, placed.entry_id, "mistaken", WHO)

    await retain(replace(home.stores, notes=NotesOnTheWay(mistaken)), Terms(1, 1), after(2), WHO)
    assert await home.gone() == {turn}


async def test_a_dry_run_changes_nothing(home: Home) -> None:
    turn = await home.turn("one")
    await home.said("a:1", "one")
    done = await retain(home.stores, Terms(1, 1), after(2), WHO, dry=True)
    assert ([facts.entry_id for facts in done.entries], done.kept, done.records) == ([turn], Kept(1, turns=1), ())
    assert (await home.gone(), await home.kinds(), home.left("one")) == (set(), ["turn"], ["one"])


async def test_a_record_for_each_batch(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    turns = [await home.turn(str(n)) for n in range(5)]
    done = await retain(home.stores, Terms(1, 1), after(2), WHO)
    assert (await home.kinds())[5:] == ["erase"] * 3
    assert len(done.records) == 3
    assert await home.gone() == set(turns)
    assert (await home.ledger.verify()).ok


async def test_the_note_on_a_passage_goes_with_its_decision(home: Home) -> None:
    entry = await home.quarantine("ab" * 32, "Customer: Rosalind Quibble")
    await retain(home.stores, Terms(None, 9999, {"quarantine_decision": 5}), after(6), WHO)
    assert await home.gone() == {entry}
    assert home.left("Rosalind Quibble") == []
