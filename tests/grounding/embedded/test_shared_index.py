"""Machines with indexes of their own over one store: each follows what another took in, and the store decides on every hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grounding.database.postgres import Postgres
from grounding.embedded import index as module
from grounding.embedded.index import EmbeddedIndex
from grounding.errors import StoreError
from grounding.records import Access, Query
from grounding.store.chunks import ChunkRow
from tests.grounding.embedded.kb import open_kb, retriever_of
from tests.grounding.embedded.test_index import HUB, ROUTER
from tests.postgres.store import made


@pytest.fixture
def database(database_url: str) -> Iterator[Postgres]:
    database = made(database_url)
    yield database
    database.close()


async def found(index: EmbeddedIndex, text: str, *groups: str) -> set[str]:
    access = Access("u", frozenset(groups))
    return {p.doc_id for p in (await retriever_of(index, None).retrieve(Query(text), access, 9)).passages}


async def test_a_machine_follows_what_another_took_in_and_then_rests(database: Postgres, tmp_path: Path) -> None:
    other = EmbeddedIndex(tmp_path / "b", None, database)
    assert not other.keep_up()
    one = await open_kb(tmp_path / "a", [HUB], None, database)
    assert await found(other, "Roost") == set()
    assert other.keep_up()
    assert await found(other, "Roost") == {"hub.md"}
    assert [other.keep_up() for _ in range(3)] == [False, False, False]
    generation = other.store.generation()
    assert [one.keep_up(), other.keep_up(), one.keep_up()] == [False, False, False]
    assert other.store.generation() == generation  # two that follow do not keep each other busy


async def test_only_what_is_new_is_indexed(database: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = EmbeddedIndex(tmp_path / "b", None, database)
    await open_kb(tmp_path / "a", [HUB], None, database)
    other.keep_up()
    done: list[int] = []
    replace_words = other.words.replace

    def counted(doc_ids: Sequence[str], rows: Sequence[ChunkRow]) -> None:
        done.append(len(doc_ids))
        replace_words(doc_ids, rows)

    monkeypatch.setattr(other.words, "replace", counted)
    await open_kb(tmp_path / "a", [ROUTER], None, database)
    assert other.keep_up()
    assert done == [1]


async def test_removals_and_narrower_rights_hold_before_the_index_has_followed(
    database: Postgres, tmp_path: Path
) -> None:
    one = await open_kb(tmp_path / "a", [HUB, replace(ROUTER, groups=None)], None, database)
    other = EmbeddedIndex(tmp_path / "b", None, database)
    other.keep_up()
    assert await found(other, "Roost") == {"hub.md"}
    assert await found(other, "warranty") == {"router.md"}
    await one.remove("hub.md")
    await open_kb(tmp_path / "a", [replace(ROUTER, groups=("tier2",))], None, database)
    assert (await found(other, "Roost"), await found(other, "warranty")) == (set(), set())
    other.keep_up()
    assert await found(other, "warranty", "tier2") == {"router.md"}


async def test_processes_of_one_machine_have_one_index(database: Postgres, tmp_path: Path) -> None:
    """The one that is slower finds the work done, and what it opened when nothing was there is not taken for lost."""
    first, second = (EmbeddedIndex(tmp_path / "b", None, database) for _ in range(2))
    await open_kb(tmp_path / "a", [HUB], None, database)
    assert (first.keep_up(), second.keep_up()) == (True, False)
    assert await found(second, "Roost") == {"hub.md"}


async def test_what_another_process_holds_up_is_done_at_the_next_look(database: Postgres, tmp_path: Path) -> None:
    other = EmbeddedIndex(tmp_path / "b", None, database)
    await open_kb(tmp_path / "a", [HUB], None, database)
    busy = EmbeddedIndex(tmp_path / "b", None, database)
    busy.lock()
    busy.words.replace([], [])
    assert not other.keep_up()
    busy.unlock()
    assert other.keep_up()
    assert await found(other, "Roost") == {"hub.md"}


async def test_an_ingest_waits_for_whoever_follows_and_not_for_ever(
    database: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOCK_WAIT_S", 0.3)
    following, ingest = (EmbeddedIndex(tmp_path / "b", None, database) for _ in range(2))
    following.lock()
    with pytest.raises(StoreError, match="another ingest is at work"):
        ingest.lock()
    following.unlock()
    ingest.lock()
