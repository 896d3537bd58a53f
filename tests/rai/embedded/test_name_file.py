"""The learnt list follows the library, tells of nothing that was not asked for, and outlives damage."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from grounding.ingest.notifying_library import NotifyingLibrary
from grounding.records import Document, DocumentInfo
from rai.check.provenance import CheckPorts, check
from rai.embedded.name_file import PART, SHARED_S, NameFile
from rai.embedded.tagger import GazetteerTagger
from rai.records import Source
from tests.postgres.faults import LosesAnAnswer, run
from tests.postgres.side import Places, made, places

Opener = Callable[[], NameFile]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with places(request, tmp_path / "names.db", PART) as of:
        yield of


@pytest.fixture
def another(place: Places) -> Opener:
    """Opens the list once more, as another worker does that looks each time."""
    return lambda: NameFile(place(), shared_s=0)


class Shelf:
    """A Library in memory that counts what is read."""

    def __init__(self, *documents: Document) -> None:
        self.held = {d.doc_id: d for d in documents}
        self.read = 0

    async def documents(self) -> tuple[DocumentInfo, ...]:
        return tuple(
            DocumentInfo(d.doc_id, d.title, d.content_type, d.version, 1, None, d.groups, None, False, None, "", "")
            for d in self.held.values()
        )

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        self.read += 1
        return self.held.get(doc_id)

    async def last(self, doc_id: str) -> Document | None:
        return self.held.get(doc_id)

    async def remove(self, doc_id: str) -> bool:
        return self.held.pop(doc_id, None) is not None


WREN = Document("a", "", "Take the Wren X2 home.")
SECRET = Document("b", "", "Project lead is Dr. Zephyrine Quillfeather. The Nightjar Q9 comes soon.", groups=("board",))


async def test_it_learns_what_is_new_and_forgets_what_is_gone(another: Opener) -> None:
    shelf, names = Shelf(WREN), another()
    assert names.current() == {}
    assert await names.follow(shelf) == 1
    assert names.current()["wren x2"] == "product"
    shelf.held["b"] = SECRET
    shelf.read = 0
    assert (await names.follow(shelf), shelf.read) == (1, 1)
    assert names.current()["nightjar q9"] == "product"
    assert await NotifyingLibrary(shelf, lambda _removed: names.follow(shelf)).remove("b")
    assert "nightjar q9" not in names.current()
    assert await names.follow(shelf) == 0


async def test_a_changed_document_is_learnt_anew(another: Opener) -> None:
    shelf, names = Shelf(WREN), another()
    await names.follow(shelf)
    shelf.held["a"] = Document("a", "", "Take the Roost H1 home.")
    await names.follow(shelf)
    assert {"wren x2", "roost h1"} & names.current().keys() == {"roost h1"}


async def test_another_process_sees_the_new_list(another: Opener) -> None:
    """A running server looks again when the list's number has changed."""
    shelf, writer, server = Shelf(WREN), another(), another()
    await writer.follow(shelf)
    before = server.current()
    assert server.current() is before
    shelf.held["b"] = SECRET
    await writer.follow(shelf)
    assert "nightjar q9" in server.current()


async def test_a_restricted_name_never_shows_to_who_did_not_write_it(another: Opener) -> None:
    """The report of somebody who may not read the document holds nothing of it, and no word of it beyond the answer."""
    names = another()
    await names.follow(Shelf(WREN, SECRET))
    ports = CheckPorts(tagger=GazetteerTagger(names.current))
    sources = [Source("s1", "The Wren X2 is white.")]
    for answer in ("The Nightjar is grey.", "take the nightjar home", "Ask Dr. Zephyrine about the Nightjar."):
        report = await check(answer, sources, ports=ports)
        allowed = f"{answer} {sources[0].text}".lower()
        said = repr(report).lower()
        assert "quillfeather" not in said
        assert "q9" not in said
        assert all(word in allowed or word not in said for word in ("zephyrine", "nightjar"))


async def test_two_workers_that_learn_at_once_leave_one_whole_list(another: Opener) -> None:
    shelf = Shelf(WREN, SECRET, *(Document(f"d{n}", "", f"Take the Roost H{n} home.") for n in range(20)))
    workers = [another() for _ in range(4)]
    await asyncio.gather(*(worker.follow(shelf) for worker in workers))
    del shelf.held["b"]
    await asyncio.gather(*(worker.follow(shelf) for worker in workers))
    lists = [worker.current() for worker in (*workers, another())]
    assert all(names == lists[0] for names in lists)
    assert {"wren x2", "roost h19"} <= lists[0].keys()
    assert "nightjar q9" not in lists[0]
    assert await another().follow(shelf) == 0


async def test_all_is_learnt_anew_when_it_is_wanted(another: Opener) -> None:
    shelf, names = Shelf(WREN, SECRET), another()
    found = [names.exists]
    await names.follow(shelf)
    before = dict(names.current())
    assert [*found, names.exists] == [False, True]
    assert await names.learn_anew(shelf) == 2
    assert another().current() == before


async def test_an_id_that_no_database_keeps_is_learnt_once(another: Opener) -> None:
    shelf, names = Shelf(Document("a\x00\ud800", "", "Take the Wren X2 home.\x00")), another()
    assert await names.follow(shelf) == 1
    assert await names.follow(shelf) == 0
    assert another().current()["wren x2"] == "product"


# --- a file


async def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    names = NameFile(tmp_path / "names.db")
    await names.follow(Shelf(SECRET))
    assert stat.S_IMODE((tmp_path / "names.db").stat().st_mode) == 0o600


async def test_a_damaged_file_makes_no_name_known_and_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "names.db"
    path.write_bytes(b"not a database, and long enough to look like one" * 100)
    names = NameFile(path)
    assert names.current() == {}
    assert await names.follow(Shelf(WREN)) == 0


# --- PostgreSQL


async def test_a_worker_learns_and_can_change_nothing_else(
    database_url: str, worker_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    made(database_url, PART, make_url(worker_url).username).close()
    names, shelf = NameFile(Postgres(worker_url)), Shelf(WREN, SECRET)
    assert (await names.follow(shelf), await names.learn_anew(shelf)) == (2, 2)
    await shelf.remove("b")
    assert await names.follow(shelf) == 1
    assert names.current().keys() == {"wren", "wren x2"}
    assert caplog.text == ""
    for statement in ("UPDATE known_names SET names = ''", "TRUNCATE names_by_document", "DROP TABLE known_names"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)


async def test_a_database_that_cannot_be_used_makes_no_name_known_and_is_left_alone(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each text of a turn asks for the list: it is looked at once in a while."""
    now = [0.0]
    names = NameFile(Postgres(database_url), clock=lambda: now[0])
    missing = "the database has no tables for the names yet; its owner makes them: attest database upgrade"
    with pytest.raises(StoreError, match=f"^{missing}$"):
        assert names.exists
    assert [names.current() for _ in range(3)] == [{}, {}, {}]
    assert caplog.messages == [f"{missing}; names go by their shape alone"]
    assert await names.follow(Shelf(WREN)) == 0
    made(database_url, PART).close()
    assert not names.exists
    await NameFile(Postgres(database_url)).follow(Shelf(WREN))
    assert names.current() == {}
    now[0] = SHARED_S
    assert names.current().keys() == {"wren", "wren x2"}
    run(database_url, "DROP TABLE known_names")
    now[0] *= 2
    assert names.current().keys() == {"wren", "wren x2"}
    assert caplog.messages[-1].startswith("the list of names cannot be used: a table or column is gone")


@pytest.mark.parametrize("stored", [True, False])
async def test_a_commit_without_an_answer_is_told_and_the_next_call_makes_it_good(
    database_url: str, stored: bool, caplog: pytest.LogCaptureFixture
) -> None:
    made(database_url, PART).close()
    database = LosesAnAnswer(database_url, stored=stored)
    names, shelf = NameFile(database, shared_s=0), Shelf(WREN)
    database.armed = True
    await names.follow(shelf)
    await names.follow(shelf)
    assert names.current().keys() == {"wren", "wren x2"}
    assert run(database_url, "SELECT count(*), max(number) FROM known_names")[0] == (1, 1)
    assert all("the list of names cannot be used" in message for message in caplog.messages)
