"""Builds the search: on this machine, or in Azure AI Search, which follows the store here."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from bot.compose.resources import Resources
from bot.settings.settings import Settings
from grounding.errors import ServiceError, SettingsError
from grounding.ingest.notifying_library import NotifyingLibrary
from grounding.ports import Embedder, Library, Linker, Retriever
from grounding.records import OnProgress

if TYPE_CHECKING:
    from grounding.azure.search.agentic import AgenticRetriever
    from grounding.azure.search.aliases import SearchAliases
    from grounding.azure.search.knowledge import SearchKnowledge
    from grounding.azure.search.reindex import Reindexed, Reindexing, Schema
    from grounding.azure.search.retriever import AzureSearchRetriever
    from grounding.azure.search.service import SearchService
    from grounding.embedded.index import EmbeddedIndex
    from grounding.embedded.indexes.vector_index import VectorIndex
    from grounding.store.store import Store

LOG = logging.getLogger("attest")
Ready = Callable[[], Awaitable[dict[str, str]]]
"""Tells what is not ready: part to reason."""
Follow = Callable[[OnProgress], Awaitable["Reindexed | None"]]
"""Makes an index hold what the store holds, and tells its progress; what became of the indexes behind an alias, None without one."""
Send = Callable[[Sequence[str]], Awaitable[object]]
"""Makes an index hold what the store holds of some documents."""
UPLOAD_S = 120.0
"""Seconds for one batch of an ingest, its repetitions included: nobody waits for an answer."""
UPLOAD_RETRIES = 5
AGENTIC_SHARE = 0.5
"""Of the seconds of a call: the search that stands in for agentic retrieval needs its own."""
ASKED = "question"
"""What the ranker ranks by for a look at it: a word, for without one it is left out."""
USUAL_WIDTH = 384
"""Of vectors in an index that is made before there is a model: that of the model which comes with the product."""


@dataclass(frozen=True, slots=True)
class ComposedSearch:
    """The parts of the search that a system needs.

    `vectors`: the index on this machine, None where there is none; `ready`: what is not ready yet; `refused`: what the service does not do
    for us and turns go on without; both as part to reason.
    """

    retriever: Retriever
    vectors: VectorIndex | None
    library: Library
    ready: Ready
    refused: Callable[[], dict[str, str]] = dict


def search(
    settings: Settings,
    index: EmbeddedIndex,
    embedder: Embedder | None,
    linker: Linker,
    *,
    library: Library,
    resources: Resources,
) -> ComposedSearch:
    """The search that the settings name. Its library is `library`; in Azure AI Search a document that this removes is deleted there, too."""
    if settings.search.kind == "azure":
        return _azure(settings, index, embedder, library, resources)
    from grounding.embedded.hypotheticals import indexes
    from grounding.embedded.indexes.vector_index import VectorIndex
    from grounding.embedded.retriever import EmbeddedRetriever

    vectors = VectorIndex(index.store, embedder.fingerprint, embedder.width) if embedder else None
    imagined = (
        indexes(index.store, embedder.fingerprint, embedder.width)
        if embedder and settings.model.hyde == "model"
        else ()
    )
    retriever = EmbeddedRetriever(index.store, index.words, vectors, embedder, linker, hypotheticals=imagined)
    return ComposedSearch(retriever, vectors, library, _always)


def _azure(
    settings: Settings, index: EmbeddedIndex, embedder: Embedder | None, library: Library, resources: Resources
) -> ComposedSearch:
    from grounding.azure.search.mirror import remove_document
    from grounding.azure.search.retriever import AzureSearchRetriever

    service = _service(settings, resources, within_s=settings.bounds.call_deadline_s, retries=settings.bounds.retries)
    semantic, others = settings.search.semantic == "on", settings.search.others == "on"
    own: SearchService | None = None
    remove: Callable[[str], Awaitable[object]] = partial(remove_document, service)
    if settings.search.alias != "off":
        within = settings.bounds.call_deadline_s
        schema = _schema(settings, embedder)
        behind = reindexing(settings, index.store, schema, resources, within_s=within, retries=settings.bounds.retries)
        remove = behind.remove_document
        if embedder is not None:
            name = schema.name(settings.search.index)
            own = _service(settings, resources, within_s=within, retries=settings.bounds.retries, index=name)
    plain = AzureSearchRetriever(service, index.store, embedder, semantic=semantic, others=others, own=own)
    followed = NotifyingLibrary(library, partial(_deleted, remove))
    retriever = _agentic(settings, plain, resources) if settings.search.agentic == "on" else plain
    return ComposedSearch(retriever, None, followed, plain.ready, lambda: retriever.refused)


def _agentic(settings: Settings, plain: AzureSearchRetriever, resources: Resources) -> AgenticRetriever:
    from grounding.azure.search.agentic import AgenticRetriever

    within = AGENTIC_SHARE * settings.bounds.call_deadline_s
    return AgenticRetriever(_knowledge(settings, resources, within_s=within, retries=0), plain)


async def _always() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Mirror:
    """How the index in Azure AI Search is made to hold what the store holds: all of it, the last step of an ingest, or what is held of some documents, in a planned run. Both do nothing
    where the search is on this machine.
    """

    follow: Follow
    send: Send


def mirror(settings: Settings, store: Store, embedder: Embedder | None, resources: Resources) -> Mirror:
    """The mirror of the settings."""
    if settings.search.kind != "azure":
        return Mirror(_nothing, _nothing)
    from grounding.azure.search.mirror import SearchMirror

    within = max(UPLOAD_S, settings.bounds.call_deadline_s)
    schema = _schema(settings, embedder)
    if settings.search.alias != "off":
        behind = reindexing(settings, store, schema, resources, within_s=within, retries=UPLOAD_RETRIES)
        return Mirror(behind.follow, behind.follow_documents)
    service = _service(settings, resources, within_s=within, retries=UPLOAD_RETRIES)
    mirrored = SearchMirror(
        service,
        store,
        schema.embedder,
        schema.width,
        semantic=schema.semantic,
        language=schema.language,
        form=schema.form,
    )
    agentic = settings.search.agentic == "on"
    knowledge = _knowledge(settings, resources, within_s=within, retries=UPLOAD_RETRIES) if agentic else None

    async def follow(on_progress: OnProgress) -> None:
        await mirrored.follow(on_progress)
        if knowledge is not None:
            await knowledge.prepare()  # last: a service that has no knowledge bases holds the passages all the same

    return Mirror(follow, mirrored.follow_documents)


def reindexing(
    settings: Settings, store: Store, schema: Schema, resources: Resources, *, within_s: float, retries: int
) -> Reindexing:
    """The indexes behind the alias that the settings name. Raises SettingsError where they name none."""
    from grounding.azure.search.reindex import Reindexing

    if settings.search.kind != "azure" or settings.search.alias == "off":
        raise SettingsError(
            "there are no indexes behind an alias: that takes ATTEST_SEARCH=azure and ATTEST_SEARCH_ALIAS=on"
        )
    agentic = settings.search.agentic == "on"
    return Reindexing(
        _aliases(settings, resources, within_s=within_s, retries=retries),
        cache(partial(_behind, settings, resources, within_s, retries)),
        store,
        schema,
        knowledge=_knowledge(settings, resources, within_s=within_s, retries=retries) if agentic else None,
        hold=settings.search.alias == "hold",
    )


def _schema(settings: Settings, embedder: Embedder | None) -> Schema:
    return schema_of(settings, *((embedder.fingerprint, embedder.width) if embedder else (None, USUAL_WIDTH)))


def schema_of(settings: Settings, model: str | None, width: int) -> Schema:
    """What the index of these settings is made for. `model`: fingerprint of the vectors, None without a model; `width`: their dimensions."""
    from grounding.azure.search.index import VectorForm
    from grounding.azure.search.reindex import Schema

    semantic = "on" in (settings.search.agentic, settings.search.semantic)  # agentic retrieval ranks by the same
    form = VectorForm(half=settings.search.vectors == "half", compression=settings.search.compression)
    return Schema(model, width, settings.search.language, semantic, form)


def _behind(settings: Settings, resources: Resources, within_s: float, retries: int, index: str) -> SearchService:
    return _service(settings, resources, within_s=within_s, retries=retries, index=index)


def _aliases(settings: Settings, resources: Resources, *, within_s: float, retries: int) -> SearchAliases:
    from grounding.azure.search.aliases import SearchAliases
    from grounding.azure.search.service import SERVICE

    assert settings.search.endpoint is not None
    key = resources.key(settings.search.key, settings)
    remote = resources.remote(settings, SERVICE, within_s=within_s, retries=retries)
    aliases = SearchAliases(settings.search.endpoint, key, settings.search.index, remote)
    resources.append(aliases.aclose)
    return aliases


async def ask_ranker(settings: Settings, resources: Resources, *, within_s: float) -> tuple[str, str] | None:
    """Rank one result of the index by meaning, as a turn would have it: None if the ranker did, otherwise what is wrong with it, and what
    mends that. Raises ServiceError for a search that does not answer, SettingsError for one that cannot be asked.
    """
    from grounding.azure.search.filter import STATE, literal
    from grounding.azure.search.ranker import RankerRefused
    from grounding.azure.search.retriever import ranking

    passages_alone = f"source ne {literal(STATE)}"
    try:
        found = await _service(settings, resources, within_s=within_s, retries=0).search(
            search="*", filter=passages_alone, top=1, select="chunk_id", **ranking(ASKED)
        )
    except RankerRefused as refused:
        return refused.why, refused.mends
    if found and found[0].get("@search.rerankerScore") is None:
        return "it did not answer in time, or has no room for more", "try again; if it stays so, add replicas or units"
    return None


async def _nothing(_: object) -> None:
    """The search is on this machine: it follows by itself."""


def _service(
    settings: Settings, resources: Resources, *, within_s: float, retries: int, index: str = ""
) -> SearchService:
    """A client of the index that the settings name, or of another one."""
    from grounding.azure.search.service import SERVICE, SearchService

    assert settings.search.endpoint is not None  # the settings refuse azure without one
    key = resources.key(settings.search.key, settings)
    service = SearchService(
        settings.search.endpoint,
        key,
        index or settings.search.index,
        resources.remote(settings, SERVICE, within_s=within_s, retries=retries, needed=not index),
    )
    resources.append(service.aclose)
    return service


def _knowledge(settings: Settings, resources: Resources, *, within_s: float, retries: int) -> SearchKnowledge:
    from grounding.azure.search.knowledge import AGENTIC, SearchKnowledge

    assert settings.search.endpoint is not None
    key = resources.key(settings.search.key, settings)
    remote = resources.remote(settings, AGENTIC, within_s=within_s, retries=retries)
    knowledge = SearchKnowledge(settings.search.endpoint, key, settings.search.index, remote)
    resources.append(knowledge.aclose)
    return knowledge


async def _deleted(remove: Callable[[str], Awaitable[object]], doc_id: str) -> None:
    """Delete a document from the index elsewhere. The store decides what is used, so it is in no answer from now on, whether the service
    answers or not; one that fails is told in the log.
    """
    try:
        await remove(doc_id)
    except ServiceError as error:
        LOG.warning("%s; no answer uses the document, the next ingest deletes it from the index", error)
