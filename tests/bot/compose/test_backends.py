"""Backends that the settings list, in whole turns over loopback: who answered, what the record says, which boundary holds, what search does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.compose.system import compose
from bot.records import Ask
from bot.settings.settings import Settings
from bot.system import System
from grounding.records import Access, Query
from rai.records import Outcome
from tests.e2e.processes import settings_over
from tests.fakes import faults, openai_server
from tests.fakes.clock import Clock
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.fakes.openai_server import OpenAIServer
from tests.knowledge_base import over_one_page, running, take_in_page

PAGE = "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n"
DRAFT = "Watch Plus costs $9.99 a month [1]."
QUESTION = "What does Watch Plus cost a month?"


def listed(folder: Path, text: str, **more: Any) -> Settings:
    """Settings with a list of backends; its keys are those of the stand-ins."""
    (folder / "embeddings-key").write_text(KEY, "utf-8")
    (folder / "backends.yaml").write_text(text, "utf-8")
    return settings_over(folder / "home", openai_backends=folder / "backends.yaml", **more)


def chat(*servers: OpenAIServer, models: tuple[str, ...] = ("gpt-a", "gpt-a"), more: str = "") -> str:
    rows = [
        f"  - {{name: {'ab'[i]}, order: {i + 1}, base_url: '{server.base_url}', model: {models[i]}{more}}}"
        for i, server in enumerate(servers)
    ]
    return "\n".join(["chat:", *rows])


def drafting(**more: Any) -> dict[str, Any]:
    return {"generator": "openai", "statement_judge": "off", "retries": 0, **more}


def servers(*first: openai_server.Step) -> tuple[OpenAIServer, OpenAIServer]:
    """One that does this and then answers, and one that is well."""
    return tuple(OpenAIServer(*script, otherwise=openai_server.ok(DRAFT)) for script in (first, ()))  # type: ignore[return-value]


async def asked(system: System) -> tuple[Any, dict[str, Any]]:
    reply = await system.answer(Ask(QUESTION), None)
    entry = await system.ledger.get(reply.entry_id)
    assert entry is not None
    return reply, entry.body


async def test_the_record_says_which_backend_answered_and_readiness_which_is_left_alone(tmp_path: Path) -> None:
    first, second = servers(openai_server.error(500))
    async with first, second:
        settings = listed(tmp_path, chat(first, second), **drafting())
        async with over_one_page(settings, tmp_path, PAGE) as system:
            reply, body = await asked(system)
            degraded, waiting = system.degraded(), await system.ready()
    assert reply.outcome is Outcome.ANSWERED
    (call,) = body["calls"]
    assert (call["purpose"], call["model"], call["backend"], call["ended"]) == ("compose", "gpt-a", "b", "complete")
    assert degraded == {"openai a": "failed (status 500)"}
    assert waiting == {}, "a turn can be answered"
    assert not [note for note in reply.record.notes if "in place of" in note], "it is the same model"


async def test_another_model_is_a_note_in_reply_and_record(tmp_path: Path) -> None:
    first, second = servers(openai_server.throttled())
    async with first, second:
        settings = listed(tmp_path, chat(first, second, models=("gpt-a", "gpt-small")), **drafting())
        async with over_one_page(settings, tmp_path, PAGE) as system:
            reply, body = await asked(system)
    said = "compose: gpt-small (b) answered in place of gpt-a: openai a: too many requests (status 429, rate_limit_exceeded)"
    assert said in reply.record.notes
    assert said in body["reply"]["notes"]
    assert (body["calls"][0]["model"], body["calls"][0]["backend"]) == ("gpt-small", "b")


async def test_one_endpoint_leaves_no_trace_of_backends_in_the_record(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=openai_server.ok(DRAFT)) as server:
        settings = settings_over(tmp_path / "home", openai_base_url=server.base_url, **drafting())
        async with over_one_page(settings, tmp_path, PAGE) as system:
            _, body = await asked(system)
    assert "backend" not in body["calls"][0]


async def test_nobody_beyond_the_boundary_is_asked_whatever_happens(tmp_path: Path) -> None:
    """Not even where that ends the turn."""
    first, second = servers(*[openai_server.error(500)] * 9)
    async with first, second:
        text = "boundaries: [eu]\n" + chat(first, second)
        text = text.replace("name: a,", "name: a, boundary: eu,").replace("name: b,", "name: b, boundary: us,")
        async with over_one_page(listed(tmp_path, text, **drafting()), tmp_path, PAGE) as system:
            reply, _ = await asked(system)
    assert (reply.outcome, reply.code) == (Outcome.FAILED, "model_unavailable")
    assert len(first.seen) == 1
    assert second.seen == []


async def test_what_one_part_of_a_turn_found_out_costs_no_other_part(tmp_path: Path) -> None:
    """Grader and drafter ask the same backends: one that fails is found out once, and tried again when its breaker does."""
    clock = Clock()
    first, second = OpenAIServer(otherwise=openai_server.error(503)), OpenAIServer(otherwise=openai_server.ok(DRAFT))
    async with first, second:
        settings = listed(tmp_path, chat(first, second), **drafting(grader="model"))
        await take_in_page(settings, tmp_path / "kb", PAGE)
        system = await compose(settings, clock=clock)
        try:
            counts = []
            for passed in (0.0, 1.0, 30.0):
                clock.passed += passed
                reply, _ = await asked(system)
                assert reply.outcome is Outcome.ANSWERED
                counts.append(len(first.seen))
                purposes = {call.purpose for call in reply.record.calls}
        finally:
            await system.close()
    assert counts == [1, 1, 2]
    assert purposes == {"grade", "compose"}


async def test_with_all_of_them_left_alone_a_server_is_not_ready(tmp_path: Path) -> None:
    down = [OpenAIServer(otherwise=openai_server.error(500)) for _ in range(2)]
    async with (
        down[0],
        down[1],
        over_one_page(listed(tmp_path, chat(*down), **drafting()), tmp_path, PAGE) as system,
    ):
        for _ in range(6):
            await system.answer(Ask(QUESTION), None)
        waiting = await system.ready()
    assert set(waiting) == {"openai"}
    assert "openai a: failed (status 500)" in waiting["openai"]


def embeddings(*servers: EmbeddingsServer, widths: tuple[int, ...] = (256, 256)) -> str:
    rows = [
        f"  - {{name: {'ab'[i]}, order: {i + 1}, base_url: '{server.base_url}', model: embed-1, deployment: at-{'ab'[i]}, "
        f"dimensions: {widths[i]}, key_file: embeddings-key}}"
        for i, server in enumerate(servers)
    ]
    return "\n".join(["embeddings:", *rows])


VECTORS = {"embedder": "openai", "embedding_model": "embed-1", "embedding_width": 256, "retries": 0}


async def test_an_embedder_of_the_same_vectors_takes_over_and_search_goes_on_by_both(tmp_path: Path) -> None:
    """Passages were embedded by the one, the query by the other: one fingerprint."""
    first, second = EmbeddingsServer(), EmbeddingsServer()
    async with first, second:
        settings = listed(tmp_path, embeddings(first, second), **VECTORS)
        await take_in_page(settings, tmp_path / "kb", PAGE)
        assert second.bodies == []
        first.otherwise = faults.status(503)
        async with running(settings) as system:
            reply, body = await asked(system)
    assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "hybrid")
    assert [(call["backend"], call["ended"]) for call in body["calls"]] == [
        ("a", "ServiceUnavailable"),
        ("b", "complete"),
    ]
    assert {sent["model"] for _, sent in second.bodies} == {"at-b"}


async def test_an_embedder_of_other_vectors_never_takes_over_and_search_goes_on_by_words(tmp_path: Path) -> None:
    first, second = EmbeddingsServer(), EmbeddingsServer()
    async with first, second:
        settings = listed(tmp_path, embeddings(first, second, widths=(256, 512)), **VECTORS)
        await take_in_page(settings, tmp_path / "kb", PAGE)
        first.otherwise = faults.status(503)
        async with running(settings) as system:
            reply, _ = await asked(system)
    assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "lexical")
    assert "embedding service a: failed (status 503, Failed): searched by words only" in reply.record.notes
    assert second.bodies == []


@pytest.mark.parametrize(
    "swap", [lambda text: text, lambda text: text.replace("order: 1", "order: 3")], ids=["same", "other order"]
)
async def test_the_order_of_the_list_does_not_change_the_vectors(swap: Callable[[str], str], tmp_path: Path) -> None:
    first, second = EmbeddingsServer(), EmbeddingsServer()
    async with first, second:
        text = embeddings(first, second)
        await take_in_page(listed(tmp_path, text, **VECTORS), tmp_path / "kb", PAGE)
        async with running(listed(tmp_path, swap(text), **VECTORS)) as system:
            found = await system.retriever.retrieve(Query(QUESTION), Access(), 5)
            assert system.chunks_without_vector() == (0, 0)
    assert found.mode == "hybrid"


async def test_a_replaced_key_needs_no_restart(tmp_path: Path) -> None:
    server = EmbeddingsServer()
    async with server:
        settings = listed(tmp_path, embeddings(server), **VECTORS)
        await take_in_page(settings, tmp_path / "kb", PAGE)
        (tmp_path / "embeddings-key").write_text("revoked-key", "utf-8")
        async with running(settings) as system:
            before = await system.retriever.retrieve(Query(QUESTION), Access(), 5)
            (tmp_path / "embeddings-key").write_text(f"{KEY}\n", "utf-8")
            after = await system.retriever.retrieve(Query("Watch Plus a month"), Access(), 5)
    assert (before.mode, after.mode) == ("lexical", "hybrid")
    assert "the key was refused" in before.notes[0]


async def test_a_key_comes_from_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_A", KEY)
    async with EmbeddingsServer() as server:
        text = embeddings(server).replace("key_file: embeddings-key", "key_env: KEY_OF_A")
        report = await take_in_page(listed(tmp_path, text, **VECTORS), tmp_path / "kb", PAGE)
    assert report.embedded == report.chunks
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
