"""A chat model as judge, from the settings to the reply and the record: a server on loopback writes the draft and judges it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.records import Ask
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.system import CheckRequest
from rai.check.judging.prompt import REQUEST
from rai.records import Outcome, Source
from tests.fakes.openai_server import OpenAIServer, Seen, error, saying
from tests.knowledge_base import over_one_page

PAGE = "# Watch plans\n\nWatch Plus costs $12 a month and covers 5 cameras. A camera that fails is replaced within 3 days.\n"
DRAFT = "Watch Plus is $12 per month [1]. Broken cameras get swapped for new ones in under 3 days [1]."
QUESTION = "What does Watch Plus cost a month, and what if a camera fails?"
SWAPPED = "A camera that fails is replaced within 3 days."
SOURCE = Source("s1", f"{SWAPPED} Watch Plus costs $12 a month.", "Watch plans")
ANSWER = "Broken cameras that fail get swapped in no time. For your 9 months Watch Plus comes to $108."


def judging(prompt: str) -> str:
    """What an honest judge would write, for the sentences of these tests; of others it is unsure."""
    if REQUEST not in prompt:
        return DRAFT
    answer, _, claims = prompt.rpartition("## Claims")
    sentences = dict(re.findall(r"^A(\d+): (.*)$", answer, re.MULTILINE))
    found = re.findall(r'^(\d+)\. (?:sentence|\w.*"(.*)" in) A(\d+)$', claims, re.MULTILINE)
    said = [_said(int(n), value, sentences[at]) for n, value, at in found]
    return json.dumps({"claims": said})


def _said(number: int, value: str, sentence: str) -> dict[str, Any]:
    quotes, formula = [], None
    if "swapped" in sentence:
        quotes = [{"source": "S1", "text": SWAPPED}]
    elif "Watch Plus" in sentence:
        quotes = [{"source": "S1", "text": "Watch Plus costs $12 a month"}, {"source": "question", "text": "9 months"}]
        formula = "9 * 12 = 108" if value == "$108" else None
    return {
        "claim": number,
        "verdict": "supported" if quotes else "unsure",
        "quotes": quotes,
        "formula": formula,
        "unsaid": None,
    }


def settings_for(folder: Path, model: OpenAIServer, **more: Any) -> Settings:
    given = {"generator": "openai", "openai_model": "drafts", "openai_base_url": model.base_url, "retries": 0}
    return load_settings(
        home=folder / "home",
        ledger_key_file=folder / "config" / "ledger.key",
        model_file=folder / "none.onnx",
        **{**given, **more},
    )


def asked_of_judge(server: OpenAIServer) -> list[Seen]:
    return [seen for seen in server.seen if seen.body["messages"][-1]["content"] == REQUEST]


async def test_a_turn_is_judged_and_the_prompt_of_the_judge_is_kept(tmp_path: Path) -> None:
    """By default, where a model drafts; screened and kept like every prompt, counted like every call."""
    async with (
        OpenAIServer(otherwise=saying(judging)) as server,
        over_one_page(settings_for(tmp_path, server, judge_model="judges"), tmp_path, PAGE) as system,
    ):
        reply = await system.answer(Ask(QUESTION), None)
        entry = await system.ledger.get(reply.entry_id)
    assert reply.outcome is Outcome.ANSWERED
    swapped = next(c for c in reply.claims if c.kind == "statement" and "swapped" in c.text)
    assert (swapped.status, swapped.rule) == ("entailed", "judge-quote")
    assert [span.text for span in swapped.evidence] == [SWAPPED]
    asked = asked_of_judge(server)
    assert len(asked) == 1, "citations that are put in afterwards ask nothing anew"
    assert {seen.body["model"] for seen in asked} == {"judges"}
    assert {seen.body["model"] for seen in server.seen if seen not in asked} == {"drafts"}
    assert entry is not None
    calls = [call for call in entry.body["calls"] if call["purpose"] == "judge"]
    assert len(calls) == len(asked)
    kept = entry.body["judgements"]
    assert [j["prompt"] for j in kept] == [seen.body["messages"][0]["content"] for seen in asked]
    assert all(json.loads(j["reply"])["claims"] for j in kept)


async def test_the_check_alone_is_judged_over_http(tmp_path: Path) -> None:
    """One call for sentence and value; what it is right by is in the report."""
    request = {
        "answer": ANSWER,
        "question": "I have Watch Plus for 9 months. What is that, and what if a camera fails?",
        "sources": [{"id": "s1", "text": SOURCE.text, "title": SOURCE.title}],
    }
    async with (
        OpenAIServer(otherwise=saying(judging)) as server,
        over_one_page(settings_for(tmp_path, server), tmp_path, PAGE) as system,
        TestClient(TestServer(build_app(system))) as client,
    ):
        report = await (await client.post("/api/check", json=request)).json()
    assert len(asked_of_judge(server)) == 1
    statements = [c for c in report["claims"] if c["kind"] == "statement"]
    assert [c["status"] for c in statements] == ["entailed", "entailed"]
    assert {c["status"] for c in report["claims"]} <= {"entailed", "exact", "derived", "given", "normalised"}


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({}, 1),
        ({"statement_judge": "model"}, 1),
        ({"statement_judge": "off"}, 0),
        ({"generator": "extractive"}, 1),
        ({"generator": "extractive", "openai_base_url": None}, 0),
    ],
    ids=str,
)
async def test_the_setting_says_whether_a_model_judges(tmp_path: Path, given: dict[str, Any], calls: int) -> None:
    """`auto`, the default: wherever a chat model is configured."""
    async with (
        OpenAIServer(otherwise=saying(judging)) as server,
        over_one_page(settings_for(tmp_path, server, **given), tmp_path, PAGE) as system,
    ):
        report = await system.check(CheckRequest(ANSWER, (SOURCE,), "What if a camera fails?"))
    assert len(asked_of_judge(server)) == len(server.seen) == calls
    swapped = next(c for c in report.claims if c.kind == "statement" and "swapped" in c.text)
    assert swapped.status == ("entailed" if calls else "unchecked")


async def test_a_judge_that_is_away_leaves_the_draft_alone(tmp_path: Path) -> None:
    """Its failures open no breaker on the model that drafts, and are said."""
    async with OpenAIServer(otherwise=error(500)) as server:
        chosen = settings_for(tmp_path, server, generator="extractive", breaker_s=60)
        async with over_one_page(chosen, tmp_path, PAGE) as system:
            for n in range(7):
                report = await system.check(CheckRequest(f"{ANSWER} Take {n}.", (SOURCE,), QUESTION))
            assert await system.ready() == {}
            assert list(system.degraded()) == ["openai"]
    assert next(c.status for c in report.claims if "swapped" in c.text) == "unchecked"
    assert any(note.startswith("claims in doubt were not judged: ") for note in report.notes)
