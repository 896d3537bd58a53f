"""Legal holds: placed and released on record, and what each covers."""

from __future__ import annotations

import pytest

from bot.privacy.facts import Facts
from bot.privacy.hold import Hold, On, holds_in, place, release
from bot.records import Actor
from grounding.errors import InputError
from rai.records import Entry
from tests.bot.privacy.conftest import Home

COUNSEL = Actor("counsel", "account")


async def test_a_hold_is_an_entry_and_so_is_its_release(home: Home) -> None:
    placed, new = await place(home.ledger, "person", "ada", " claim 118 ", COUNSEL)
    assert (new, isinstance(placed, Entry)) == (True, True)
    [held] = await holds_in(home.ledger)
    assert held.as_json() == {
        "hold": held.hold_id,
        "on": "person",
        "target": "ada",
        "reason": "claim 118",
        "at": held.at,
        "by": "counsel",
    }
    again, new = await place(home.ledger, "person", "ada", "claim 119", COUNSEL)
    assert (again, new) == (held, False)
    gone, record = await release(home.ledger, held.hold_id, "settled", COUNSEL)
    assert (gone, record.kind) == (held, "release")
    assert await holds_in(home.ledger) == ()
    assert await home.kinds() == ["hold", "release"]
    assert (await home.ledger.verify()).ok


async def test_mistakes(home: Home) -> None:
    erased = await home.turn("q")
    await home.ledger.erase([erased], "test")
    for on, target, reason, said in (
        ("entry", "nope", "why", "nope"),
        ("entry", erased, "why", "erased"),
        ("person", "ada", " ", "--reason"),
        ("person", "ada", "x" * 501, "--reason"),
    ):
        with pytest.raises(InputError, match=said):
            await place(home.ledger, on, target, reason, COUNSEL)  # type: ignore[arg-type]  # of the table
    with pytest.raises(InputError, match="no hold"):
        await release(home.ledger, "nope", "why", COUNSEL)


TURN = Facts("t", "turn", "", frozenset({"ada"}), ("msteams", "a:1"))
ASIDE = Facts("u", "turn", "", frozenset({"bob"}), ("msteams", "a:2"))
FEEDBACK = Facts("f", "feedback", "", frozenset({"bob"}), about=("t",))


@pytest.mark.parametrize(
    ("on", "target", "covered"),
    [
        ("entry", "t", "t f"),
        ("entry", "f", "f"),
        ("conversation", "a:1", "t f"),
        ("person", "ada", "t f"),
        ("person", "bob", "u f"),
        ("person", "eve", ""),
    ],
)
def test_what_a_hold_covers(on: On, target: str, covered: str) -> None:
    """What refers to an entry is covered with it."""
    hold = Hold("h", on, target, "", "")
    found = [facts.entry_id for facts in (TURN, ASIDE, FEEDBACK) if hold.covers(facts, {"t": TURN, "u": ASIDE})]
    assert found == covered.split()


def test_a_conversation_is_held_by_who_spoke_in_it() -> None:
    assert Hold("h", "conversation", "a:1", "", "").covers_place(("msteams", "a:1"), ())
    assert Hold("h", "person", "ada", "", "").covers_place(("msteams", "a:1"), {"ada", "bob"})
    assert not Hold("h", "person", "ada", "", "").covers_place(("msteams", "a:1"), {"bob"})
    assert not Hold("h", "entry", "a:1", "", "").covers_place(("msteams", "a:1"), {"bob"})
