"""The day on which a model is switched off: from our table, by who serves it, else unknown."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.retirement import SOON, retirement, with_retirement

AZURE = "https://contoso.openai.azure.com/openai/v1/"
FOUND = Diagnosis("model service", "ok", "answers", service=True)


@pytest.mark.parametrize(
    ("model", "url", "day"),
    [
        ("gpt-5.4-mini", AZURE, date(2027, 3, 18)),
        ("gpt-5.4-mini-2026-03-17", AZURE, date(2027, 3, 18)),
        ("text-embedding-3-small", AZURE, date(2027, 4, 15)),
        ("gpt-4o-mini", None, date(2027, 1, 14)),
        ("gpt-5.4-mini", None, None),
        ("gpt-5.4-mini", "http://127.0.0.1:11434/v1", None),
        ("my-deployment", AZURE, None),
    ],
)
def test_the_day_is_that_of_who_serves_the_model(model: str, url: str | None, day: date | None) -> None:
    assert retirement(model, url)[0] == day


def test_a_model_of_no_list_is_unknown() -> None:
    assert with_retirement(FOUND, "mine", AZURE).detail == "answers; retirement of mine unknown"


@pytest.mark.parametrize(
    ("left", "status", "said"),
    [
        (SOON + timedelta(days=1), "ok", "is switched off on 2027-03-18"),
        (SOON, "note", "is switched off on 2027-03-18"),
        (timedelta(days=-1), "note", "was to be switched off on 2027-03-18"),
    ],
)
def test_a_day_that_is_near_or_past_is_a_note(left: timedelta, status: str, said: str) -> None:
    found = with_retirement(FOUND, "gpt-5.4-mini", AZURE, date(2027, 3, 18) - left)
    assert found.status == status
    assert f"gpt-5.4-mini {said} (Microsoft's schedule of 2026-07-07)" in found.detail


def test_a_failure_stays_one_and_its_day_is_told() -> None:
    failed = Diagnosis("model service", "fail", "has no such deployment", "deploy it", service=True)
    found = with_retirement(failed, "gpt-4o", AZURE, date(2026, 11, 25))
    assert (found.status, found.fix) == ("fail", "deploy it")
    assert "gpt-4o was to be switched off on 2026-10-01" in found.detail
