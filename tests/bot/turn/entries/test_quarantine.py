"""Deciding of a passage: found by its id, recorded before it holds, and once."""

from __future__ import annotations

import pytest

from bot.records import Actor
from bot.turn.entries.quarantine import DECISION, decide, named
from grounding.errors import InputError, StoreError
from rai.records import Entry
from rai.screening.quarantine import STATES, Nothing
from tests.bot.commands.fakes import MemoryLedger
from tests.fakes.quarantine import held, two

BY = Actor("ada", "account")
TOLD = {"user": "ada", "authenticated_by": "account", "tenant": None}


def test_a_passage_is_named_by_the_beginning_of_its_id_or_by_its_chunk() -> None:
    first, second = two().kept
    assert named([first, second], first.id) is first
    assert named([first, second], second.key[:5]) is second
    assert named([first, second], second.chunk_id) is second
    for given in ("", first.key[:3], "zzzz"):
        with pytest.raises(InputError, match="attest quarantine list"):
            named([first, second], given)


def test_a_beginning_that_several_share_is_refused() -> None:
    many = [held(f"d{n}", f"text {n}") for n in range(2)]
    same = [p.__class__(**{**{f: getattr(p, f) for f in p.__slots__}, "key": f"abcd{n}"}) for n, p in enumerate(many)]
    with pytest.raises(InputError, match="2 passages"):
        named(same, "abcd")


async def test_a_decision_is_an_entry_and_the_same_again_is_none() -> None:
    quarantine, ledger = two(), MemoryLedger()
    first = quarantine.kept[0]
    assert await decide(quarantine, ledger, first, "released", " ours ", channel="cli", by=BY)
    [entry] = ledger.held
    assert (entry.kind, entry.body["decision"], entry.body["note"]) == (DECISION, "released", "ours")
    assert (entry.body["passage"]["text"], entry.body["actor"]) == (first.text, TOLD)
    again = (await quarantine.passages())[0]
    assert again.state == "released"
    assert not await decide(quarantine, ledger, again, "released", "ours", channel="cli", by=BY)
    assert await decide(quarantine, ledger, again, "confirmed", channel="cli", by=BY)
    assert len(ledger.held) == 2


async def test_what_cannot_be_recorded_does_not_hold() -> None:
    class Locked(MemoryLedger):
        async def append(self, kind: str, body: dict[str, object]) -> Entry:
            raise StoreError("the ledger is locked")

    quarantine = two()
    with pytest.raises(StoreError):
        await decide(quarantine, Locked(), quarantine.kept[0], "released", channel="cli", by=BY)
    assert [p.state for p in quarantine.kept] == ["held", "held"]


async def test_a_system_without_a_quarantine_holds_nothing() -> None:
    assert await Nothing().passages() == ()
    assert STATES == ("held", "released", "confirmed")
