"""Benchmark of ingest: seconds and documents a second until searchable by words, files read, chunks embedded, an unchanged folder checked."""

from __future__ import annotations

import json
from pathlib import Path

from bot.compose.ingest import open_ingester
from bot.settings.settings import Settings
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.vectors.embedder import MiniLM
from grounding.ingest.chunk_paragraphs import split
from grounding.ingest.sources import find
from grounding.records import Document, IngestReport
from tests.bench.figures import Figure, Skipped
from tests.bench.place import Place
from tests.bench.timing import timed, warm
from tests.e2e.processes import settings_over

CORPUS = "retrieval/dstc11/corpus.jsonl"
PASSAGES = "retrieval/mtrag_un/corpus.jsonl"
CHUNKS, CHUNK_WORDS, BASELINE = 300, 140, 60
FILES, UNCHANGED = 100, 10_000


async def bench_words(place: Place) -> list[Figure] | Skipped:
    """Seconds until a corpus is searchable by words, and the rate."""
    corpus = place.set_file(CORPUS)
    if corpus is None:
        return Skipped("ingest by words", f"needs --data with {CORPUS}")
    seconds, documents = await _ingest(place, corpus, "words")
    return [
        Figure("dstc11 corpus searchable by words", seconds, "s", documents, "<= 15"),
        Figure("documents made searchable by words", documents / seconds, "1/s", documents),
    ]


async def bench_files(place: Place) -> list[Figure]:
    """Small Markdown files from a folder, searchable by words."""
    folder = place.scratch / "files"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\nIt costs €{number}.50.\n", "utf-8")
    seconds, documents = await _ingest(place, folder, "from-files")
    return [Figure("small Markdown files read and made searchable by words", documents / seconds, "1/s", documents)]


async def bench_unchanged(place: Place) -> list[Figure]:
    """A second ingest of a folder of 10,000 files in which nothing changed."""
    folder = place.scratch / "unchanged"
    for number in range(UNCHANGED):
        part = folder / f"part{number % 100}"
        part.mkdir(parents=True, exist_ok=True)
        (part / f"note{number}.md").write_text(f"# Note {number}\n\nIt costs {number} euros.\n", "utf-8")
    settings = settings_over(place.scratch / "unchanged-home", None)
    index = EmbeddedIndex(settings.files.home / "index", None)
    documents = [(Document(i.doc_id, i.doc_id, f"It is {i.doc_id}."), i) for i in find([folder])]
    index.put([(d, split(d), i.root, i.stamp) for d, i in documents])
    index.lock()
    index.catch_up(lambda *_: None)
    index.close()
    taken = []
    for _ in range(3):
        ms, report = await timed(_run(settings, folder))
        assert report.unchanged == UNCHANGED, report
        taken.append(ms / 1000)
    return [
        Figure("an unchanged folder of 10,000 files checked, median of 3", sorted(taken)[1], "s", UNCHANGED, "<= 2")
    ]


async def bench_vectors(place: Place) -> list[Figure] | Skipped:
    """Chunks embedded in a second in batches as an ingest does, against one text at a time in the same run."""
    passages = place.set_file(PASSAGES)
    if passages is None:
        return Skipped("embedding rate", f"needs --data with {PASSAGES}")
    texts = _chunks(passages)
    batched = await _rate(place, texts, 64)
    single = await _rate(place, texts[:BASELINE], 1)
    note = f"chunks of {CHUNK_WORDS} words"
    return [
        Figure("chunks embedded in batches", batched, "1/s", len(texts), ">= 60 on 2 cores", note),
        Figure("chunks embedded one at a time (baseline)", single, "1/s", BASELINE, "", note),
    ]


async def _ingest(place: Place, source: Path, name: str) -> tuple[float, int]:
    """Seconds until `source` is searchable by words, and how many documents of it are."""
    ms, report = await timed(_run(settings_over(place.scratch / name, None), source))
    assert not report.refused, report.refused[0]
    return ms / 1000, report.added


async def _run(settings: Settings, source: Path) -> IngestReport:
    ingester = await open_ingester(settings)
    try:
        return await ingester.run([source], acl=None, lexical_only=True, on_progress=lambda _: None)
    finally:
        await ingester.close()


async def _rate(place: Place, texts: list[str], batch: int) -> float:
    embedder = MiniLM(place.model)  # a new one: its cache is empty
    await embedder.embed(["warm"])
    parts = [texts[begin : begin + batch] for begin in range(0, len(texts), batch)]
    ms, _ = await timed(warm(embedder.embed, parts))
    return len(texts) / (ms / 1000)


def _chunks(path: Path) -> list[str]:
    """The first `CHUNKS` pieces of `CHUNK_WORDS` words, no two of one passage."""
    out: list[str] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            words = json.loads(line)["text"].split()
            if len(words) >= CHUNK_WORDS:
                out.append(" ".join(words[:CHUNK_WORDS]))
            if len(out) == CHUNKS:
                break
    return out
