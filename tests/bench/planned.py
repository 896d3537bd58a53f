"""Benchmark of a planned run: four ingest workers over PostgreSQL, one of them killed, fill a stand-in of Azure AI Search with made-up vectors; then a tenth of the documents
gets other groups.

`python -m tests.bench.planned stand-in WIDTH` is the process of the stand-ins, `python -m tests.bench.planned work CORPUS LEASE_S` that of a worker, with the program's settings in its
environment: the parts of the program, but for names and verdicts of the screen, which have figures of their own.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import web

from bot.compose.database import usable_places
from bot.compose.embedder import rationed_embedder
from bot.compose.planned_run import Shares, take_part
from bot.compose.resources import Resources
from bot.compose.search import mirror
from bot.settings.load import load_settings
from grounding.embedded.index import EmbeddedIndex
from grounding.ports import Vectors
from grounding.records import IngestReport, Progress
from grounding.store.store import Store
from rai.ledger.store import SqlLedger
from tests.bench.figures import Figure
from tests.bench.place import Place
from tests.e2e.processes import environment_of
from tests.fakes.ai_search_server import KEY, AiSearchServer
from tests.fakes.embeddings_server import KEY as EMBEDDING_KEY
from tests.fakes.embeddings_server import EmbeddingsServer
from tests.postgres.server import VERSION, own_schema, running
from tests.postgres.shared import made

COUNT, WIDTH, WORKERS = 100_000, 256, 4
LEASE_S = 5.0
KILLED_AT = 0.3
"""Share of the documents that are done when one worker is killed."""
CHANGED = 10
"""Of so many documents one gets other groups."""
AGAIN = 0.02
INDEX, ROOT = "bench", "bench"


@dataclass(frozen=True, slots=True)
class Filled:
    """What came of the two runs. Counts of passages: `missing` from the index, `wrong` in it beyond the store's; `again`: sent more than once; `told`: sent for their groups, of which `heavy`
    with words or a vector; `texts`: embedded for that. Seconds of both runs.
    """

    count: int
    missing: int
    wrong: int
    again: int
    killed_in: bool
    seconds: float
    told: int
    heavy: int
    texts: int
    told_seconds: float


async def bench_planned(place: Place) -> list[Figure]:
    """100,000 one-passage documents."""
    with running() as server, own_schema(server) as url:
        found = await asyncio.to_thread(filled, url, place.scratch / "planned", COUNT)
    note = f"{WORKERS} workers, one killed at {KILLED_AT:.0%}; vectors of {WIDTH} numbers; PostgreSQL {VERSION}; stand-ins in a process of their own"
    return [
        Figure("passages missing from the index after a planned run", found.missing, "passages", found.count, "0"),
        Figure("passages in the index that the store does not have", found.wrong, "passages", found.count, "0"),
        Figure(
            "share of the passages that was sent again", found.again / found.count, "", found.count, "<= 0.02", note
        ),
        Figure("a planned run, embedded and sent", found.seconds, "s", found.count, note=note),
        Figure("passages a second", found.count / found.seconds, "1/s", found.count),
        Figure("passages told of new groups", found.told, "passages", found.count, f"{found.count // CHANGED}"),
        Figure("of these sent with words or vectors", found.heavy, "passages", found.told, "0"),
        Figure("texts embedded for new groups", found.texts, "texts", found.told, "0"),
        Figure("a planned run with new groups for a tenth", found.told_seconds, "s", found.count),
    ]


def filled(url: str, folder: Path, count: int) -> Filled:
    """Fill the stand-in through the database at `url`, and give a tenth of the documents other groups."""
    folder.mkdir(parents=True, exist_ok=True)
    made(url, folder)
    corpus = folder / "corpus.jsonl"
    _write(corpus, count, changed=False)
    with _stand_ins() as at:
        environments = [_environment(url, folder, n, at) for n in range(WORKERS)]
        began = time.monotonic()
        was_killed = _worked(corpus, environments, kill=int(KILLED_AT * count))
        seconds = time.monotonic() - began
        first = _asked(at["search"], {"reset": 1})
        _write(corpus, count, changed=True)
        began = time.monotonic()
        _worked(corpus, environments[:2], kill=None)
        told_seconds = time.monotonic() - began
        second = _asked(at["search"], {})
    ours = _chunks(environments[0])
    held = set(first["keys"])
    sent = first["rows"]
    return Filled(
        count=count,
        missing=len(ours - held),
        wrong=len(held - ours),
        again=sent - len(held),
        killed_in=was_killed,
        seconds=seconds,
        told=second["rows"],
        heavy=second["heavy"],
        texts=second["texts"],
        told_seconds=told_seconds,
    )


def _write(corpus: Path, count: int, *, changed: bool) -> None:
    with corpus.open("w", encoding="utf-8") as file:
        for n in range(count):
            groups = {"groups": ["legal"]} if changed and n % CHANGED == 0 else {}
            text = f"The refund of case {n} takes {n % 9} days and costs nothing."
            file.write(json.dumps({"doc_id": f"d{n}", "title": f"Rule {n}", "text": text, **groups}) + "\n")


def _environment(url: str, folder: Path, number: int, at: dict[str, str]) -> dict[str, str]:
    return environment_of(
        folder / f"home{number}",
        ATTEST_DATABASE_URL=url,
        ATTEST_LEDGER_KEY_FILE=str(folder / "keys" / "ledger.key"),
        ATTEST_SEARCH="azure",
        ATTEST_SEARCH_ENDPOINT=at["search"],
        ATTEST_SEARCH_KEY=KEY,
        ATTEST_SEARCH_INDEX=INDEX,
        ATTEST_EMBEDDER="openai",
        ATTEST_EMBEDDING_BASE_URL=f"{at['embeddings']}/v1",
        ATTEST_EMBEDDING_API_KEY=EMBEDDING_KEY,
        ATTEST_EMBEDDING_MODEL="made-up",
        ATTEST_EMBEDDING_WIDTH=str(WIDTH),
    )


def _worked(corpus: Path, environments: list[dict[str, str]], *, kill: int | None) -> bool:
    """Let workers do a run; the first is killed once `kill` documents are done. True if it was in the middle of the run."""
    command = [sys.executable, "-m", "tests.bench.planned", "work", str(corpus), str(LEASE_S)]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True))
            for env in environments
        ]
        was_running = False
        if kill is not None:
            assert workers[0].stdout is not None
            for line in workers[0].stdout:
                if json.loads(line).get("done", 0) >= kill:
                    was_running = workers[0].poll() is None
                    break
            os.kill(workers[0].pid, signal.SIGKILL)
        codes = [worker.wait() for worker in (workers if kill is None else workers[1:]) if worker.communicate()]
        assert codes == [0] * len(codes), codes
    return was_running


def _chunks(environment: dict[str, str]) -> set[str]:
    """Keys of the passages that the store has."""
    settings = load_settings(**_settings(environment))
    places = usable_places(settings)
    store = Store(places.store, places.index)
    try:
        documents = list(store.known())
        rows = (row for at in range(0, len(documents), 5000) for row in store.chunks_of(documents[at : at + 5000]))
        return {row.chunk.chunk_id for row in rows}
    finally:
        store.close()


def _settings(environment: dict[str, str]) -> dict[str, Any]:
    return {
        "home": environment["ATTEST_HOME"],
        "database_url": environment["ATTEST_DATABASE_URL"],
        "ledger_key_file": environment["ATTEST_LEDGER_KEY_FILE"],
    }


# --- a worker


async def _work(corpus: Path, lease_s: float) -> None:
    settings = load_settings()
    places = usable_places(settings)
    resources = Resources()
    embedder = rationed_embedder(settings, resources)
    index = EmbeddedIndex(places.index, embedder, places.database, at_once=settings.embedding.at_once)
    elsewhere = mirror(settings, index.store, embedder, resources)
    ledger = SqlLedger(places.ledger, settings.files.ledger_key, signing_key_file=settings.files.signing_key_path)

    async def finish(report: IngestReport, on_progress: Callable[[Progress], None], **_: object) -> IngestReport:
        await elsewhere.follow(on_progress)
        return report

    shares = Shares(index, embedder, ledger, elsewhere, finish, settings.chunks.chunking)
    part = partial(take_part, shares, ROOT, corpus, acl=None, lexical_only=False, lease_s=lease_s)
    report = await part(on_progress=_say)
    assert not report.refused, report.refused[:1]
    assert not report.waiting, report.waiting
    await resources.close()
    await ledger.close()
    index.close()


def _say(at: Progress) -> None:
    if at.stage == "run":
        sys.stdout.write(json.dumps({"done": at.done}) + "\n")
        sys.stdout.flush()


# --- the stand-ins


class _Search(AiSearchServer):
    """Counts what is sent, keeps no bodies, and tells at /tally."""

    def __init__(self, embeddings: _Embeddings) -> None:
        super().__init__()
        self.sent: Counter[str] = Counter()
        self._embeddings = embeddings

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.bodies.clear()
        self.headers.clear()
        if request.path == "/tally":
            return web.json_response(self._tally(reset="reset" in request.query))
        return await super().answer(request, body)

    def row(self, name: str, action: dict[str, Any]) -> dict[str, Any]:
        if action.get("doc_id"):
            self.sent["rows"] += 1
            self.sent["heavy"] += bool({"text", "title", "vector"} & action.keys())
        return super().row(name, action)

    def _tally(self, *, reset: bool) -> dict[str, Any]:
        keys = [key for key, held in self.documents.get(INDEX, {}).items() if held.get("doc_id")]
        told = {"rows": self.sent["rows"], "heavy": self.sent["heavy"], "texts": self._embeddings.count, "keys": keys}
        if reset:
            self.sent.clear()
            self._embeddings.count = 0
        return told


class _Embeddings(EmbeddingsServer):
    """Gives made-up vectors, and keeps no bodies."""

    count = 0

    async def vectors(self, texts: list[str], width: int) -> Vectors:
        self.bodies.clear()
        self.headers.clear()
        self.count += len(texts)
        made_up = np.random.default_rng(self.count).standard_normal((len(texts), width)).astype(np.float32)
        return np.asarray(made_up / np.linalg.norm(made_up, axis=1, keepdims=True), np.float32)


async def _stand_in(width: int) -> None:
    async with _Embeddings(width=width, takes_base64=True) as embeddings, _Search(embeddings) as search:
        sys.stdout.write(json.dumps({"search": search.root, "embeddings": embeddings.root}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def _stand_ins() -> Iterator[dict[str, str]]:
    """The addresses of the stand-ins, in a process of their own."""
    command = [sys.executable, "-m", "tests.bench.planned", "stand-in", str(WIDTH)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.communicate()


def _asked(search: str, query: dict[str, int]) -> dict[str, Any]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    with urllib.request.urlopen(f"{search}/tally?{asked}") as reply:
        return dict(json.loads(reply.read()))


if __name__ == "__main__":
    if sys.argv[1] == "stand-in":
        asyncio.run(_stand_in(int(sys.argv[2])))
    else:
        asyncio.run(_work(Path(sys.argv[2]), float(sys.argv[3])))
