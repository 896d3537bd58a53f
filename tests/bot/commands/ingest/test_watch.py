"""`attest ingest --watch`: files are followed, and each change is told in a line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.commands.ingest.ingest import bars
from bot.commands.ingest.watch import Job, follow, print_event, print_event_as_json
from bot.compose.ingest import open_ingester
from grounding.embedded.index import EmbeddedIndex
from grounding.errors import InputError, ServiceUnavailable
from grounding.records import Access, IngestReport
from tests.e2e.processes import settings_over

LOOK_S = 0.05
PATIENCE_S = 60.0


class Watched:
    """A folder that is followed by a real ingest, and what was told of it."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.events: list[dict[str, Any]] = []
        self._heard = asyncio.Event()

    def tell(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self._heard.set()

    async def until(self, holds: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The events since the last call, once `holds` is true of them."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds(self.events):
                await self._heard.wait()
                self._heard.clear()
        seen, self.events = self.events, []
        return seen

    async def told(self, *expected: tuple[str, str]) -> None:
        await self.until(lambda events: [(e["event"], e.get("doc_id")) for e in events] == list(expected))

    def found(self, word: str) -> bool:
        index = EmbeddedIndex(self.home / "index", None)
        try:
            return bool(index.words.search(word, Access(), 5))
        finally:
            index.close()


@contextmanager
def _silent() -> Iterator[Callable[[object], None]]:
    yield lambda _: None


@pytest.fixture
async def watched(tmp_path: Path) -> Any:
    folder, home = tmp_path / "kb", tmp_path / "home"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe word of this one is apple.\n", "utf-8")
    watched = Watched(folder, home)
    ingester = await open_ingester(settings_over(home))
    job = Job([folder], None, lexical_only=True)
    task = asyncio.create_task(follow(ingester, job, watched.tell, lambda _: None, _silent, look_s=LOOK_S))
    await watched.until(lambda events: [e["event"] for e in events] == ["ready"])
    yield watched
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await ingester.close()


async def test_files_are_followed(watched: Watched) -> None:
    """Written, written beside and renamed, changed, moved, deleted: each is told once, when it can be found."""
    (watched.folder / "b.md").write_text("# B\n\nThe word of this one is banana.\n", "utf-8")
    await watched.told(("added", "b.md"))
    assert watched.found("banana")
    (watched.folder / ".b.md.swp").write_text("# B\n\nThe word of this one is cherry.\n", "utf-8")
    (watched.folder / ".b.md.swp").rename(watched.folder / "b.md")
    await watched.told(("changed", "b.md"))
    assert watched.found("cherry")
    (watched.folder / "sub").mkdir()
    (watched.folder / "b.md").rename(watched.folder / "sub" / "b.md")
    await watched.told(("added", "sub/b.md"), ("deleted", "b.md"))
    (watched.folder / "a.md").unlink()
    await watched.told(("deleted", "a.md"))
    assert not watched.found("apple")


async def test_a_file_that_is_still_being_written_is_waited_for(watched: Watched) -> None:
    with (watched.folder / "long.md").open("w", encoding="utf-8") as file:
        file.write("# Long\n\n")
        for n in range(12):
            file.write(f"Line {n} of many.\n\n")
            file.flush()
            await asyncio.sleep(LOOK_S * 0.8)
        file.write("The last word is zebra.\n")
    events = await watched.until(lambda _: watched.found("zebra"))
    assert events[0] == {"event": "added", "doc_id": "long.md"}
    assert len(events) < 4, "it was taken in again and again while it was written"


async def test_refusals_and_bad_metadata_are_told_once_and_stop_nothing(watched: Watched) -> None:
    (watched.folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing of a pdf")
    assert [(e["event"], e["doc_id"]) for e in await watched.until(bool)] == [("refused", "bad.pdf")]
    (watched.folder / "attest.yaml").write_text("documents: [", "utf-8")
    assert "attest.yaml" in (await watched.until(bool))[0]["message"]
    (watched.folder / "c.md").write_text("# C\n\nThe word of this one is date.\n", "utf-8")
    await asyncio.sleep(LOOK_S * 10)
    assert watched.events == []
    (watched.folder / "attest.yaml").write_text("documents:\n- match: a.md\n  groups: [hr]\n", "utf-8")
    await watched.told(("changed", "a.md"), ("added", "c.md"))
    assert not watched.found("apple")


async def test_another_ingest_gets_its_turn(watched: Watched, tmp_path: Path) -> None:
    """Between two passes the lock is free; while the other has it, the watch says so and waits."""
    other = EmbeddedIndex(watched.home / "index", None)
    other.lock()
    (watched.folder / "b.md").write_text("# B\n\nThe word of this one is banana.\n", "utf-8")
    assert "another ingest" in (await watched.until(bool))[0]["message"]
    other.unlock()
    await watched.told(("added", "b.md"))
    other.lock()
    other.close()


async def test_a_service_that_fails_is_told_and_the_watch_goes_on(tmp_path: Path) -> None:
    """What was taken in before it failed is told too, and its failure once."""
    watched = Watched(tmp_path / "kb", tmp_path / "home")
    watched.folder.mkdir()
    ingester = await open_ingester(settings_over(watched.home))
    is_down = asyncio.Event()

    async def ingest(*args: Any, **options: Any) -> IngestReport:
        report = await ingester.ingest(*args, **options)
        if is_down.is_set():
            raise ServiceUnavailable("Azure AI Search", "it does not answer")
        return report

    job = Job([watched.folder], None, lexical_only=True)
    failing = replace(ingester, ingest=ingest)
    task = asyncio.create_task(follow(failing, job, watched.tell, lambda _: None, _silent, look_s=LOOK_S))
    await watched.until(lambda events: [e["event"] for e in events] == ["ready"])
    is_down.set()
    (watched.folder / "b.md").write_text("# B\n\nThe word of this one is banana.\n", "utf-8")
    events = await watched.until(lambda events: len(events) == 2)
    assert events[0] == {"event": "added", "doc_id": "b.md"}
    assert events[1] == {"event": "error", "message": "Azure AI Search: it does not answer"}
    is_down.clear()
    (watched.folder / "b.md").unlink()
    await watched.told(("deleted", "b.md"))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await ingester.close()


async def test_a_path_that_does_not_exist_ends_a_watch_at_once(tmp_path: Path) -> None:
    ingester = await open_ingester(settings_over(tmp_path / "home"))
    with pytest.raises(InputError):
        await follow(ingester, Job([tmp_path / "none"], None, True), print, print, bars)
    await ingester.close()


def test_the_lines_of_a_watch(capsys: pytest.CaptureFixture[str]) -> None:
    print_event({"event": "added", "doc_id": "a\x1b[2J.md"})
    print_event({"event": "refused", "doc_id": "b.pdf", "code": "corrupt", "message": "b.pdf: no pages"})
    print_event_as_json({"event": "added", "doc_id": "a.md"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(" ", 1)[1] == "added a\ufffd[2J.md"
    assert lines[1].split(" ", 1)[1] == "refused b.pdf corrupt b.pdf: no pages"
    assert json.loads(lines[2]) == {"event": "added", "doc_id": "a.md"}
