"""A backup that is made while an ingest writes, and what is restored from it."""

from __future__ import annotations

import asyncio
import shutil
import stat
import time
from pathlib import Path

import pytest

from bot.compose.ingest import open_history, open_ingester
from bot.compose.system import compose
from grounding.embedded.index import EmbeddedIndex
from grounding.errors import InputError
from grounding.records import Access, Query
from tests.e2e.processes import copy_of_home, settings_over
from tests.e2e.test_kill import LINES, PATIENCE_S, Ingest, assert_whole, corpus_of, word_of


async def rebuilt(home: Path) -> None:
    ingester = await open_ingester(settings_over(home))
    await ingester.rebuild(lambda _: None)
    await ingester.close()


def restored(copy: Path, home: Path) -> Path:
    """As the documentation says: the file in the place of the store of a new home."""
    (home / "index").mkdir(parents=True)
    shutil.copyfile(copy, home / "index" / "store.db")
    asyncio.run(rebuilt(home))
    return home


def test_a_backup_beside_a_running_ingest_is_whole(tmp_path: Path) -> None:
    """It holds what was committed at its moment; the restored home answers, and takes in the rest alone."""
    run = Ingest(corpus_of(tmp_path / "corpus.jsonl", LINES), tmp_path / "home")
    past = open_history(settings_over(run.home))
    copies: list[Path] = []
    with run.process() as process:
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < until:
            if run.holds("documents"):
                copies.append(tmp_path / f"copy{len(copies)}.db")
                assert past.backup(copies[-1]) == copies[-1].stat().st_size
            else:
                time.sleep(0.01)
    assert process.returncode == 0
    assert not list(tmp_path.glob(".copy*")), "something is left of a copy"
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    early = Ingest(run.source, restored(copies[0], tmp_path / "early"))
    held = early.holds("documents")
    assert 0 < held < LINES, "the first copy was made too late: nothing was tested"
    assert_whole(early, held)
    report = early.finished()
    assert (report["added"], report["unchanged"]) == (LINES - held, held)
    assert_whole(early, LINES)


async def test_a_restored_system_answers_as_before(quick_home: Path, tmp_path: Path) -> None:
    """With its removals and its versions; a backup writes over nothing."""
    home, copy = tmp_path / "home", tmp_path / "kb.db"
    copy_of_home(quick_home, home)
    system = await compose(settings_over(home))
    gone = (await system.library.documents())[0]
    assert await system.library.remove(gone.doc_id)
    open_history(settings_over(home)).backup(copy)
    with pytest.raises(InputError, match="is there already"):
        open_history(settings_over(home)).backup(copy)
    new = tmp_path / "new"
    (new / "index").mkdir(parents=True)
    shutil.copyfile(copy, new / "index" / "store.db")
    await rebuilt(new)
    again = await compose(settings_over(new))
    try:
        assert await again.library.documents() == await system.library.documents()
        assert await again.library.document(gone.doc_id, gone.version) is not None
        assert [(t.doc_id, t.by_hand) for t in open_history(settings_over(new)).tombstones()] == [(gone.doc_id, True)]
        before = await system.retriever.retrieve(Query("refund"), Access(), 50)
        after = await again.retriever.retrieve(Query("refund"), Access(), 50)
        assert [p.chunk_id for p in after.passages] == [p.chunk_id for p in before.passages]
        assert after.passages
    finally:
        await again.close()
        await system.close()


def test_a_rebuild_heals_an_index_of_another_store(tmp_path: Path) -> None:
    """Words that belong to other documents, as after a restore in place, are gone after it."""
    one = Ingest(corpus_of(tmp_path / "one.jsonl", 30), tmp_path / "home")
    one.finished()
    open_history(settings_over(one.home)).backup(tmp_path / "then.db")
    Ingest(corpus_of(tmp_path / "one.jsonl", 50), one.home).finished()
    for name in ("store.db-wal", "store.db-shm"):
        (one.home / "index" / name).unlink(missing_ok=True)
    shutil.copyfile(tmp_path / "then.db", one.home / "index" / "store.db")
    asyncio.run(rebuilt(one.home))
    assert_whole(one, 30)
    index = EmbeddedIndex(one.home / "index", None)
    assert index.words.search(word_of(40), Access(), 5) == []
    index.close()


def test_there_is_nothing_to_back_up_yet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no knowledge base yet"):
        open_history(settings_over(tmp_path / "home")).backup(tmp_path / "copy.db")
    assert not list(tmp_path.glob("*copy*"))


def test_a_copy_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    run = Ingest(corpus_of(tmp_path / "one.jsonl", 3), tmp_path / "home")
    run.finished()
    with pytest.raises(InputError, match="cannot be written"):
        open_history(settings_over(run.home)).backup(tmp_path / "no" / "copy.db")
