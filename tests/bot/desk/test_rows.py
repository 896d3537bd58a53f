"""What the index of the desk takes from an entry."""

from __future__ import annotations

from typing import Any

import pytest

from bot.desk.rows import REPORTED, SCREEN, ClaimFacts, DeskRow, DocumentFacts, Said, packed_row_of, row_of, unpacked
from rai.records import Entry
from tests.fakes.recorded_turn import QUESTION, recorded_turn


def entry(kind: str, body: dict[str, Any]) -> Entry:
    return Entry("01ABC", 7, "2026-11-25T09:30:00.250Z", kind, body, "prev", "mac")


def test_a_turn_is_known_by_who_asked_what_it_stood_on_and_what_was_found_of_its_claims() -> None:
    row = row_of(entry("turn", recorded_turn() | {"delivery": "follows"}))
    assert (row.seq, row.entry_id, row.mac, row.outcome, row.user, row.channel) == (
        7,
        "01ABC",
        "mac",
        "answered",
        "ada",
        "teams",
    )
    assert row.waits
    assert row.documents == (DocumentFacts("hours.md", "77a60a6e471df0999d4a5ee35344aebe", quoted=True),)
    assert row.claims == (ClaimFacts("time", "exact", "verbatim"),)
    assert row.words.asked == row.title == QUESTION
    assert "10 to 4" in row.words.answered
    assert row.words.beside.split("\n") == ["history told", "context told", "unfit told"]


def test_what_was_struck_of_a_draft_and_the_rule_of_a_refusal_stand_among_the_claims() -> None:
    body = recorded_turn()
    money = {"kind": "money", "status": "absent", "rule": "role", "start": 0, "end": 1, "text": "x"}
    body["reply"]["draft"] = {"text": "drafted", "claims": [money, {**money, "status": "exact"}]}
    body["screenings"] = [{"what": "question", "verdict": "block", "rule": "JB-01"}, {"verdict": "allow", "rule": "x"}]
    row = row_of(entry("turn", body))
    assert set(row.claims) == {
        ClaimFacts("time", "exact", "verbatim"),
        ClaimFacts("money", "absent", "role", struck=True),
        ClaimFacts(SCREEN, "block", "JB-01"),
    }
    assert "drafted" in row.words.beside


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("delivery", {"entry_id": "t", "delivered": "2026"}, Said("t", "arrived", "delivered")),
        ("delivery", {"entry_id": "t", "failed": "500"}, Said("t", "arrived", "failed 500")),
        ("delivery", {"entry_id": "t", "handed_over": "2026"}, Said("t", "arrived", "handed over")),
        ("feedback", {"entry_id": "t", "reaction": "dislike", "text": "bad"}, Said("t", "feedback", "dislike")),
        ("refusal_report", {"entry_id": "t"}, Said("t", "refusal", REPORTED)),
        ("refusal_decision", {"entry_id": "t", "decision": "wrong"}, Said("t", "refusal", "wrong")),
        ("verdict", {"entry_id": "t", "verdict": "wrong", "comment": "no"}, Said("t", "verdict", "wrong")),
        ("feedback", {"reaction": "dislike"}, None),
        ("source_opened", {"entry_id": "t"}, None),
    ],
)
def test_what_follows_a_turn_says_something_of_it(kind: str, body: dict[str, Any], said: Said | None) -> None:
    assert row_of(entry(kind, {"schema": 2, **body})).said == ((said,) if said else ())


def test_words_of_other_entries_are_their_free_text_alone() -> None:
    row = row_of(
        entry("feedback", {"schema": 2, "entry_id": "t", "reaction": "like", "text": "well said", "user": "bo"})
    )
    assert (row.words.beside, row.user) == ("well said", "bo")
    assert not row_of(entry("read", {"schema": 2, "page": "list", "wanted": {"entry": "e"}})).words


def test_of_an_erased_entry_there_is_its_place_alone() -> None:
    assert row_of(entry("turn", {"erased": True})) == DeskRow(
        7, "01ABC", "2026-11-25T09:30:00.250Z", "turn", "mac", erased=True
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ask": "x", "reply": []},
        {"reply": {"claims": [1], "citations": 3, "draft": {"claims": "x"}}, "evidence": {"a": 1}},
        {"reply": {"claims": [{"kind": 1}]}, "evidence": [{"doc_id": 2}], "screenings": [None]},
    ],
)
def test_a_body_of_another_shape_is_read_as_far_as_it_goes(body: dict[str, Any]) -> None:
    assert row_of(entry("turn", body)).documents == ()


@pytest.mark.parametrize(
    ("actor", "user"),
    [
        ({"user": "rita", "authenticated_by": "oidc"}, "rita"),
        ({"user": None, "authenticated_by": "review 921d6b52"}, "921d6b52"),
        ({"authenticated_by": "account"}, ""),
    ],
)
def test_a_verdict_says_what_it_is_and_whose(actor: dict[str, Any], user: str) -> None:
    body = {
        "actor": actor,
        "channel": "review",
        "entry_id": "01TURN",
        "verdict": "wrong",
        "comment": "Beside the point",
    }
    row = row_of(entry("verdict", body))
    assert (row.title, row.user) == ("Wrong on 01TURN: Beside the point", user)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("turn", recorded_turn() | {"delivery": "follows"}),
        ("turn", {"erased": True}),
        ("feedback", {"schema": 2, "entry_id": "t", "reaction": "like"}),
        ("erase", {"schema": 2, "entry_ids": ["a", "b"]}),
        ("quarantine_decision", {"schema": 2, "passage": {"id": "p", "chunk_id": "c"}, "decision": "release"}),
    ],
)
def test_a_row_comes_back_from_another_process_as_it_was(kind: str, body: dict[str, Any]) -> None:
    row, packed = row_of(entry(kind, body)), packed_row_of(entry(kind, body))
    assert unpacked(packed) == row
    assert repr(unpacked(packed)) == repr(row)  # named tuples of other names are equal too
    assert {type(each) for each in packed} <= {int, str, bool, float, tuple}
