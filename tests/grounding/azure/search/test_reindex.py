"""An index for each embedding model and schema behind an alias: made whole beside the one in use, taken into use in one step, and back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from grounding.azure.search.agentic import AgenticRetriever
from grounding.azure.search.aliases import SearchAliases
from grounding.azure.search.index import ANALYZERS, VectorForm, definition
from grounding.azure.search.knowledge import AGENTIC, SearchKnowledge
from grounding.azure.search.mirror import Incomplete, SearchMirror
from grounding.azure.search.reindex import Reindexed, Reindexing, Schema
from grounding.azure.search.retriever import AzureSearchRetriever
from grounding.azure.search.rows import STATE_KEY, State, state_of
from grounding.azure.search.service import SearchService
from grounding.embedded.index import EmbeddedIndex
from grounding.errors import InputError, ServiceUnavailable, SettingsError
from grounding.ingest.chunk_paragraphs import split
from grounding.ports import Embedder
from grounding.records import Access, Document, Query
from tests.fakes import faults
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.azure_kb import remote
from tests.fakes.clock import at_once
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb

ALIAS = "help"
FIRST = Schema("hash-1", 384, "en", semantic=False)
SECOND = replace(FIRST, embedder="hash-2")
EVERYONE = Access()
Open = Callable[..., AbstractAsyncContextManager["Behind"]]


@dataclass(slots=True)
class Behind:
    """A store, a service, and clients of what stands behind its alias."""

    server: AiSearchServer
    index: EmbeddedIndex
    aliases: SearchAliases
    services: dict[str, SearchService] = field(default_factory=dict)
    knowledge: SearchKnowledge | None = None

    def service(self, name: str) -> SearchService:
        return self.services.setdefault(name, SearchService(self.server.root, KEY, name, remote()))

    def reindexing(self, schema: Schema = FIRST, *, hold: bool = False) -> Reindexing:
        return Reindexing(
            self.aliases,
            self.service,
            self.index.store,
            schema,
            knowledge=self.knowledge,
            hold=hold,
            sleep=at_once,
        )

    async def follow(self, schema: Schema = FIRST, *, hold: bool = False) -> Reindexed:
        return await self.reindexing(schema, hold=hold).follow()

    def retriever(self, embedder: Embedder, schema: Schema) -> AzureSearchRetriever:
        """That of a server with these settings."""
        own = self.service(schema.name(ALIAS))
        return AzureSearchRetriever(self.service(ALIAS), self.index.store, embedder, own=own)

    @property
    def in_use(self) -> str | None:
        held = self.server.aliases.held.get(ALIAS)
        return held["indexes"][0] if held else None

    def texts(self, name: str) -> set[str]:
        return {d["text"] for d in self.server.documents[name].values() if d["source"] == "attest"}

    def state(self, name: str) -> State | None:
        return state_of(self.server.documents[name].get(STATE_KEY))

    def put(self, *documents: Document) -> None:
        self.index.store.put([(d, split(d), "test", "2") for d in documents])

    def embed(self, fingerprint: str, width: int = 384) -> None:
        """Vectors of another model for every passage, beside those that are there."""
        rows = self.index.store.chunks_of([info.doc_id for info in self.index.store.documents()])
        vector = b"\x00\x3c" + b"\x00\x00" * (width - 1)
        self.index.store.put_vectors(fingerprint, [(r.chunk.chunk_id, vector) for r in rows])


def page(n: int) -> Document:
    return Document(f"d{n}", f"Rule {n}", f"The refund of case {n} takes {n % 9} days.")


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def behind(*, agentic: bool = False) -> AsyncIterator[Behind]:
        async with AiSearchServer() as server:
            index = await open_kb(tmp_path, [page(n) for n in range(12)], HashEmbedder())
            made = Behind(server, index, SearchAliases(server.root, KEY, ALIAS, remote()))
            if agentic:
                made.knowledge = SearchKnowledge(server.root, KEY, ALIAS, remote(AGENTIC, retries=0))
            yield made
            for service in made.services.values():
                await service.aclose()
            await made.aliases.aclose()
            if made.knowledge is not None:
                await made.knowledge.aclose()
            index.close()

    return behind


async def test_the_first_run_makes_an_index_and_the_alias_and_the_next_sends_nothing(opened: Open) -> None:
    async with opened() as kb:
        name = FIRST.name(ALIAS)
        assert await kb.follow() == Reindexed(name, name, None)
        assert kb.in_use == name
        assert len(kb.texts(name)) == 12
        writes = kb.server.writes
        assert await kb.follow() == Reindexed(name, name, name)
        assert kb.server.writes == writes
        found = await kb.retriever(HashEmbedder(), FIRST).retrieve(Query("refund of case 3"), EVERYONE, 5)
        assert (found.mode, len(found.passages)) == ("hybrid", 5)


async def test_another_model_gets_an_index_of_its_own_while_the_one_in_use_is_kept_up_to_date(opened: Open) -> None:
    """What is new meanwhile has no vector of the old model, and is found by words there; nothing of the old loses its vector."""
    async with opened() as kb:
        await kb.follow()
        old, new = FIRST.name(ALIAS), SECOND.name(ALIAS)
        kb.put(page(20))
        kb.index.store.drop(["d1"])
        kb.embed("hash-2")
        assert await kb.follow(SECOND, hold=True) == Reindexed(new, old, old)
        assert kb.in_use == old
        assert kb.texts(old) == kb.texts(new)
        assert sum(name == old for name, _ in kb.server.vectors) == 11
        assert sum(name == new for name, _ in kb.server.vectors) == 12
        assert kb.state(old) == State("hash-1", kb.index.kb_version())
        assert await kb.follow(SECOND) == Reindexed(new, new, old)
        assert kb.in_use == new
        assert kb.state(new) == State("hash-2", kb.index.kb_version(), replaces=old)
        assert old in kb.server.indexes  # the way back


@pytest.mark.parametrize("ended", [False, True], ids=["undisturbed", "behind a run that ended in the middle"])
async def test_an_index_without_vectors_is_kept_up_to_date_while_one_with_them_is_held(
    opened: Open, *, ended: bool
) -> None:
    async with opened() as kb:
        old, new = replace(FIRST, embedder=None).name(ALIAS), SECOND.name(ALIAS)
        await kb.follow(replace(FIRST, embedder=None))
        kb.embed("hash-2")
        await kb.follow(SECOND, hold=True)
        kb.put(page(20))
        kb.index.store.drop(["d1"])
        if ended:
            kb.server.refused = {chunk.chunk_id: 422 for chunk in split(page(20))}
            with pytest.raises(Incomplete):
                await kb.follow(SECOND, hold=True)
            kb.server.refused = {}
        assert await kb.follow(SECOND, hold=True) == Reindexed(new, old, old)
        assert kb.texts(old) == kb.texts(new) == {page(n).text for n in (0, *range(2, 12), 20)}
        assert not any(name == old for name, _ in kb.server.vectors)


async def test_servers_of_two_versions_find_their_own_vectors_beside_each_other(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        await kb.follow(SECOND, hold=True)
        for embedder, schema in ((HashEmbedder(), FIRST), (HashEmbedder("hash-2"), SECOND)):
            found = await kb.retriever(embedder, schema).retrieve(Query("refund"), EVERYONE, 5)
            assert (found.mode, found.notes) == ("hybrid", ())
        await kb.reindexing(SECOND).use(SECOND.name(ALIAS))
        for embedder, schema in ((HashEmbedder(), FIRST), (HashEmbedder("hash-2"), SECOND)):
            found = await kb.retriever(embedder, schema).retrieve(Query("refund"), EVERYONE, 5)
            assert (found.mode, found.notes) == ("hybrid", ())


async def test_a_server_whose_own_index_is_not_whole_searches_the_one_in_use_by_words(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        kb.server.indexes[SECOND.name(ALIAS)] = kb.server.indexes[FIRST.name(ALIAS)]
        kb.server.documents[SECOND.name(ALIAS)] = {}
        found = await kb.retriever(HashEmbedder("hash-2"), SECOND).retrieve(Query("refund"), EVERYONE, 5)
        assert (found.mode, len(found.passages)) == ("lexical", 5)


async def test_use_back_and_remove(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        await kb.follow(SECOND, hold=True)
        old, new = FIRST.name(ALIAS), SECOND.name(ALIAS)
        indexes = kb.reindexing(SECOND)
        with pytest.raises(InputError, match="has replaced no index"):
            await indexes.back()
        assert await indexes.use(new) == old
        assert await indexes.use(new) == new
        kb.put(page(30))  # while the new one is in use
        assert await indexes.back() == (old, new)
        assert kb.in_use == old
        assert any("case 30" in text for text in kb.texts(old))  # brought up to date before it was taken
        assert await indexes.back() == (new, old)
        assert [(one.name, one.in_use) for one in await indexes.listed()] == [(new, True), (old, False)]
        with pytest.raises(InputError, match="is in use"):
            await indexes.remove(new)
        with pytest.raises(InputError, match="no index 'help-00000000' behind help; there are: "):
            await indexes.remove("help-00000000")
        await indexes.remove(old)
        assert list(kb.server.indexes) == [new]
        with pytest.raises(InputError, match="has replaced no index"):
            await indexes.back()


async def test_a_run_that_ends_when_the_alias_is_moved_has_left_the_way_back(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        old, new = FIRST.name(ALIAS), SECOND.name(ALIAS)
        await kb.follow(SECOND, hold=True)
        written: list[int] = []
        kb.server.before_put = lambda: written.append(kb.server.writes)
        await kb.follow(SECOND)
        assert written == [kb.server.writes], "nothing is left to write when the alias is moved"
        assert await kb.reindexing(SECOND).back() == (old, new)


async def test_an_ingest_does_not_undo_that_somebody_went_back(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        await kb.follow(SECOND)
        old, new = FIRST.name(ALIAS), SECOND.name(ALIAS)
        await kb.reindexing(SECOND).back()
        for n in range(2):
            kb.put(page(30 + n))
            assert await kb.follow(SECOND) == Reindexed(new, old, old)
            assert kb.texts(old) == kb.texts(new)
        assert await kb.reindexing(SECOND).use(new) == old
        assert (await kb.follow(FIRST)).in_use == old, "other settings are no way back"
        assert (await kb.follow(SECOND)).in_use == new


async def test_an_index_that_was_never_whole_is_not_taken_into_use(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        await kb.service(SECOND.name(ALIAS)).create(definition(SECOND.name(ALIAS), 384, semantic=False))
        with pytest.raises(InputError, match="never whole"):
            await kb.reindexing(SECOND).use(SECOND.name(ALIAS))
        assert kb.in_use == FIRST.name(ALIAS)


async def test_a_run_that_ends_in_the_middle_moves_nothing_and_is_gone_on_with(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        key = next(key for key in kb.server.documents[FIRST.name(ALIAS)] if key != STATE_KEY)
        kb.server.refused = {key: 422}
        with pytest.raises(Incomplete):
            await kb.follow(SECOND)
        assert kb.in_use == FIRST.name(ALIAS)
        kb.server.refused = {}
        writes = kb.server.writes
        assert (await kb.follow(SECOND)).in_use == SECOND.name(ALIAS)
        assert (
            kb.server.writes - writes <= 5
        )  # the row that was missing, the states of both, that of the old on both ends, and what the new one replaces


async def test_a_move_by_somebody_else_at_the_same_time_is_seen(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        await kb.follow(SECOND, hold=True)
        moved = list[int]()

        def meanwhile() -> None:
            if not moved:
                moved.append(1)
                kb.server.aliases.held[ALIAS]["@odata.etag"] = '"0xother"'

        kb.server.before_put = meanwhile
        assert await kb.reindexing(SECOND).use(SECOND.name(ALIAS)) == FIRST.name(ALIAS)
        assert kb.in_use == SECOND.name(ALIAS)
        assert sum(path == f"/aliases('{ALIAS}')" for path, _ in kb.server.bodies) >= 4


async def test_another_language_needs_another_index_with_its_analyzer(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        german = replace(FIRST, language="de")
        assert (await kb.follow(german)).before == FIRST.name(ALIAS)
        fields = {f["name"]: f for f in kb.server.indexes[german.name(ALIAS)]["fields"]}
        assert [fields[name]["analyzer"] for name in ("title", "text")] == ["de.lucene", "de.lucene"]
        assert len({replace(FIRST, language=language).name(ALIAS) for language in ANALYZERS}) == len(ANALYZERS)
        assert replace(FIRST, semantic=True).name(ALIAS) == FIRST.name(ALIAS)  # it is added to the index in use


@pytest.mark.parametrize(
    ("form", "kind", "compression", "memory"),
    [
        (VectorForm(half=True), "Half", None, 2.0),
        (VectorForm(compression="scalar"), "Single", "scalarQuantization", 1.0),
        (VectorForm(half=True, compression="binary"), "Half", "binaryQuantization", 0.125),
    ],
)
async def test_another_form_of_vectors_needs_another_index(
    opened: Open, form: VectorForm, kind: str, compression: str | None, memory: float
) -> None:
    async with opened() as kb:
        await kb.follow()
        name = (await kb.follow(replace(FIRST, form=form))).in_use
        made = kb.server.indexes[name]
        assert name != FIRST.name(ALIAS)
        assert next(f["type"] for f in made["fields"] if f["name"] == "vector") == f"Collection(Edm.{kind})"
        listed = made["vectorSearch"].get("compressions") or []
        assert [c["kind"] for c in listed] == ([compression] if compression else [])
        assert made["vectorSearch"]["profiles"][0].get("compression") == (listed[0]["name"] if listed else None)
        assert all(c["rescoringOptions"]["rescoreStorageMethod"] == "preserveOriginals" for c in listed)
        assert form.number_bytes == memory
        found = await kb.retriever(HashEmbedder(), replace(FIRST, form=form)).retrieve(Query("refund"), EVERYONE, 5)
        assert (found.mode, len(found.passages)) == ("hybrid", 5)


async def test_less_room_is_needed_for_half_vectors(opened: Open) -> None:
    """12 vectors of 384 numbers: 18,432 bytes whole, 9,216 by halves."""
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        kb.server.aliases.most_vectors = 18_432 + 10_000
        with pytest.raises(SettingsError, match="needs at least 18,432 bytes of memory for vectors"):
            await kb.follow(SECOND)
        assert (await kb.follow(replace(SECOND, form=VectorForm(half=True)))).before == FIRST.name(ALIAS)


@pytest.mark.parametrize(
    ("storage", "vectors", "said"),
    [(1000, None, "bytes of storage"), (None, 40_000, "bytes of memory for vectors"), (None, 10_000_000, "")],
)
async def test_an_index_that_would_not_fit_is_refused_before_it_is_made(
    opened: Open, storage: int | None, vectors: int | None, said: str
) -> None:
    """12 vectors of 384 numbers are 18,432 bytes; the old index has as many, and both have to fit."""
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2", 2048)
        wide = replace(SECOND, width=2048)
        kb.server.aliases.most_storage, kb.server.aliases.most_vectors = storage, vectors
        if not said:
            assert (await kb.follow(wide)).in_use == wide.name(ALIAS)
            return
        with pytest.raises(SettingsError, match=f"does not fit: it needs at least .* {said}, and of") as caught:
            await kb.follow(wide)
        assert "attest index remove" in str(caught.value)
        assert list(kb.server.indexes) == [FIRST.name(ALIAS)]
        assert kb.in_use == FIRST.name(ALIAS)


async def test_whoever_may_not_ask_what_fits_is_not_kept_from_trying(opened: Open) -> None:
    async with opened() as kb:
        kb.server.aliases.closed = True
        assert (await kb.follow()).in_use == FIRST.name(ALIAS)


async def test_an_index_of_the_name_of_the_alias_is_told(opened: Open) -> None:
    async with opened() as kb:
        mirror = SearchMirror(kb.service(ALIAS), kb.index.store, "hash-1", 384, semantic=False, sleep=at_once)
        await mirror.follow()
        with pytest.raises(SettingsError, match="ATTEST_SEARCH_INDEX=help: that is an index"):
            await kb.follow()
        assert list(kb.server.indexes) == [ALIAS]


async def test_without_a_model_the_index_in_use_is_followed_and_keeps_its_vectors(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.put(page(20))
        name = FIRST.name(ALIAS)
        assert await kb.follow(replace(FIRST, embedder=None)) == Reindexed(name, name, name)
        assert len(kb.texts(name)) == 13
        assert len(kb.server.vectors) == 12


async def test_a_removed_document_leaves_every_index_behind_the_alias(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.embed("hash-2")
        await kb.follow(SECOND)
        await kb.reindexing(SECOND).remove_document("d3")
        for schema in (FIRST, SECOND):
            assert not any("case 3 " in text for text in kb.texts(schema.name(ALIAS)))


async def test_a_dead_service_moves_nothing(opened: Open) -> None:
    async with opened() as kb:
        await kb.follow()
        kb.server.otherwise = faults.status(503)
        with pytest.raises(ServiceUnavailable):
            await kb.follow(SECOND)
        assert kb.in_use == FIRST.name(ALIAS)


async def test_the_knowledge_source_is_moved_before_the_alias(opened: Open) -> None:
    """It can name no alias. Between the two both are whole, so that whoever asks then gets an answer from either."""
    async with opened(agentic=True) as kb:
        ranked = replace(FIRST, semantic=True)
        await kb.follow(ranked)
        kb.embed("hash-2")
        seen: list[tuple[str, str | None]] = []

        def meanwhile() -> None:
            source = kb.server.knowledge.held["knowledgesources"][ALIAS]["searchIndexParameters"]["searchIndexName"]
            seen.append((source, kb.in_use))

        kb.server.before_put = meanwhile
        await kb.follow(replace(SECOND, semantic=True))
        old, new = FIRST.name(ALIAS), SECOND.name(ALIAS)
        assert seen[-2:] == [(old, old), (new, old)]
        assert kb.in_use == new
        search = kb.retriever(HashEmbedder("hash-2"), SECOND)
        assert kb.knowledge is not None
        found = await AgenticRetriever(kb.knowledge, search).retrieve(Query("refund of case 3"), EVERYONE, 3)
        assert (found.mode, len(found.passages)) == ("agentic", 3)
        assert await kb.reindexing(replace(SECOND, semantic=True)).back() == (old, new)
        source = kb.server.knowledge.held["knowledgesources"][ALIAS]["searchIndexParameters"]["searchIndexName"]
        assert (source, kb.in_use) == (old, old)
