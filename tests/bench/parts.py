"""Benchmark of single parts of a turn: milliseconds of the provenance check and of a search by words."""

from __future__ import annotations

from functools import partial
from itertools import islice

from bot.compose.system import compose
from bot.evaluate.rows import json_lines
from bot.settings.load import SAMPLE
from bot.system import CheckRequest
from grounding.embedded.index import EmbeddedIndex
from grounding.records import Access
from grounding.text import sentences
from rai.records import Source
from tests.bench.figures import Figure, Skipped, percentile, spread
from tests.bench.place import Place
from tests.bench.tantivy_directly import tantivy_directly
from tests.bench.timing import each_ms, ms_of

CHECKS, ANSWER_WORDS, PASSAGES, PASSAGE_BYTES = 100, 150, 5, 2048
SEARCHES, K = 500, 50


async def bench_check(place: Place) -> list[Figure]:
    """The check of an answer of 150 words, quoted, against five passages of 2 KB, all different each time."""
    system = await compose(place.settings)
    try:
        requests = [CheckRequest(answer, sources, "What does it cost and when?") for answer, sources in _checks()]
        taken = await each_ms(system.check, requests)
    finally:
        await system.close()
    note = f"answer of {ANSWER_WORDS} words, {PASSAGES} passages of {PASSAGE_BYTES} bytes"
    return spread("provenance check", taken, "ms", at=(50, 99), note=note)


async def bench_search(place: Place) -> list[Figure] | Skipped:
    """Search by words as the product does it, with rights, identifiers and boosts, and tantivy's own query parser on the same index."""
    folder = place.scratch / "words" / "index"
    if not folder.exists():
        return Skipped("search by words", "needs the corpus of the ingest bench")
    queries = _queries(place)
    index = EmbeddedIndex(folder, None)
    try:
        ours = [ms_of(partial(index.words.search, query, Access(), K)) for query in queries]
    finally:
        index.close()
    theirs = [ms_of(call) for call in tantivy_directly(folder / "words", queries, K)]
    n = len(queries)
    return [
        Figure(f"search by words, k={K}, p50", percentile(ours, 0.5), "ms", n),
        Figure(f"tantivy called directly, k={K}, p50 (baseline)", percentile(theirs, 0.5), "ms", n),
    ]


def _queries(place: Place) -> list[str]:
    path = place.set_file("retrieval/dstc11/queries.jsonl")
    assert path is not None
    return [str(row["history"][-1]["text"]) for row in islice(json_lines(path), SEARCHES)]


def _checks() -> list[tuple[str, tuple[Source, ...]]]:
    text = sample_text()
    step = (len(text) - PASSAGES * PASSAGE_BYTES) // CHECKS
    out = []
    for number in range(CHECKS):
        begin = number * step
        pieces = [text[begin + i * PASSAGE_BYTES : begin + (i + 1) * PASSAGE_BYTES] for i in range(PASSAGES)]
        out.append((_answer(pieces), tuple(Source(f"s{i}", piece) for i, piece in enumerate(pieces))))
    return out


def _answer(pieces: list[str]) -> str:
    """Sentences of the passages in turn, each with its marker, until there are enough words."""
    told: list[str] = []
    by_piece = [[s.text.strip() for s in sentences(piece)][1:-1] for piece in pieces]
    for row in range(max(map(len, by_piece))):
        for number, found in enumerate(by_piece, 1):
            if row < len(found) and sum(len(t.split()) for t in told) < ANSWER_WORDS:
                told.append(f"{found[row].rstrip('.')} [{number}].")
    return " ".join(told)


def sample_text() -> str:
    """All Markdown pages of the sample knowledge base, in the order of their paths."""
    return "\n\n".join(path.read_text("utf-8") for path in sorted((SAMPLE / "kb").rglob("*.md")))
