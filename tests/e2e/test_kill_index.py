"""kill -9 fifty times, in ingest, in the saving of the indexes and in their rebuilding, before a step drawn at random or at
a moment drawn at random. Each time the store opens, search answers, and what was acknowledged is there.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grounding.embedded.index import EmbeddedIndex
from grounding.records import Access, Query
from tests.e2e.processes import ROOT
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import retriever_of

DOCUMENTS = 60
KILLS = {"ingest, at a step": 28, "rebuild, at a step": 10, "ingest, at a moment": 8, "rebuild, at a moment": 4}
LEFT_ALONE_EVERY = 5


def word_of(doc_id: str, edition: int) -> str:
    """A word that one edition of one document alone holds."""
    return f"zebra{doc_id.removesuffix('.md')}e{edition}x"


@dataclass
class Shelf:
    """What the corpus says, and what of it was acknowledged: by an ingest that ended, by a removal that returned."""

    draw: random.Random
    now: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    since: dict[str, set[int]] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    made: int = 0

    def change(self) -> None:
        """Some documents are new, some change, some go."""
        for _ in range(3 if self.now else DOCUMENTS):
            self.made += 1
            self._set(f"d{self.made}.md", 0)
        for doc_id in self.draw.sample(sorted(self.now), 4):
            self._set(doc_id, self.now[doc_id] + 1)
        for doc_id in self.draw.sample(sorted(self.now), 2):
            self.since.setdefault(doc_id, set()).add(-1)
            del self.now[doc_id]

    def _set(self, doc_id: str, edition: int) -> None:
        self.now[doc_id] = edition
        self.since.setdefault(doc_id, set()).add(edition)

    def write(self, corpus: Path) -> None:
        rows = (
            {"doc_id": d, "title": f"Note {d}", "text": f"The note says {word_of(d, e)}.\n\nIt is kept for {e} days."}
            for d, e in self.now.items()
        )
        corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    def acknowledge(self) -> None:
        """An ingest has ended: everything is as the corpus says, but for what a person removed and nobody changed since."""
        self.removed = {d: e for d, e in self.removed.items() if self.now.get(d) == e}
        self.acknowledged = {d: e for d, e in self.now.items() if d not in self.removed}
        self.since = {}

    def remove(self, doc_id: str, edition: int) -> None:
        self.removed[doc_id] = edition
        self.acknowledged.pop(doc_id, None)

    def may_be(self, doc_id: str) -> set[int]:
        """Editions of a document that may be found; -1 stands for none of it."""
        if doc_id in self.removed:
            return {-1, *(e for e in self.since.get(doc_id, ()) if e != self.removed[doc_id])}
        return {self.acknowledged.get(doc_id, -1), *self.since.get(doc_id, ())}


class Dying:
    """The process that is killed again and again."""

    def __init__(self, process: subprocess.Popen[str], home: Path, corpus: Path) -> None:
        self._process, self._home, self._corpus = process, home, corpus

    def work(self, do: str, **how: Any) -> tuple[int, dict[str, Any] | None]:
        """Exit code, negative for a signal, and the report of a job that came to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"do": do, "home": str(self._home), "source": str(self._corpus), **how}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], answer["report"]

    def over(self, home: Path) -> Dying:
        """The same process for another home."""
        return Dying(self._process, home, self._corpus)

    def done(self, do: str) -> dict[str, Any]:
        code, report = self.work(do)
        assert code == 0
        assert report is not None
        return report


@contextmanager
def dying(home: Path, corpus: Path) -> Iterator[Dying]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.dying"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Dying(process, home, corpus)
        finally:
            process.kill()


async def assert_sound(home: Path, shelf: Shelf) -> dict[str, int]:
    """The store is whole, both searches answer, and each document is there in an edition that it may have; these."""
    with closing(sqlite3.connect(home / "index" / "store.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    embedder = HashEmbedder()
    index = EmbeddedIndex(home / "index", embedder)
    try:
        index.finish()
        assert index.store.unindexed() == []
        rows = {row.pk: row for row in index.store.chunks_of([info.doc_id for info in index.store.documents()])}
        everything = [pk for pk, _ in index.words.search("note", Access(), 10_000)]
        assert sorted(everything) == sorted(rows), "words and store disagree"
        there: dict[str, int] = {}
        for row in rows.values():
            document = index.store.document(row.chunk.doc_id)
            assert document is not None
            assert document.text[row.chunk.start : row.chunk.end] == row.chunk.text
            there[document.doc_id] = int(document.text.split("kept for ")[1].split()[0])
        for doc_id in {*shelf.now, *shelf.acknowledged, *shelf.removed, *there}:
            assert there.get(doc_id, -1) in shelf.may_be(doc_id), (doc_id, there.get(doc_id), shelf.may_be(doc_id))
        for doc_id, edition in there.items():
            found = index.words.search(word_of(doc_id, edition), Access(), 5)
            assert [rows[pk].chunk.doc_id for pk, _ in found] == [doc_id]
        hits = await retriever_of(index, embedder).retrieve(Query("note"), Access(), 1000)
        assert {p.doc_id for p in hits.passages} == set(there)
        return there
    finally:
        index.close()


async def remove_one(home: Path, shelf: Shelf, there: dict[str, int]) -> None:
    """A person removes a document and is told that it is done."""
    settled = [d for d in sorted(there) if d not in shelf.since]
    doc_id = shelf.draw.choice(settled)
    index = EmbeddedIndex(home / "index", None)
    assert await index.remove(doc_id)
    index.close()
    shelf.remove(doc_id, there[doc_id])


async def test_fifty_deaths(tmp_path: Path) -> None:
    home, corpus, shelf = tmp_path / "home", tmp_path / "corpus.jsonl", Shelf(random.Random(50))
    deaths = [kind for kind, count in KILLS.items() for _ in range(count)]
    shelf.draw.shuffle(deaths)
    assert len(deaths) == 50
    shelf.change()
    shelf.write(corpus)
    hit = dict.fromkeys(KILLS, 0)
    with dying(home, corpus) as process:
        last = {"ingest": process.done("ingest"), "rebuild": process.done("rebuild")}
        shelf.acknowledge()
        there = await assert_sound(home, shelf)
        for number, kind in enumerate(deaths, 1):
            await remove_one(home, shelf, there)
            shelf.change()
            shelf.write(corpus)
            do, _, how = kind.partition(", ")
            steps, seconds = last[do]["steps"], last[do]["seconds"]
            drawn = (
                {"step": shelf.draw.randint(1, steps)}
                if how == "at a step"
                else {"after_s": shelf.draw.random() * seconds}
            )
            code, _ = process.work(do, **drawn)
            assert code in (0, -signal.SIGKILL)
            hit[kind] += code != 0
            if code == 0 and do == "ingest":
                shelf.acknowledge()
            there = await assert_sound(home, shelf)
            if number % LEFT_ALONE_EVERY == 0:
                last["ingest"] = process.done("ingest")
                shelf.acknowledge()
                there = await assert_sound(home, shelf)
                assert there == shelf.acknowledged
        other = process.over(tmp_path / "undisturbed")
        shelf.now = shelf.acknowledged
        shelf.write(corpus)
        assert other.done("ingest")["kb_version"].split("-g")[0] == last["ingest"]["kb_version"].split("-g")[0]
    assert sum(hit.values()) >= 40, hit
    assert all(hit.values()), hit
