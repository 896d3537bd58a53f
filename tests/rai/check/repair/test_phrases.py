"""A replaced value reads like the one it replaces: joined, counted, spoken and capitalised."""

from __future__ import annotations

import pytest

from rai.check.repair.phrases import rewritten
from rai.claims.find import find_values

CASES = [
    # answer, its value, source, its value, what becomes of the answer (None: it would not read)
    ("A 14-day trial.", "14-day", "for 30 days", "30 days", "A 30-day trial."),
    ("A trial of 14 days.", "14 days", "a 30-day trial", "30-day", "A trial of 30 days."),
    ("It takes 2 days.", "2 days", "It takes 1 day.", "1 day", "It takes 1 day."),
    ("There are 2 days left.", "2 days", "1 day is left", "1 day", None),
    ("Take 2 items home.", "2", "1 item", "1", "Take 1 item home."),
    ("Take 1 item home.", "1", "3 items", "3", "Take 3 items home."),
    ("Take 2 boxes home.", "2", "1 lid", "1", None),
    ("2 items are free.", "2", "1 item", "1", None),
    ("A 2 GB card.", "2 GB", "8 GB", "8 GB", "An 8 GB card."),
    ("An 8 GB card.", "8 GB", "2 GB", "2 GB", "A 2 GB card."),
    ("An 11-day trial.", "11-day", "7 days", "7 days", "A 7-day trial."),
    ("Five items.", "Five", "there are eight items", "eight", "Eight items."),
    ("Take five items.", "five", "Eight items", "Eight", "Take eight items."),
    ("It costs $5 a month.", "$5", "8 USD per month", "8 USD", "It costs 8 USD a month."),
    ("On 3 May 2026.", "3 May 2026", "in 2027", "2027", None),
    ("Source [2].", "2", "4 lids", "4", None),
    ("Call 0117 496 0818 1.", "1", "4 lids", "4", None),
    ("It takes 30 minutes.", "30 minutes", "3 hours 15 minutes", "3 hours 15 minutes", None),
]


@pytest.mark.parametrize(("answer", "was", "source", "now", "left"), CASES)
def test_a_value_is_put_so_that_the_sentence_reads(
    answer: str, was: str, source: str, now: str, left: str | None
) -> None:
    mine = next((f for f in find_values(answer) if answer[f.start : f.end] == was), None)
    theirs = next((f for f in find_values(source) if source[f.start : f.end] == now), None)
    if mine is None:
        assert left is None  # what is no value is not replaced either
        return
    assert theirs is not None
    change = rewritten(answer, mine, source, theirs, (theirs.start, theirs.end))
    assert (change and answer[: change.start] + change.text + answer[change.end :]) == left
    if change and left:
        assert left[change.at : change.at + len(change.value)] == change.value
