"""A server that reads half a prompt answers as if it were the whole: the record says so."""

from __future__ import annotations

from typing import Any

import pytest

from grounding.records import Completion
from grounding.tokens import asked_tokens
from rai.embedded.screen import EmbeddedScreen
from rai.screening.screened import ScreenedModel, screened_turn
from tests.fakes.model import ScriptedModel

SYSTEM = "Refunds take five working days once the parcel is back in our warehouse. " * 120
SENT = asked_tokens(SYSTEM, "When?")


class Counting(ScriptedModel):
    """Says to have read so many tokens."""

    def __init__(self, **usage: int) -> None:
        super().__init__()
        self._usage = usage

    async def complete(self, *_: Any, **__: Any) -> Completion:
        return Completion("Five days.", "m", self._usage)


async def noted(**usage: int) -> list[str]:
    screened = ScreenedModel(Counting(**usage), EmbeddedScreen())
    with screened_turn() as turn:
        await screened.complete(SYSTEM, "When?", purpose="compose")
    return turn.notes


async def test_far_fewer_tokens_than_were_sent_are_a_cut_prompt() -> None:
    (said,) = await noted(prompt_tokens=SENT // 2)
    assert said == (
        f"the prompt for compose was cut: scripted counts {SENT // 2} of about {SENT} tokens; the context of its server is too short"
    )


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": SENT},
        {"prompt_tokens": int(0.7 * SENT)},  # another vocabulary
        {"prompt_tokens": SENT // 3, "cached_tokens": SENT // 2},  # counted apart
        {"prompt_tokens": 40},  # what was cached is left out
        {},
    ],
)
async def test_other_counts_are_none(usage: dict[str, int]) -> None:
    assert await noted(**usage) == []


async def test_outside_of_a_turn_there_is_nobody_to_tell() -> None:
    screened = ScreenedModel(Counting(prompt_tokens=SENT // 2), EmbeddedScreen())
    assert (await screened.complete(SYSTEM, "When?", purpose="compose")).text == "Five days."
