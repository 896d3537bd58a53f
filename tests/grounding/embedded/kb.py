"""Small knowledge bases for tests, put into an index without files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grounding.database.postgres import Postgres
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.store_names import StoreNames
from grounding.ingest.chunk_paragraphs import split
from grounding.ports import Embedder
from grounding.records import Document


async def open_kb(
    folder: Path, documents: Iterable[Document], embedder: Embedder | None, shared: Postgres | None = None
) -> EmbeddedIndex:
    """An index in `folder` that holds `documents`, words and vectors; over the store in `shared`, if that is given."""
    index = EmbeddedIndex(folder, embedder, shared)
    index.lock()
    index.put([(d, split(d), "test", "1") for d in documents])
    index.catch_up(lambda *_: None)
    await index.embed_missing(64, lambda *_: None)
    index.unlock()
    return index


def retriever_of(index: EmbeddedIndex, embedder: Embedder | None) -> EmbeddedRetriever:
    """A retriever over the index."""
    vectors = VectorIndex(index.store, embedder.fingerprint, embedder.width) if embedder else None
    return EmbeddedRetriever(index.store, index.words, vectors, embedder, StoreNames(index.store, index.words))
