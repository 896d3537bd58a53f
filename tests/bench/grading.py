"""Benchmark of grading by a model that takes a second a call: seconds, calls and prompt tokens for 50 passages, by style."""

from __future__ import annotations

from grounding.embedded.grader import EmbeddedGrader
from grounding.grading.model import ModelGrader
from grounding.grading.prompt import STYLES, Style
from grounding.records import Passage
from tests.bench.figures import Figure, Skipped
from tests.bench.parts import sample_text
from tests.bench.place import Place
from tests.bench.timing import timed
from tests.fakes.grader import GradingModel

PASSAGES, CHARACTERS, SECONDS = 50, 600, 1.0
QUESTION = "What does an express transfer cost?"
ANSWER = "An express transfer costs $25 and arrives on the day on which it is made."


async def bench_grading(place: Place) -> list[Figure] | Skipped:
    """Every style, and early exit; all texts are different. Early exit is tried with the answer in the first call, and in a later one, where it costs a second."""
    out: list[Figure] = []
    for style in STYLES:
        out += await _graded(style, "", 30, None)
    out += await _graded("score", ", early exit, certain at once", 2, 0.9)
    out += await _graded("score", ", early exit, not certain", 30, 0.9)
    return out


async def _graded(style: Style, what: str, answered_by: int, certain_at: float | None) -> list[Figure]:
    text = sample_text()
    pieces = [f"{n}. {text[n * 53 : n * 53 + CHARACTERS]}" for n in range(PASSAGES)]
    pieces[answered_by] = f"{pieces[answered_by][: CHARACTERS - len(ANSWER)]} {ANSWER}"
    passages = [Passage(f"c{n}", f"d{n}", "Fees", piece) for n, piece in enumerate(pieces)]
    model = GradingModel(style, seconds=SECONDS)
    grader = ModelGrader(model, style, fallback=EmbeddedGrader(None), certain_at=certain_at)
    ms, grading = await timed(grader.grade(QUESTION, passages))
    assert len(grading.grades) == PASSAGES
    what = f"{PASSAGES} passages, {SECONDS:g} s a call, {style}{what}"
    return [
        Figure(what, ms / 1000, "s", PASSAGES, "<= 2.5"),
        Figure(f"{what}: calls", model.calls, "calls", PASSAGES),
        Figure(f"{what}: prompts", model.prompt_tokens, "tokens", PASSAGES),
    ]
