"""Everything about a person, and nothing of another's words."""

from __future__ import annotations

from typing import Any

import pytest

from bot.privacy.export import about_person
from bot.privacy.hold import place
from bot.records import Actor
from grounding.errors import InputError
from tests.bot.privacy.conftest import Home


async def exported(home: Home, person: str) -> list[dict[str, Any]]:
    return [line async for line in about_person(home.stores, person)]


async def test_entries_and_rows_of_one_person(home: Home) -> None:
    turn = await home.turn("one")
    feedback = await home.feedback(turn, "no", "bob")
    report = await home.report(turn, "why")
    decision = await home.decision(turn, report, "honest")
    theirs = await home.turn("two", "bob", "a:2")
    on_theirs = await home.feedback(theirs, "yes")
    gone = await home.turn("three")
    await home.ledger.erase([gone], "test")
    hold, _ = await place(home.ledger, "person", "ada", "claim", Actor("counsel", "account"))
    await home.said("a:1", "one", sent=turn)
    await home.said("a:2", "two")
    heading, *lines, end = await exported(home, "ada")
    assert heading == {"format": "attest-person-1", "person": "ada"}
    names = [line["entry_id"] for line in lines if line["from"] == "ledger"]
    assert names == [turn, feedback, report, decision, on_theirs, hold.entry_id]  # type: ignore[union-attr]  # it is new
    rows = [(line["table"], line.get("text")) for line in lines if line["from"] == "state"]
    assert rows == [("turns", "one"), ("sent", None)]
    assert end == {"end": {"entries": 6, "rows": 2, "shared_conversations": 0}}


async def test_a_shared_conversation_is_counted_and_not_handed_out(home: Home) -> None:
    await home.turn("one", "ada", "19:g")
    await home.turn("two", "bob", "19:g")
    await home.turn("three", "ada", "19:h")
    await home.turn("four", None, "19:h")
    await home.said("19:g", "bob's words")
    await home.said("19:h", "a stranger's words")
    *lines, end = await exported(home, "ada")
    assert "words" not in str(lines)
    assert end == {"end": {"entries": 2, "rows": 0, "shared_conversations": 2}}


async def test_of_nobody(home: Home) -> None:
    await home.turn("one")
    assert len(await exported(home, "eve")) == 2
    with pytest.raises(InputError, match="--person"):
        await exported(home, " ")


async def test_what_others_said_is_left_out_and_named(home: Home) -> None:
    await home.turn("dora's own question", user="dora", conversation="19:g")
    turn = await home.turn("emil's", user="emil", conversation="19:g", history=["dora's own question"])
    await home.feedback(turn, "dora's remark", user="dora")
    await home.feedback(turn, "emil's remark", user="emil")
    lines = [line async for line in about_person(home.stores, "EMIL")]
    said = str(lines)
    assert "dora" not in said
    assert "emil's remark" in said
    [told] = [line["body"] for line in lines if line.get("entry_id") == turn]
    assert told["left_out"] == ["ask.history"]
