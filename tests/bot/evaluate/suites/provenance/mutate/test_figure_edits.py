"""Changed figures, units and dates are wrong for certain and written alike."""

from __future__ import annotations

import random

import pytest

from bot.evaluate.suites.provenance.mutate.figure_edits import digit, shifted, unit
from bot.evaluate.suites.provenance.mutate.surfaces import surfaces
from tests.bot.evaluate.suites.provenance.mutate.supported import supported


def test_a_digit_is_not_changed_into_an_admissible_rounding() -> None:
    for seed in range(40):
        edit = digit(
            supported("It has 1,230 seats.", "1,234 seats"), surfaces("It has 1,230 seats.")[0], random.Random(seed)
        )
        assert edit is None or edit.now not in ("1,230", "1,234")


@pytest.mark.parametrize(
    ("answer", "source", "changed"),
    [
        ("It takes 14 days.", "It takes 14 days and 14 hours.", {"weeks", "months"}),
        ("It takes 2 weeks.", "It takes 2 weeks.", {"days", "months"}),
        ("It costs $5.", "It costs $5.", {"€", "£"}),
        ("It costs $5.", "It costs $5 or €4.", {"£"}),
        ("It has 3 GB.", "It has 3 GB.", {"MB", "TB"}),
    ],
)
def test_units(answer: str, source: str, changed: set[str]) -> None:
    made = [unit(supported(answer, source), surfaces(answer)[0], random.Random(seed)) for seed in range(20)]
    assert {edit.now for edit in made if edit} == changed


@pytest.mark.parametrize(
    "text", ["12 March 2026", "March 12, 2026", "12th March", "2026-03-12", "31 Jan 2026", "Monday", "March 2nd, 2026"]
)
def test_a_shifted_date_is_another_date_written_alike(text: str) -> None:
    for seed in range(30):
        edit = shifted(
            supported(f"It ends on {text}.", f"It ends on {text}."),
            surfaces(f"It ends on {text}.")[0],
            random.Random(seed),
        )
        if edit is not None:
            assert edit.now != text
            assert [s.kind for s in surfaces(f"It ends on {edit.now}.")] == ["date"]
            assert edit.end - edit.start == len(text)
