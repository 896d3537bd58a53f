"""Passages get their vectors: several batches at the same time, some of which a service does not take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from grounding.embedded.vectors.fill_vectors import IN_A_ROW, fill
from grounding.errors import ServiceRejected, ServiceUnavailable, StoreError
from grounding.ingest.chunk_paragraphs import split
from grounding.ports import Vectors
from grounding.records import Document
from grounding.services.ceiling import CeilingReached
from grounding.store.store import Store
from tests.fakes.embedder import HashEmbedder

COUNT = 40


class Slow(HashEmbedder):
    """Takes a moment, counts who is inside, and refuses what `refuses` says."""

    def __init__(self, refuses: Callable[[Sequence[str], int], Exception | None] = lambda _texts, _call: None) -> None:
        super().__init__()
        self.refuses = refuses
        self.inside = self.most = self.calls = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            refused = self.refuses(texts, self.calls)
            await asyncio.sleep(0.001)
            if refused is not None:
                raise refused
            return await super().embed(texts)
        finally:
            self.inside -= 1


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store.db")
    documents = [Document(f"d{n:02}", f"Title {n}", f"Passage number {n} says {n}.") for n in range(COUNT)]
    store.put([(d, split(d), "root", "1") for d in documents])
    yield store
    store.close()


async def run(store: Store, embedder: Slow, at_once: int, batch: int = 4) -> tuple[int, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    return await fill(store, embedder, batch, lambda *at: told.append(at), lambda: None, at_once=at_once), told


@pytest.mark.parametrize("at_once", [1, 3, 16])
async def test_every_passage_gets_its_own_vector_however_many_batches_go_at_once(store: Store, at_once: int) -> None:
    embedder = Slow()
    done, told = await run(store, embedder, at_once)
    assert (done, embedder.calls, embedder.most) == (COUNT, 10, min(at_once, 10))
    assert told == [(n, COUNT) for n in range(4, COUNT + 1, 4)], "progress rises"
    fingerprint = embedder.fingerprint
    assert store.without_vectors(fingerprint) == []
    rows = store.rows(store.vector_keys(fingerprint))
    kept = store.vectors_of(fingerprint, list(rows))
    for pk, row in rows.items():
        expected = (await HashEmbedder().embed([f"{row.title}\n{row.chunk.text}"])).astype("float16")
        assert kept[pk] == expected.tobytes()


@pytest.mark.parametrize("at_once", [1, 4])
async def test_at_a_ceiling_nothing_more_is_begun_and_what_came_is_kept(store: Store, at_once: int) -> None:
    reached = CeilingReached("embedding", "a day may take 5 tokens (ATTEST_INGEST_DAY_TOKENS)")
    embedder = Slow(lambda _texts, call: reached if call > 5 else None)
    with pytest.raises(CeilingReached):
        await run(store, embedder, at_once)
    assert len(store.without_vectors(embedder.fingerprint)) == COUNT - 20
    assert embedder.calls <= 5 + at_once
    done, _ = await run(store, Slow(), at_once)
    assert done == COUNT - 20, "the next run does the rest"


@pytest.mark.parametrize("at_once", [1, 4])
async def test_a_service_in_trouble_is_left_alone(store: Store, at_once: int) -> None:
    embedder = Slow(lambda _texts, _call: ServiceUnavailable("embedding service", "failed"))
    with pytest.raises(ServiceUnavailable):
        await run(store, embedder, at_once)
    assert IN_A_ROW <= embedder.calls < IN_A_ROW + at_once


@pytest.mark.parametrize("at_once", [1, 4])
async def test_a_text_that_is_refused_keeps_no_other_from_its_vector(store: Store, at_once: int) -> None:
    def refuses(texts: Sequence[str], _call: int) -> Exception | None:
        bad = any("number 17 " in text for text in texts)
        return ServiceRejected("embedding service", "the request was refused") if bad else None

    embedder = Slow(refuses)
    with pytest.raises(ServiceRejected):
        await run(store, embedder, at_once)
    assert [text for _, text in store.without_vectors(embedder.fingerprint)] == ["Title 17\nPassage number 17 says 17."]


async def test_a_store_that_fails_ends_it_with_its_own_error(store: Store) -> None:
    embedder = Slow(lambda _texts, call: StoreError("the store cannot be written") if call == 2 else None)
    with pytest.raises(StoreError, match="cannot be written"):
        await run(store, embedder, 4)
