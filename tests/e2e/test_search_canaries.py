"""A failing search at debug level: neither its key nor anything of the question is in a log, error, note, trace, figure or entry."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer
from pydantic import SecretStr

from bot.commands.doctor.services import check_services
from bot.compose.system import compose
from bot.observability.logs import log_to
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import AttestError
from tests.e2e.test_canaries import PAGE, TABLE, Planted, leaks
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.faults import Fault
from tests.fakes.otlp_server import OtlpServer
from tests.knowledge_base import take_in

FAULTS: dict[str, Fault | None] = {
    "none": None,
    "400": faults.echoed(400),
    "401": faults.echoed(401),
    "403": faults.echoed(403),
    "404": faults.echoed(404),
    "429": faults.echoed(429),
    "500": faults.echoed(500),
    "HTML": faults.html(200),
    "cut": faults.half(b'{"value": ['),
    "closed": faults.closed(),
    "elsewhere": faults.redirect("http://127.0.0.1:9/"),
}
"""Every refusal repeats what was sent, headers and all."""
CASES = [TABLE[0], TABLE[1], TABLE[3], TABLE[4], TABLE[7]]
SECRETS = (KEY, KEY.removeprefix("canary-"), "Watch Plus", "cost a month", "$9.99", "5 cameras")


def settings_of(home: Path, server: AiSearchServer, collector: OtlpServer, agentic: str) -> Settings:
    return load_settings(
        home=home,
        ledger_key_file=home.parent / "config" / "ledger.key",
        search="azure",
        search_endpoint=server.root,
        search_key=SecretStr(KEY),
        search_semantic="on",
        search_agentic=agentic,
        retries=1,
        breaker_s=0.01,
        rate_per_minute=1000,
        log_level="debug",
        log_format="json",
        traces="otlp",
        traces_endpoint=collector.endpoint,
    )


@pytest.mark.row("4-25")
@pytest.mark.parametrize("agentic", ["off", "on"])
async def test_a_failing_search_gives_nothing_away(
    agentic: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Both ways of searching answer first, and then fail in every way; so does an ingest and what doctor asks."""
    caplog.set_level(logging.DEBUG)
    log = io.StringIO()
    with OtlpServer() as collector:
        async with AiSearchServer() as server:
            settings = settings_of(tmp_path / "home", server, collector, agentic)
            log_to(log, settings, settings.log.level, times=True)
            (tmp_path / "kb").mkdir()
            (tmp_path / "kb" / "plans.md").write_text(PAGE, "utf-8")
            assert await _ingested(settings, tmp_path / "kb") == ""
            system = await compose(settings)
            said: list[object] = []
            outcomes: dict[str, set[str]] = {}
            async with TestClient(TestServer(build_app(system))) as client:
                for name, fault in FAULTS.items():
                    server.otherwise = fault
                    outcomes[name] = {await _asked(client, system, case, said) for case in CASES}
                    said.append([str(finding) for finding in await check_services(settings)])
                    said.append(await system.ready())
                figures = await (await client.get("/metrics")).text()
            said.append(await _ingested(settings, tmp_path / "kb"))
            await system.close()
    assert outcomes["none"] <= {"answered", "repaired"}
    assert {name for name, ended in outcomes.items() if ended == {"failed"}} == set(FAULTS) - {"none"}
    assert "attest_remote_calls_total" in figures
    written = f"{log.getvalue()}\n{figures}\n{collector.text}"
    assert log.getvalue().count("attest.turn") == len(FAULTS) * len(CASES)
    assert len(collector.named("invoke_agent attest")) == len(FAULTS) * len(CASES)
    for case in CASES:
        assert leaks(case, written, said) == []
    assert [word for word in SECRETS if word in written] == []
    assert [word for word in (KEY, KEY.removeprefix("canary-")) if word in str(said)] == []


async def _asked(client: TestClient, system: System, case: Planted, said: list[object]) -> str:  # type: ignore[type-arg]  # of any application
    """How the case ended. What the reply and its entry hold beside the answer and the query is kept in `said`."""
    body = {
        "question": case.ask.question,
        "history": [{"role": t.role, "text": t.text} for t in case.ask.history],
        **({"context": case.ask.context} if case.ask.context else {}),
    }
    reply = await (await client.post("/api/ask", json=body)).json()
    entry = await system.ledger.get(reply["entry_id"])
    assert entry is not None
    said.append(entry.body)
    said.append({name: reply.get(name) for name in ("notes", "code", "mode", "claims", "citations", "error")})
    return str(reply["outcome"])


async def _ingested(settings: Settings, folder: Path) -> str:
    """What the error said, empty if there was none."""
    try:
        await take_in(settings, folder, lexical_only=True)
    except AttestError as error:
        return f"{error} {vars(error)}"
    return ""
