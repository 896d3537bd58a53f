"""The store in PostgreSQL: who may do what, what becomes of a write whose connection is lost or whose writer is killed, and what belongs to a folder."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import ConnectionLost, Postgres
from grounding.embedded.indexes import approximate_search
from grounding.embedded.indexes.vector_file import DamagedFileError
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.errors import StoreError
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Access, Document, Query
from grounding.store.databases.postgres import PART, name_anew
from grounding.store.history import StoreHistory
from grounding.store.meta import Meta
from grounding.store.store import Store
from grounding.store.store_reader import StoreReader
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of
from tests.grounding.embedded.vector_kb import FINGERPRINT, put_vectors, unit_vectors
from tests.postgres.faults import LosesAnAnswer, ended, run
from tests.postgres.server import own_schema
from tests.postgres.store import made

HUB = Document("hub.md", "Roost H1", "The Roost H1 costs $79.")
ROUTER = Document("router.md", "Wren X2", "The Wren X2 costs $129.\n\nIts warranty is two years.")


def put(store: Store, *documents: Document) -> None:
    store.put([(d, split(d), "/kb", "1") for d in documents])


def refuse_torn(store: Store) -> int:
    """Number of documents; each must have all its chunks and its version, and the digest must be theirs."""
    documents = store.documents()
    for document in documents:
        kept = store.document(document.doc_id)
        assert kept is not None
        assert kept.version == document.version
        found = sorted((row.chunk for row in store.chunks_of([document.doc_id])), key=lambda c: c.start)
        assert tuple(found) == split(kept)
        assert len(found) == document.chunks
    before = store.kb_version()
    put(store, *(d for info in documents if (d := store.document(info.doc_id))))
    assert store.kb_version().rpartition("-")[0] == before.rpartition("-")[0]
    return len(documents)


# --- rights, and what cannot be used


def test_a_worker_does_all_of_its_work_and_can_change_nothing_else(
    database_url: str, worker_url: str, tmp_path: Path
) -> None:
    made(database_url, make_url(worker_url).username).close()
    database = Postgres(worker_url)
    store = Store(database, tmp_path)
    put(store, HUB, ROUTER)
    put(store, replace(HUB, text="Another."))
    put_vectors(store, 0, unit_vectors(2), [(None, None)] * 2)
    put_vectors(store, 0, unit_vectors(2), [(None, None)] * 2)
    store.touch({"hub.md": "2"})
    store.mark_indexed(store.unindexed())
    store.set_vector_mark(FINGERPRINT, "m")
    store.drop(["hub.md"], pulled=True)
    assert len(StoreReader(database).pieces(FINGERPRINT, "", 9)) == 2 + len(split(ROUTER))
    assert len(StoreHistory(database).versions("hub.md")) == 2
    for statement in (
        "UPDATE versions SET body = ''",
        "DELETE FROM versions",
        "UPDATE changes SET gone = true",
        "DELETE FROM changes",
        "UPDATE chunks SET text = ''",
        "DELETE FROM meta",
        "DELETE FROM vectors",
        "TRUNCATE documents",
        "ALTER TABLE documents ADD COLUMN x integer",
        "DROP TABLE chunks",
        "CREATE INDEX more ON chunks (text)",
        "UPDATE attest_schema SET number = 9",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)
    store.close()


def test_a_database_without_tables_or_of_another_schema_is_one_line(database_url: str, tmp_path: Path) -> None:
    database = Postgres(database_url)
    with pytest.raises(
        StoreError,
        match=r"^the database has no tables for the store yet; its owner makes them: attest database upgrade$",
    ):
        Store(database, tmp_path)
    with pytest.raises(StoreError, match=r"^the store cannot be used: a table or column is gone$"):
        StoreReader(database).rows(["c"])
    made(database_url).close()
    with pytest.raises(ValueError, match="needs a folder"):
        Store(database)
    store = Store(database, tmp_path)
    run(database_url, f"UPDATE attest_schema SET number = {PART.number + 1}, oldest = {PART.number + 1}")
    with pytest.raises(StoreError, match="newer than this program knows"):
        Store(database, tmp_path)
    run(database_url, "DROP TABLE chunks")
    for work in (lambda: store.rows([1]), lambda: put(store, HUB), lambda: list(store.vector_rows(FINGERPRINT))):
        with pytest.raises(StoreError, match=r"^the store cannot be used: a table or column is gone$"):
            work()
    store.close()


def test_ids_are_compared_as_bytes_whatever_the_database_is_told_otherwise(database_url: str) -> None:
    made(database_url).close()
    compared = run(
        database_url,
        "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation o ON o.oid = a.attcollation "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i') AND o.collname <> 'C'",
    )
    assert set(compared) == {("versions", "body"), ("chunks", "text")}


# --- lost connections and killed writers


def test_lost_connections_are_made_anew(database_url: str, tmp_path: Path) -> None:
    name = f"lost_{make_url(database_url).database}_{tmp_path.name}"
    made(database_url).close()
    store = Store(Postgres(f"{database_url}&application_name={name}"), tmp_path)
    put(store, HUB)
    works: tuple[Callable[[], object], ...] = (
        lambda: put(store, ROUTER),
        store.generation,
        lambda: store.rows([1]),
        lambda: store.drop(["hub.md"]),
        lambda: store.document("router.md"),
    )
    for work in works:
        ended(database_url, name)
        work()
    assert refuse_torn(store) == 1
    store.close()


@pytest.mark.parametrize("losses", [1, 9])
def test_a_put_that_is_lost_before_its_commit_is_done_again_or_leaves_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, losses: int
) -> None:
    """All of its statements are through but the last."""
    monkeypatch.setattr("grounding.database.postgres.time.sleep", lambda _: None)
    made(database_url).close()
    database = Postgres(database_url)
    store = Store(database, tmp_path)
    put(store, HUB)
    tries, bump, before = [0], Meta.bump, store.kb_version()
    writer = "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid::bigint = hashtextextended(current_schema() || '.store', 0) & 4294967295"

    def losing(meta: Meta) -> None:
        tries[0] += 1
        if tries[0] <= losses:
            run(database_url, writer)
        bump(meta)

    monkeypatch.setattr(Meta, "bump", losing)
    if losses == 1:
        put(store, ROUTER, replace(HUB, text="Another."))
        assert (tries[0], store.counts()[0]) == (2, 2)
    else:
        with pytest.raises(ConnectionLost, match=r"^the store cannot be used: .*(lost|stopped)$"):
            put(store, ROUTER, replace(HUB, text="Another."))
        assert (tries[0], store.kb_version(), store.document("hub.md")) == (3, before, HUB)
    monkeypatch.setattr(Meta, "bump", bump)
    assert refuse_torn(store) == 3 - min(losses, 2)
    store.close()


@pytest.mark.parametrize("stored", [True, False])
def test_what_is_put_again_after_a_commit_that_gave_no_answer_is_there_once(
    database_url: str, tmp_path: Path, stored: bool
) -> None:
    """Nobody knows whether it is stored: the loss is told, and putting the same again is right either way."""
    made(database_url).close()
    database = LosesAnAnswer(database_url, stored=stored)
    store, other = Store(database, tmp_path), Store(Postgres(database_url), tmp_path)
    put(other, HUB)
    database.armed = True
    with pytest.raises(ConnectionLost):
        put(store, ROUTER)
    assert other.counts()[0] == 1 + stored
    put(store, ROUTER)
    assert refuse_torn(other) == 2
    database.armed = True
    with pytest.raises(ConnectionLost):
        store.drop(["hub.md"])
    store.drop(["hub.md"])
    assert refuse_torn(other) == 1
    assert StoreHistory(database).versions("router.md") == (ROUTER.version,)
    store.close()
    other.close()


_WRITER = """
import sys
from pathlib import Path
from grounding.database.postgres import Postgres
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Document
from grounding.store.store import Store
store = Store(Postgres(sys.argv[1]), Path(sys.argv[2]))
turn = 0
while True:
    turn += 1
    documents = [Document(f"d{n}", f"Title {n}", f"Turn {turn} of {n}. " + "Word. " * 900) for n in range(12)]
    store.put([(d, split(d), "/kb", str(turn)) for d in documents])
    print(turn, flush=True)
"""


def test_a_put_whose_writer_is_killed_leaves_whole_documents_or_none(database_url: str, tmp_path: Path) -> None:
    made(database_url).close()
    store = Store(Postgres(database_url), tmp_path)
    for turn in range(4):
        command = [sys.executable, "-c", _WRITER, database_url, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = writer.stdout.readline()
            time.sleep(0.013 * turn)
            writer.send_signal(signal.SIGKILL)
            said += writer.stdout.read()
        acknowledged = int(said.split()[-1])
        stamps = {known.stamp for known in store.known().values()}  # waits for nobody
        assert len(stamps) == 1
        assert acknowledged <= int(stamps.pop()) <= acknowledged + 1
        assert refuse_torn(store) == 12  # and the lock was let go
    store.close()


# --- what belongs to a folder


async def test_each_folder_follows_the_store_by_itself(database_url: str, tmp_path: Path) -> None:
    """Two machines: what one ingests and indexes the other finds once it has caught up, and is told so."""
    database, embedder = made(database_url), HashEmbedder()
    here = await open_kb(tmp_path / "here", [HUB], embedder, database)
    there = await open_kb(tmp_path / "there", [ROUTER], embedder, database)
    assert there.store.unindexed() == []
    assert [w.doc_id for w in here.store.unindexed()] == ["router.md"]
    for index in (here, there):
        index.finish()
        assert index.store.unindexed() == []
        for by in ("words", "meaning"):
            found = await retriever_of(index, embedder).retrieve(Query("warranty of the Wren", by=by), Access(), 1)
            assert [p.doc_id for p in found.passages] == ["router.md"]
    await there.remove("router.md")
    assert [w.doc_id for w in here.store.unindexed()] == ["router.md"]
    assert here.finish()
    assert here.words.count() == 1
    here.close()
    there.close()


def test_what_changes_while_it_is_indexed_is_indexed_again(database_url: str, tmp_path: Path) -> None:
    database = made(database_url)
    here, there = Store(database, tmp_path / "here"), Store(database, tmp_path / "there")
    put(here, HUB)
    put(here, ROUTER)
    waiting = here.unindexed()
    put(there, replace(HUB, text="Another."))
    here.mark_indexed(waiting)
    assert [w.doc_id for w in here.unindexed()] == ["hub.md"]
    here.close()


async def test_a_folder_goes_where_it_is_copied_and_none_of_another_store_is_trusted(
    database_url: str, postgres: str, tmp_path: Path
) -> None:
    database = made(database_url)
    index = await open_kb(tmp_path / "here", [HUB, ROUTER], None, database)
    index.close()
    shutil.copytree(tmp_path / "here", tmp_path / "copy")
    assert Store(database, tmp_path / "copy").unindexed() == []
    run(database_url, "DELETE FROM documents WHERE doc_id = 'router.md'")  # put back to an older state of its own
    assert len(Store(database, tmp_path / "copy").unindexed()) == 1
    with own_schema(postgres) as url:
        other = made(url)
        foreign = await open_kb(tmp_path / "copy", [replace(HUB, doc_id="else.md")], None, other)
        assert foreign.words.count() == 1
        assert foreign.store.unindexed() == []
        foreign.close()
    (tmp_path / "here" / "words.note").write_text("damaged")
    assert len(Store(database, tmp_path / "here").unindexed()) == 1
    database.close()


def test_each_folder_has_its_own_saved_index_of_vectors(database_url: str, tmp_path: Path) -> None:
    database = made(database_url)
    here, there = Store(database, tmp_path / "here"), Store(database, tmp_path / "there")
    put_vectors(here, 0, unit_vectors(600), [(None, None)] * 600)
    query = unit_vectors(1, 7)[0]
    path = tmp_path / "here" / f"{FINGERPRINT}.vectors"
    assert approximate_search.build(here, FINGERPRINT, 384, path) is not None
    indexes = [VectorIndex(store, FINGERPRINT, 384) for store in (here, there)]
    for index in indexes:
        index.refresh()
    assert [index.recall is None for index in indexes] == [False, True]
    assert [pk for pk, _ in indexes[0].search(query, Access(), 5)] == [
        pk for pk, _ in indexes[1].search(query, Access(), 5)
    ]
    here.drop(["d1"])
    for index in indexes:
        index.refresh()
        assert len(index) == 599
    run(database_url, "DELETE FROM changes")  # put back to an older state of its own
    with pytest.raises(DamagedFileError, match="yet to come"):
        approximate_search.load(here, FINGERPRINT, 384, path)
    database.close()


def test_of_a_store_that_was_put_back_no_index_elsewhere_is_in_step(database_url: str, tmp_path: Path) -> None:
    database = made(database_url)
    store = Store(database, tmp_path)
    store.step_with("one")
    put(store, HUB)
    name_anew(database)
    assert store.in_step() == (None, 0)
    store.close()
