"""A service that embeds, switched on by settings: ingest, answers, what goes to it, and what is said when it fails; over loopback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.services import check_services
from bot.compose.embedder import fingerprint_of, spending
from bot.compose.ingest import is_taken_in
from bot.compose.system import compose
from bot.records import Ask
from bot.settings.settings import Settings
from grounding.embedded.vectors.embedder import MiniLM
from grounding.records import Access, Query
from grounding.store.store_reader import StoreReader
from rai.records import Outcome
from tests.bot.compose.test_system import changed
from tests.e2e.processes import settings_over
from tests.fakes import faults
from tests.fakes.embedding_batches_server import EmbeddingBatchesServer
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.knowledge_base import running, take_in_page

QUESTION = "What does Watch Plus cost a month?"
DEAD = "embedding service: failed (status 500, Failed): searched by words only"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingsServer]:
    async with EmbeddingsServer(width=256) as running_server:
        yield running_server


@pytest.fixture
def embedded(tmp_path: Path, model_file: Path) -> Settings:
    return settings_over(tmp_path / "home", model_file)


@pytest.fixture
def settings(embedded: Settings, server: EmbeddingsServer) -> Settings:
    return changed(
        embedded,
        embedder="openai",
        embedding_base_url=server.base_url,
        embedding_api_key=SecretStr(KEY),
        embedding_model="embed-1",
        embedding_width=256,
        retries=0,
    )


async def test_passages_go_to_the_batch_api_where_the_settings_say_so(embedded: Settings, tmp_path: Path) -> None:
    async with EmbeddingBatchesServer(looks=1, width=256) as server:
        more = {"embedder": "openai", "embedding_base_url": server.base_url, "embedding_model": "embed-1"}
        settings = changed(
            embedded, **more, embedding_api_key=SecretStr(KEY), embedding_width=256, embedding_batch="on", retries=0
        ).changed(ingest_run_tokens=100_000)
        await take_in_page(settings, tmp_path)
        (job,) = server.jobs.values()
        assert job["request_counts"]["completed"] > 0
        assert not [path for path, _ in server.bodies if path.endswith("/embeddings")]
        assert StoreReader(settings.files.home / "index" / "store.db").chunks_without_vector(
            fingerprint_of(settings) or ""
        ) == (0, 0)
        assert spending(settings).today() > 0


async def test_a_question_is_answered_by_the_vectors_of_the_service_and_by_words_when_it_is_dead(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    """Grades stay those of the local model: the same with either, whose cosines the passages came with."""
    report = await take_in_page(settings, tmp_path / "kb")
    assert (report.embedded, report.reembedded, report.waiting) == (report.chunks, 0, "")
    async with running(settings) as system:
        whole = await system.answer(Ask(QUESTION), None)
        server.otherwise = faults.status(500)
        by_words = await system.answer(Ask("What does Watch Plus cost?"), None)
        entry = await system.ledger.get(by_words.entry_id)
    assert (whole.outcome, whole.record.mode["search"]) == (Outcome.ANSWERED, "hybrid")
    assert "$9.99" in whole.answer
    assert (by_words.outcome, by_words.record.mode["search"]) == (Outcome.ANSWERED, "lexical")
    assert "$9.99" in by_words.answer
    assert DEAD in by_words.record.notes
    assert entry is not None
    assert DEAD in entry.body["reply"]["notes"]


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(500),
        faults.status(429, Retry_After="60"),
        faults.html(200),
        faults.truncated(),
        faults.closed(),
        faults.slow(),
        faults.status(401),
    ],
    ids=["500", "429", "html", "truncated", "closed", "slow", "401"],
)
async def test_no_fault_of_the_service_costs_the_answer_or_more_than_its_share_of_the_turn(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path, fault: faults.Fault
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    server.otherwise = fault
    async with running(changed(settings, turn_deadline_s=20.0)) as system:
        reply = await system.answer(Ask(QUESTION), None)
    assert reply.outcome is Outcome.ANSWERED
    assert [n for n in reply.record.notes if n.endswith(": searched by words only")]
    assert KEY not in str(reply)


async def test_a_service_that_fails_is_left_alone_for_a_while(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb")
    server.otherwise, before = faults.status(500), len(server.bodies)
    async with running(settings) as system:
        for n in range(6):
            await system.retriever.retrieve(Query(f"Watch Plus {n}"), Access(), 5)
    assert len(server.bodies) == before + 3


async def test_grades_are_told_by_the_local_model(
    settings: Settings, embedded: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    """Of the same passage: the fit holds for one model's cosines, and the service's are others."""
    await take_in_page(embedded, tmp_path / "kb")
    async with running(embedded) as system:
        here = await system.answer(Ask(QUESTION), None)
    await take_in_page(settings, tmp_path / "kb")
    async with running(settings) as system:
        there = await system.answer(Ask(QUESTION), None)
    own, theirs = ({g.chunk_id: g.score for g in reply.record.found.grades} for reply in (here, there))
    best = max(own, key=lambda key: own[key])
    assert abs(own[best] - theirs[best]) < 0.05
    assert [c.doc_id for c in here.citations] == [c.doc_id for c in there.citations]


async def test_another_embedder_means_another_ingest_and_words_until_then(
    settings: Settings, embedded: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    folder = tmp_path / "kb"
    await take_in_page(embedded, folder)
    assert await is_taken_in(embedded, [folder])
    assert not await is_taken_in(settings, [folder])
    async with running(settings) as system:
        reply = await system.answer(Ask(QUESTION), None)
        assert system.chunks_without_vector() == (1, 1)
    assert reply.record.mode["search"] == "lexical"
    assert server.bodies == []  # there is nothing that the meaning of the question could be held against
    assert "no vectors of the embedding model in use: searched by words only; run attest ingest" in reply.record.notes
    report = await take_in_page(settings, folder)
    assert (report.unchanged, report.embedded, report.reembedded) == (1, 1, 1)
    assert await is_taken_in(settings, [folder])
    async with running(settings) as system:
        assert (await system.answer(Ask(QUESTION), None)).record.mode["search"] == "hybrid"
        assert system.chunks_without_vector() == (0, 0)
    narrow = changed(settings, embedding_width=64)
    assert (await take_in_page(narrow, folder)).reembedded == 1
    async with running(narrow) as system:
        assert (await system.answer(Ask(QUESTION), None)).record.mode["search"] == "hybrid"


async def test_an_ingest_that_the_service_fails_ends_whole_by_words_and_the_next_goes_on(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    """Two batches of 64 are embedded, then the key is refused."""
    text = "".join(
        f"# Plan {n}\n\nPlan {n} costs ${n}.99 a month. {'It covers cameras and doors. ' * 30}\n\n" for n in range(200)
    )

    async def healthy(request: web.Request) -> web.StreamResponse:
        return await server.answer(request, await request.json())

    server.script = [healthy, healthy]
    server.otherwise = faults.status(401)
    report = await take_in_page(settings, tmp_path / "kb", text)
    assert report.added == 1
    assert report.embedded == 128
    assert report.waiting.startswith("embedding service: the key was refused")
    async with running(settings) as system:
        assert system.chunks_without_vector() == (report.chunks - 128, 0)
        reply = await system.answer(Ask("What does Plan 190 cost a month?"), None)
        assert "$190.99" in reply.answer
        (ingested,) = [e async for e in system.ledger.entries() if e.kind == "ingest"]
    assert ingested.body["waiting"] == report.waiting
    server.otherwise, before = None, len(server.texts)
    again = await take_in_page(settings, tmp_path / "kb", text)
    assert (again.unchanged, again.embedded, again.waiting) == (1, report.chunks - 128, "")
    assert len(server.texts) - before == report.chunks - 128


async def test_an_ingest_ends_at_its_ceiling_by_words_and_the_next_run_goes_on(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    """Batches are sent as long as they fit; what was embedded is counted over all runs of the day."""
    text = "".join(
        f"# Plan {n}\n\nPlan {n} costs ${n}.99 a month. {'It covers cameras and doors. ' * 30}\n\n" for n in range(200)
    )
    within = changed(settings, ingest_run_tokens=20_000)
    report = await take_in_page(within, tmp_path / "kb", text)
    assert report.waiting == "embedding: this run may take 20,000 tokens (ATTEST_INGEST_RUN_TOKENS)"
    assert 0 < report.embedded < report.chunks
    assert len(server.texts) == report.embedded
    taken = spending(within).today()
    assert 10_000 < taken <= 20_000
    async with running(within) as system:
        found = await system.retriever.retrieve(Query("What does Plan 190 cost a month?", by="words"), Access(), 5)
        assert any("$190.99" in passage.text for passage in found.passages), "what waits is found by words"
    again = await take_in_page(changed(settings, ingest_day_tokens=30_000), tmp_path / "kb", text)
    assert again.waiting.startswith("embedding: a day may take 30,000 tokens (ATTEST_INGEST_DAY_TOKENS)")
    assert spending(within).today() <= 30_000
    last = await take_in_page(settings, tmp_path / "kb", text)
    assert (last.waiting, report.embedded + again.embedded + last.embedded) == ("", report.chunks)


async def test_a_passage_that_the_service_refuses_keeps_none_of_its_neighbours_from_their_vectors(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path
) -> None:
    text = "".join(
        f"# Plan {n}\n\nPlan {n} costs ${n}.99 a month. {'It covers cameras and doors. ' * 30}\n\n" for n in range(150)
    )
    server.poison = "$70.99"
    report = await take_in_page(settings, tmp_path / "kb", text)
    assert report.embedded == report.chunks - 1
    assert "the request was refused (status 400" in report.waiting
    async with running(settings) as system:
        assert system.chunks_without_vector() == (1, 0)
        found = await system.retriever.retrieve(Query("What does Plan 3 cost?"), Access(), 5)
    assert found.mode == "hybrid"
    assert found.notes[0].startswith(f"1 of {report.chunks} passages have no vectors of the embedding model in use")


@pytest.mark.parametrize("pseudonyms", ["on", "off"])
async def test_the_customers_data_stay_here_with_pseudonyms_on_and_passages_go_as_they_are(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path, pseudonyms: str
) -> None:
    settings = changed(settings, pseudonyms=pseudonyms)
    await take_in_page(settings, tmp_path / "kb")
    assert any("020 7946 0018" in text for text in server.texts)
    before = len(server.texts)
    async with running(settings) as system:
        asked = "My name is Jane Canary, jane.canary@example.com. What does Watch Plus cost a month?"
        reply = await system.answer(Ask(asked), None)
        await system.retriever.retrieve(Query("Write to joe.canary@example.com about Watch Plus"), Access(), 5)
    sent = " ".join(server.texts[before:])
    assert "Watch Plus" in sent
    assert ("canary@example.com" in sent) == (pseudonyms == "off")
    assert any("the embedding service was given placeholders" in n for n in reply.record.notes) == (pseudonyms == "on")


async def test_a_missing_local_model_leaves_search_by_meaning_to_the_service(
    settings: Settings, server: EmbeddingsServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = changed(settings, model_file=tmp_path / "none.onnx")
    with caplog.at_level(logging.WARNING, logger="attest"):
        await take_in_page(settings, tmp_path / "kb")
        async with running(settings) as system:
            reply = await system.answer(Ask(QUESTION), None)
    assert (reply.outcome, reply.record.mode["search"]) == (Outcome.ANSWERED, "hybrid")
    assert "passages are graded by words only" in caplog.text
    assert "search goes by words" not in caplog.text


@pytest.mark.parametrize(
    ("key", "fault", "told"),
    [
        (KEY, None, ("ok", "answers; embed-1 gives vectors of 256 numbers", "")),
        ("wrong", None, ("fail", "the key was refused", "ATTEST_EMBEDDING_API_KEY")),
        (KEY, faults.status(404), ("fail", "no model or deployment of that name", "ATTEST_EMBEDDING_MODEL")),
        (KEY, faults.closed(), ("fail", "cannot be reached", "ATTEST_EMBEDDING_BASE_URL")),
        (KEY, faults.html(200), ("fail", "a web page came back", "ATTEST_EMBEDDING_BASE_URL")),
    ],
)
async def test_doctor_tells_what_is_wrong_with_the_service_and_the_fix(
    settings: Settings, server: EmbeddingsServer, key: str, fault: faults.Fault | None, told: tuple[str, str, str]
) -> None:
    server.otherwise = fault
    found = await asked(changed(settings, embedding_api_key=SecretStr(key)))
    status, said, fix = told
    assert (found.status, found.service) == (status, True)
    assert said in found.detail
    assert fix in found.fix
    assert key not in str(found)


async def asked(settings: Settings) -> Diagnosis:
    """What doctor says of the service."""
    findings = await check_services(settings)
    return next(finding for finding in findings if finding.name == "embedding service")


async def test_doctor_tells_a_width_that_the_service_does_not_have(
    settings: Settings, server: EmbeddingsServer
) -> None:
    server.takes_dimensions = False
    found = await asked(changed(settings, embedding_width=64))
    assert found.status == "fail"
    assert "set ATTEST_EMBEDDING_WIDTH=256" in found.detail


async def test_nothing_is_asked_of_the_service_at_the_start_and_no_task_is_left_behind(
    settings: Settings, server: EmbeddingsServer
) -> None:
    server.otherwise = faults.slow()
    before = asyncio.all_tasks()
    system = await compose(settings)
    await system.close()
    assert server.bodies == []
    assert asyncio.all_tasks() == before


async def test_vectors_of_gone_models_stay_in_the_store(settings: Settings, embedded: Settings, tmp_path: Path) -> None:
    """Going back costs nothing."""
    await take_in_page(embedded, tmp_path / "kb")
    await take_in_page(settings, tmp_path / "kb")
    assert (await take_in_page(embedded, tmp_path / "kb")).embedded == 0
    assert await is_taken_in(embedded, [tmp_path / "kb"])
    assert StoreReader(settings.files.home / "index" / "store.db").chunks_without_vector("another") == (1, 1)


async def test_the_search_of_this_machine_goes_by_both_models_and_without_the_reader_by_one(
    embedded: Settings, tmp_path: Path, model_file: Path, quick_model_file: Path
) -> None:
    """What a start compares, without loading a model, is what the passages' vectors are kept under."""
    alone = settings_over(tmp_path / "other", quick_model_file)
    fingerprints = []
    for name, settings in (("both", embedded), ("alone", alone)):
        report = await take_in_page(settings, tmp_path / name)
        assert report.embedded == report.chunks
        found = fingerprint_of(settings) or ""
        assert StoreReader(settings.files.home / "index" / "store.db").chunks_without_vector(found) == (0, 0)
        assert await is_taken_in(settings, [tmp_path / name])
        fingerprints.append(found)
    assert [found.startswith("e5-small") for found in fingerprints] == [True, False]
    azure = {"search": "azure", "search_endpoint": "https://n.search.windows.net", "search_key": SecretStr(KEY)}
    assert (
        fingerprint_of(changed(embedded, **azure)) == MiniLM(model_file).fingerprint
    )  # its quota counts each dimension
