"""Judged turns as rows that `attest eval turns` asks again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.turns.facts import judged, turn_row
from bot.judging.corrections import NO_ANSWER, NO_FACT, corrected_turn, facts_in
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


def test_values_of_an_answer_are_its_facts_as_they_are_written() -> None:
    assert facts_in("It costs €4.90, for 30 days; write to help@shop.example.") == (
        ("€4.90",),
        ("30 days",),
        ("help@shop.example",),
    )
