"""Documents indexed and searched as a turn searches them, and the sample's golden questions: what the fits and measures of search and grading read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from bot.evaluate.rows import json_lines
from bot.settings.load import SAMPLE  # first of all: it tells onnxruntime to send nothing
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.reader import E5Reader
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.store_names import StoreNames
from grounding.embedded.summarizer import CentralitySummarizer
from grounding.embedded.vectors.embedder import MiniLM
from grounding.embedded.vectors.joined import JoinedEmbedder
from grounding.ingest.ingest import ingest
from grounding.query.linking import QueryBuilder
from grounding.records import Access, Passage, Query, Turn

Row = dict[str, Any]
K = 20
"""Passages of a question that are graded."""


@dataclass(frozen=True, slots=True)
class Library:
    """Documents that can be searched."""

    index: EmbeddedIndex
    retriever: EmbeddedRetriever
    builder: QueryBuilder

    async def query(self, row: Row, access: Access) -> Query:
        """The query of the row's conversation, with the product where a person named it beside the conversation."""
        query = await self.builder.build([Turn(t["role"], t["text"]) for t in row["history"]], access)
        product = access.product
        if product and product.lower() not in query.text.lower():
            return replace(query, text=f"{product} {query.text}", entities=(product, *query.entities))
        return query

    async def found(self, query: Query, access: Access) -> Sequence[Passage]:
        """The best K of fifty passages that may be answered from."""
        passages = (await self.retriever.retrieve(query, access, 50)).passages
        return [p for p in passages if not p.internal][:K]


async def library(embedder: MiniLM, folder: Path, source: Path, reader: E5Reader | None = None) -> Library:
    """An index of `source` in `folder`, kept between runs; with a `reader` it is searched by both models, as a turn does."""
    search = embedder if reader is None else JoinedEmbedder(embedder, reader)
    index = EmbeddedIndex(folder, search)
    await ingest(index, [source])
    linker = StoreNames(index.store, index.words)
    vectors = VectorIndex(index.store, search.fingerprint, search.width)
    retriever = EmbeddedRetriever(index.store, index.words, vectors, search, linker)
    return Library(index, retriever, QueryBuilder(CentralitySummarizer(embedder), linker))


def golden_rows() -> Iterator[tuple[Row, Access]]:
    """The sample's golden questions but the hostile ones, which never get this far, each with the rights of who asks."""
    groups = yaml.safe_load((SAMPLE / "directory.yaml").read_text("utf-8"))["users"]
    for row in json_lines(SAMPLE / "golden.jsonl"):
        if "hostile" not in row["tags"]:
            yield row, Access(row.get("as"), frozenset(groups.get(row.get("as"), [])), row.get("product"))
