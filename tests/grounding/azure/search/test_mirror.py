"""The index in Azure AI Search follows the store: what fails is tried again or told, and a run that ended is gone on with."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from grounding.azure.search.index import VectorForm, definition
from grounding.azure.search.mirror import Incomplete, remove_document
from grounding.azure.search.rows import MOST_BYTES, MOST_ROWS, IndexRow, State, batches, state_of
from grounding.azure.search.service import Held
from grounding.errors import ServiceRejected, ServiceUnavailable, SettingsError
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document, Progress, Query
from tests.fakes import faults
from tests.fakes.ai_search_server import AiSearchServer
from tests.fakes.azure_kb import INDEX, AzureKb, azure_kb
from tests.fakes.embedder import HashEmbedder

EVERYONE = Access()


def documents(count: int, word: str = "takes") -> list[Document]:
    return [Document(f"d{n}", f"Rule {n}", f"The refund of case {n} {word} {n % 9} days.") for n in range(count)]


def put(kb: AzureKb, *changed: Document) -> None:
    kb.index.store.put([(d, split(d), "test", "2") for d in changed])


def state(kb: AzureKb) -> State | None:
    return state_of(kb.server.documents[INDEX].get("attest-state"))


def ends_whole(kb: AzureKb) -> bool:
    """True if the index holds exactly the live chunks of the store, each in its version."""
    live = {
        r.chunk.chunk_id: r.version for r in kb.index.store.chunks_of([i.doc_id for i in kb.index.store.documents()])
    }
    return {key: d["version"] for key, d in kb.held.items()} == live


async def test_what_is_new_changed_or_gone_is_followed_and_nothing_else_sent(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(30), None) as kb:
        assert ends_whole(kb)
        before = kb.server.writes
        assert (await kb.mirror().follow()).unchanged == 30
        assert kb.server.writes == before
        put(kb, Document("d3", "Rule 3", "Nothing is refunded."), Document("new", "New", "A new rule."))
        kb.index.store.drop(["d4", "d5"])
        done = await kb.mirror().follow()
        assert (done.uploaded, done.deleted, done.unchanged) == (2, 3, 27)
        assert ends_whole(kb)
        assert kb.server.writes == before + 5 + 2  # and the state, on both ends
        assert state(kb) == State("", kb.index.kb_version())


def asked(kb: AzureKb) -> list[str]:
    """Filters of the searches since the bodies were cleared."""
    return [str(body.get("filter")) for body in kb.server.of("/docs/search.post.search")]


async def test_an_index_in_step_is_asked_about_what_changed_alone(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(1500), HashEmbedder()) as kb:
        kb.server.bodies.clear()
        assert (await kb.mirror().follow()).unchanged == 1500
        assert not asked(kb)
        put(kb, Document("d3", "Rule 3", "Nothing is refunded."), Document("new", "New", "A new rule."))
        kb.index.store.drop(["d4"])
        done = await kb.mirror().follow()
        assert (done.uploaded, done.deleted, done.unchanged) == (2, 2, 1498)
        assert len(asked(kb)) == 1
        assert "chunk_id gt" not in asked(kb)[0]
        await kb.index.embed_missing(64, lambda *_: None)
        assert (await kb.mirror().follow()).uploaded == 2  # they have vectors now
        assert ends_whole(kb)
        assert len(kb.server.vectors) == 1500
        assert kb.index.store.untold(0, 10**9, 9) == []


@pytest.mark.parametrize("lost", ["the index's mark", "the store's mark"])
async def test_an_index_that_is_not_in_step_is_compared_in_whole(tmp_path: Path, lost: str) -> None:
    async with azure_kb(tmp_path, documents(30), None) as kb:
        if lost == "the index's mark":
            kb.server.documents[INDEX]["attest-state"]["version"] = ""
        else:
            kb.index.store.step_with("another index")
        kb.server.documents[INDEX].pop(next(iter(kb.held)))
        assert (await kb.mirror().follow()).uploaded == 1
        assert ends_whole(kb)


@pytest.mark.parametrize("ingest_first", [False, True], ids=["at once", "behind another change"])
@pytest.mark.parametrize("by_batches", [False, True], ids=["one run", "a planned run"])
async def test_an_index_that_has_seen_more_than_a_store_that_was_put_back_is_compared_in_whole(
    tmp_path: Path, *, by_batches: bool, ingest_first: bool
) -> None:
    async with azure_kb(tmp_path, documents(30), None) as kb:
        kept, place = tmp_path / "kept.db", tmp_path / "store.db"
        with closing(sqlite3.connect(place)) as db, closing(sqlite3.connect(kept)) as copy:
            db.backup(copy)
        put(kb, Document("d3", "Rule 3", "Nothing is refunded."))
        kb.index.store.drop(["d4"])
        if by_batches:
            await kb.mirror().follow_documents(["d3", "d4"])
        await kb.mirror().follow()
        with closing(sqlite3.connect(kept)) as copy, closing(sqlite3.connect(place)) as db:
            copy.backup(db)
        if ingest_first:
            put(kb, *(Document(f"new{n}", "New", f"Rule {n} is new.") for n in range(3)))
            kb.index.store.drop(["new0"])
        await kb.mirror().follow()
        assert ends_whole(kb)


async def test_the_documents_of_a_batch_are_followed_by_themselves(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(30), None) as kb:
        put(kb, *documents(4, "needs"))
        kb.index.store.drop(["d1"])
        done = await kb.mirror().follow_documents(["d0", "d1"])
        assert done is not None
        assert (done.uploaded, done.deleted) == (1, 2)
        assert {d["text"] for d in kb.held.values() if d["doc_id"] == "d2"} == {documents(3)[2].text}
        done = await kb.mirror().follow()
        assert (done.uploaded, done.deleted) == (2, 2)
        assert ends_whole(kb)
        kb.index.store.step_with("another index")
        assert await kb.mirror().follow_documents(["d0"]) is None


async def test_a_row_that_was_read_before_it_changed_does_not_stay(tmp_path: Path) -> None:
    """Another run sent the newer one between the reading and the sending of the older."""
    async with azure_kb(tmp_path, documents(3), None) as kb:
        put(kb, Document("d0", "Another title", documents(1)[0].text))
        upload = kb.service.upload

        async def late(rows: Sequence[IndexRow]) -> object:
            if any(row.get("title") == "Another title" for row in rows):
                put(kb, Document("d0", "A third title", documents(1)[0].text))
                kb.service.upload = upload  # type: ignore[method-assign]
                await kb.mirror().follow()
            return await upload(rows)

        kb.service.upload = late  # type: ignore[method-assign,assignment]
        await kb.mirror().follow()
        assert {d["title"] for d in kb.held.values() if d["doc_id"] == "d0"} == {"A third title"}


async def test_new_rights_alone_are_uploaded(tmp_path: Path) -> None:
    plain = Document("d", "Rule", "The refund takes nine days.")
    async with azure_kb(tmp_path, [plain], None) as kb:
        put(kb, Document("d", "Rule", plain.text, groups=("legal", "tier|2")))
        await kb.mirror().follow()
        assert [d["groups"] for d in kb.held.values()] == [["g:legal", "g:tier%7C2"]]


async def test_new_rights_send_neither_words_nor_vectors(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(1200), HashEmbedder()) as kb:
        before, vectors = dict(kb.held), dict(kb.server.vectors)
        kb.server.bodies.clear()
        put(kb, *(replace(d, groups=("legal",)) for d in documents(1200)))
        done = await kb.mirror().follow()
        assert (done.uploaded, done.told, done.unchanged) == (1200, 1200, 0)
        sent = [row for body in kb.server.of("/docs/search.index") for row in body["value"] if "doc_id" in row]
        assert {row["@search.action"] for row in sent} == {"merge"}
        assert not [row for row in sent if {"text", "title", "vector"} & row.keys()]
        assert ends_whole(kb)
        assert {tuple(d["groups"]) for d in kb.held.values()} == {("g:legal",)}
        assert {key: d["text"] for key, d in kb.held.items()} == {key: d["text"] for key, d in before.items()}
        assert kb.server.vectors == vectors
        assert (await kb.mirror().follow()).unchanged == 1200


async def test_what_is_told_of_a_passage_that_is_gone_from_the_index_sends_it_whole(tmp_path: Path) -> None:
    """Somebody deleted it between the listing and the change."""
    async with azure_kb(tmp_path, documents(3), HashEmbedder()) as kb:
        put(kb, *(replace(d, groups=("legal",)) for d in documents(3)))
        key = next(iter(kb.held))
        held_of = kb.service.held_of

        async def then_gone(keys: Sequence[str]) -> list[Held]:
            found = await held_of(keys)
            kb.server.documents[INDEX].pop(key, None)
            return found

        kb.service.held_of = then_gone  # type: ignore[method-assign]
        done = await kb.mirror().follow()
        assert (done.uploaded, done.told) == (3, 2)
        assert ends_whole(kb)
        assert len(kb.server.vectors) == 3


async def test_another_title_is_uploaded_whole(tmp_path: Path) -> None:
    """It is searched, and it is in the vector."""
    async with azure_kb(tmp_path, documents(3), None) as kb:
        put(kb, *(replace(d, title=f"New {d.title}") for d in documents(3)))
        done = await kb.mirror().follow()
        assert (done.uploaded, done.told) == (3, 0)
        assert {d["title"] for d in kb.held.values()} == {"New Rule 0", "New Rule 1", "New Rule 2"}


@pytest.mark.parametrize("failing", [0.02, 0.1])
async def test_rows_that_fail_for_the_moment_are_tried_again(tmp_path: Path, failing: float) -> None:
    """A 207 is no exception to the SDK: each line of it is read."""
    server = AiSearchServer(failing=failing)
    async with azure_kb(tmp_path, documents(1200), None, server=server) as kb:
        assert ends_whole(kb)


async def test_rows_that_are_refused_are_told_and_the_others_stay(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(40), None, follow=False) as kb:
        keys = {r.chunk.doc_id: r.chunk.chunk_id for r in kb.index.store.chunks_of(["d1", "d7"])}
        kb.server.refused = {keys["d1"]: 400, keys["d7"]: 422}
        with pytest.raises(
            Incomplete, match=r"2 passages of 2 documents were not taken \(status 400, 422\): d1, d7; run"
        ):
            await kb.mirror().follow()
        assert len(kb.held) == 38
        assert "words of" not in str(kb.server.refused)
        kb.server.refused = {}
        before = kb.server.writes
        done = await kb.mirror().follow()
        assert (done.uploaded, kb.server.writes - before) == (2, 3)  # and the state
        assert ends_whole(kb)


async def test_what_cannot_be_brought_up_to_date_is_taken_out(tmp_path: Path) -> None:
    """An old line would keep its old rights, and vectors of another model."""

    class Refusing(AiSearchServer):
        def row(self, name: str, action: dict[str, object]) -> dict[str, object]:
            refused = action.get("groups") == ["g:legal"]
            return (
                {"key": action["chunk_id"], "status": False, "statusCode": 400}
                if refused
                else super().row(name, action)
            )

    text = "The refund of case 1 takes nine days."
    async with azure_kb(tmp_path, [Document("d1", "A", text), *documents(1)], None, server=Refusing()) as kb:
        put(kb, Document("d1", "A", text, groups=("legal",)))
        with pytest.raises(Incomplete):
            await kb.mirror().follow()
        assert {d["doc_id"] for d in kb.held.values()} == {"d0"}
        assert state(kb) == State("", f"{kb.index.kb_version()}-incomplete")


class KilledError(Exception):
    """The run was ended from outside."""


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_a_run_that_was_killed_is_gone_on_with(tmp_path: Path, at: int) -> None:
    """Wherever it ends, the next run uploads what is missing and no more."""
    async with azure_kb(tmp_path, documents(1400), None, server=AiSearchServer(failing=0.02), follow=False) as kb:
        calls = 0

        def killing(_: Progress) -> None:
            nonlocal calls
            calls += 1
            if calls > at:
                raise KilledError

        with pytest.raises(KilledError):
            await kb.mirror().follow(killing)
        taken = len(kb.held)
        assert taken < 1400
        assert state(kb) is None
        done = await kb.mirror().follow()
        assert (done.unchanged, done.uploaded) == (taken, 1400 - taken)
        assert ends_whole(kb)


async def test_a_dead_service_ends_the_run_and_the_next_goes_on(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(30), None, follow=False) as kb:
        kb.server.otherwise = faults.status(500)
        with pytest.raises(ServiceUnavailable):
            await kb.mirror().follow()
        kb.server.otherwise = None
        await kb.mirror().follow()
        assert ends_whole(kb)


async def test_a_service_that_takes_no_row_is_left_after_one_batch(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(1100), None, server=AiSearchServer(failing=1.0), follow=False) as kb:
        with pytest.raises(Incomplete, match="500 passages"):
            await kb.mirror().follow()


async def test_a_batch_that_is_too_large_goes_in_halves(tmp_path: Path) -> None:
    """On 413 the async SDK's own upload sends the first half and fails with a TypeError."""
    async with azure_kb(tmp_path, documents(60), HashEmbedder(), server=AiSearchServer(largest=60_000)) as kb:
        assert ends_whole(kb)
        assert len(kb.server.vectors) == 60


async def test_a_malformed_row_does_not_hold_up_its_batch(tmp_path: Path) -> None:
    """The whole batch is refused with 400: it is halved until the row is found."""

    class Strict(AiSearchServer):
        async def answer(self, request, body):  # type: ignore[no-untyped-def]  # as below
            if "poison" in str(body.get("value", "")):
                return await faults.status(400)(request)
            return await super().answer(request, body)

    odd = Document("odd", "Odd", "This one is poison.")
    async with azure_kb(tmp_path, [*documents(20), odd], None, server=Strict(), follow=False) as kb:
        with pytest.raises(Incomplete, match="1 passages of 1 documents were not taken"):
            await kb.mirror().follow()
        assert len(kb.held) == 20


def test_batches_are_bounded_by_count_and_by_bytes() -> None:
    rows: list[IndexRow] = [{"chunk_id": str(n), "text": "x" * 1000} for n in range(1200)]
    assert [len(b) for b in batches(rows)] == [MOST_ROWS, MOST_ROWS, 200]
    large: list[IndexRow] = [{"chunk_id": str(n), "text": "ü" * (MOST_BYTES // 30)} for n in range(7)]
    assert [len(b) for b in batches(large)] == [2, 2, 2, 1]
    assert list(batches([])) == []


async def test_vectors_of_another_model_are_replaced_and_meanwhile_not_searched(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(10), HashEmbedder()) as kb:
        old = kb.retriever()
        assert (await old.retrieve(Query("refund"), EVERYONE, 5)).mode == "hybrid"
        kb.embedder = HashEmbedder("hash-2")
        new = kb.retriever()
        found = await new.retrieve(Query("refund"), EVERYONE, 5)
        assert (found.mode, len(found.passages)) == ("lexical", 5)
        assert "another embedding model" in found.notes[0]
        put_vectors(kb, "hash-2", [r.chunk.chunk_id for r in kb.index.store.chunks_of([f"d{n}" for n in range(10)])])
        assert (await kb.mirror().follow()).uploaded == 10
        assert (await kb.retriever().retrieve(Query("refund"), EVERYONE, 5)).mode == "hybrid"


def put_vectors(kb: AzureKb, fingerprint: str, keys: Sequence[str]) -> None:
    vector = b"\x00\x3c" + b"\x00\x00" * 383  # 1, 0, 0, … as float16
    kb.index.store.put_vectors(fingerprint, [(key, vector) for key in keys])


async def test_an_ingest_without_a_model_leaves_the_vectors(tmp_path: Path) -> None:
    """A model file that is gone for a day costs no upload."""
    async with azure_kb(tmp_path, documents(5), HashEmbedder()) as kb:
        kb.embedder = None
        assert (await kb.mirror().follow()).unchanged == 5
        assert len(kb.server.vectors) == 5


async def test_a_removed_document_leaves_the_index(tmp_path: Path) -> None:
    long = Document(
        "long", "Long", "\n\n".join(f"Paragraph {n} says that a refund takes days. " * 12 for n in range(30))
    )
    async with azure_kb(tmp_path, [long, *documents(3)], None) as kb:
        assert len(kb.held) > 10
        await remove_document(kb.service, "long")
        assert {d["doc_id"] for d in kb.held.values()} == {"d0", "d1", "d2"}


async def test_what_an_indexer_put_there_stays(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(3), None) as kb:
        kb.server.documents[INDEX]["sp-1"] = {
            "chunk_id": "sp-1",
            "source": "sharepoint",
            "groups": ["*"],
            "text": "x",
            "title": "y",
        }
        kb.index.store.drop(["d0"])
        await kb.mirror().follow()
        assert "sp-1" in kb.server.documents[INDEX]


# --- the index itself


async def test_an_index_of_an_earlier_form_is_brought_up_to_date(tmp_path: Path) -> None:
    """Fields that are missing are added, those that are more stay, what must not be shown is hidden."""
    async with azure_kb(tmp_path, documents(2), None, follow=False, semantic=True) as kb:
        old = definition(INDEX, 384, semantic=False)
        old.fields = [f for f in old.fields if f.name not in ("locator", "tokens")]
        await kb.service.create(old)
        raw = kb.server.indexes[INDEX]
        raw["fields"].append({"name": "theirs", "type": "Edm.String", "searchable": False})
        next(f for f in raw["fields"] if f["name"] == "groups")["retrievable"] = True
        await kb.mirror().follow()
        fields = {f["name"]: f for f in kb.server.indexes[INDEX]["fields"]}
        assert {"locator", "tokens", "theirs"} <= set(fields)
        assert fields["groups"]["retrievable"] is False
        assert kb.server.indexes[INDEX]["semantic"]["configurations"][0]["name"] == "attest"
        assert ends_whole(kb)


@pytest.mark.parametrize(
    ("field", "change", "said"),
    [
        ("vector", {"dimensions": 1536}, "field 'vector' of that index has dimension 1536, needed is 384"),
        ("updated", {"type": "Edm.DateTimeOffset"}, "field 'updated' of that index has type Edm.DateTimeOffset"),
        ("groups", {"filterable": False}, "field 'groups' of that index has filterable False"),
        ("text", {"analyzer": "de.lucene"}, "field 'text' of that index has analyzer de.lucene"),
    ],
)
async def test_an_index_that_cannot_become_ours_is_refused_in_one_line(
    tmp_path: Path, field: str, change: dict[str, object], said: str
) -> None:
    async with azure_kb(tmp_path, documents(1), HashEmbedder()) as kb:
        next(f for f in kb.server.indexes[INDEX]["fields"] if f["name"] == field).update(change)
        puts = len(kb.server.indexes[INDEX]["@odata.etag"])
        with pytest.raises(SettingsError) as caught:
            await kb.mirror().follow()
        assert said in str(caught.value)
        assert "ATTEST_SEARCH_INDEX" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(kb.server.indexes[INDEX]["@odata.etag"]) == puts


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (VectorForm(half=True), "type Collection(Edm.Single), needed is Collection(Edm.Half)"),
        (VectorForm(compression="scalar"), "has compression none, needed is attest-scalar"),
    ],
)
async def test_another_form_of_vectors_is_refused_in_one_line(tmp_path: Path, form: VectorForm, said: str) -> None:
    async with azure_kb(tmp_path, documents(1), HashEmbedder()) as kb:
        with pytest.raises(SettingsError) as caught:
            await kb.mirror(form=form).follow()
        assert said in str(caught.value)


async def test_the_index_is_as_wide_as_the_embedder_and_stays_so_without_one(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(2), HashEmbedder("wide", 640)) as kb:
        assert [len(kb.server.vectors[INDEX, key]) for key in kb.held] == [640, 640]
        kb.embedder = None
        assert (await kb.mirror().follow()).unchanged == 2
        (field,) = [f for f in kb.server.indexes[INDEX]["fields"] if f["name"] == "vector"]
        assert field["dimensions"] == 640


async def test_a_change_by_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    """The stale write fails on its ETag; then the index is read again."""
    async with azure_kb(tmp_path, documents(1), None, semantic=True, follow=False) as kb:
        await kb.service.create(definition(INDEX, 384, semantic=False))
        seen = 0

        def meanwhile() -> None:
            nonlocal seen
            seen += 1
            if seen == 1:
                kb.server.indexes[INDEX]["@odata.etag"] = '"0xothers"'
                kb.server.indexes[INDEX]["fields"].append({"name": "theirs", "type": "Edm.String"})

        kb.server.before_put = meanwhile
        await kb.mirror().follow()
        assert seen == 2
        assert "theirs" in [f["name"] for f in kb.server.indexes[INDEX]["fields"]]


async def test_a_stale_index_is_refused_by_its_etag(tmp_path: Path) -> None:
    async with azure_kb(tmp_path, documents(1), None) as kb:
        one, other = await kb.service.definition(), await kb.service.definition()
        assert one is not None
        assert other is not None
        await kb.service.update(one)
        with pytest.raises(ServiceRejected, match="status 412"):
            await kb.service.update(other)
        with pytest.raises(ServiceRejected, match="status 412"):
            await kb.service.create(definition(INDEX, 384, semantic=False))


async def test_two_ingests_at_once_end_in_one_index(tmp_path: Path) -> None:
    """What the other uploaded from a newer store is not deleted by one that read the store before."""
    meanwhile: list[Callable[[], Awaitable[object]]] = []

    class Slow(AiSearchServer):
        async def answer(self, request: web.Request, body: dict[str, object]) -> web.StreamResponse:
            if body.get("orderby") and meanwhile:  # a run that has read the store asks what the index holds
                await meanwhile.pop()()
            return await super().answer(request, body)

    async with azure_kb(tmp_path, documents(40), None, server=Slow()) as kb:

        async def other() -> None:
            put(kb, Document("newer", "Newer", "A rule of the other ingest."))
            await kb.mirror().follow()

        meanwhile.append(other)
        kb.index.store.step_with("another")
        done = await kb.mirror().follow()
        assert (done.unchanged, done.uploaded, done.deleted) == (40, 0, 0)
        assert "newer" in {d["doc_id"] for d in kb.held.values()}
