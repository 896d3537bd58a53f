"""Values as they look in a text."""

from __future__ import annotations

import pytest

from bot.evaluate.suites.provenance.mutate.surfaces import surfaces


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("It costs $1,200.50 or 30 EUR.", ["money", "money"]),
        ("20 GB, 30-day and 5%", ["quantity", "quantity", "percent"]),
        ("Call 020 7946 0321 or +1 206-555-0142.", ["phone", "phone"]),
        ("On 12 March 2026, March 3 or 2026-01-02 and Friday", ["date"] * 4),
        ("from 3:30pm to 9 p.m.", ["time", "time"]),
        ("1. Open it [2], see step 3", []),
        ("See https://a.example/b or write to c@d.example.", ["url", "email"]),
        ("Model AB-200, v1.2.3, 7/8", []),
    ],
)
def test_values_as_they_look(text: str, kinds: list[str]) -> None:
    assert [s.kind for s in surfaces(text)] == kinds
