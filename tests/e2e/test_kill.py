"""Processes killed in the middle of their work: what they leave behind is whole, and the next start goes on from it."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession, web

from bot.compose.system import compose
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import MiniLM
from grounding.embedded.vectors.joined import JoinedEmbedder
from grounding.records import Access, Query
from rai.ledger.store import SqlLedger
from tests.e2e.processes import address_of, copy_of_home, environment_of, settings_over, started
from tests.fakes.channel import FakeChannel, post
from tests.fakes.openai_server import OpenAIServer, ok

FILES, LINES, WITH_VECTORS = 70, 2600, 400
PATIENCE_S = 300.0


# --- an ingest


def word_of(n: int) -> str:
    """A word that one document alone holds."""
    return f"zebra{n:05d}x"


def note(n: int) -> str:
    return f"# Note {n}\n\nThe word of this note is {word_of(n)}. It costs €{n}.50 and is kept for {n + 2} days.\n"


def folder_of(path: Path, count: int) -> Path:
    for n in range(count):
        file = path / f"part{n % 7}" / f"note{n}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note(n), "utf-8")
    return path


def corpus_of(path: Path, count: int) -> Path:
    rows = ({"doc_id": f"note{n}", "title": f"Note {n}", "text": note(n)} for n in range(count))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Ingest:
    """`attest ingest` of one source into one home."""

    source: Path
    home: Path
    model: Path | None = None

    @contextmanager
    def process(self) -> Iterator[subprocess.Popen[str]]:
        self.home.mkdir(exist_ok=True)
        arguments = ["ingest", str(self.source), "--json", *([] if self.model else ["--lexical-only"])]
        with started(*arguments, env=environment_of(self.home, self.model), cwd=self.home.parent) as process:
            yield process

    def killed(self, when: Callable[[Ingest], bool], then_s: float) -> bool:
        """Kill a run `then_s` after `when` holds. True if it was still at work."""
        with self.process() as process:
            until = time.monotonic() + PATIENCE_S
            while not when(self) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(then_s)
            process.kill()
            process.communicate()
            return process.returncode == -signal.SIGKILL

    def finished(self) -> dict[str, Any]:
        """The report of a run that is left alone."""
        with self.process() as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, err
        return dict(json.loads(out))

    def holds(self, table: str) -> int:
        """Rows of a table of the store, as another process sees them; 0 while there is none."""
        try:
            with closing(sqlite3.connect(f"file:{self.home}/index/store.db?mode=ro", uri=True)) as db:
                return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def begun(run: Ingest) -> bool:
    return (run.home / "index" / "store.db").exists()


def committed(run: Ingest) -> bool:
    return run.holds("documents") > 0


def assert_whole(run: Ingest, count: int, words: int | None = None) -> None:
    """`count` documents are in the store, whole, and each of `words` (default: one a document) finds one chunk, once."""
    with closing(sqlite3.connect(run.home / "index" / "store.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    index = EmbeddedIndex(run.home / "index", None)
    try:
        rows = index.store.chunks_of([info.doc_id for info in index.store.documents()])
        assert index.counts() == (count, len(rows))
        assert index.store.unindexed() == []
        assert len({row.chunk.chunk_id for row in rows}) == len(rows)
        for row in rows:
            document = index.store.document(row.chunk.doc_id)
            assert document is not None
            assert document.text[row.chunk.start : row.chunk.end] == row.chunk.text
        holder = {row.pk: row for row in rows}
        for n in range(words or count):
            found = index.words.search(word_of(n), Access(), 10)
            assert len(found) == 1, (n, found)
            assert word_of(n) in holder[found[0][0]].chunk.text
        everything = index.words.search("note", Access(), 10 * count)
        assert sorted(pk for pk, _ in everything) == sorted(holder)
    finally:
        index.close()


def without_generation(kb_version: str) -> str:
    """The part of a version that names the content, not how many commits it took."""
    return kb_version.rpartition("-g")[0]


def test_an_ingest_of_a_folder_that_is_killed_again_and_again(tmp_path: Path) -> None:
    """Killed at random moments from its start on; meanwhile the folder changes. The next run that is left alone
    makes the knowledge base what one undisturbed run makes of the folder.
    """
    source = folder_of(tmp_path / "docs", FILES)
    run = Ingest(source, tmp_path / "home")
    moments = random.Random(7)
    hit = [run.killed(begun, moments.uniform(0.0, 1.5)) for _ in range(3)]
    hit.append(run.killed(committed, moments.uniform(0.0, 0.05)))
    assert sum(hit) >= 3, "the run ended before it was killed: nothing was tested"
    (source / "part1" / "note1.md").write_text(note(FILES), "utf-8")
    (source / "part2" / "note2.md").unlink()
    (source / "part2" / "other.md").write_text(note(1) + note(2), "utf-8")
    report = run.finished()
    assert (report["refused"], report["added"] + report["changed"] + report["unchanged"]) == ([], FILES)
    undisturbed = Ingest(source, tmp_path / "other").finished()
    assert report["chunks"] == undisturbed["chunks"]
    assert without_generation(report["kb_version"]) == without_generation(undisturbed["kb_version"])
    assert_whole(run, FILES, FILES + 1)
    again = run.finished()
    assert (again["added"], again["changed"], again["unchanged"], again["deleted"]) == (0, 0, FILES, 0)


def test_an_ingest_of_a_corpus_killed_between_its_batches(tmp_path: Path) -> None:
    """A corpus takes several transactions: what was committed stays, what was not is read again, nothing stands twice."""
    run = Ingest(corpus_of(tmp_path / "corpus.jsonl", LINES), tmp_path / "home")
    moments = random.Random(11)
    hit = [run.killed(committed, moments.uniform(0.0, 0.4)) for _ in range(3)]
    assert any(hit), "the run ended before it was killed: nothing was tested"
    before = run.holds("documents")
    assert before
    report = run.finished()
    assert report["unchanged"] >= before
    assert report["added"] + report["unchanged"] == LINES
    assert (report["changed"], report["deleted"], report["refused"]) == (0, 0, [])
    assert_whole(run, LINES)


def test_an_ingest_killed_while_it_makes_vectors_goes_on_with_those_that_are_missing(
    tmp_path: Path, model_file: Path, minilm: MiniLM, reader: E5Reader
) -> None:
    run = Ingest(corpus_of(tmp_path / "corpus.jsonl", WITH_VECTORS), tmp_path / "home", model_file)
    assert run.killed(lambda r: r.holds("vectors") > 0, 0.05), "the run ended before it was killed"
    made = run.holds("vectors")
    assert 0 < made < WITH_VECTORS
    report = run.finished()
    assert (report["unchanged"], report["chunks"]) == (WITH_VECTORS, WITH_VECTORS)
    assert report["embedded"] == WITH_VECTORS - made
    assert run.holds("vectors") == WITH_VECTORS
    assert_whole(run, WITH_VECTORS)
    both = JoinedEmbedder(minilm, reader)
    index = EmbeddedIndex(run.home / "index", both)
    try:
        assert index.store.without_vectors(both.fingerprint) == []
        assert len(index.store.vector_keys(both.fingerprint)) == WITH_VECTORS
    finally:
        index.close()


def test_of_two_ingests_at_a_time_one_is_told_to_wait(tmp_path: Path) -> None:
    """Exit code 3 and one line for the second; the first is not disturbed. The first is stopped between two of its batches
    while the second runs: left to itself, a fast machine is done with the one before it has begun the other.
    """
    run = Ingest(corpus_of(tmp_path / "corpus.jsonl", LINES), tmp_path / "home")
    with run.process() as one:
        until = time.monotonic() + PATIENCE_S
        while not committed(run) and one.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        one.send_signal(signal.SIGSTOP)
        try:
            assert 0 < run.holds("documents") < LINES, "the first was not stopped at its work: nothing is tested"
            with run.process() as other:
                said = other.communicate(timeout=PATIENCE_S)[1]
        finally:
            one.send_signal(signal.SIGCONT)
        out, err = one.communicate(timeout=PATIENCE_S)
    assert other.returncode == 3, said
    lines = [line for line in said.splitlines() if "no models at" not in line]
    assert lines == ["attest: another ingest is at work on this knowledge base; wait for it to end"]
    assert (one.returncode, json.loads(out)["added"]) == (0, LINES), err
    assert run.finished()["unchanged"] == LINES


# --- a server


@dataclass(frozen=True, slots=True)
class Model:
    """A home whose drafts come from a loopback server."""

    home: Path
    env: dict[str, str]

    @staticmethod
    def over(home: Path, model: Path, server: OpenAIServer) -> Model:
        more = {
            "ATTEST_GENERATOR": "openai",
            "ATTEST_OPENAI_BASE_URL": server.base_url,
            "ATTEST_STATEMENT_JUDGE": "off",
            "ATTEST_RETRIES": "0",
        }
        return Model(home, environment_of(home, model, **more))

    @contextmanager
    def serving(self) -> Iterator[tuple[subprocess.Popen[str], str]]:
        with started("serve", "--port", "0", "--json", env=self.env, cwd=self.home.parent) as process:
            yield process, address_of(process)


def answers_to(channel: FakeChannel, activity_id: str) -> list[str]:
    """The answers that were sent to one activity, signs of life left out."""
    return [m["text"] for m in channel.messages if m.get("replyToId") == activity_id]


@dataclass(frozen=True, slots=True)
class Hang:
    """A step of the model's script that never answers; `reached` is set when it has the prompt."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, server: OpenAIServer, _: web.Request) -> web.StreamResponse:
        self.reached.set()
        await server.released.wait()
        return web.Response(status=503)

    async def until_reached(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.reached.wait()


async def deliver(base: str, activity: dict[str, Any]) -> None:
    async with ClientSession() as session:
        response = await post(session, f"{base}/api/messages", activity)
        assert response.status == 202, await response.text()


def let_the_lease_run_out(home: Path) -> None:
    """As half a minute of waiting would."""
    with closing(sqlite3.connect(home / "state.db")) as db, db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM inbox WHERE status = 'received'").fetchone() == (1,)
        db.execute("UPDATE inbox SET lease_until = 0 WHERE status = 'received'")


async def turns(home: Path) -> int:
    """Number of turns in the ledger, which must verify."""
    settings = settings_over(home)
    ledger = SqlLedger(home / "ledger.db", settings.files.ledger_key)
    try:
        verified = await ledger.verify()
        assert verified.ok, verified
        return len([entry async for entry in ledger.entries() if entry.kind == "turn"])
    finally:
        await ledger.close()


@pytest.fixture
def home(quick_home: Path, tmp_path: Path) -> Path:
    return copy_of_home(quick_home, tmp_path / "killed" / "home")


DEVICES = "How many devices can connect to a Wren X1 at the same time?"
DRAFT = "Connected devices of the Wren X1: up to 64 [1]."


async def ask(session: ClientSession, base: str) -> dict[str, Any]:
    async with session.post(f"{base}/api/ask", json={"question": DEVICES}) as response:
        return dict(await response.json())


async def assert_usable(home: Path, model: Path) -> None:
    """The index answers by words and by meaning."""
    system = await compose(settings_over(home, model))
    found = await system.retriever.retrieve(Query(DEVICES), Access(), 3)
    await system.close()
    assert found.mode == "hybrid"
    assert any("wren-x1" in p.doc_id for p in found.passages)


async def test_a_server_killed_in_the_middle_of_its_turns(home: Path, quick_model_file: Path) -> None:
    """The ledger verifies and holds what was answered, the index answers, a caller hears of it, and what the channel
    delivered is answered once: the turn in hand by the next process, the one before not again.
    """
    hangs = Hang(), Hang()
    async with (
        FakeChannel() as channel,
        OpenAIServer(ok(DRAFT), *hangs, otherwise=ok(DRAFT)) as llm,
        ClientSession() as session,
    ):
        model = Model.over(home, quick_model_file, llm)
        done, cut, later = (channel.inbound(DEVICES) for _ in range(3))
        with model.serving() as (process, base):
            await deliver(base, done)
            await channel.until(lambda c: bool(answers_to(c, done["id"])), within_s=PATIENCE_S)
            await deliver(base, cut)
            await hangs[0].until_reached()
            call = asyncio.create_task(ask(session, base))
            await hangs[1].until_reached()
            process.kill()
            await asyncio.to_thread(process.wait)
            with pytest.raises(ClientConnectionError):
                await call
        assert not answers_to(channel, cut["id"])
        assert await turns(home) == 1
        await assert_usable(home, quick_model_file)
        let_the_lease_run_out(home)
        with model.serving() as (_, base):
            await channel.until(lambda c: bool(answers_to(c, cut["id"])), within_s=PATIENCE_S)
            for activity in (done, cut, later):  # the channel delivers again what it was not told about
                await deliver(base, activity)
            await channel.until(lambda c: bool(answers_to(c, later["id"])), within_s=PATIENCE_S)
            assert "64" in (await ask(session, base))["answer"]
    for activity in (done, cut, later):
        assert len(answers_to(channel, activity["id"])) == 1, activity["id"]
        assert "64" in answers_to(channel, activity["id"])[0]
    assert await turns(home) == 4
