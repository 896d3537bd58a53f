"""Embeddings by the batch API over loopback: what is handed in, what is believed, and runs that end while a job is under way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from grounding.azure.openai.embedder import OpenAIEmbedder
from grounding.azure.openai.embedding_jobs import OpenAIEmbeddingJobs
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.vectors import fill_by_jobs as filling
from grounding.embedded.vectors.fill_by_jobs import fill_by_jobs
from grounding.embedded.vectors.rationed import RationedEmbedder, RationedJobs, Spending
from grounding.errors import ServiceError, ServiceRejected, ServiceUnavailable
from grounding.ingest.ingest import ingest
from grounding.services.ceiling import Ceiling, CeilingReached
from grounding.services.remote import Remote
from tests.fakes.clock import at_once
from tests.fakes.embedding_batches_server import EmbeddingBatchesServer
from tests.fakes.embeddings_server import KEY

WIDTH = 64


class KilledError(Exception):
    """The run was ended from outside."""


class PassedOn:
    """A service that passes what it is asked on to `jobs`."""

    def __init__(self, jobs: OpenAIEmbeddingJobs) -> None:
        self.jobs = jobs
        self.state, self.vectors = jobs.state, jobs.vectors

    async def submit(self, texts: Sequence[tuple[str, str]], token: str) -> str:
        return await self.jobs.submit(texts, token)

    async def forget(self, job: str) -> None:
        await self.jobs.forget(job)


@dataclass
class Jobs:
    """A home whose passages are embedded by jobs of `server`."""

    server: EmbeddingBatchesServer
    index: EmbeddedIndex
    jobs: OpenAIEmbeddingJobs
    embedder: OpenAIEmbedder
    seen: list[tuple[int, int]] = field(default_factory=list)
    sleep: Callable[[float], object] = at_once

    async def filled(self, service: object = None) -> int:
        given = service or self.jobs
        return await fill_by_jobs(
            self.index.store,
            self.embedder.fingerprint,
            given,  # type: ignore[arg-type]
            lambda done, total: self.seen.append((done, total)),
            sleep=self.sleep,  # type: ignore[arg-type]
        )

    @property
    def missing(self) -> dict[str, str]:
        return dict(self.index.store.without_vectors(self.embedder.fingerprint))


@asynccontextmanager
async def jobs_over(server: EmbeddingBatchesServer, folder: Path, count: int = 5) -> AsyncIterator[Jobs]:
    (folder / "kb").mkdir()
    for n in range(count):
        (folder / "kb" / f"{n}.md").write_text(f"# Rule {n}\n\nThe refund of case {n} takes {n} days.\n", "utf-8")
    async with server:
        remote = Remote("embedding", deadline_s=20.0, retries=2, sleep=at_once, jitter=lambda: 0.0)
        jobs = OpenAIEmbeddingJobs(server.base_url, KEY, "embed-1", WIDTH, remote, shorten=True)
        embedder = OpenAIEmbedder(server.base_url, KEY, "embed-1", WIDTH, remote, shorten=True)
        index = EmbeddedIndex(folder / "home", embedder)
        await ingest(index, [folder / "kb"], lexical_only=True)
        try:
            yield Jobs(server, index, jobs, embedder)
        finally:
            await jobs.aclose()
            await embedder.aclose()
            index.close()


async def test_all_passages_come_back_each_with_its_own_vector(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(looks=3), tmp_path) as kb:
        texts = kb.missing
        assert await kb.filled() == 5
        assert kb.missing == {}
        (job,) = kb.server.jobs.values()
        assert (job["endpoint"], job["completion_window"]) == ("/v1/embeddings", "24h")
        assert len(kb.server.bodies) == 0, "nothing went the usual way"
        rows = kb.index.store.chunks_of(list(kb.index.stamps()))
        held = kb.index.store.vectors_of(kb.embedder.fingerprint, [row.pk for row in rows])
        for row in rows:
            (wanted,) = await kb.embedder.embed([texts[row.chunk.chunk_id]])
            assert np.frombuffer(held[row.pk], np.float16) == pytest.approx(wanted, abs=2e-3)
        assert kb.server.files == {}, "nothing of the texts is left with the service"
        assert kb.seen[-1] == (5, 5)


async def test_what_a_job_leaves_out_goes_the_usual_way(tmp_path: Path) -> None:
    server = EmbeddingBatchesServer()
    async with jobs_over(server, tmp_path) as kb:
        server.spoilt = (next(iter(kb.missing)),)
        index = EmbeddedIndex(tmp_path / "home", kb.embedder, jobs=kb.jobs)
        assert await index.embed_missing(64, lambda *_: None) == 5
        assert kb.missing == {}
        assert [len(body["input"]) for _, body in server.bodies] == [1]
        index.close()


@pytest.mark.parametrize("when", ["while it waits", "before the reply"])
async def test_a_run_that_was_killed_is_gone_on_with_and_nothing_is_handed_in_twice(tmp_path: Path, when: str) -> None:
    async with jobs_over(EmbeddingBatchesServer(looks=2), tmp_path) as kb:
        if when == "while it waits":

            async def killed(_: float) -> None:
                raise KilledError

            kb.sleep = killed
            with pytest.raises(KilledError):
                await kb.filled()
        else:
            note = kb.index.store.note_embedding_job

            def dies(fingerprint: str, token: str, job: str | None) -> None:
                if job:
                    raise KilledError
                note(fingerprint, token, job)

            kb.index.store.note_embedding_job = dies  # type: ignore[method-assign]
            with pytest.raises(KilledError):
                await kb.filled()
            kb.index.store.note_embedding_job = note  # type: ignore[method-assign]
        kb.sleep = at_once
        assert await kb.filled() == 5
        assert len(kb.server.jobs) == 1


async def test_a_job_that_was_noted_and_never_handed_in_is_forgotten(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        kb.index.store.note_embedding_job(kb.embedder.fingerprint, "token", "")
        assert await kb.filled() == 5


async def test_a_run_that_was_killed_behind_the_deletion_of_a_jobs_files_leaves_nothing_in_the_way(
    tmp_path: Path,
) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:

        class Dies(PassedOn):
            async def forget(self, job: str) -> None:
                await self.jobs.forget(job)
                raise KilledError

        with pytest.raises(KilledError):
            await kb.filled(Dies(kb.jobs))
        assert kb.server.files == {}
        (tmp_path / "kb" / "new.md").write_text("# New\n\nThe refund of a new case takes 9 days.\n", "utf-8")
        await ingest(kb.index, [tmp_path / "kb"], lexical_only=True)
        assert await kb.filled() == 1
        assert kb.missing == {}
        assert kb.index.store.embedding_jobs(kb.embedder.fingerprint) == {}


async def test_a_job_that_the_service_does_not_know_is_told_and_noted_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        kb.index.store.note_embedding_job(kb.embedder.fingerprint, "token", "batch_of_another_resource")
        assert await kb.filled() == 5
        assert "does not know a batch job" in caplog.text
        assert kb.index.store.embedding_jobs(kb.embedder.fingerprint) == {}


async def test_at_a_wrong_address_jobs_stay_noted(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        kb.index.store.note_embedding_job(kb.embedder.fingerprint, "token", "batch_0")
        remote = Remote("embedding", deadline_s=20.0, retries=0)
        elsewhere = OpenAIEmbeddingJobs(f"{kb.server.base_url}/elsewhere", KEY, "embed-1", WIDTH, remote)
        with pytest.raises(ServiceRejected, match="404"):
            await kb.filled(elsewhere)
        assert kb.index.store.embedding_jobs(kb.embedder.fingerprint) == {"token": "batch_0"}
        await elsewhere.aclose()


@pytest.mark.parametrize("seen", ["at once", "a little later"])
async def test_a_job_whose_reply_was_lost_is_found_again_and_not_handed_in_twice(tmp_path: Path, seen: str) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        looks = [""] if seen == "a little later" else []

        class Lost(PassedOn):
            async def submit(self, texts: Sequence[tuple[str, str]], token: str) -> str:
                if not texts and looks:
                    return looks.pop()
                job = await self.jobs.submit(texts, token)
                if texts:
                    raise ServiceUnavailable("embedding", "did not answer in time")
                return job

        with pytest.raises(ServiceUnavailable):
            await kb.filled(Lost(kb.jobs))
        await kb.filled()
        assert kb.missing == {}
        assert len(kb.server.jobs) == 1
        assert kb.server.files == {}


async def test_a_job_that_fails_is_told_without_the_services_words_and_noted_no_more(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(ends="failed"), tmp_path) as kb:
        with pytest.raises(ServiceRejected, match=r"a batch job failed: token_limit_exceeded$"):
            await kb.filled()
        kb.server.code = "words of a text"
        with pytest.raises(ServiceRejected, match=r"a batch job failed: no reason is given$"):
            await kb.filled()
        kb.server.ends = "completed"
        assert await kb.filled() == 5


async def test_a_job_that_expires_gives_what_it_did(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(ends="expired"), tmp_path) as kb:
        assert await kb.filled() == 5


async def test_vectors_of_another_width_are_not_believed(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        remote = Remote("embedding", deadline_s=20.0, retries=0)
        plain = OpenAIEmbeddingJobs(kb.server.base_url, KEY, "embed-1", WIDTH, remote)
        assert await kb.filled(plain) == 0
        assert len(kb.missing) == 5
        await plain.aclose()


async def test_a_ceiling_holds_before_anything_is_handed_in_and_what_was_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "MOST_TEXTS", 2)
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        spending = Spending(tmp_path / "spent.db")
        rationed = RationedEmbedder(kb.embedder, Ceiling(run=90), spending)
        with pytest.raises(CeilingReached):
            await kb.filled(RationedJobs(kb.jobs, rationed))
        assert 0 < len(kb.missing) < 5
        assert len(kb.server.jobs) == (5 - len(kb.missing)) / 2
        assert 0 < spending.today() <= 90


async def test_a_wrong_key_is_told_and_nothing_stays_noted(tmp_path: Path) -> None:
    async with jobs_over(EmbeddingBatchesServer(), tmp_path) as kb:
        wrong = OpenAIEmbeddingJobs(
            kb.server.base_url, "wrong", "embed-1", WIDTH, Remote("embedding", deadline_s=20.0, retries=0)
        )
        with pytest.raises(ServiceError, match="401"):
            await kb.filled(wrong)
        assert kb.index.store.embedding_jobs(kb.embedder.fingerprint) == {}
        await wrong.aclose()
