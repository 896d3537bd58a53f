"""Benchmark of uploads to a stub of Azure AI Search: rows that fail, a run that is ended in the middle, passages missing or sent twice."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from grounding.azure.search.mirror import SearchMirror
from grounding.azure.search.service import SearchService
from grounding.ingest.chunk_paragraphs import split
from grounding.records import Document, Progress
from grounding.services.remote import Remote
from grounding.store.store import Store
from tests.bench.figures import Figure
from tests.bench.place import Place
from tests.fakes.ai_search_server import KEY, AiSearchServer

FAILING = 0.02
MODEL, WIDTH = "bench", 384


class EndedError(Exception):
    """The run was ended from outside."""


async def bench_upload(place: Place) -> list[Figure]:
    """One-passage documents of the first --size: uploaded by two runs, the first of which ends in mid-run."""
    count = place.sizes[0]
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.db")
        for part in _parts(count):
            store.put([(d, split(d), "bench", "1") for d in part])
        rng = np.random.default_rng(3)
        keys = [row.chunk.chunk_id for row in store.chunks_of([f"d{n}" for n in range(count)])]
        for at in range(0, len(keys), 5000):
            vectors = rng.standard_normal((len(keys[at : at + 5000]), WIDTH)).astype(np.float16)
            store.put_vectors(MODEL, [(k, v.tobytes()) for k, v in zip(keys[at : at + 5000], vectors, strict=True)])
        async with AiSearchServer(failing=FAILING) as server:
            service = SearchService(server.root, KEY, "bench", Remote("search", deadline_s=120, retries=5))
            try:
                return await _uploaded(store, service, server, len(keys))
            finally:
                await service.aclose()
                store.close()


async def _uploaded(store: Store, service: SearchService, server: AiSearchServer, count: int) -> list[Figure]:
    def ending(at: Progress) -> None:
        if at.done > count // 2:
            raise EndedError

    began = time.monotonic()
    with contextlib.suppress(EndedError):
        await SearchMirror(service, store, MODEL, WIDTH, semantic=False).follow(ending)
    halfway = len(server.documents["bench"])
    done = await SearchMirror(service, store, MODEL, WIDTH, semantic=False).follow()
    seconds = time.monotonic() - began
    again = time.monotonic()
    idle = await SearchMirror(service, store, MODEL, WIDTH, semantic=False).follow()
    held = {k for k, d in server.documents["bench"].items() if d["source"] == "attest"}
    missing = len({row.chunk.chunk_id for row in store.chunks_of([i.doc_id for i in store.documents()])} - held)
    return [
        Figure("passages missing after upload with restart", missing, "passages", count, "0"),
        Figure("passages sent twice", server.writes - len(server.documents["bench"]), "passages", count, "0"),
        Figure("held when the first run ended", halfway, "passages", count),
        Figure("uploaded by the second run", done.uploaded, "passages", count),
        Figure(
            "upload to the stub, both runs",
            seconds,
            "s",
            count,
            note=f"{FAILING:.0%} of rows fail with 503, with pauses as in the product",
        ),
        Figure("a run with nothing to do", time.monotonic() - again, "s", idle.unchanged),
    ]


def _parts(count: int) -> Iterator[list[Document]]:
    for at in range(0, count, 2000):
        yield [
            Document(f"d{n}", f"Rule {n}", f"The refund of case {n} takes {n % 9} days and costs nothing.")
            for n in range(at, min(at + 2000, count))
        ]
