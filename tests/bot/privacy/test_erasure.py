"""Erasing on request: all of it, on record, refused by a hold, and said when something of it may be left."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.events.digests import Digests
from bot.events.looks import record_read, record_source
from bot.privacy import erasure
from bot.privacy.conversations import Kept
from bot.privacy.erasure_list import ErasureList
from bot.privacy.hold import On, holds_in, place, release
from bot.privacy.repeating import repeat
from bot.privacy.selection import Selection
from bot.records import Actor
from bot.turn.entries.delivery import Deliveries, Delivery
from grounding.errors import InputError, StoreError
from rai.records import Entry
from tests.bot.privacy.conftest import CHANNEL, Home, NotesOnTheWay

COUNSEL = Actor("counsel", "account")


async def hold(home: Home, on: On, target: str) -> str:
    placed, _ = await place(home.ledger, on, target, "claim", COUNSEL)
    assert isinstance(placed, Entry)
    return placed.entry_id


async def test_a_person_goes_with_all_that_belongs_to_them(home: Home) -> None:
    """Turns, what refers to them, their feedback on others' turns, their conversations; the rest stays, and the chain is whole."""
    turn = await home.turn("canary-1")
    feedback = await home.feedback(turn, "canary-2", "bob")
    report = await home.report(turn, "canary-3")
    decision = await home.decision(turn, report, "canary-4")
    other = await home.turn("stays-1", "bob", "a:2")
    on_other = await home.feedback(other, "canary-5")
    await home.said("a:1", "canary-6", sent=turn)
    await home.said("a:2", "stays-2", sent=other)
    await home.came_in("a:3", "canary-7", "ada")
    canaries = [f"canary-{n}" for n in range(1, 8)]
    assert home.left(*canaries) == canaries
    found, [record] = await erasure.erase(home.stores, Selection(person="ada"), "on request", COUNSEL)
    assert found.counts == {"turn": 1, "feedback": 2, "refusal_report": 1, "refusal_decision": 1}
    assert found.kept == Kept(2, turns=1, inbox=1, sent=1)
    assert await home.gone() == {turn, feedback, report, decision, on_other}
    assert home.left(*canaries) == []
    assert home.left("stays-1", "stays-2") == ["stays-1", "stays-2"]
    assert (await home.ledger.verify()).ok
    assert record.kind == "erase"
    assert set(record.body["entry_ids"]) == await home.gone()
    assert record.body["reason"].startswith("on request [by person: 1 turn, 2 feedback,")


async def test_with_a_turn_go_its_delivery_and_who_looked_at_it(home: Home) -> None:
    """What tells of looking and names no turn stays."""
    turn = await home.turn("canary-1")
    await Deliveries(home.ledger).write(Delivery(turn, CHANNEL).began().ended())
    named = [
        await record_source(home.ledger, Actor("ada", "link"), Entry(turn, 2, "", "turn", {}, "", ""), {"n": 1}),
        await record_read(home.ledger, Actor(None, "review 1a2b3c4d"), "entry", entry_id=turn),
    ]
    listed = await record_read(home.ledger, Actor(None, "review 1a2b3c4d"), "list")
    found, _ = await erasure.erase(home.stores, Selection(person="ada"), "on request", COUNSEL)
    assert found.counts == {"turn": 1, "delivery": 1, "source_opened": 1, "read": 1}
    assert {entry.entry_id for entry in named} < await home.gone()
    assert (await home.bodies())[listed.entry_id]["page"] == "list"
    assert (await home.ledger.verify()).ok


async def test_by_text_also_what_is_masked_in_the_ledger(home: Home) -> None:
    """state.db has the words as they were written; the record of the erasure has none of them."""
    turn = await home.turn("I live in ████████", "ada", "a:1")
    found = await home.turn("Somebody at 41 Elm Road", "bob", "a:2")
    await home.said("a:1", "I live in 41 Elm Road")
    passage = await home.quarantine("ab" * 32, "told by 41 elm road")
    _, [record] = await erasure.erase(home.stores, Selection(search="41 Elm Road"), "wrong customer", COUNSEL)
    assert "Elm" not in str(record.body)
    assert await home.gone() == {found, passage}
    assert turn not in await home.gone()
    assert home.left("41 Elm Road", "41 elm road") == []


async def test_a_note_beside_the_ledger_goes_with_its_entry(home: Home) -> None:
    entry = await home.quarantine("ab" * 32, "canary-1")
    await home.quarantine("cd" * 32, "stays-1")
    found, _ = await erasure.erase(home.stores, Selection((entry,)), "test", COUNSEL)
    assert found.notes == ("ab" * 6,)
    assert home.left("canary-1", "stays-1") == ["stays-1"]
    assert await home.stores.notes.notes() == {"cd" * 6: "stays-1"}


@pytest.mark.parametrize(("on", "target"), [("entry", "{turn}"), ("conversation", "a:1"), ("person", "ada")])
async def test_a_hold_refuses_by_its_name_and_nothing_goes(home: Home, on: On, target: str) -> None:
    turn = await home.turn("one")
    await home.said("a:1", "one", sent=turn)
    name = await hold(home, on, target.format(turn=turn))
    for wanted in (Selection((turn,)), Selection(conversation="a:1"), Selection(person="ada"), Selection(search="one")):
        with pytest.raises(InputError, match=name):
            await erasure.erase(home.stores, wanted, "test", COUNSEL)
    assert (await home.gone(), home.left("one")) == (set(), ["one"])
    await release(home.ledger, name, "settled", COUNSEL)
    await erasure.erase(home.stores, Selection(person="ada"), "test", COUNSEL)
    assert await home.gone() == {turn}


@pytest.mark.parametrize(("on", "target"), [("entry", "{turn}"), ("conversation", "a:1"), ("person", "ada")])
async def test_a_hold_that_is_placed_meanwhile_keeps_what_has_not_gone(home: Home, on: On, target: str) -> None:
    turn = await home.turn("one")
    await home.feedback(turn, "no")
    await home.said("a:1", "canary-1", sent=turn)
    name = target.format(turn=turn)
    key = home.path / "list.key"
    key.write_text("00" * 32)
    noted = ErasureList(home.path / "list.jsonl", Digests(key).of)
    stores = replace(home.stores, notes=NotesOnTheWay(lambda: hold(home, on, name)), noted=noted)
    with pytest.raises(InputError, match=f"held meanwhile: .* on the {on} {name}"):
        await erasure.erase(stores, Selection(conversation="a:1"), "test", COUNSEL)
    assert (await home.gone(), await home.kinds()) == (set(), ["turn", "feedback", "hold"])
    assert home.left("canary-1") == [], "what had gone beside the ledger is in no log"
    repeated = await repeat(home.stores, [noted], 0.0, "put back", COUNSEL)
    assert (repeated.entries, await home.gone()) == (0, set()), "what is held is not erased by the list"
    name = (await holds_in(home.ledger))[0].hold_id
    await release(home.ledger, name, "settled", COUNSEL)
    await erasure.erase(replace(home.stores, noted=noted), Selection((turn,)), "test", COUNSEL)
    assert [turn in one.entries for one in noted.read()] == [True, False, True]
    assert (await repeat(home.stores, [noted], 0.0, "put back", COUNSEL)).gone == 0


async def test_rows_of_a_conversation_are_held_though_its_entries_are_others(home: Home) -> None:
    """In a group the kept turns do not say whose words they are: what holds one who spoke there holds them all."""
    turn = await home.turn("one", "ada", "19:g")
    await home.turn("two", "bob", "19:g")
    await home.said("19:g", "one", "two")
    name = await hold(home, "person", "bob")
    with pytest.raises(InputError, match=name):
        await erasure.erase(home.stores, Selection((turn,)), "test", COUNSEL)


async def test_twice_is_said_and_writes_nothing(home: Home) -> None:
    turn = await home.turn("one")
    _, [record] = await erasure.erase(home.stores, Selection((turn,)), "test", COUNSEL)
    before = await home.kinds()
    again, none = await erasure.erase(home.stores, Selection((turn,)), "test", COUNSEL)
    assert (again.is_empty, again.before, none) == (True, {turn: record.entry_id}, ())
    again, none = await erasure.erase(home.stores, Selection(person="ada"), "test", COUNSEL)
    assert (again.is_empty, none, await home.kinds()) == (True, (), before)


async def test_a_plan_changes_nothing(home: Home) -> None:
    turn = await home.turn("one")
    await home.said("a:1", "one", sent=turn)
    files = {path: path.read_bytes() for path in home.path.rglob("*.db*")}
    found = await erasure.plan(home.stores, Selection(person="ada"))
    assert [facts.entry_id for facts in found.entries] == [turn]
    assert found.kept == Kept(1, turns=1, sent=1)
    assert {path: path.read_bytes() for path in home.path.rglob("*.db")} == {
        path: content for path, content in files.items() if path.suffix == ".db"
    }
    assert found.as_json() == {
        "entries": [{"entry_id": turn, "kind": "turn", "at": found.entries[0].at}],
        "counts": {"turn": 1},
        "quoting": 0,
        "state": {"conversations": 1, "turns": 1, "inbox": 0, "sent": 1},
        "notes": 0,
        "held": [],
        "erased_before": {},
    }


async def test_mistakes(home: Home) -> None:
    turn = await home.turn("one")
    _, [record] = await erasure.erase(home.stores, Selection((turn,)), "test", COUNSEL)
    for wanted, reason, said in (
        (Selection(("nope",)), "test", "nope"),
        (Selection((record.entry_id,)), "test", "erase"),
        (Selection(person="ada"), "asked for by Ada", "--reason"),
        (Selection(search="Elm Road"), "who lives in elm road", "--reason"),
        (Selection(person="ada"), "", "--reason"),
        (Selection(), "test", "--entry"),
    ):
        with pytest.raises(InputError, match=said):
            await erasure.erase(home.stores, wanted, reason, COUNSEL)


@pytest.mark.parametrize("store", ["ledger.db", "state.db"])
async def test_with_a_reader_it_is_not_called_done(home: Home, store: str) -> None:
    """A reader of an older state keeps erased text in the log: the run fails and says so, and the next one mends it."""
    turn = await home.turn("canary-1")
    await home.said("a:1", "canary-2", sent=turn)
    reader = sqlite3.connect(home.path / store, timeout=0)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    with pytest.raises(StoreError, match="log until"):
        await erasure.erase(home.stores, Selection(person="ada"), "test", COUNSEL)
    assert await home.gone() == {turn}
    reader.close()
    found, records = await erasure.erase(home.stores, Selection(person="ada"), "test", COUNSEL)
    assert (found.is_empty, records, home.left("canary-1", "canary-2")) == (True, (), [])
    assert (await home.ledger.verify()).ok


async def test_more_than_one_record_names(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    turns = {await home.turn("one") for _ in range(5)}
    _, records = await erasure.erase(home.stores, Selection(person="ada"), "test", COUNSEL)
    assert [len(record.body["entry_ids"]) for record in records] == [2, 2, 1]
    assert (await home.gone(), (await home.ledger.verify()).ok) == (turns, True)


async def test_where_no_server_has_run(home: Home) -> None:
    turn = await home.turn("one")
    stores = replace(home.stores, state=None)
    found, _ = await erasure.erase(stores, Selection(person="ada"), "test", COUNSEL)
    assert (await home.gone(), found.kept) == ({turn}, Kept())


PEOPLE = st.sampled_from(["ada", "bob", "eve"])
SAID = st.lists(st.tuples(PEOPLE, st.sampled_from(["a:1", "a:2", "a:3"]), st.sampled_from([None, *"ab"])), max_size=6)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SAID, PEOPLE)
async def test_whoever_said_what_in_whatever_order(
    home: Home, said: list[tuple[str, str, str | None]], person: str
) -> None:
    """After an erasure by person no body names them, every other body is as it was, and the chain holds."""
    for user, conversation, on in said:
        turn = await home.turn(f"asked by {user}", user, conversation)
        if on:
            await home.feedback(turn, "no", user if on == "a" else "bob")
        await home.said(conversation, f"asked by {user}")
    before = await home.bodies()
    found, _ = await erasure.erase(home.stores, Selection(person=person), "test", COUNSEL)
    after = await home.bodies()
    chosen = {facts.entry_id for facts in found.entries}
    assert all(after[name] == body for name, body in before.items() if name not in chosen)
    assert all(after[name] == {"erased": True} for name in chosen)
    assert not any(
        person in (body.get("user"), body.get("ask", {}).get("user")) for body in after.values() if "ask" in body
    )
    assert home.left(f"asked by {person}") == []
    assert (await home.ledger.verify()).ok


@pytest.mark.parametrize("wanted", [Selection(person="rita"), Selection(person="RITA")])
async def test_later_turns_that_quote_it_go_with_it(home: Home, wanted: Selection) -> None:
    told = "I was told hepatitis-QR, where is the clinic?"
    first = await home.turn(told, user="rita", conversation="19:g")
    quoting = await home.turn("And on Sunday?", user="sven", conversation="19:g", history=[told, "Yes."])
    masked = await home.turn(
        "Or Monday?", user="sven", conversation="19:g", history=["I was told ████████████, where is the clinic?"]
    )
    other = await home.turn("And here?", user="sven", conversation="19:g", history=["something else"])
    elsewhere = await home.turn("And there?", user="sven", conversation="19:h", history=[told])
    found, [record] = await erasure.erase(home.stores, wanted, "asked for", COUNSEL)
    assert await home.gone() == {first, quoting, masked}
    assert (found.quoting, found.as_json()["quoting"]) == (2, 2)
    assert set(record.body["entry_ids"]) == {first, quoting, masked}
    assert {other, elsewhere}.isdisjoint(await home.gone())


async def test_over_the_api_the_same_person_quotes(home: Home) -> None:
    first = await home.turn("leukaemia-QX", user="uma", conversation=None)
    later = await home.turn("and then?", user="uma", conversation=None, history=["Leukaemia-QX"])
    await home.turn("and then?", user="udo", conversation=None, history=["leukaemia-QX"])
    await erasure.erase(home.stores, Selection((first,)), "asked for", COUNSEL)
    assert await home.gone() == {first, later}


async def test_where_nobody_is_named_who_holds_the_same_key_quotes_by_the_question(home: Home) -> None:
    """The answer is the same for all who ask for it, and takes no turn of others along."""
    nameless: dict[str, Any] = {"user": None, "conversation": None}
    first = await home.turn("leukaemia-QX, where?", **nameless, key="key 0")
    later = await home.turn("and then?", **nameless, key="key 0", history=["leukaemia-QX, where?", "Yes."])
    await home.turn("and here?", **nameless, key="key 0", history=["something else", "Yes."])
    await home.turn("and there?", **nameless, key="key 1", history=["leukaemia-QX, where?"])
    await erasure.erase(home.stores, Selection((first,)), "asked for", COUNSEL)
    assert await home.gone() == {first, later}


async def test_a_held_decision_keeps_its_note_from_a_search(home: Home) -> None:
    entry = await home.quarantine("ab" * 32, "Rosalind Quibble")
    await place(home.ledger, "entry", entry, "claim", COUNSEL)
    wanted = Selection(search="Rosalind Quibble")
    with pytest.raises(InputError, match="this is held"):
        await erasure.erase(home.stores, wanted, "asked for", COUNSEL)
    assert home.left("Rosalind Quibble") == ["Rosalind Quibble"]


@pytest.mark.parametrize("wanted", [Selection(conversation="c-pia"), Selection(person="pia")])
async def test_what_a_held_person_wrote_and_nobody_answered_stays(home: Home, wanted: Selection) -> None:
    await home.came_in("c-pia", "canary-1", "PIA")
    held, _ = await place(home.ledger, "person", "pia", "claim", COUNSEL)
    with pytest.raises(InputError, match="this is held"):
        await erasure.erase(home.stores, wanted, "asked for", COUNSEL)
    assert home.left("canary-1") == ["canary-1"]
    assert isinstance(held, Entry)


async def test_what_lay_beside_the_ledger_is_on_record_too(home: Home) -> None:
    await home.said("a:7", "IBAN DE89 3704 0044 0532 0130 00")
    found, [record] = await erasure.erase(home.stores, Selection(search="DE89370400440532013000"), "asked for", COUNSEL)
    assert (found.entries, found.kept.turns) == ((), 1)
    assert record.body["entry_ids"] == []
    assert record.body["reason"] == "asked for [by text: 1 rows of state.db]"
    assert (await home.ledger.verify()).ok


async def test_a_word_of_what_is_searched_for_is_no_reason(home: Home) -> None:
    await home.turn("It is Thaddeusz Quillfeather")
    with pytest.raises(InputError, match="must not say"):
        await erasure.erase(home.stores, Selection(search="Thaddeusz Quillfeather"), "of Quillfeather, Mr", COUNSEL)
