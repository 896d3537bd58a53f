"""A screen that remembers what it allowed."""

from __future__ import annotations

import pytest

from grounding.errors import PromptBlocked
from rai.embedded.screen import EmbeddedScreen
from rai.screening.decision import RememberingScreen
from rai.screening.model import ScreenedModel
from rai.screening.turn import screened_turn
from tests.rai.screening.fakes import ATTACK, Model


async def test_what_was_blocked_is_not_remembered() -> None:
    model, screen = Model(), RememberingScreen(EmbeddedScreen())
    with screened_turn() as turn:
        assert (await screen.screen(ATTACK, [ATTACK])).blocked
        assert not turn.requests
        assert not turn.data
        with pytest.raises(PromptBlocked):
            await ScreenedModel(model, screen).complete("", ATTACK, purpose="compose")
    assert model.calls == []
