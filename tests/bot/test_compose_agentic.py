"""Agentic retrieval switched on by a setting: ingest makes the knowledge base, answers come through it, and without it from the search."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.services import check_services
from bot.records import Ask
from bot.settings.settings import Settings
from grounding.errors import ServiceRejected
from rai.records import Outcome
from tests.bot.compose.test_system import changed
from tests.e2e.processes import settings_over
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.faults import Fault
from tests.knowledge_base import running, take_in_page

ASKED = Ask("What does Watch Plus cost a month?")


class Guarded(AiSearchServer):
    """`knowing`: what requests to knowledge bases and sources get, None: an answer."""

    knowing: Fault | None = None

    async def answer(self, request: web.Request, body: dict[str, object]) -> web.StreamResponse:
        if self.knowing is not None and request.path.startswith("/knowledge"):
            return await self.knowing(request)
        return await super().answer(request, body)


@pytest.fixture
async def server() -> AsyncIterator[Guarded]:
    async with Guarded() as running_server:
        yield running_server


@pytest.fixture
def settings(tmp_path: Path, model_file: Path, server: Guarded) -> Settings:
    azure = {"search": "azure", "search_endpoint": server.root, "search_key": SecretStr(KEY), "search_agentic": "on"}
    return settings_over(tmp_path / "home", model_file, retries=0, **azure)


async def found_by_doctor(settings: Settings, name: str = "agentic retrieval") -> Diagnosis:
    return next(finding for finding in await check_services(settings) if finding.name == name)


async def test_ingest_makes_what_answers_come_through(settings: Settings, server: Guarded, tmp_path: Path) -> None:
    await take_in_page(settings, tmp_path / "kb")
    assert list(server.knowledge.held["knowledgebases"]) == ["attest"]
    async with running(settings) as system:
        assert await system.ready() == {}
        reply = await system.answer(ASKED, None)
        assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "agentic")
        assert "$9.99" in reply.answer
    assert (await found_by_doctor(settings)).status == "ok"


async def test_switched_on_later_it_waits_for_the_next_ingest(
    settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    """Until then the search answers and the record says why; the next ingest finds nothing new and makes it all the same."""
    await take_in_page(changed(settings, search_agentic="off"), tmp_path / "kb")
    async with running(settings) as system:
        reply = await system.answer(ASKED, None)
        assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "hybrid")
        assert any("no knowledge base 'attest' yet; attest ingest makes it" in note for note in reply.record.notes)
    finding = await found_by_doctor(settings)
    assert (finding.status, finding.fix) == ("note", "attest ingest PATH")
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        assert (await system.answer(ASKED, None)).record.mode["search"] == "agentic"


@pytest.mark.parametrize(
    "fault",
    [faults.slow(), faults.status(429, Retry_After="60"), faults.echoed(500), faults.html(200), faults.closed()],
)
async def test_when_it_fails_the_turn_goes_on_with_the_search(
    fault: Fault, settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    quick = changed(settings, call_deadline_s=6.0)
    async with running(quick) as system:
        server.knowing = fault
        began = time.monotonic()
        reply = await system.answer(ASKED, None)
        assert time.monotonic() - began < 20
        assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "hybrid")
        assert any(note.endswith("these are the results of the search") for note in reply.record.notes)
        assert await system.ready() == {}


async def test_a_service_without_knowledge_bases_takes_the_passages_all_the_same(
    settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    """The ingest ends with one clear line, and answers come from the search."""
    server.knowing = faults.status(403)
    with pytest.raises(ServiceRejected, match=r"^agentic retrieval: the key or identity may not do this"):
        await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        assert (await system.answer(ASKED, None)).outcome is Outcome.ANSWERED
    finding = await found_by_doctor(settings)
    assert (finding.status, "admin key" in finding.detail) == ("note", True)


@pytest.mark.parametrize(
    ("ranker", "told"),
    [
        ("on", ("ok", "ranks results by meaning", "")),
        ("off", ("note", "switched off for this service, or the free tier has none", "switch it on in the portal")),
        ("spent", ("note", "the free queries of this month are used up", "change its plan to Standard")),
        ("busy", ("note", "has no room for more", "add replicas or units")),
    ],
)
async def test_doctor_names_a_ranker_that_refuses_and_what_mends_it(
    ranker: str, told: tuple[str, str, str], settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    """And the search itself is well all the while, whatever the service puts before a number."""
    status, said, mends = told
    ranking = changed(settings, search_agentic="off", search_semantic="on")
    await take_in_page(ranking, tmp_path / "kb")
    server.ranker = ranker
    finding = await found_by_doctor(ranking, "semantic ranker")
    assert (finding.status, said in finding.detail, mends in finding.fix) == (status, True, True)
    assert ("ATTEST_SEARCH_SEMANTIC=off" in finding.fix) == (status != "ok")
    assert (await found_by_doctor(ranking, "search")).status == "ok"


async def test_an_index_made_before_the_ranker_was_switched_on_wants_an_ingest(
    settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    await take_in_page(changed(settings, search_agentic="off"), tmp_path / "kb")
    finding = await found_by_doctor(changed(settings, search_semantic="on"), "semantic ranker")
    assert (finding.status, finding.fix.split(";")[0]) == ("note", "attest ingest PATH")


async def test_a_ranker_cannot_be_looked_at_where_the_search_does_not_answer(settings: Settings) -> None:
    finding = await found_by_doctor(changed(settings, search_semantic="on"), "semantic ranker")
    assert (finding.status, finding.detail) == ("note", "not looked at: the search did not answer")


async def test_what_a_running_system_goes_without_is_told_by_the_probe(
    settings: Settings, server: Guarded, tmp_path: Path
) -> None:
    """It is ready all the same: turns are answered in the order of the search."""
    ranking = changed(settings, search_agentic="off", search_semantic="on")
    await take_in_page(ranking, tmp_path / "kb")
    server.ranker = "spent"
    async with running(ranking) as system:
        assert system.degraded() == {}
        reply = await system.answer(ASKED, None)
        assert reply.outcome is Outcome.ANSWERED
        assert any("the free queries of this month are used up" in note for note in reply.record.notes)
        assert list(system.degraded()) == ["semantic ranker"]
        assert await system.ready() == {}
