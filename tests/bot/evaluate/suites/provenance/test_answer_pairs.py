"""Pairs of questions and answers: right ones stay together, wrong ones are wrong, and what is kept aside stays aside."""

from __future__ import annotations

import zlib
from pathlib import Path

from bot.evaluate.suites.provenance.answer_pairs import answer_pairs
from tests.bot.evaluate.labelled import write
from tests.bot.evaluate.suites.provenance.conftest import TOPICS


def test_pairs_are_right_or_wrong(data: Path) -> None:
    """The answer speaks of the question's topic if and only if the pair is right; hard ones stay in the house."""
    pairs = list(answer_pairs(data))
    assert {p.truth for p in pairs} == {"right", "random", "hard"}
    for pair in pairs:
        topic = pair.question.removeprefix("Is there ").removesuffix("?")
        assert (topic in pair.answer) == (pair.truth == "right")
        assert "heating" not in pair.answer
    assert pairs == list(answer_pairs(data))


def test_kept_aside_by_document(data: Path) -> None:
    """Question and answer of every pair come from the same part."""
    for pair in answer_pairs(data):
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
    write(tmp_path / "retrieval" / "mtrag_un" / "queries.jsonl", {"id": "1", "history": history, "relevant": []})
    faq = {"doc_id": "1", "title": "Inn: Is there parking?", "text": "Parking is free."}
    write(tmp_path / "retrieval" / "dstc11" / "corpus.jsonl", faq, {**faq, "doc_id": "2", "title": "Inn"})
    ask = [{"role": "user", "text": "Can I leave my car there?"}]
    write(tmp_path / "retrieval" / "dstc11" / "queries.jsonl", {"id": "1", "history": ask, "relevant": ["1", "gone"]})
    assert {(p.name, p.question, p.answer) for p in answer_pairs(tmp_path)} == {
        ("turns", "Is tea served?", "Tea is served at five."),
        ("faq", "Is there parking?", "Parking is free."),
        ("dialogue", "Can I leave my car there?", "Parking is free."),
    }
