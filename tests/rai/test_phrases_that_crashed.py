"""Ordinary phrases that crashed the check once: no rule may raise on them."""

from __future__ import annotations

import pytest

from rai.check.match import match_claims
from rai.records import Source


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        (
            "The window is from 14:30 UTC to 16:00 UTC, an hour and a half.",
            "Maintenance runs from 14:30 UTC to 16:00 UTC.",
        ),
        (
            "From the end of March you have three months, so by the end of June.",
            "The offer begins at the end of March and ends by the end of June.",
        ),
    ],
    ids=["a time with a zone", "a month without a day"],
)
def test_no_rule_raises(answer: str, source: str) -> None:
    for said, text in ((answer, source), (source, answer), (answer, answer)):
        assert match_claims(said, [Source("s", text)], "How long is that?").failed == ()
