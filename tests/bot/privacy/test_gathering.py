"""One pass over the ledger: what is wanted, with all that refers to it, and what of it is held."""

from __future__ import annotations

from bot.privacy.facts import Facts
from bot.privacy.gathering import gather, held_entries
from bot.privacy.hold import On, place, release
from bot.records import Actor
from rai.records import Entry
from tests.bot.privacy.conftest import CHANNEL, Home

COUNSEL = Actor("counsel", "account")


async def held(home: Home, on: On, target: str) -> str:
    placed, _ = await place(home.ledger, on, target, "claim", COUNSEL)
    assert isinstance(placed, Entry)
    return placed.entry_id


async def test_what_refers_to_a_turn_comes_with_it(home: Home) -> None:
    turn, other = await home.turn("one"), await home.turn("two", "bob", "a:2")
    feedback = await home.feedback(turn, "no", "bob")
    report = await home.report(turn, "why")
    decision = await home.decision(turn, report, "honest")
    await home.feedback(other, "yes")
    found = await gather(home.ledger, lambda entry, _facts: entry.entry_id == turn)
    assert list(found.chosen) == [turn, feedback, report, decision]
    assert found.people == {(CHANNEL, "a:1"): {"ada"}, (CHANNEL, "a:2"): {"bob"}}


async def test_a_decision_comes_with_its_report_alone(home: Home) -> None:
    turn = await home.turn("one")
    report = await home.report(turn, "why")
    decision = await home.decision(turn, report, "honest")
    found = await gather(home.ledger, lambda entry, _facts: entry.kind == "refusal_report")
    assert list(found.chosen) == [report, decision]
    assert found.turns[turn].users == {"ada"}


async def test_the_record_itself_and_what_is_gone_are_never_chosen(home: Home) -> None:
    turn = await home.turn("one")
    await home.ledger.erase([turn], "test")
    await held(home, "person", "ada")

    def everything(_entry: Entry, _facts: Facts) -> bool:
        return True

    assert (await gather(home.ledger, everything)).chosen == {}


async def test_what_is_held_holds_what_it_refers_to_and_that_the_rest(home: Home) -> None:
    turn, free = await home.turn("one"), await home.turn("two", "bob", "a:2")
    feedback, more = await home.feedback(turn, "no"), await home.feedback(turn, "yes")
    name = await held(home, "entry", feedback)
    found = await gather(home.ledger, lambda _entry, facts: facts.kind == "turn")
    assert {entry: hold.hold_id for entry, hold in found.held().items()} == {turn: name, feedback: name, more: name}
    assert free in found.chosen


async def test_what_an_answer_was_made_into_goes_and_is_held_with_it(home: Home) -> None:
    first = await home.turn("one")
    shorter = await home.turn("shorter", made_of=first)
    shortest = await home.turn("shorter", made_of=shorter)

    def is_first(entry: Entry, _facts: Facts) -> bool:
        return entry.entry_id == first

    assert list((await gather(home.ledger, is_first)).chosen) == [first, shorter, shortest]
    for name in (shortest, first):
        hold = await held(home, "entry", name)
        assert set((await gather(home.ledger, is_first)).held()) == {first, shorter, shortest}
        await release(home.ledger, hold, "settled", COUNSEL)


async def test_a_conversation_is_held_through_an_entry_of_it(home: Home) -> None:
    turn = await home.turn("one")
    feedback = await home.feedback(turn, "no")
    await held(home, "entry", feedback)
    found = await gather(home.ledger, lambda _entry, _facts: False)
    of_entries = await held_entries(home.ledger, found.holds)
    assert of_entries == {feedback: (CHANNEL, "a:1")}
    places = [(CHANNEL, "a:1"), (CHANNEL, "a:2")]
    assert list(found.held_places(places, of_entries)) == [(CHANNEL, "a:1")]
