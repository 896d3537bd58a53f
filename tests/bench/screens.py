"""Benchmark of the prompt screen: milliseconds of a turn by rules alone and with the classifier, web results in a turn, a chunk at ingest, and a very long text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rai.embedded.classifier import FILE, Classifier
from rai.embedded.screen import EmbeddedScreen
from tests.bench.figures import Figure, Skipped, percentile
from tests.bench.parts import sample_text
from tests.bench.place import Place
from tests.bench.timing import each_ms

TURNS, TURN_CHARACTERS = 300, 500
WEB_ROUNDS, RESULTS, RESULT_CHARACTERS = 30, 10, 1024
CHUNKS, CHUNK_CHARACTERS = 100, 800
LONG = 1024 * 1024


async def bench_screen(place: Place) -> list[Figure] | Skipped:
    """All texts are different each time, so that nothing is answered from memory."""
    path = place.settings.files.model_path.with_name(FILE)
    if not path.exists():
        return Skipped("screen", "needs the classifier, which `make setup` builds")
    rules, whole = EmbeddedScreen(), EmbeddedScreen(Classifier(path))
    text = sample_text()
    turns = [text[i * 37 : i * 37 + TURN_CHARACTERS] for i in range(TURNS)]
    short = [text[i * 41 : i * 41 + 80] for i in range(TURNS)]
    rounds = [[_piece(text, r * RESULTS + i, RESULT_CHARACTERS) for i in range(RESULTS)] for r in range(WEB_ROUNDS)]
    chunks = [_piece(text, 7000 + i, CHUNK_CHARACTERS) for i in range(CHUNKS)]
    long = (text * (LONG // len(text) + 1))[:LONG]
    return [
        Figure(
            f"screen of a turn of {TURN_CHARACTERS} characters, rules, p50", await _asked(rules, turns), "ms", TURNS
        ),
        Figure("the same with the classifier, p50", await _asked(whole, turns), "ms", TURNS),
        Figure(
            "screen of a question of 80 characters with the classifier, p50", await _asked(whole, short), "ms", TURNS
        ),
        Figure(
            f"{RESULTS} web results of {RESULT_CHARACTERS} characters, p50",
            await _given(whole, rounds),
            "ms",
            WEB_ROUNDS,
        ),
        Figure(
            f"a chunk of {CHUNK_CHARACTERS} characters at ingest, p50",
            await _given(whole, [[c] for c in chunks]),
            "ms",
            CHUNKS,
        ),
        Figure("a request of 1 MB", await _asked(whole, [long]), "ms", 1),
        Figure("a document of 1 MB", await _given(whole, [[long]]), "ms", 1),
    ]


def _piece(text: str, number: int, length: int) -> str:
    at = number * 53 % (len(text) - length)
    return f"{number}. {text[at : at + length]}"


async def _asked(screen: EmbeddedScreen, texts: Sequence[str]) -> float:
    return percentile(await each_ms(screen.screen, texts), 0.5)


async def _given(screen: EmbeddedScreen, rounds: Sequence[Sequence[str]]) -> float:
    return percentile(await each_ms(partial(screen.screen, ""), rounds), 0.5)
