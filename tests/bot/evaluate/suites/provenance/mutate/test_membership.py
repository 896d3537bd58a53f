"""What a text holds by the simple sets of the instrument."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.evaluate.suites.provenance.mutate import membership


@pytest.mark.parametrize(
    ("value", "text", "held"),
    [
        ("49", "It costs $49.", True),
        ("49", "It costs $349.", False),
        ("1200", "1,234 people", True),
        ("1235", "1,234 people", False),
        ("24", "twenty-four hours", True),
        ("3", "the third floor", True),
        ("1.5", "1,5 Liter", True),
        ("2000", "2 thousand", True),
        ("2500", "2.5 million", True),
        ("26", "between 20 and 30", False),
        ("30", "24 or 36", False),
        ("30", "about 33", True),
        ("12", "a dozen", True),
    ],
)
def test_numbers_that_a_text_holds_or_rounds_to(value: str, text: str, *, held: bool) -> None:
    assert membership.holds_number(Decimal(value), [text]) is held


@pytest.mark.parametrize(
    ("surface", "text", "held"),
    [
        ("2 pm", "open at 14:00", True),
        ("2 pm", "open at 2 am", False),
        ("2:30 pm", "from 2:30", True),
        ("12:00", "at noon", True),
    ],
)
def test_clock_times_that_a_text_holds(surface: str, text: str, *, held: bool) -> None:
    assert membership.holds_time(surface, [text]) is held


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("Tuesday", "Monday to Friday", True),
        ("Tuesday", "open daily", True),
        ("Tuesday", "on Tues.", True),
        ("Tuesday", "on Monday and Friday", False),
    ],
)
def test_weekdays_that_a_text_holds(name: str, text: str, *, held: bool) -> None:
    assert membership.holds_weekday(name, [text]) is held


@pytest.mark.parametrize(
    ("day", "month", "text", "held"),
    [
        (3, 5, "on 3 May", True),
        (3, 5, "May 3rd", True),
        (3, 5, "03.05.2026", True),
        (3, 5, "05/03/26", True),
        (3, 5, "13 May", False),
        (3, 5, "3 June", False),
    ],
)
def test_days_that_a_text_holds(day: int, month: int, text: str, *, held: bool) -> None:
    assert membership.holds_day(day, month, [text]) is held
