"""Pairs of questions and answers: right ones stay together, wrong ones are wrong, and what is kept aside stays aside."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from bot.evaluate.bench import Bench
from bot.evaluate.related import related
from bot.evaluate.relevance import RIGHT_TO_WRONG, relevance
from bot.system import CheckRequest, System
from rai.embedded.relevance import MODEL
from rai.records import Layer, Report

TOPICS = "parking breakfast pets smoking laundry luggage heating checkout".split()


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two hotels, each with the same questions."""
    rows = [
        {
            "id": f"{hotel} {topic}",
            "answer": f"Yes, {hotel} has {topic}.",
            "label": "supported" if topic != "heating" else "unsupported",
            "sources": [{"id": "s", "title": f"{hotel}: Is there {topic}?", "text": f"{topic} of {hotel}"}],
        }
        for hotel in ("Inn", "Lodge")
        for topic in TOPICS
    ]
    write(tmp_path / "provenance" / "dstc9.jsonl", rows)
    return tmp_path


def test_pairs_are_right_or_wrong(data: Path) -> None:
    """The answer speaks of the question's topic if and only if the pair is right; hard ones stay in the house."""
    pairs = list(related(data))
    assert {p.truth for p in pairs} == {"right", "random", "hard"}
    for pair in pairs:
        topic = pair.question.removeprefix("Is there ").removesuffix("?")
        assert (topic in pair.answer) == (pair.truth == "right")
        assert "heating" not in pair.answer
    assert pairs == list(related(data))


def test_kept_aside_by_document(data: Path) -> None:
    """Question and answer of every pair come from the same part."""
    for pair in related(data):
        topic = next(t for t in TOPICS if t in pair.answer)
        hotel = "Inn" if "Inn" in pair.answer else "Lodge"
        assert pair.aside == (zlib.crc32(f"{topic} of {hotel}".encode()) % 3 == 0)


def test_turns_of_conversations_and_frequently_asked_questions(tmp_path: Path) -> None:
    """Thanks, statements and admissions of not knowing make no pair."""
    said = [
        "Is tea served?",
        "Tea is served at five.",
        "And cake?",
        "I do not have information on cakes.",
        "Thanks.",
        "Bye.",
    ]
    history = [{"role": ("user", "agent")[n % 2], "text": text} for n, text in enumerate(said)]
    write(tmp_path / "retrieval" / "mtrag_un" / "queries.jsonl", [{"id": "1", "history": history, "relevant": []}])
    faq = {"doc_id": "1", "title": "Inn: Is there parking?", "text": "Parking is free."}
    write(tmp_path / "retrieval" / "dstc11" / "corpus.jsonl", [faq, {**faq, "doc_id": "2", "title": "Inn"}])
    ask = [{"role": "user", "text": "Can I leave my car there?"}]
    write(tmp_path / "retrieval" / "dstc11" / "queries.jsonl", [{"id": "1", "history": ask, "relevant": ["1", "gone"]}])
    assert {(p.name, p.question, p.answer) for p in related(tmp_path)} == {
        ("turns", "Is tea served?", "Tea is served at five."),
        ("faq", "Is there parking?", "Parking is free."),
        ("dialogue", "Can I leave my car there?", "Parking is free."),
    }


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
    right = [p for p in related(data) if p.truth == "right"]
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
