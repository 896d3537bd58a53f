"""Turns over a model that thinks 1,200 tokens before it writes: it grades and drafts, through the settings, on both interfaces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.records import Ask
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from tests.fakes.openai_forms import Reasoner
from tests.fakes.openai_server import OpenAIServer, saying
from tests.knowledge_base import over_one_page

PAGE = "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n"
QUESTION = "What does Watch Plus cost a month?"
GOOD = "Watch Plus costs $9.99 a month [1]."
DOCUMENT = re.compile(r"<<<(\w{16})\n")


def answer(prompt: str) -> str:
    """Grades where grades are asked for, else the draft."""
    if "Retrieved Document" not in prompt:
        return GOOD
    count = max(1, len(DOCUMENT.findall(prompt)))
    return json.dumps({"grades": [{"id": n, "score": 0.9} for n in range(1, count + 1)]})


def settings_for(tmp_path: Path, server: OpenAIServer, **more: Any) -> Settings:
    return load_settings(
        home=tmp_path / "home",
        ledger_key_file=tmp_path / "config" / "ledger.key",
        model_file=tmp_path / "none.onnx",
        generator="openai",
        grader="model",
        openai_model="gpt-test",
        openai_base_url=server.base_url,
        retries=1,
        price_input="1",
        price_output="10",
        statement_judge="off",
        **more,
    )


@pytest.mark.parametrize("stream", ["off", "on"])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_turn_is_answered_and_its_thinking_is_counted(tmp_path: Path, api: str, stream: str) -> None:
    async with (
        OpenAIServer(otherwise=saying(answer), reasoner=Reasoner(thinks=1200)) as server,
        over_one_page(
            settings_for(tmp_path, server, openai_api=api, openai_stream=stream), tmp_path, PAGE, lexical_only=True
        ) as system,
    ):
        first = await system.answer(Ask(QUESTION), None)
        learning = len(server.seen)
        second = await system.answer(Ask("And what does Watch Plus cost a year?"), None)
        entry = await system.ledger.get(first.entry_id)
    assert (first.outcome.value, first.code) == ("answered", None)
    assert first.record.usage["calls"] == 2, "a grade and a draft"
    refused = 2 if api == "chat" else 1  # the old name of the cap, the temperature: once for grader and drafter
    assert learning == refused + 3, "the grade is cut once, the draft has its room from the start"
    assert first.record.usage["reasoning_tokens"] == _cut(server, refused) + 2 * 1200
    assert int(first.record.usage["completion_tokens"]) > int(first.record.usage["reasoning_tokens"])
    assert entry is not None
    assert [call["purpose"] for call in entry.body["calls"]] == ["grade", "compose"]
    assert entry.body["calls"][1]["usage"]["reasoning_tokens"] == 1200
    assert second.outcome.value in ("answered", "insufficient")
    assert len(server.seen) == learning + int(second.record.usage["calls"]), "nothing is learned twice"


def _cut(server: OpenAIServer, refused: int) -> int:
    """Tokens that were thought for the reply that was cut: all of its cap."""
    body = server.seen[refused].body
    return int(next(body[name] for name in ("max_completion_tokens", "max_output_tokens") if name in body))


async def test_a_tight_budget_costs_the_room_and_not_the_draft(tmp_path: Path) -> None:
    """A model that does not think is drafted with as before, though nothing is known of it yet and it is taken to think."""
    async with (
        OpenAIServer(otherwise=saying(answer), reasoner=Reasoner(thinks=0, temperature=True)) as server,
        over_one_page(
            settings_for(tmp_path, server, openai_thinking_tokens="4096", turn_tokens="4000"),
            tmp_path,
            PAGE,
            lexical_only=True,
        ) as system,
    ):
        reply = await system.answer(Ask(QUESTION), None)
    assert reply.outcome.value == "answered"
    assert int(reply.record.usage["prompt_tokens"]) + int(reply.record.usage["completion_tokens"]) <= 4000
    caps = [next(v for n, v in seen.body.items() if n.startswith("max_")) for seen in server.seen]
    assert 800 <= caps[-1] < 800 + 4096


async def test_a_thinking_model_is_held_to_the_budget(tmp_path: Path) -> None:
    """What it would think does not fit: the turn says so, and took no more than it may."""
    async with (
        OpenAIServer(otherwise=saying(answer), reasoner=Reasoner(thinks=6000)) as server,
        over_one_page(settings_for(tmp_path, server, turn_tokens="6000"), tmp_path, PAGE, lexical_only=True) as system,
    ):
        reply = await system.answer(Ask(QUESTION), None)
    assert (reply.outcome.value, reply.code) == ("failed", "model_unavailable")
    assert int(reply.record.usage["prompt_tokens"]) + int(reply.record.usage["completion_tokens"]) <= 6000
