"""Traces of real turns, sent by the real exporter to a collector on loopback: what is in them, and what never is."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.compose.telemetry import model_provider
from bot.records import Ask
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.turn.stages import LABELS
from tests.fakes.openai_forms import completion
from tests.fakes.openai_server import OpenAIServer, error, ok, reply
from tests.fakes.otlp_server import OtlpServer, Received
from tests.knowledge_base import over_one_page

PAGE = "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n"
QUESTION = "What does Watch Plus cost a month?"
GOOD = "Watch Plus costs $9.99 a month [1]."
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def settings_for(tmp_path: Path, model: OpenAIServer, **more: Any) -> Settings:
    return load_settings(
        home=tmp_path / "home",
        ledger_key_file=tmp_path / "config" / "ledger.key",
        generator="openai",
        openai_base_url=model.base_url,
        openai_model="gpt-test",
        retries=1,
        statement_judge="off",
        **more,
    )


def only(collector: OtlpServer, name: str) -> Received:
    (span,) = collector.named(name)
    return span


async def test_a_turn_is_one_trace_that_leads_to_its_entry(tmp_path: Path) -> None:
    """Turn, stages, chat call, remote call: names, parents and attributes as the tables of docs/telemetry.md say."""
    said = completion(GOOD) | {
        "model": "gpt-test-2026",
        "usage": {"prompt_tokens": 900, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 512}},
    }
    with OtlpServer() as collector:
        async with OpenAIServer(reply(said)) as model:
            settings = settings_for(tmp_path, model, traces="otlp", traces_endpoint=collector.endpoint)
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                answered = await system.answer(Ask(QUESTION), None)
    turn = only(collector, "invoke_agent attest")
    assert {span.trace for span in collector.spans} == {turn.trace}
    assert turn.parent == ""
    assert turn.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "attest",
        "attest.outcome": "answered",
        "attest.turn_id": answered.record.turn_id,
        "attest.entry_id": answered.entry_id,
        "attest.policy": answered.record.policy_name,
        "attest.kb_version": answered.record.kb_version,
    }
    stages = [span for span in collector.spans if span.name in LABELS]
    assert {span.name for span in stages} == answered.record.timings_ms.keys() - {"total"}
    assert {span.parent for span in stages} == {turn.id}
    assert only(collector, "retrieve").attributes == {"gen_ai.operation.name": "retrieval"}
    chat = only(collector, "chat gpt-test")
    assert chat.parent == only(collector, "compose").id
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-test",
        "gen_ai.response.model": "gpt-test-2026",
        "gen_ai.request.max_tokens": chat.attributes["gen_ai.request.max_tokens"],
        "attest.purpose": "compose",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 12,
        "gen_ai.usage.cache_read.input_tokens": 512,
    }
    call = only(collector, "call openai")
    assert (call.parent, call.kind) == (chat.id, "client")
    assert call.attributes == {
        "attest.service": "openai",
        "attest.attempts": 1,
        "attest.outcome": "ok",
        "attest.breaker": "closed",
    }
    (resource,) = collector.resources
    assert (resource["service.name"], resource["host.name"]) == ("attest", socket.gethostname())
    assert resource["process.pid"] == os.getpid()
    assert {span.status for span in collector.spans} == {""}


async def test_of_several_backends_the_spans_say_who_answered(tmp_path: Path) -> None:
    with OtlpServer() as collector:
        async with OpenAIServer(error(500)) as down, OpenAIServer(reply(completion(GOOD))) as up:
            rows = [
                f"  - {{name: {name}, order: {order}, base_url: '{server.base_url}', model: gpt-{name}}}"
                for order, (name, server) in enumerate((("north", down), ("south", up)), 1)
            ]
            (tmp_path / "backends.yaml").write_text("\n".join(["chat:", *rows]), "utf-8")
            settings = load_settings(
                home=tmp_path / "home",
                ledger_key_file=tmp_path / "config" / "ledger.key",
                generator="openai",
                statement_judge="off",
                openai_backends=tmp_path / "backends.yaml",
                traces="otlp",
                traces_endpoint=collector.endpoint,
            )
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                await system.answer(Ask(QUESTION), None)
    chat = only(collector, "chat gpt-north")
    assert (chat.attributes["gen_ai.request.model"], chat.attributes["attest.backend"]) == ("gpt-south", "south")
    calls = {span.name: span.attributes["attest.outcome"] for span in collector.spans if span.parent == chat.id}
    assert calls == {"call openai north": "unavailable", "call openai south": "ok"}


@pytest.mark.parametrize("content", ["off", "on"])
async def test_content_is_exported_only_when_it_is_switched_on(content: str, tmp_path: Path) -> None:
    with OtlpServer() as collector:
        async with OpenAIServer(ok(GOOD)) as model:
            settings = settings_for(
                tmp_path, model, traces="otlp", traces_endpoint=collector.endpoint, traces_content=content
            )
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                await system.answer(Ask(f"{QUESTION} I am Zebedea.", user="zebedea@corp.example"), None)
    words = ("Zebedea", QUESTION, "9.99", "covers 5 cameras")
    assert [word for word in words if word in collector.text] == (list(words) if content == "on" else [])
    assert "zebedea@corp.example" not in collector.text
    assert "plans.md" not in collector.text or content == "on"


async def test_a_failure_is_told_by_its_type_and_our_words(tmp_path: Path) -> None:
    """What the service says of it, the question with it perhaps, stays where it came."""
    failing = reply({"error": {"message": f"secret words: {QUESTION}"}}, status=500)
    with OtlpServer() as collector:
        async with OpenAIServer(otherwise=failing) as model:
            settings = settings_for(tmp_path, model, traces="otlp", traces_endpoint=collector.endpoint)
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                failed = await system.answer(Ask(QUESTION), None)
    turn, call = only(collector, "invoke_agent attest"), only(collector, "call openai")
    assert failed.code == "model_unavailable"
    assert (turn.status, turn.attributes["error.type"], turn.attributes["attest.code"]) == (
        "ERROR",
        "model_unavailable",
        "model_unavailable",
    )
    assert (call.status, call.attributes["error.type"]) == ("ERROR", "ServiceUnavailable")
    assert call.said.startswith("openai: ")
    assert (call.attributes["attest.attempts"], call.attributes["attest.outcome"]) == (2, "unavailable")
    assert "secret words" not in collector.text
    assert QUESTION not in collector.text
    assert {name for span in collector.spans for name, _ in span.events} <= {"attest.gone_without"}


@pytest.mark.parametrize(
    ("header", "value", "joins"),
    [
        ("traceparent", f"00-{TRACE}-{PARENT}-01", True),
        ("traceparent", "00-zz-zz-01", False),
        ("X-B3-TraceId", TRACE, False),
        ("X-Request-Id", TRACE, False),
        ("baggage", "user=zebedea", False),
    ],
)
async def test_a_request_may_name_the_trace_it_belongs_to(header: str, value: str, joins: bool, tmp_path: Path) -> None:
    """W3C traceparent is honoured, nothing else is; its state and baggage go nowhere."""
    with OtlpServer() as collector:
        async with OpenAIServer(otherwise=ok(GOOD)) as model:
            settings = settings_for(tmp_path, model, traces="otlp", traces_endpoint=collector.endpoint)
            async with (
                over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system,
                TestClient(TestServer(build_app(system))) as client,
            ):
                headers = {header: value, "tracestate": "user=zebedea"}
                asked = await client.post("/api/ask", json={"question": QUESTION}, headers=headers)
                assert asked.status == 200
                again = await client.post("/api/ask", json={"question": QUESTION})
                assert again.status == 200
    first, second = collector.named("invoke_agent attest")
    assert ((first.trace, first.parent) == (TRACE, PARENT)) is joins
    assert (second.trace != first.trace, second.parent) == (True, "")
    assert "zebedea" not in collector.text


@pytest.mark.parametrize("fault", ["closed", "status", "silent"])
async def test_a_dead_collector_costs_one_line_and_no_answer(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Turns go on, the log has one warning, and the end comes within seconds though the collector never answers."""
    caplog.set_level(logging.DEBUG)
    with OtlpServer() as collector:
        if fault == "status":
            collector.answer(500)
        if fault == "silent":
            collector.hang()
        endpoint = "http://127.0.0.1:9" if fault == "closed" else collector.endpoint
        async with OpenAIServer(otherwise=ok(GOOD)) as model, asyncio.timeout(30):
            settings = settings_for(tmp_path, model, traces="otlp", traces_endpoint=endpoint)
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                outcomes = [(await system.answer(Ask(QUESTION), None)).outcome.value for _ in range(3)]
    assert outcomes == ["answered"] * 3
    about = [r for r in caplog.records if r.levelno >= logging.WARNING and "trace" in r.getMessage()]
    assert len(about) == (1 if fault != "silent" else 0)
    assert not [r for r in caplog.records if r.name.startswith("opentelemetry")]


async def test_several_turns_at_once_keep_their_spans_apart(tmp_path: Path) -> None:
    with OtlpServer() as collector:
        async with OpenAIServer(otherwise=ok(GOOD)) as model:
            settings = settings_for(tmp_path, model, traces="otlp", traces_endpoint=collector.endpoint)
            async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
                replies = await asyncio.gather(*(system.answer(Ask(QUESTION), None) for _ in range(8)))
    turns = {turn.trace: turn for turn in collector.named("invoke_agent attest")}
    assert {turn.attributes["attest.entry_id"] for turn in turns.values()} == {reply.entry_id for reply in replies}
    for chat in collector.named("chat gpt-test"):
        compose_span = next(s for s in collector.named("compose") if s.id == chat.parent)
        assert compose_span.trace == chat.trace
        assert compose_span.parent == turns[chat.trace].id


def test_without_traces_no_sdk_is_imported(tmp_path: Path) -> None:
    """Off costs nothing: a whole turn in a fresh process leaves OpenTelemetry alone."""
    program = (
        "import asyncio, sys\n"
        "from bot.compose.system import compose\nfrom bot.records import Ask\nfrom bot.settings.load import load_settings\n"
        "async def main():\n"
        f"    system = await compose(load_settings(home={str(tmp_path / 'h')!r}, ledger_key_file={str(tmp_path / 'k')!r}))\n"
        "    print((await system.answer(Ask('Hello?'), None)).outcome)\n"
        "    await system.close()\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'opentelemetry'])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert ran.stdout.splitlines()[-1] == "[]"


async def test_the_console_gets_spans_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with (
        OpenAIServer(ok(GOOD)) as model,
        over_one_page(settings_for(tmp_path, model, traces="console"), tmp_path, PAGE, lexical_only=True) as system,
    ):
        await system.answer(Ask(QUESTION), None)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert '"name": "invoke_agent attest"' in shown.err


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (None, "openai"),
        ("https://api.openai.com/v1", "openai"),
        ("http://127.0.0.1:11434/v1", "openai"),
        ("https://x.openai.azure.com/openai/v1/", "azure.ai.openai"),
        ("https://x.openai.azure.us/openai/v1/", "azure.ai.openai"),
        ("https://azure.com.example/v1", "openai"),
    ],
)
def test_the_provider_is_named_as_the_conventions_do(url: str | None, name: str) -> None:
    assert model_provider(url) == name
