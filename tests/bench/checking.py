"""Benchmark of the provenance check: milliseconds of an answer, rows a second, and seconds of texts made to be slow, beside plain string membership."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Sequence
from functools import partial

from bot.compose.system import compose
from bot.evaluate.rows import json_lines
from bot.evaluate.rows import spread as spaced
from bot.evaluate.suites.provenance.mutate.generated_answers import generated
from bot.evaluate.suites.provenance.mutate.records import Supported
from bot.rows.forms import check_request
from bot.system import CheckRequest
from rai.check.match import check_claims
from rai.check.phrasing.weigh import weigh_claims
from rai.check.provenance import check
from rai.records import Source
from tests.bench.figures import Figure, Skipped, spread
from tests.bench.place import Place
from tests.bench.timing import each_ms, ms_of, rate, warm

CHECKS, ANSWER_WORDS, PASSAGES, PASSAGE_BYTES = 100, 150, 5, 2048
ROWS, SLOW_BYTES, PATIENCE_S = 1500, 1_000_000, 60
WARM = 5
"""Checks before the first that is timed: libraries are loaded, tables are built."""

_TOKEN = re.compile(r"https?://\S+|[\w.+-]+@[\w.-]+|\d[\d.,:]*")
SLOW = {
    "digits": "7",
    "dots": ".",
    "opening brackets": "[",
    "nested brackets": "([",
    "one endless URL": "https://a.example/" + "b",
    "spaces": " ",
    "quotes": '"',
    "commas": ",",
    "capitalised words": "Anna ",
    "a@": "a@",
    "digits and dots": "1.",
    "digits and commas": "1,",
    "hyphens": "1-",
    "plus signs": "+1 ",
    "slashes": "a/",
    "months": "March ",
    "number words": "twenty ",
    "newlines": "\n",
    "pipes": "a | ",
    "prices": "$1 ",
    "quantities": "1 GB ",
    "numbered lists": "1. Pay $5.\n",
    "telephone numbers": "020 7946 0321 ",
    "dates": "3 March 2026 ",
    "price rows": "Plan A: $5 | 20 GB | 3 March 2026\n",
}
"""What is repeated; of the endless URL only its last letter is."""

VALUES, LAYERS = "values only", "all layers without services"
SYSTEM, REPAIRED = "all layers of the system with its repair", "values only with their repair"
TARGETS = {VALUES: {50: "<= 5", 99: "<= 15"}, LAYERS: {50: "<= 40", 99: "<= 90"}}
"""Milliseconds, with passages seen before."""

NOTE = (
    f"another answer each time, of {ANSWER_WORDS} words with values, links, phones and e-mail, {PASSAGES} passages of "
    f"{PASSAGE_BYTES} characters"
)


async def bench_provenance(place: Place) -> list[Figure]:
    """Milliseconds, p50 and p99, of the check of an answer full of values, contacts and links, with passages never seen and seen before."""
    figures: list[Figure] = []
    system = await compose(place.settings)

    async def values(request: CheckRequest) -> object:
        return check_claims(request.answer, request.sources, request.question, values_only=True)

    async def layers(request: CheckRequest) -> object:
        return weigh_claims(check_claims(request.answer, request.sources, request.question), request.sources)

    async def repaired(request: CheckRequest) -> object:
        return await check(request.answer, request.sources, request.question)

    try:
        for name, judge, seed in (
            (VALUES, values, 11),
            (LAYERS, layers, 12),
            (SYSTEM, system.check, 13),
            (REPAIRED, repaired, 14),
        ):
            requests = _requests(seed)
            await warm(judge, requests[:WARM])
            for known, asked in (("new", requests), ("known", _requests(seed, 1))):
                taken = await each_ms(judge, asked[WARM:])
                targets = TARGETS.get(name, {}) if known == "known" else {}
                told = f"check, {name}, {known} passages"
                figures += spread(told, taken, "ms", at=(50, 99), targets=targets, note=NOTE)
        naive = [ms_of(partial(_naive, request)) for request in _requests(11, 1)[WARM:]]
        figures += spread("plain membership of the same (baseline)", naive, "ms", at=(50, 99), note=NOTE)
    finally:
        await system.close()
    return figures


async def bench_rows(place: Place) -> list[Figure] | Skipped:
    """Rows of DSTC9 checked in a second, evenly spread over the file."""
    path = place.set_file("provenance/dstc9.jsonl")
    if path is None:
        return Skipped("check of DSTC9", "needs --data with provenance/dstc9.jsonl")
    requests = [check_request(row) for row in spaced(list(json_lines(path)), ROWS)]
    system = await compose(place.settings)
    try:
        whole = await rate(system.check, requests)
    finally:
        await system.close()

    async def plain(request: CheckRequest) -> object:
        return check_claims(request.answer, request.sources, request.question, values_only=True)

    async def naive(request: CheckRequest) -> object:
        return _naive(request)

    return [
        Figure("DSTC9 rows checked, values only", await rate(plain, requests), "1/s", ROWS, ">= 300"),
        Figure("DSTC9 rows checked, all layers", whole, "1/s", ROWS, ">= 60"),
        Figure("DSTC9 rows, plain membership (baseline)", await rate(naive, requests), "1/s", ROWS),
    ]


async def bench_slow(_: Place) -> list[Figure]:
    """Seconds of the check of one megabyte of what invites a pattern to try everything, as the answer; one that takes longer is stopped."""
    note = f"answers of {SLOW_BYTES:,} characters, stopped after {PATIENCE_S} s"
    return [Figure(f"1 MB of {name}", _timed(piece), "s", 1, "seconds", note) for name, piece in SLOW.items()]


def repeated(piece: str, size: int) -> str:
    """`piece` until there are `size` characters; of an address its last letter."""
    if piece.startswith("https:"):
        return piece + piece[-1] * (size - len(piece))
    return (piece * (size // len(piece) + 1))[:size]


def _timed(piece: str) -> float:
    context = multiprocessing.get_context("spawn")
    inbox = context.SimpleQueue()
    process = context.Process(target=_slow, args=(piece, inbox), daemon=True)
    process.start()
    process.join(PATIENCE_S + 5)
    if process.is_alive() or inbox.empty():
        process.kill()
        return float(PATIENCE_S)
    taken: float = inbox.get()
    return taken


def _slow(piece: str, outbox: multiprocessing.SimpleQueue[float]) -> None:
    source = Source(
        "s", "Anna Brandt sells 20 GB for $7 until 3 March 2026. Call 020 7946 0321 or see https://a.example/b."
    )
    check_claims("It costs $7.", [source])
    text = repeated(piece, SLOW_BYTES)
    began = time.perf_counter()
    check_claims(text, [source])
    outbox.put(time.perf_counter() - began)


def _requests(seed: int, turn: int = 0) -> list[CheckRequest]:
    """Answers of at least 150 words made of supported ones, with the pages that they were made from, filled up to 2 KB.

    Another `turn` makes other answers to the same pages.
    """
    by_page: dict[str, list[Supported]] = {}
    for answer in generated((CHECKS + WARM) * PASSAGES * 2, seed):
        by_page.setdefault(answer.sources[0].id, []).append(answer)
    pages = list(by_page.values())
    out = []
    for number in range(CHECKS + WARM):
        mine = pages[number * PASSAGES * 2 : (number + 1) * PASSAGES * 2]
        sources = tuple(_passage(n, mine[2 * n][0].sources[0], mine[2 * n + 1][0].sources[0]) for n in range(PASSAGES))
        out.append(CheckRequest(_answer(mine[::2], turn), sources, "What does it cost, and whom do I call?"))
    return out


def _passage(number: int, first: Source, second: Source) -> Source:
    text = f"{first.text}\n\n{second.text}"
    return Source(f"s{number}", (text * (PASSAGE_BYTES // len(text) + 1))[:PASSAGE_BYTES], first.title)


def _answer(pages: Sequence[Sequence[Supported]], turn: int) -> str:
    told: list[str] = []
    while sum(len(t.split()) for t in told) < ANSWER_WORDS:
        page = pages[turn % len(pages)]
        told.append(page[(turn * 3) % len(page)].answer.rstrip("."))
        turn += 1
    return ". ".join(told) + "."


def _naive(request: CheckRequest) -> bool:
    """Whether every number, link and address of the answer stands in a source as the same characters."""
    held = {token for source in request.sources for token in _TOKEN.findall(source.text)}
    return all(token in held for token in _TOKEN.findall(request.answer))
