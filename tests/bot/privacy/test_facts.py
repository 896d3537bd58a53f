"""What an entry tells of whom it is about, and how a text is found in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.privacy.facts import RECORDS, contains, erased_by, facts_of, is_erased, says
from rai.entry_schema import KINDS
from rai.records import Entry


def entry(kind: str, body: dict[str, Any]) -> Entry:
    return Entry("e1", 1, "2026-11-20T09:00:00.000Z", kind, body, "", "")


def test_of_a_turn() -> None:
    body = {
        "ask": {"user": None, "channel": "msteams", "conversation": "19:x", "question": "q"},
        "actor": {"user": "ada", "groups": []},
    }
    facts = facts_of(entry("turn", body))
    assert facts.users == {"ada"}
    assert (facts.place, facts.conversation, facts.about) == (("msteams", "19:x"), "19:x", ())


def test_of_what_refers_to_a_turn() -> None:
    facts = facts_of(entry("refusal_decision", {"entry_id": "t", "report": "r", "decision": "wrong"}))
    assert (facts.about, facts.users, facts.place) == (("t", "r"), frozenset(), None)
    assert facts_of(entry("feedback", {"entry_id": None, "user": "ada"})).about == ()
    assert facts_of(entry("quarantine_decision", {"passage": {"id": "abc"}})).passage == "abc"


def test_what_an_answer_was_made_into_refers_to_it() -> None:
    ask = {"question": "shorter", "rework": {"how": "shorter", "entry_id": "t", "language": ""}}
    assert facts_of(entry("turn", {"ask": ask})).about == ("t",)
    assert facts_of(entry("turn", {"ask": {**ask, "rework": {"how": "summary", "entry_id": ""}}})).about == ()


def test_a_record_of_an_erasure_belongs_to_nothing() -> None:
    assert facts_of(entry("erase", {"entry_id": "t"})).about == ()
    assert erased_by(entry("erase", {"entry_id": "t"})) == ("t",)
    assert erased_by(entry("erase", {"entry_ids": ["t", "u"]})) == ("t", "u")


def test_the_kinds_that_stay_are_kinds() -> None:
    assert {"erase", "hold", "release", "guard"} <= RECORDS & KINDS.keys()
    assert not RECORDS & {"turn", "feedback", "refusal_report", "refusal_decision", "quarantine_decision"}


def test_white_space_is_nobody() -> None:
    assert facts_of(entry("turn", {"user": "\r", "actor": {"user": " "}})).users == frozenset()


@given(st.recursive(st.none() | st.text() | st.integers(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_whatever_a_body_holds(value: Any) -> None:
    """A body of an older program, or one that somebody damaged, is read without a fault."""
    facts = facts_of(entry("turn", {"ask": value, "actor": value, "user": value, "entry_id": value, "passage": value}))
    assert all(isinstance(user, str) and user for user in facts.users)
    assert is_erased(entry("turn", {"erased": True}))


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("I am  Zebedea\nQuillfeather.", "zebedea quillfeather", True),
        ("STRASSE 5", "straße 5", True),
        ("paid with 4111 1111-1111.1111", "4111111111111111", True),
        ("paid with 4111111111111111", "4111 1111 1111 1111", True),
        ("row 12345 6", "12345", True),
        ("row 12 345", "12345", False),
        ("Ann", "Anna", False),
    ],
)
def test_a_text_is_found_as_people_spell_it(text: str, wanted: str, *, found: bool) -> None:
    assert contains(text, wanted) is found


@given(st.text(), st.text(min_size=1), st.text())
def test_what_stands_in_a_text_is_found(before: str, wanted: str, after: str) -> None:
    assert contains(f"{before} {wanted} {after}", wanted)


def test_passages_are_not_looked_at() -> None:
    body = {"schema": 2, "ask": {"question": "q"}, "evidence": [{"title": "Elm Road", "text": "Elm Road 5"}]}
    assert not says(body, "turn", "Elm Road")
    assert says({**body, "unfit": ["at Elm Road"]}, "turn", "elm road")
