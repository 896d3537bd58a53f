"""Judged turns as rows that `attest eval turns` asks again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.turns.facts import judged, turn_row
from bot.judging.corrections import NO_ANSWER, NO_FACT, NO_ROW, corrected_turn, facts_in
from bot.judging.verdict import Assessment
from rai.records import Entry
from tests.fakes.recorded_turn import QUESTION, recorded_turn

TURN = Entry("e1", 1, "2026-11-20T09:00:00Z", "turn", recorded_turn(), "", "")


def reply(answer: str, outcome: str = "answered") -> dict[str, Any]:
    return {"outcome": outcome, "answer": answer}


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (
            Assessment("wrong", correction="From 9 to 5, for €4.90.", wrong=("€5.90",)),
            reply("Open from 9 to 5; it costs €4.90."),
            reply("From 9 to 5, for €4.90, not €5.90."),
        ),
        (
            Assessment("partly", correction="Kettles too.", facts=(("kettles", "kettle"),)),
            reply("Any kettle."),
            reply("Lamps alone."),
        ),
        (Assessment("should_refuse"), reply("", "insufficient"), reply("On Sundays.")),
        (Assessment("wrongly_refused", correction="Until 4 pm."), reply("Until 4 pm."), reply("", "insufficient")),
    ],
)
def test_a_row_is_read_by_the_suite_and_tells_right_from_wrong(
    said: Assessment, right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    row = corrected_turn(TURN, said, None).row
    assert row is not None
    read = turn_row(Path("turns.jsonl"), row)
    assert (read.asked["question"], read.asked["history"]) == (
        QUESTION,
        [{"role": "customer", "text": "history told"}],
    )
    assert judged(read, right) == "right"
    assert judged(read, wrong) != "right"


def test_what_says_nothing_that_could_be_looked_for_is_left_out_and_why() -> None:
    assert corrected_turn(TURN, Assessment("wrong"), None).why == NO_ANSWER
    assert corrected_turn(TURN, Assessment("wrong", correction="Ask the shop."), None).why == NO_FACT


WRITTEN = Assessment("right", correction="It costs €4.90.")


@pytest.mark.parametrize(
    ("said", "reply", "expect", "must"),
    [
        (Assessment("should_refuse", correction="The Perch D1 costs €4.90."), {}, "insufficient", []),
        (Assessment("should_refuse", facts=(("€4.90",),)), {}, "insufficient", []),
        (Assessment("wrongly_refused", correction="It costs €4.90."), {}, "answered", [["€4.90"]]),
        (Assessment("partly", correction="It costs €4.90."), {}, "answered", [["€4.90"]]),
        (Assessment("wrong", correction="It costs €4.90."), {}, "answered", [["€4.90"]]),
        (WRITTEN, {"outcome": "repaired"}, "answered", [["€4.90"]]),
        (WRITTEN, {"outcome": "insufficient"}, "insufficient", []),
        (WRITTEN, {"outcome": "insufficient", "clarification": {"question": "Which?"}}, "ask_back", [["€4.90"]]),
        (WRITTEN, {"outcome": "answered", "intent": "greeting"}, "smalltalk", []),
    ],
)
def test_each_verdict_has_its_expectation(
    said: Assessment, reply: dict[str, Any], expect: str, must: list[list[str]]
) -> None:
    row = corrected_turn(answered_by(reply), said, None).row
    assert row is not None
    assert (row["expect"], row["parts"][0]["must"]) == (expect, must)
    assert turn_row(Path("turns.jsonl"), row).expect == expect


@pytest.mark.parametrize(
    "reply", [{"outcome": "blocked"}, {"outcome": "withheld"}, {"outcome": "answered", "intent": "rework"}]
)
def test_what_no_row_can_expect_is_left_out_and_why(reply: dict[str, Any]) -> None:
    assert corrected_turn(answered_by(reply), WRITTEN, None).why == NO_ROW


def answered_by(reply: dict[str, Any]) -> Entry:
    """The turn with this of its reply."""
    return replace(TURN, body={**TURN.body, "reply": {"outcome": "answered", **reply}})


def test_values_of_an_answer_are_its_facts_as_they_are_written() -> None:
    assert facts_in("It costs €4.90, for 30 days; write to help@shop.example.") == (
        ("€4.90",),
        ("30 days",),
        ("help@shop.example",),
    )


def test_names_and_codes_are_no_facts_for_a_wrong_answer_has_them_too() -> None:
    assert facts_in("The Perch D1 of John Smith, order AB-1234, has no charger.") == ()
    assert facts_in("The Perch D1 charges in 4 hours; Berlin has it from 3 May at 9:30.") == (
        ("4 hours",),
        ("3 May",),
        ("9:30",),
    )
