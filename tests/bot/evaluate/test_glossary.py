"""Every figure has a name and says what it means."""

from __future__ import annotations

from bot.evaluate.glossary import MEANINGS, NAMES


def test_every_named_figure_is_explained() -> None:
    assert set(NAMES) == set(MEANINGS)
