"""What a person sees of long work."""

from __future__ import annotations

import pytest

from bot.commands.shared.following import followed
from grounding.records import Progress


def test_where_no_bar_is_drawn_a_line_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(0, 1_000, 10))
    monkeypatch.setattr("bot.commands.shared.following.time.monotonic", lambda: float(next(times)))
    with followed() as on_progress:
        on_progress(Progress("entries", 100, 1_000))
        on_progress(Progress("entries", 300, 1_000))
        on_progress(Progress("about", 0, 0))
    assert capsys.readouterr().err == "entries: 300 of 1,000, 20/s, 35 s left\n"
