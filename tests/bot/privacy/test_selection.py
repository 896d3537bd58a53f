"""What is selected: all that is given must match, and nothing is selected by nothing."""

from __future__ import annotations

import pytest

from bot.privacy.facts import facts_of
from bot.privacy.selection import Selection
from grounding.errors import InputError
from rai.records import Entry

BODY = {
    "schema": 2,
    "ask": {"question": "I live in Elm Road", "user": "ada", "channel": "msteams", "conversation": "a:1"},
    "actor": {"user": "ada"},
}
TURN = Entry("e1", 1, "2026-11-20T09:00:00.000Z", "turn", BODY, "", "")
FITS = {"entries": ("e1", "e2"), "conversation": "a:1", "person": "ada", "search": "elm road"}
NOT = {"entries": ("e2",), "conversation": "a:2", "person": "ad", "search": "oak road"}


def matches(**wanted: object) -> bool:
    return Selection(**wanted).matches(TURN, facts_of(TURN))  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("name", FITS)
def test_each_alone(name: str) -> None:
    assert matches(**{name: FITS[name]})
    assert not matches(**{name: NOT[name]})


@pytest.mark.parametrize("name", FITS)
def test_all_must_match(name: str) -> None:
    assert matches(**FITS)
    assert not matches(**{**FITS, name: NOT[name]})


def test_what_somebody_does_for_the_company_is_not_theirs() -> None:
    body = {"schema": 2, "decision": "released", "actor": {"user": "ada"}}
    done = Entry("e2", 2, TURN.at, "quarantine_decision", body, "", "")
    assert not Selection(person="ada").matches(done, facts_of(done))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Selection(), "say what"),
        (Selection(person=" "), "--person"),
        (Selection(conversation=""), "--conversation"),
        (Selection(search=" a "), "--search"),
    ],
)
def test_a_selection_of_everything_is_refused(wanted: Selection, said: str) -> None:
    with pytest.raises(InputError, match=said):
        wanted.checked()


def test_a_record_may_say_the_kind_and_no_value() -> None:
    wanted = Selection(("e1",), "a:1", "ada", "Elm Road")
    assert wanted.kinds == ("entry", "conversation", "person", "text")
    assert wanted.is_said_in("asked for by ADA")
    assert wanted.is_said_in("they live in elm  road")
    assert not wanted.is_said_in("on request")
