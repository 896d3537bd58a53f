"""Both errors of knowing when there is an answer, by hand."""

from __future__ import annotations

import pytest

from bot.evaluate.answerability import confusion, measures
from tests.bot.evaluate.questions import decided


def test_both_rates_by_hand() -> None:
    asked = [
        decided("1", "absent", "ambiguous", answered=True),
        decided("2", "absent", "incorrect", answered=False),
        decided("3", "absent", "correct", answered=True),
        decided("4", "present", "incorrect", answered=False),
        decided("5", "present", "correct", answered=True),
        decided("6", None, "correct", answered=True, kind="CONVERSATIONAL"),
    ]
    assert measures(asked) == pytest.approx(
        {
            "balanced_accuracy": (1 / 3 + 1 / 2) / 2,
            "answered_though_absent": 2 / 3,
            "absent_n": 3,
            "refused_though_present": 1 / 2,
            "present_n": 2,
        }
    )
    assert measures(asked[3:]) == {"refused_though_present": 0.5, "present_n": 2.0}
    assert measures([]) == {}
    table = confusion(asked)
    assert list(table) == ["answer present", "CONVERSATIONAL", "answer absent"]
    assert dict(table["answer absent"]) == {"ambiguous": 1, "incorrect": 1, "correct": 1}
