"""A knowledge base behind Azure AI Search: the store on this machine, the index on a loopback server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounding.azure.search.agentic import AgenticRetriever
from grounding.azure.search.knowledge import AGENTIC, SearchKnowledge
from grounding.azure.search.mirror import SearchMirror
from grounding.azure.search.retriever import AzureSearchRetriever
from grounding.azure.search.service import SearchService
from grounding.embedded.index import EmbeddedIndex
from grounding.ports import Embedder
from grounding.records import Document
from grounding.services.remote import Remote
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.clock import at_once
from tests.grounding.embedded.kb import open_kb

INDEX = "attest"


def remote(service: str = "search", **options: Any) -> Remote:
    """As the product's, without its pauses."""
    return Remote(service, **{"deadline_s": 30.0, "retries": 2, "sleep": at_once, "jitter": lambda: 0.0, **options})


@dataclass(slots=True)
class AzureKb:
    """Server, store and what lies between them."""

    server: AiSearchServer
    index: EmbeddedIndex
    service: SearchService
    embedder: Embedder | None
    knowledge: SearchKnowledge
    semantic: bool = False

    def mirror(self, **options: Any) -> SearchMirror:
        model, width = (self.embedder.fingerprint, self.embedder.width) if self.embedder else (None, 384)
        made = {"semantic": self.semantic, "sleep": at_once, "jitter": lambda: 0.0, **options}
        return SearchMirror(self.service, self.index.store, model, width, **made)

    def retriever(self, *, store: bool = True, **options: Any) -> AzureSearchRetriever:
        made = {"semantic": self.semantic, **options}
        return AzureSearchRetriever(self.service, self.index.store if store else None, self.embedder, **made)

    def agentic(self, **options: Any) -> AgenticRetriever:
        return AgenticRetriever(self.knowledge, self.retriever(**options))

    @property
    def held(self) -> dict[str, dict[str, Any]]:
        """Documents of the index that are ours, by key."""
        return {k: d for k, d in self.server.documents.get(INDEX, {}).items() if d["source"] == "attest"}


@asynccontextmanager
async def azure_kb(
    folder: Path,
    documents: Iterable[Document],
    embedder: Embedder | None,
    *,
    server: AiSearchServer | None = None,
    semantic: bool = False,
    agentic: bool = False,
    follow: bool = True,
    **options: Any,
) -> AsyncIterator[AzureKb]:
    """`documents` in the store, and unless `follow` is false in the index. `options` of the wrapper around every call."""
    async with server or AiSearchServer() as running:
        index = await open_kb(folder, documents, embedder)
        service = SearchService(running.root, KEY, INDEX, remote(**options))
        knowledge = SearchKnowledge(running.root, KEY, INDEX, remote(AGENTIC, **{"retries": 0, **options}))
        kb = AzureKb(running, index, service, embedder, knowledge, semantic or agentic)
        try:
            if follow:
                await kb.mirror().follow()
            if follow and agentic:
                await knowledge.prepare()
            yield kb
        finally:
            await knowledge.aclose()
            await service.aclose()
            index.close()
