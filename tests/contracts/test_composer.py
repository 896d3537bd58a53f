"""What every Composer keeps to: quoting on this machine, and drafting by a model behind the published interface."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from grounding.azure.openai.chat import OpenAIChat
from grounding.embedded.composer import ExtractiveComposer
from grounding.policy import Policy
from grounding.ports import Composer
from grounding.prompting.model_composer import ModelComposer
from grounding.prompting.prompt import build_prompt, insufficient_sentence
from grounding.records import Evidence, Passage, Prompt
from grounding.services.remote import Remote
from tests.fakes.openai_server import OpenAIServer, ok

PLANS = Passage("c1", "plans.md", "Watch plans", "Watch Plus costs $9.99 a month. Basic covers 1 camera.")


def prompt(*passages: Passage) -> Prompt:
    evidence = [Evidence(n, passage, 0.9) for n, passage in enumerate(passages, 1)]
    return build_prompt("What does Watch Plus cost a month?", evidence, Policy(), company="Halden", marker="0" * 16)


@pytest.fixture(params=["extractive", "model"])
async def composer(request: pytest.FixtureRequest) -> AsyncIterator[Composer]:
    if request.param == "extractive":
        yield ExtractiveComposer(None)
        return
    async with OpenAIServer(otherwise=ok("Watch Plus costs $9.99 a month [7].")) as server:
        model = OpenAIChat(server.base_url, "k", "gpt-test", Remote("model"))
        yield ModelComposer(model)
        await model.aclose()


async def test_a_draft_says_what_the_evidence_says_and_who_wrote_it(composer: Composer) -> None:
    draft = await composer.compose(prompt(PLANS))
    assert "$9.99" in draft.text
    assert draft.generator == composer.name


async def test_no_marker_names_evidence_that_is_not_there(composer: Composer) -> None:
    assert "[7]" not in (await composer.compose(prompt(PLANS))).text


async def test_two_drafts_of_one_prompt_are_the_same(composer: Composer) -> None:
    assert (await composer.compose(prompt(PLANS))).text == (await composer.compose(prompt(PLANS))).text


async def test_without_evidence_the_quoting_one_says_the_sentence_of_insufficiency() -> None:
    """A model is told that sentence and may write it; the quoting one has nothing else to say."""
    assert (await ExtractiveComposer(None).compose(prompt())).text == insufficient_sentence()
