"""The answer to a question told from the answer to another one, by a system that is right but for pets."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from bot.evaluate.bench import Bench
from bot.evaluate.suites.provenance.answer_pairs import answer_pairs
from bot.evaluate.suites.provenance.relevance import RIGHT_TO_WRONG, relevance
from bot.system import CheckRequest, System
from rai.embedded.relevance import MODEL
from rai.records import Layer, Report


@dataclass(frozen=True, slots=True)
class Judging:
    """A system that knows the hotels: an answer is relevant if it names the topic; pets it always takes for irrelevant."""

    silent: bool = False

    async def check(self, request: CheckRequest) -> Report:
        """Relevance 1 or 0, or none at all."""
        assert request.question is not None
        topic = request.question.removeprefix("Is there ").removesuffix("?")
        fits = topic in request.answer and topic != "pets"
        layer = Layer("relevance", "supported" if fits else "irrelevant", 1.0 - fits)
        return Report("unchecked", 0.0, (), None if self.silent else float(fits), layers=(layer,))


def _never(_: object) -> AbstractAsyncContextManager[System]:
    raise AssertionError("nothing is built afresh")


def bench(data: Path, *, silent: bool = False) -> Bench:
    return Bench(cast(System, Judging(silent)), data, _never, _never, lambda _, rows: iter(rows))


async def test_both_error_rates_and_calibration(data: Path) -> None:
    """Both questions about pets are refused, nothing wrong gets through, and the score is wrong for those two alone."""
    found = {part.name: part for part in await relevance(bench(data))}
    assert {"relevance", "relevance:dstc9"} <= set(found)
    whole = found["relevance"].metrics
    right = [p for p in answer_pairs(data) if p.truth == "right"]
    assert whole["right_refused"] == pytest.approx(2 / len(right))
    assert (whole["random_let_through"], whole["hard_let_through"]) == (0.0, 0.0)
    odds = RIGHT_TO_WRONG
    assert whole["brier"] == pytest.approx(2 / len(right) * odds / (1 + odds))
    assert whole["ece"] == pytest.approx(whole["brier"])


async def test_no_set_where_nothing_is_judged(data: Path, tmp_path: Path) -> None:
    """A system without a scorer, or a folder without questions."""
    assert await relevance(bench(data, silent=True)) == []
    empty = tmp_path / "empty"
    empty.mkdir()
    assert await relevance(bench(empty)) == []


def test_the_calibration_is_measured_at_the_odds_of_the_fit() -> None:
    """The scale of the score is that of the stored coefficients."""
    assert json.loads(MODEL.read_text("utf-8"))["meaning"]["odds"] == RIGHT_TO_WRONG
