"""A turn's body, shaped for reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.review.turn_view import TurnView, tidy, turn_view
from rai.ledger.chain import canonical
from rai.ledger.contents import join, numbers_in, split
from rai.records import Entry
from tests.fakes.recorded_turn import QUESTION, recorded_turn

SOURCE = {
    "n": 1,
    "chunk_id": "7f3ac2",
    "title": "T",
    "text": "Costs €4.90 now",
    "origin": "kb",
    "score": 0.8,
    "locator": None,
}
SPAN = {"source": "7f3ac2", "field": "text", "start": 6, "end": 11, "text": "€4.90"}
CLAIM = {
    "kind": "money",
    "entity": None,
    "text": "€4.90",
    "start": 6,
    "end": 11,
    "value": None,
    "status": "exact",
    "evidence": [SPAN],
    "why": "Stands in the same characters in 7f3ac2.",
}


def view_of(answer: str) -> TurnView:
    """The view of a turn that answered so, with one claim and one passage."""
    body = {"reply": {"answer": answer, "claims": [CLAIM]}, "evidence": [SOURCE]}
    return turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", ""))


def test_both_sides_are_marked_with_the_claims_key() -> None:
    view = view_of("It is €4.90.").answer
    assert [(p.text, p.keys) for p in view.pieces] == [("It is ", ""), ("€4.90", "0"), (".", "")]
    assert [(p.text, p.keys) for p in view.cards[0].pieces] == [("Costs ", ""), ("€4.90", "0"), (" now", "")]


def test_a_reason_names_its_source_by_number() -> None:
    view = view_of("It is €4.90.").answer
    assert view.rows[0].why == "Stands in the same characters in [1]."


def test_who_asked_and_what_it_ran_on_are_lines_where_the_entry_tells() -> None:
    """Older entries tell neither."""
    assert view_of("It is €4.90.").ran_on == ()
    body = {
        "actor": {"user": "ada", "groups": ["a", "b"]},
        "versions": {"program": "1.2.3", "models": {"screen": "s1"}},
    }
    view = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", ""))
    assert view.ran_on == (
        ("actor.user", "ada"),
        ("actor.groups", "a, b"),
        ("versions.program", "1.2.3"),
        ("versions.models.screen", "s1"),
    )


def test_bodies_of_any_shape_become_lines() -> None:
    body: dict[str, Any] = {
        "a": {"b": {"c": 1}},
        "d": [],
        "e": "x",
        "f": None,
        "g": {},
        "h": True,
        "i": ["p", 2],
        "j": [{"k": 0.5}, {"k": "l"}],
    }
    assert tidy(body) == [
        ("a.b.c", "1"),
        ("d", "none"),
        ("e", "x"),
        ("f", "none"),
        ("g", "none"),
        ("h", "yes"),
        ("i", "p, 2"),
        ("j.1.k", "0.5"),
        ("j.2.k", "l"),
    ]


def test_a_turn_of_which_a_content_is_gone_is_shown_as_far_as_it_can_be_read() -> None:
    parts = split(json.loads(canonical(recorded_turn())), "turn")
    assert parts is not None
    numbers = {named: n for n, named in enumerate(parts.contents, start=1)}
    stored = parts.referring(numbers)
    values = {numbers[named]: value for named, value in parts.contents.items()}
    for gone in sorted(set(numbers_in(stored))):
        body = join(stored, "turn", {n: value for n, value in values.items() if n != gone})
        view = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", ""))
        assert f"entry {gone} " in view.unreadable
        assert (view.ask["question"], view.reply.answer) == (QUESTION, recorded_turn()["reply"]["answer"])
    whole = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", join(stored, "turn", values), "", ""))
    assert whole.unreadable == ""


def test_a_claim_tells_where_it_stands_with_some_words_around_and_how_it_was_worked_out() -> None:
    text = (
        "The basic plan is for one. " * 3 + "Costs €4.90 now, " + "and other words follow it here, many of them. " * 3
    )
    at = text.index("€4.90")
    span = {"source": "7f3ac2", "field": "text", "start": at, "end": at + 5, "text": "€4.90"}
    wrong = {**span, "start": at + 1}
    claim = {**CLAIM, "evidence": [span, wrong], "instead": span, "formula": "4.90 × 1"}
    body = {"reply": {"answer": "It is €4.90.", "claims": [claim]}, "evidence": [{**SOURCE, "text": text}]}
    (row,) = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", "")).answer.rows
    held, instead = row.places
    assert (held.n, held.text, held.instead, instead.instead) == ("1", "€4.90", False, True)
    assert held.before.endswith("Costs ")
    assert held.before.startswith("… ")
    assert held.after.startswith(" now, and other")
    assert held.after.endswith(" …")
    assert row.claim.formula == "4.90 × 1"


def test_what_was_asked_for_what_the_judge_said_and_a_second_draft_are_shown_as_they_were_recorded() -> None:
    body = recorded_turn()
    body["reply"]["coverage"] = [{"part": "hours", "answered": True}, {"part": "parking", "answered": False}]
    body["judgements"] = [{"model": "m", "prompt": "p", "reply": "r"}]
    body["regeneration"] = {"used": False, "prompt": body["prompt"], "text": "second", "why": "half of it was struck"}
    view = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", ""))
    assert view.coverage == (("hours", True), ("parking", False))
    assert view.judgements == ({"model": "m", "prompt": "p", "reply": "r"},)
    assert view.redrafted is not None
    assert view.redrafted["text"] == "second"
    assert turn_view(Entry("e1", 1, "2026", "turn", {"reply": {}}, "", "")).coverage == ()


@pytest.mark.parametrize(
    ("outcome", "action", "fill", "told"),
    [
        ("answered", "incorrect", True, True),
        ("repaired", "incorrect", True, True),
        ("insufficient", "incorrect", True, False),
        ("answered", "correct", True, False),
        ("answered", "incorrect", False, False),
    ],
)
def test_an_answer_on_passages_that_the_grader_dropped_is_one_of_a_policy_that_fills(
    outcome: str, action: str, fill: bool, told: bool
) -> None:
    body = {
        "reply": {"answer": "It is €4.90.", "outcome": outcome, "action": action, "claims": [CLAIM]},
        "policy": {"name": "attest", "fill": fill},
        "evidence": [SOURCE],
    }
    view = turn_view(Entry("e1", 1, "2026-11-20T10:00:00Z", "turn", body, "", ""))
    assert view.answered_all_the_same is told
