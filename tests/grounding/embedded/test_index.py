"""The store of record and its indexes: what is live, what is gone, what survives."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.errors import StoreError
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document, Query
from grounding.store.chunks import ChunkRow
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of

ROUTER = Document("router.md", "Wren X2", "The Wren X2 costs $129.\n\nIts warranty is two years.", groups=("tier2",))
HUB = Document("hub.md", "Roost H1", "The Roost H1 costs $79.")


async def found(index: EmbeddedIndex, query: str, embedder: HashEmbedder | None, *groups: str) -> set[str]:
    result = await retriever_of(index, embedder).retrieve(Query(query), Access("u", frozenset(groups)), 20)
    return {p.doc_id for p in result.passages}


async def test_removed_documents_vanish_and_their_versions_stay(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path, [ROUTER, HUB], embedder)
    before = index.kb_version()
    assert await index.remove("hub.md")
    assert not await index.remove("hub.md")
    assert await found(index, "Roost H1 costs", embedder, "tier2") == {"router.md"}
    assert await index.document("hub.md") is None
    assert await index.document("hub.md", HUB.version) == HUB
    assert [d.doc_id for d in await index.documents()] == ["router.md"]
    assert index.kb_version() != before
    assert index.pulled() == {"hub.md": ("1", HUB.version)}


async def test_a_document_that_is_removed_while_words_catch_up_leaves_them_too(tmp_path: Path) -> None:
    index, beside = await open_kb(tmp_path, [HUB], None), EmbeddedIndex(tmp_path, None)
    chunks_of = index.store.chunks_of

    def overtaken(doc_ids: Sequence[str]) -> list[ChunkRow]:
        rows = chunks_of(doc_ids)
        beside.store.drop(["router.md"], pulled=True)
        return rows

    index.put([(ROUTER, split(ROUTER), "test", "1")])
    index.store.chunks_of = overtaken  # type: ignore[method-assign]
    index.catch_up(lambda *_: None)
    index.store.chunks_of = chunks_of  # type: ignore[method-assign]
    index.catch_up(lambda *_: None)
    assert (index.words.count(), index.store.unindexed()) == (1, [])
    index.close()
    beside.close()


async def test_a_running_reader_follows_changes(tmp_path: Path) -> None:
    """A retriever that was opened before a change sees it at its next search."""
    embedder = HashEmbedder()
    index = await open_kb(tmp_path, [HUB], embedder)
    retriever = retriever_of(index, embedder)
    assert len((await retriever.retrieve(Query("warranty"), Access("u", frozenset({"tier2"})), 5)).passages) == 1
    other = await open_kb(tmp_path, [ROUTER], embedder)
    hits = (await retriever.retrieve(Query("warranty"), Access("u", frozenset({"tier2"})), 5)).passages
    assert hits[0].doc_id == "router.md"
    await other.remove("router.md")
    assert {
        p.doc_id for p in (await retriever.retrieve(Query("warranty"), Access("u", frozenset({"tier2"})), 5)).passages
    } == {"hub.md"}


async def test_a_changed_version_replaces_the_old_one(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    await open_kb(tmp_path, [HUB], embedder)
    newer = replace(HUB, text="The Roost H1 costs $69.")
    index = await open_kb(tmp_path, [newer], embedder)
    passages = (await retriever_of(index, embedder).retrieve(Query("Roost H1 costs"), Access(), 9)).passages
    assert [p.text for p in passages] == ["The Roost H1 costs $69."]
    assert (await index.document("hub.md", HUB.version)) == HUB


async def test_unchanged_chunks_cost_no_embedding(tmp_path: Path) -> None:
    """A vector belongs to a chunk's content: the same text again, or only other rights, is not embedded again."""
    first, second = HashEmbedder(), HashEmbedder()
    await open_kb(tmp_path, [ROUTER, HUB], first)
    assert first.seen == 2
    await open_kb(tmp_path, [replace(ROUTER, groups=None)], second)
    assert second.seen == 0


async def test_rights_change_at_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path, [ROUTER], embedder)
    assert await found(index, "warranty", embedder) == set()
    index = await open_kb(tmp_path, [replace(ROUTER, groups=None)], embedder)
    assert await found(index, "warranty", embedder) == {"router.md"}
    index = await open_kb(tmp_path, [replace(ROUTER, groups=())], embedder)
    assert await found(index, "warranty", embedder, "tier2", "billing") == set()


async def test_the_version_is_the_content_not_the_order(tmp_path: Path) -> None:
    one = await open_kb(tmp_path / "a", [ROUTER, HUB], None)
    other = await open_kb(tmp_path / "b", [HUB, ROUTER], None)
    assert one.kb_version().split("-g")[0] == other.kb_version().split("-g")[0]


async def test_a_lost_word_index_is_rebuilt_from_the_store(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    index = await open_kb(tmp_path, [ROUTER, HUB], embedder)
    index.close()
    shutil.rmtree(tmp_path / "words")
    again = await open_kb(tmp_path, [], embedder)
    assert [pk for pk, _ in again.words.search("Roost", Access(), 5)]


async def test_another_model_means_embedding_again(tmp_path: Path) -> None:
    await open_kb(tmp_path, [HUB], HashEmbedder())
    other = HashEmbedder("hash-2")
    index = await open_kb(tmp_path, [], other)
    assert other.seen == 1
    assert await found(index, "Roost", other) == {"hub.md"}


async def test_a_second_writer_gets_one_clear_line(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path, None)
    index.lock()
    with pytest.raises(StoreError, match="another ingest is at work"):
        EmbeddedIndex(tmp_path, None).lock()
    index.unlock()
    EmbeddedIndex(tmp_path, None).lock()


def test_a_damaged_store_is_a_sentence_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"this is not a database, but it is long enough to look at" * 100)
    with pytest.raises(StoreError, match="cannot be"):
        EmbeddedIndex(tmp_path, None)


def test_a_store_of_another_schema_is_refused(tmp_path: Path) -> None:
    import sqlite3

    EmbeddedIndex(tmp_path, None).close()
    with sqlite3.connect(tmp_path / "store.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    with pytest.raises(StoreError, match="schema 99"):
        EmbeddedIndex(tmp_path, None)


@pytest.mark.parametrize("suffix", [".idx", ".pos", ".term", ".store", "meta.json", ".managed.json"])
async def test_a_damaged_word_index_is_made_again(tmp_path: Path, suffix: str) -> None:
    """Whatever file of it is cut off: the next ingest ends, and everything is found."""
    index = await open_kb(tmp_path, [ROUTER, HUB], None)
    index.close()
    for path in (tmp_path / "words").iterdir():
        if path.name.endswith(suffix):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    newer = replace(HUB, text="The Roost H1 costs $69.")
    index = await open_kb(tmp_path, [newer], None)
    index.finish()
    assert len(index.words.search("costs", Access("u", frozenset({"tier2"})), 9)) == 2
    index.close()
