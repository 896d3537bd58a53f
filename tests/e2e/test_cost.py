"""What a turn cost, over the real adapters: chat model and embeddings on loopback, through settings, to reply, record, pages, metrics and traces."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from pydantic import SecretStr

from bot.records import Ask
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from rai.records import Outcome
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.fakes.openai_forms import completion
from tests.fakes.openai_server import OpenAIServer, ok, reply
from tests.fakes.otlp_server import OtlpServer
from tests.knowledge_base import over_one_page

PAGE = "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n"
QUESTION = "What does Watch Plus cost a month?"
GOOD = "Watch Plus costs $9.99 a month [1]."
PRICED = {"price_input": "2", "price_cached_input": "1", "price_output": "8", "price_embedding": "100"}


def settings_for(tmp_path: Path, model: OpenAIServer, vectors: EmbeddingsServer, **more: Any) -> Settings:
    return load_settings(
        home=tmp_path / "home",
        ledger_key_file=tmp_path / "config" / "ledger.key",
        generator="openai",
        openai_model="gpt-test",
        openai_base_url=model.base_url,
        embedder="openai",
        embedding_base_url=vectors.base_url,
        embedding_api_key=SecretStr(KEY),
        embedding_model="embed-1",
        embedding_width=256,
        retries=1,
        **{"statement_judge": "off", **PRICED, **more},
    )


async def test_a_turn_tells_what_it_cost_wherever_it_is_looked_at(tmp_path: Path) -> None:
    """11 prompt tokens of which 3 were cached, 7 written, and what the question's vector took."""
    with OtlpServer() as collector:
        async with OpenAIServer(ok(GOOD)) as model, EmbeddingsServer(width=256) as vectors:
            settings = settings_for(tmp_path, model, vectors, traces="otlp", traces_endpoint=collector.endpoint)
            async with over_one_page(settings, tmp_path, PAGE) as system:
                before = len(vectors.texts)
                async with TestClient(TestServer(build_app(system))) as client:
                    said = await (await client.post("/api/ask", json={"question": QUESTION})).json()
                    shown = await (await client.post("/chat/view", json={**said, "question": QUESTION})).json()
                    scraped = await (await client.get("/metrics")).text()
                entry = await system.ledger.get(said["entry_id"])
                sent = sum(len(text) for text in vectors.texts[before:]) // 4
    assert said["outcome"] == "answered"
    cost = (8 * Decimal(2) + 3 * Decimal(1) + 7 * Decimal(8) + sent * Decimal(100)) / 1_000_000
    usage = {"calls": 1, "prompt_tokens": 11, "completion_tokens": 7, "cached_tokens": 3, "embedding_tokens": sent}
    assert said["usage"] == {**usage, "cost": f"{cost.normalize():f}", "currency": "USD"}
    assert shown["reply"]["taken"] == (
        f"1 call of a model, 11 tokens in (3 cached), 7 out, {sent} embedded, {cost.normalize():f} USD"
    )
    assert entry is not None
    assert [(c["purpose"], c["model"], c["usage"]) for c in entry.body["calls"]] == [
        ("embed", "embed-1", {"prompt_tokens": sent}),
        ("compose", "gpt-test", {"prompt_tokens": 11, "completion_tokens": 7, "cached_tokens": 3}),
    ]
    assert entry.body["prices"] == {
        "input": "2",
        "cached_input": "1",
        "output": "8",
        "embedding": "100",
        "currency": "USD",
        "per_tokens": 1_000_000,
    }
    chat = f"{float((8 * 2 + 3 + 7 * 8) / Decimal(1_000_000))}"
    assert f'attest_model_cost_total{{currency="USD",model="gpt-test"}} {chat}' in scraped
    assert 'attest_model_cost_total{currency="USD",model="embed-1"}' in scraped
    assert f'attest_model_tokens_total{{kind="embedding",model="embed-1"}} {float(sent)}' in scraped
    (span,) = collector.named("embeddings embed-1")
    (retrieve,) = collector.named("retrieve")
    assert (span.parent, span.kind) == (retrieve.id, "client")
    assert span.attributes == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "embed-1",
        "gen_ai.usage.input_tokens": sent,
        "attest.texts": 1,
    }
    assert {s.parent for s in collector.named("call embedding service")} == {span.id}


async def test_a_reply_that_was_thrown_away_is_paid_for_too(tmp_path: Path) -> None:
    """An empty reply is billed like the one that was asked for after it; one that is cut off twice ends the turn and costs as much."""
    cut = completion("Watch Plus", finish="length")
    async with (
        OpenAIServer(ok(""), ok(GOOD), reply(cut), reply(cut)) as model,
        EmbeddingsServer(width=256) as vectors,
        over_one_page(settings_for(tmp_path, model, vectors), tmp_path, PAGE) as system,
    ):
        twice = await system.answer(Ask(QUESTION), None)
        failed = await system.answer(Ask("What does Watch Plus cost?"), None)
    assert twice.outcome is Outcome.ANSWERED
    assert (
        twice.record.usage["calls"],
        twice.record.usage["prompt_tokens"],
        twice.record.usage["completion_tokens"],
    ) == (1, 22, 14)
    assert (failed.outcome, failed.code) == (Outcome.FAILED, "model_unavailable")
    assert (failed.record.usage["prompt_tokens"], failed.record.usage["cached_tokens"]) == (22, 6)
    assert Decimal(str(failed.record.usage["cost"])) > 0


@pytest.mark.parametrize(
    ("bound", "outcome"), [({"turn_tokens": 200}, "failed"), ({"turn_cost": "0.0001"}, "failed"), ({}, "answered")]
)
async def test_the_bound_of_the_settings_is_held(tmp_path: Path, bound: dict[str, Any], outcome: str) -> None:
    async with (
        OpenAIServer(ok(GOOD)) as model,
        EmbeddingsServer(width=256) as vectors,
        over_one_page(settings_for(tmp_path, model, vectors, **bound), tmp_path, PAGE) as system,
    ):
        answered = await system.answer(Ask(QUESTION), None)
    assert answered.outcome.value == outcome
    assert len(model.seen) == (outcome == "answered")
