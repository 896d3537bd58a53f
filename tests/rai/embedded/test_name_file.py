"""The learnt list follows the library, tells of nothing that was not asked for, and outlives damage."""

from __future__ import annotations

import stat
from pathlib import Path

from grounding.ingest.notifying_library import NotifyingLibrary
from grounding.records import Document, DocumentInfo
from rai.check.provenance import CheckPorts, check
from rai.embedded.name_file import NameFile
from rai.embedded.tagger import GazetteerTagger
from rai.records import Source


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


async def test_it_learns_what_is_new_and_forgets_what_is_gone(tmp_path: Path) -> None:
    shelf, names = Shelf(WREN), NameFile(tmp_path / "names.db")
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


async def test_a_changed_document_is_learnt_anew(tmp_path: Path) -> None:
    shelf, names = Shelf(WREN), NameFile(tmp_path / "names.db")
    await names.follow(shelf)
    shelf.held["a"] = Document("a", "", "Take the Roost H1 home.")
    await names.follow(shelf)
    assert {"wren x2", "roost h1"} & names.current().keys() == {"roost h1"}


async def test_another_process_sees_the_new_list(tmp_path: Path) -> None:
    """A running server looks again when the list's number has changed."""
    shelf, writer, server = Shelf(WREN), NameFile(tmp_path / "names.db"), NameFile(tmp_path / "names.db")
    await writer.follow(shelf)
    before = server.current()
    assert server.current() is before
    shelf.held["b"] = SECRET
    await writer.follow(shelf)
    assert "nightjar q9" in server.current()


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


async def test_a_restricted_name_never_shows_to_who_did_not_write_it(tmp_path: Path) -> None:
    """The report of somebody who may not read the document holds nothing of it, and no word of it beyond the answer."""
    names = NameFile(tmp_path / "names.db")
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
