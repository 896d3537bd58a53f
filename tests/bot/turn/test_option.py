"""An option that is typed instead of pressed, and the options once more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import Ask, Reply
from bot.turn.pipeline import answer_turn
from grounding.policy import Policy
from grounding.ports import Composer
from grounding.records import Document, Draft, Prompt, Turn
from rai.records import Outcome
from tests.e2e.support import ScriptedGrader, World, world
from tests.fakes.embedder import HashEmbedder

ROWS = "\n".join(f"Product: {name} | Price: {price}" for name, price in [("Lamp A1", "$5.00"), ("Lamp A2", "$6.00")])
PRICES = Document("prices.md", "Price list", ROWS)
QUESTION = "what is the price of the lamp"


class OfTwo:
    """A drafter that finds two rows for what names neither lamp."""

    def __init__(self, composer: Composer) -> None:
        self._composer, self.name = composer, composer.name

    async def compose(self, prompt: Prompt) -> Draft:
        draft = await self._composer.compose(prompt)
        named = any(name in prompt.question for name in ("A1", "A2"))
        return draft if named else replace(draft, rivals=("Lamp A1", "Lamp A2"))


@pytest.fixture
async def lamps(tmp_path: Path) -> World:
    w = await world(tmp_path, [PRICES], HashEmbedder(), grader=ScriptedGrader({"prices.md": 0.9}))
    return replace(w, seams=replace(w.seams, composer=OfTwo(w.seams.composer)))


async def then(w: World, question: str, asked: str = QUESTION) -> Reply:
    """The reply to what is typed below the answer to `asked`."""
    first = await answer_turn(Ask(asked, conversation="c"), w.seams, Policy(clarify=True))
    said = (Turn("user", asked), Turn("assistant", first.answer))
    return await answer_turn(Ask(question, history=said, conversation="c"), w.seams, Policy(clarify=True))


@pytest.mark.parametrize("typed", ["a2", "the A2, please", "Lamp A2"])
async def test_a_typed_option_completes_the_question_before_as_its_button_does(lamps: World, typed: str) -> None:
    reply = await then(lamps, typed)
    assert reply.record.ask is not None
    assert reply.record.ask.question == f"For Lamp A2: {QUESTION}"
    assert "$6.00" in reply.answer
    assert f"“{typed}” was read as “For Lamp A2: {QUESTION}”" in reply.record.notes
    await lamps.ledger.close()


@pytest.mark.parametrize("typed", ["lamp", "a3", "the", "what does the a2 weigh"])
async def test_what_is_no_option_or_more_than_one_is_asked_as_it_is(lamps: World, typed: str) -> None:
    reply = await then(lamps, typed)
    assert reply.record.ask is not None
    assert reply.record.ask.question == typed
    await lamps.ledger.close()


async def test_nothing_is_completed_where_nothing_was_asked_back(lamps: World) -> None:
    reply = await then(lamps, "a2", "what is the price of the Lamp A1")
    assert reply.record.ask is not None
    assert reply.record.ask.question == "a2"
    await lamps.ledger.close()


@pytest.mark.parametrize("typed", ["options", "which options?", "welche Optionen", "opções", "toon de opties"])
async def test_the_options_are_told_again_with_their_buttons(lamps: World, typed: str) -> None:
    reply = await then(lamps, typed)
    assert (reply.outcome, reply.intent) == (Outcome.ANSWERED, "rework")
    assert reply.suggestions == ("Lamp A1", "Lamp A2")
    assert "Lamp A1, Lamp A2" in reply.answer
    await lamps.ledger.close()


async def test_options_that_nobody_offered_are_searched_for(lamps: World) -> None:
    reply = await then(lamps, "options", "what is the price of the Lamp A1")
    assert reply.intent is None
    await lamps.ledger.close()
