"""Azure AI Search switched on by settings: ingest, answers, removal and what is said when it fails; a loopback server answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.compose.ingest import open_ingester
from bot.records import Ask
from bot.settings.settings import Settings
from grounding.errors import SettingsError
from grounding.records import Access, Query
from rai.records import Outcome
from tests.bot.compose.test_system import changed
from tests.e2e.processes import settings_over
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.knowledge_base import running, take_in_page


@pytest.fixture
async def server() -> AsyncIterator[AiSearchServer]:
    async with AiSearchServer() as running_server:
        yield running_server


@pytest.fixture
def settings(tmp_path: Path, model_file: Path, server: AiSearchServer) -> Settings:
    azure = {"search": "azure", "search_endpoint": server.root, "search_key": SecretStr(KEY), "search_semantic": "on"}
    return settings_over(tmp_path / "home", model_file, retries=0, **azure)


async def test_an_answer_comes_from_the_index_and_a_removed_document_is_in_none(
    settings: Settings, server: AiSearchServer, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        assert await system.ready() == {}
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert reply.outcome is Outcome.ANSWERED
        assert "$9.99" in reply.answer
        assert reply.record.mode["search"] == "hybrid+ranked"
        held = [d for d in server.documents["attest"].values() if d["source"] == "attest"]
        (document,) = await system.library.documents()
        assert len(held) == document.chunks
        assert await system.library.remove(document.doc_id)
        assert [d["source"] for d in server.documents["attest"].values()] == ["state"]
        assert (await system.retriever.retrieve(Query("Watch Plus"), Access(), 5)).passages == ()


async def test_a_removed_document_is_in_no_answer_while_the_service_cannot_delete_it(
    settings: Settings, server: AiSearchServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        (document,) = await system.library.documents()
        server.script = [faults.status(403)]
        with caplog.at_level(logging.WARNING, logger="attest"):
            assert await system.library.remove(document.doc_id)
        assert "the next ingest deletes it" in caplog.text
        assert KEY not in caplog.text
        assert len(server.documents["attest"]) > 1
        assert (await system.retriever.retrieve(Query("Watch Plus"), Access(), 5)).passages == ()
    await take_in_page(settings, tmp_path / "other", "# Other\n\nSomething else.\n")
    assert [d["text"] for d in server.documents["attest"].values() if "Watch Plus" in d.get("text", "")] == []


async def test_what_others_deleted_from_the_index_comes_back_with_a_rebuild(
    settings: Settings, server: AiSearchServer, tmp_path: Path
) -> None:
    """An ingest looks at what changed in the store alone."""
    await take_in_page(settings, tmp_path / "kb")
    held = server.documents["attest"]
    lost = next(key for key, document in held.items() if document["source"] == "attest")
    held.pop(lost)
    await take_in_page(settings, tmp_path / "kb")
    assert lost not in held
    ingester = await open_ingester(settings)
    await ingester.rebuild(lambda _: None)
    await ingester.close()
    assert lost in held


async def test_a_document_that_is_restored_is_found_again(
    settings: Settings, server: AiSearchServer, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        (document,) = await system.library.documents()
        await system.library.remove(document.doc_id)
    ingester = await open_ingester(settings)
    assert await ingester.restore(document.doc_id)
    await ingester.close()
    async with running(settings) as system:
        assert (await system.retriever.retrieve(Query("Watch Plus"), Access(), 5)).passages


async def test_a_dead_service_fails_the_turn_and_says_so(
    settings: Settings, server: AiSearchServer, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        server.otherwise = faults.status(500)
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert (reply.outcome, reply.code) == (Outcome.FAILED, "search_unavailable")
        assert "search" in await system.ready()
        server.otherwise = None
    assert len(asyncio.all_tasks()) == 1


async def test_an_index_that_is_behind_is_not_ready(settings: Settings, server: AiSearchServer, tmp_path: Path) -> None:
    await take_in_page(changed(settings, search="embedded"), tmp_path / "kb")
    async with running(settings) as system:
        assert "there is no index" in (await system.ready())["search"]
    ingester = await open_ingester(settings)
    await ingester.rebuild(lambda _: None)
    await ingester.close()
    async with running(settings) as system:
        assert await system.ready() == {}
        (made,) = [e.body async for e in system.ledger.entries() if e.kind == "rebuild"]
        assert (made["documents"], made["chunks"] > 0, made["waiting"]) == (1, True, None)
        server.documents["attest"].popitem()
        server.documents["attest"].popitem()
        assert "passages are in the index" in (await system.ready())["search"]


@pytest.mark.parametrize(("others", "empty"), [("off", True), ("on", False)])
async def test_passages_that_others_put_into_the_index_count_as_a_knowledge_base(
    settings: Settings, others: str, empty: bool
) -> None:
    async with running(changed(settings, search_others=others)) as system:
        assert ("knowledge base" in await system.ready()) is empty


async def test_a_key_that_no_header_carries_stops_the_start(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="ATTEST_SEARCH_KEY"):
        async with running(changed(settings, search_key=SecretStr("a b"))):
            pass
