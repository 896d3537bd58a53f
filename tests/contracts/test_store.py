"""What the store of record must do, wherever it lies: documents, versions, chunks, vectors, and what an index follows."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import replace
from pathlib import Path

import pytest

from grounding.errors import InputError
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Chunk, Document, Locator, Query
from grounding.store.databases.places import Place
from grounding.store.history import StoreHistory
from grounding.store.meta import Meta
from grounding.store.once import asked_once
from grounding.store.store import Store
from grounding.store.store_reader import StoreReader
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of
from tests.grounding.embedded.vector_kb import FINGERPRINT, put_vectors, unit_vectors
from tests.postgres.store import made

Opener = Callable[[], Store]
ROUTER = Document("router.md", "Wren X2", "The Wren X2 costs $129.\n\nIts warranty is two years.", groups=("tier2",))
HUB = Document(
    "hub.md",
    "Roost H1",
    "The Roost H1 costs $79.",
    "https://kb.example/hub",
    None,
    "Roost",
    internal=True,
    updated="2026-01-02",
    content_type="message/rfc822",
    locators=(Locator(0, "page 1"),),
    trust="inbound",
)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        yield tmp_path / "index" / "store.db"
        return
    database = made(request.getfixturevalue("database_url"))
    yield database
    database.close()


@pytest.fixture
def another(place: Place, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same store once more, as another process on this machine does."""
    stores: list[Store] = []

    def open_one() -> Store:
        stores.append(Store(place, tmp_path / "index"))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(another: Opener) -> Store:
    return another()


def put(store: Store, *documents: Document, stamp: str = "1") -> None:
    store.put([(d, split(d), "/kb", stamp) for d in documents])


def chunks(store: Store, *doc_ids: str) -> dict[str, list[int]]:
    """Primary keys of the live chunks of some documents, rising."""
    rows = store.chunks_of(doc_ids)
    return {doc_id: sorted(r.pk for r in rows if r.chunk.doc_id == doc_id) for doc_id in doc_ids}


def keys(store: Store, after: int | None = None, until: int = 0) -> list[int]:
    return [row.pk for part in store.vector_rows(FINGERPRINT, after, until) for row in part]


# --- documents


def test_what_was_put_is_found_whole(store: Store) -> None:
    assert (store.counts(), store.kb_version(), store.generation()) == ((0, 0), "kb-0000000000000000-g0", 0)
    put(store, ROUTER, HUB)
    assert store.document("router.md") == ROUTER
    assert store.document("hub.md") == HUB
    assert store.counts() == (2, len(split(ROUTER)) + 1)
    assert [d.doc_id for d in store.documents()] == ["hub.md", "router.md"]
    hub = store.documents()[0]
    assert (hub.title, hub.url, hub.groups, hub.product) == ("Roost H1", HUB.url, None, "Roost")
    assert (hub.internal, hub.updated, hub.trust, hub.root) == (True, "2026-01-02", "inbound", "/kb")
    assert store.known()["hub.md"].version == HUB.version
    [row] = store.chunks_of(["hub.md"])
    assert row.chunk == split(HUB)[0]
    assert store.rows([row.pk]) == {row.pk: row}
    assert StoreReader(store.place).rows([row.chunk.chunk_id, "none"]) == {row.chunk.chunk_id: row}
    assert store.text_size() == (sum(len(c.text) for c in (*split(ROUTER), *split(HUB))), store.counts()[1])
    store.touch({"hub.md": "2", "none": "2"})
    assert store.known()["hub.md"].stamp == "2"


def test_a_document_is_replaced_whole_and_what_it_was_is_kept(store: Store) -> None:
    put(store, ROUTER, HUB)
    before = chunks(store, "router.md")["router.md"]
    newer = replace(ROUTER, text="The Wren X2 costs $119.", groups=None)
    put(store, newer)
    after = chunks(store, "router.md")["router.md"]
    assert store.rows(before) == {}
    assert min(after) > max(before + chunks(store, "hub.md")["hub.md"])
    assert store.rows(after)[after[0]].groups is None
    assert store.document("router.md") == newer
    assert store.document("router.md", ROUTER.version) == ROUTER
    assert store.document("router.md", "none") is None


def test_versions_stand_in_the_order_in_which_they_first_came(store: Store, place: Place) -> None:
    editions = [replace(HUB, text=f"Edition {n}.") for n in (5, 3, 9, 1)]
    for edition in (*editions, editions[1]):
        put(store, edition, ROUTER)
    assert StoreHistory(place).versions("hub.md") == tuple(e.version for e in editions)
    assert StoreHistory(place).versions("router.md") == (ROUTER.version,)
    assert StoreHistory(place).versions("none") == ()


def test_what_was_taken_out_is_in_no_answer_and_comes_back(store: Store, place: Place) -> None:
    put(store, ROUTER, HUB)
    rows = store.chunks_of(["hub.md", "router.md"])
    store.drop(["hub.md"], pulled=True)
    store.drop(["router.md", "none"])
    assert store.counts() == (0, 0)
    assert (store.known(), store.documents(), store.chunks_of(["hub.md"])) == ({}, (), [])
    assert store.rows([r.pk for r in rows]) == {}
    assert StoreReader(place).rows([r.chunk.chunk_id for r in rows]) == {}
    assert (store.document("hub.md"), store.last("hub.md")) == (None, HUB)
    assert store.pulled() == {"hub.md": ("1", HUB.version)}
    history = StoreHistory(place)
    assert [(t.doc_id, t.by_hand, t.groups) for t in history.tombstones()] == [
        ("hub.md", True, None),
        ("router.md", False, ("tier2",)),
    ]
    assert history.tombstone("none") is None
    put(store, HUB, stamp="2")
    assert store.document("hub.md") == HUB
    assert store.pulled() == {}
    assert history.tombstone("hub.md") is None


def test_equal_documents_give_equal_versions_in_whatever_order(store: Store, tmp_path: Path) -> None:
    """Over either database the same as over a file."""
    documents = [replace(HUB, doc_id=f"d{n}", text=f"Text {n}.") for n in range(5)]
    for document in documents:
        put(store, document)
    other = Store(tmp_path / "other" / "store.db")
    put(other, replace(documents[3], text="Another."), documents[0])
    put(other, *reversed(documents))
    assert store.kb_version().rpartition("-")[0] == other.kb_version().rpartition("-")[0]
    for of in (store, other):
        of.drop([d.doc_id for d in documents[:4]])
        of.drop(["d0"])
    assert store.kb_version().rpartition("-")[0] == other.kb_version().rpartition("-")[0]
    store.drop(["d4"])
    assert store.kb_version().startswith("kb-0000000000000000-g")
    other.close()


def test_the_generation_rises_with_each_commit_that_changes_what_is_found(store: Store, another: Opener) -> None:
    other, seen = another(), [0]
    changes: tuple[Callable[[], None], ...] = (
        lambda: put(store, HUB),
        lambda: store.put_vectors(FINGERPRINT, [(split(HUB)[0].chunk_id, b"\0\0")]),
        lambda: store.mark_indexed(store.unindexed()),
        lambda: store.set_vector_mark(FINGERPRINT, "m"),
        lambda: store.drop(["hub.md"]),
    )
    for change in changes:
        change()
        seen.append(other.generation())
    assert seen == list(range(6))
    assert other.kb_version().endswith("-g5")


def test_text_that_some_database_refuses_is_kept_alike(store: Store, place: Place) -> None:
    """U+0000 and halves of surrogate pairs become U+FFFD; ids, marks and places go on to fit."""
    odd = Document(
        "a\0b", "t\0 \ud800", "nul \0, whole 😀.", "u\ud800", ("g",), "p\0", locators=(Locator(0, "l\0\ud800"),)
    )
    put(store, odd)
    kept = Document("a�b", "t� �", "nul �, whole 😀.", "u�", ("g",), "p�", locators=(Locator(0, "l��"),))
    [piece] = split(odd)
    for name in (odd.doc_id, kept.doc_id):
        assert store.document(name) == kept
        [row] = store.chunks_of([name])
        assert (row.chunk.text, row.title, row.product) == (kept.text[: len(piece.text)], kept.title, kept.product)
        assert StoreHistory(place).versions(name) == (odd.version,)
    assert store.known()["a�b"].version == odd.version
    store.put_vectors(FINGERPRINT, [("c\0", b"\1\2"), (piece.chunk_id, b"\3\4")])
    assert StoreReader(place).vectors(FINGERPRINT, ["c\0"]) == {"c�": b"\1\2"}
    store.drop([odd.doc_id])
    assert store.kb_version().startswith("kb-0000000000000000-g")


# --- vectors and changes


def test_vectors_come_and_go_with_their_chunks(store: Store, place: Place) -> None:
    put_vectors(store, 0, unit_vectors(3), [(("g0",), "x"), (None, None), ((), None)])
    put(store, HUB)
    [bare] = split(HUB)
    assert store.without_vectors(FINGERPRINT) == [(bare.chunk_id, f"Roost H1\n{bare.text}")]
    assert store.chunks_without_vector() == 1
    reader = StoreReader(place)
    assert reader.chunks_without_vector(FINGERPRINT) == (1, 0)
    assert reader.chunks_without_vector("test") == (4, 0)  # of its own questions, not of another model
    assert reader.chunks_without_vector("another") == (4, 3)
    pks = [chunks(store, f"d{n}")[f"d{n}"][0] for n in range(3)]
    rows = [row for part in store.vector_rows(FINGERPRINT) for row in part]
    assert [(r.pk, r.groups, r.product) for r in rows] == [
        (pks[0], '["g0"]', "x"),
        (pks[1], None, None),
        (pks[2], "[]", None),
    ]
    assert store.vectors_of(FINGERPRINT, [*pks, 10**9]) == {r.pk: r.vector for r in rows}
    assert reader.vectors(FINGERPRINT, ["c1", "none"]) == {"c1": rows[1].vector}
    assert reader.vectors("another", ["c1"]) == {}
    store.put_vectors(FINGERPRINT, [("c1", b"\0" * 768)])
    assert reader.vectors(FINGERPRINT, ["c1"]) == {"c1": b"\0" * 768}
    store.drop(["d1"])
    assert store.vector_keys(FINGERPRINT) == [pks[0], pks[2]]
    assert store.vector_count(FINGERPRINT) == 3


def test_changes_tell_a_follower_what_came_and_what_went(store: Store) -> None:
    assert store.changes_until() == 0
    put_vectors(store, 0, unit_vectors(3), [(None, None)] * 3)
    first = store.changes_until()
    pks = keys(store)
    assert (len(pks), keys(store, 0, first), store.gone_chunks(0, first)) == (3, pks, [])
    store.drop(["d1"])
    put(store, HUB)  # without a vector
    second = store.changes_until()
    assert (store.gone_chunks(first, second), keys(store, first, second)) == ([pks[1]], [])
    put_vectors(store, 0, unit_vectors(1), [(("g0",), None)])  # the same text under other rights: its vector is there
    third = store.changes_until()
    assert store.gone_chunks(second, third) == [pks[0]]
    [again] = keys(store, second, third)
    assert again > max(pks)
    assert keys(store, 0, second) == [pks[2]]  # what went again is not told as there
    assert keys(store, third, third) == []


def test_rows_come_in_parts_by_rising_key(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grounding.store.vectors.AT_ONCE", 7)
    put_vectors(store, 0, unit_vectors(20), [(None, None)] * 20)
    parts = [[row.pk for row in part] for part in store.vector_rows(FINGERPRINT)]
    assert [len(part) for part in parts] == [7, 7, 6]
    assert [pk for part in parts for pk in part] == sorted(store.vector_keys(FINGERPRINT))


def test_live_chunks_are_paged_by_their_ids_as_bytes(store: Store, place: Place) -> None:
    ids = [
        "B",
        "a",
        "b",
        "Z",
        "z",
        "ä",
        "Ä",
        "á",
        "é",
        "e",
        "E",
        "ß",
        "ss",
        "-a",
        "_a",
        " a",
        "10",
        "9",
        "😀",
        "\uffff",
        "日",
    ]
    random.Random(1).shuffle(ids)
    items = [
        (Document(f"d{n}", "t", "x"), (Chunk(c, f"d{n}", 0, 1, "x", 1), Chunk(c, f"d{n}", 0, 1, "x", 1)), "/kb", "1")
        for n, c in enumerate(ids)
    ]
    store.put(items)
    store.put_vectors(FINGERPRINT, [("ä", b"\0\0")])
    store.drop([f"d{ids.index('ss')}"])
    found, after = [], ""
    while page := StoreReader(place).pieces(FINGERPRINT, after, 4):
        found += page
        after = page[-1].chunk_id
    assert [p.chunk_id for p in found] == sorted((i for i in ids if i != "ss"), key=str.encode)
    assert [p.chunk_id for p in found if p.has_vector] == ["ä"]
    assert {p.title for p in found} == {"t"}
    assert [d.doc_id for d in store.documents()] == sorted(f"d{n}" for n, c in enumerate(ids) if c != "ss")


# --- many at once


def test_two_writers_give_no_number_twice_and_lose_nothing(another: Opener) -> None:
    stores = [another(), another()]

    def work(n: int) -> None:
        put_vectors(stores[n % 2], 10 * n, unit_vectors(5, n), [(None, None)] * 5)
        stores[(n + 1) % 2].drop([f"d{10 * n}"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(12)))
    [one, other] = stores
    assert one.counts() == (48, 48)
    pks = keys(other)
    assert len(set(pks)) == 48
    assert one.generation() == 36
    digest = one.kb_version().rpartition("-")[0]
    one.drop([d.doc_id for d in one.documents()])
    assert digest != one.kb_version().rpartition("-")[0] == "kb-0000000000000000"


def test_who_follows_by_numbers_misses_nothing_that_is_committed_later(
    another: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first writer is held up in front of its commit: the second, which was quicker, waits, and gets higher numbers."""
    first, second, follower = another(), another(), another()
    put(follower, HUB)
    held, go_on, bump = threading.Event(), threading.Event(), Meta.bump

    def slow(meta: Meta) -> None:
        if threading.current_thread().name.startswith("slow"):
            held.set()
            assert go_on.wait(30)
        bump(meta)

    monkeypatch.setattr(Meta, "bump", slow)
    quick, slowly = ThreadPoolExecutor(1), ThreadPoolExecutor(1, "slow")
    with quick, slowly:
        one = slowly.submit(first.drop, ["hub.md"])
        assert held.wait(30)
        two = quick.submit(put_vectors, second, 0, unit_vectors(1), [(None, None)])
        time.sleep(0.2)  # in which it would be done
        seen, there = follower.changes_until(), follower.counts()[0]
        go_on.set()
        assert (seen, there) == (0, 1)
        one.result(30)
        two.result(30)
    until = follower.changes_until()
    assert len(follower.gone_chunks(seen, until)) == 1
    assert keys(follower, seen, until) == follower.vector_keys(FINGERPRINT)
    assert len(keys(follower)) == 1


def test_a_follower_of_many_writers_ends_with_what_is_there(another: Opener) -> None:
    stores, follower, done = [another(), another()], another(), threading.Event()

    def write(n: int) -> None:
        for turn in range(6):
            put_vectors(stores[n % 2], 100 * n + turn % 4, unit_vectors(2, n), [((f"g{turn}",), None)] * 2)
            if turn % 3 == 2:
                stores[n % 2].drop([f"d{100 * n}"])

    def follow() -> set[int]:
        held: set[int] = set()
        seen, last = 0, False
        while not last:
            last = done.is_set()
            until = follower.changes_until()
            held -= set(follower.gone_chunks(seen, until))
            held |= set(keys(follower, seen, until))
            seen = until
        return held

    with ThreadPoolExecutor(5) as pool:
        following = pool.submit(follow)
        try:
            list(pool.map(write, range(4)))
        finally:
            done.set()
        assert following.result(60) == set(keys(follower))


# --- what an index has followed


def test_the_word_index_is_told_what_it_has_not_caught_up_with(store: Store, another: Opener) -> None:
    put(store, HUB)
    put(store, ROUTER)
    waiting = store.unindexed()
    assert {w.doc_id for w in waiting} == {"hub.md", "router.md"}
    assert store.indexed_chunks() == 0
    store.mark_indexed(waiting[:1])
    [left] = another().unindexed()
    assert left == waiting[1]
    store.mark_indexed(waiting[1:])
    assert (store.unindexed(), store.indexed_chunks()) == ([], store.counts()[1])
    store.drop(["hub.md"])
    assert [w.doc_id for w in store.unindexed()] == ["hub.md"]
    store.mark_indexed(store.unindexed())
    store.touch({"router.md": "2"})
    assert store.unindexed() == []
    store.mark_all_unindexed()
    assert {w.doc_id for w in store.unindexed()} == {"hub.md", "router.md"}


def test_a_saved_index_of_vectors_has_a_name(store: Store, another: Opener) -> None:
    assert store.vector_mark(FINGERPRINT) is None
    store.set_vector_mark(FINGERPRINT, "one")
    store.set_vector_mark(f"{FINGERPRINT}-hyde1", "other")
    assert another().vector_mark(FINGERPRINT) == "one"


def test_two_who_note_jobs_at_the_same_time_lose_none_of_each_others(store: Store, another: Opener) -> None:
    stores = [another() for _ in range(4)]

    def note(n: int) -> None:
        for token in ("kept", "dropped"):
            stores[n].note_embedding_job(FINGERPRINT, f"{token} {n}", f"job {n}")
        stores[n].note_embedding_job(FINGERPRINT, f"dropped {n}", None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(4)))
    assert store.embedding_jobs(FINGERPRINT) == {f"kept {n}": f"job {n}" for n in range(4)}
    assert store.embedding_jobs("another model") == {}


async def test_search_finds_the_same_over_either(place: Place, tmp_path: Path) -> None:
    """Words, vectors and both, under the rights of three readers, after documents came, changed and went."""
    documents = [
        replace(ROUTER, doc_id=f"d{n}", text=f"The Wren X{n} costs ${n}.\n\nIts warranty is {n} years.", groups=g)
        for n, g in enumerate([None, ("tier2",), (), ("tier1",), None, ("tier1", "tier2")])
    ]
    newer = [replace(documents[0], text="The Wren X0 is gone."), HUB]
    found = []
    for folder, shared in (("index", None if isinstance(place, Path) else place), ("file", None)):
        (await open_kb(tmp_path / folder, documents, HashEmbedder(), shared)).close()
        index = await open_kb(tmp_path / folder, newer, HashEmbedder(), shared)
        assert await index.remove("d4")
        index.lock()
        index.catch_up(lambda *_: None)
        index.unlock()
        retriever = retriever_of(index, HashEmbedder())
        results = [
            await retriever.retrieve(Query(text, by=by), Access("u", frozenset(groups)), 20)
            for text in ("Wren X5 warranty", "what does the Roost cost", "$3")
            for by in ("hybrid", "words", "meaning")
            for groups in ((), ("tier1",), ("tier2", "tier1"))
        ]
        found.append([r.passages for r in results])
        index.close()
    assert found[0] == found[1]
    assert any(found[0])
    assert {p.name for p in (tmp_path / "index").iterdir()} >= {"words", "ingest.lock"}
    assert (tmp_path / "index" / "store.db").exists() == isinstance(place, Path)


# --- what cannot be used


def test_an_index_elsewhere_is_told_of_what_changed_and_only_while_it_is_in_step(store: Store) -> None:
    put(store, ROUTER)
    assert store.in_step() == (None, 0)
    store.step_with("one")
    put(store, ROUTER, HUB)
    (hub,) = (chunk.chunk_id for chunk in split(HUB))
    mark, until = store.in_step()
    assert mark == "one"
    seen = store.untold(0, until, 99)
    assert {row.chunk_id for row in seen} == {c.chunk_id for d in (ROUTER, HUB) for c in split(d)}
    assert [row.seq for row in seen] == sorted({row.seq for row in seen})
    assert store.untold(0, until, 1) == seen[:1]
    assert store.untold_of(["hub.md", "none"], until) == [hub]
    store.told(until, ["router.md"])
    assert {row.chunk_id for row in store.untold(0, until, 99)} == {hub}
    store.told(until)
    store.put_vectors("model", [(hub, b"00"), ("gone", b"00")])
    store.drop(["hub.md"])
    assert [row.chunk_id for row in store.untold(0, store.in_step()[1], 99)] == [hub, hub]
    store.step_with("two")
    assert store.in_step() == ("two", 0)
    store.drop(["router.md"])
    waiting = store.in_step()[1]
    store.stay_in_step_with("three")
    assert store.in_step() == ("three", waiting)
    store.out_of_step()
    put(store, ROUTER)
    assert store.in_step() == (None, 0)


def test_nothing_to_do_is_done_without_a_database(store: Store) -> None:
    store.put([])
    store.drop([])
    assert store.generation() == 0
    assert (store.rows([]), store.chunks_of([]), store.vectors_of(FINGERPRINT, [])) == ({}, [], {})


def test_a_backup_is_a_copy_of_a_file(store: Store, place: Place, tmp_path: Path) -> None:
    put(store, HUB)
    target = tmp_path / "copy.db"
    if isinstance(place, Path):
        assert StoreHistory(place).backup(target) == target.stat().st_size
        assert Store(target).document("hub.md") == HUB
    else:
        with pytest.raises(InputError, match=r"^[^\n]*PostgreSQL[^\n]*pg_dump$"):
            StoreHistory(place).backup(target)
        assert not target.exists()


def test_in_a_block_it_is_asked_for_its_generation_once_and_says_what_it_said_last(
    store: Store, another: Opener
) -> None:
    """A turn searches several times. Whoever searches outside of it may find that something changed; then the turn goes on with that."""
    other, elsewhere = another(), Context()
    with asked_once():
        assert (store.generation(), other.generation()) == (0, 0)
        put(other, HUB)
        assert (store.generation(), other.generation()) == (0, 0)
        assert elsewhere.run(store.generation) == 1
        assert copy_context().run(store.generation) == 1
        assert other.generation() == 0
    assert other.generation() == 1


def test_searches_side_by_side_in_a_block_wait_for_the_one_that_asks(store: Store, another: Opener) -> None:
    put(another(), HUB)
    with asked_once(), ThreadPoolExecutor(4) as pool:
        contexts = [copy_context() for _ in range(4)]
        assert list(pool.map(lambda context: context.run(store.generation), contexts)) == [1] * 4
