"""How a reply meets the facts of its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.turns.facts import judged, turn_row

PART = {"must": [["8,000 mm", "8 m"], ["tape"]], "must_not": ["5,000"]}


def of(expect: str, kind: str = "value", **part: Any) -> Any:
    row = {"id": "1", "kind": kind, "question": "?", "expect": expect, "parts": [PART | part]}
    return turn_row(Path("turns.jsonl"), row)


def said(text: str, outcome: str = "answered", **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "answer": text, "citations": [], "clarification": None, **more}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("8,000 mm, with tape", "right"),
        ("**8,000\u00a0mm**, with\nTAPE", "right"),
        ("8 m and tape, not 5,000", "wrong"),
        ("nothing of it but 5,000", "wrong"),
        ("8 m", "half"),
        ("something else", "beside"),
        ("8 m, tape" + " and" * 119, "long"),
    ],
)
def test_answers(text: str, verdict: str) -> None:
    assert judged(of("answered"), said(text)) == verdict


def test_a_procedure_may_be_longer() -> None:
    text = "8 m, tape" + " and" * 200
    assert judged(of("answered", "procedure"), said(text)) == "right"
    assert judged(of("answered", "procedure"), said(text + " and" * 20)) == "long"


@pytest.mark.parametrize(
    ("expect", "reply", "verdict"),
    [
        ("answered", said("8 m, tape", "repaired"), "right"),
        ("answered", said("8 m, tape", "insufficient"), "refused"),
        ("answered", said("", "withheld"), "broken"),
        ("answered", None, "broken"),
        ("insufficient", said("no", "insufficient"), "right"),
        ("insufficient", said("8 m"), "beside"),
        ("insufficient", said("5,000"), "wrong"),
        ("insufficient", said("", "blocked"), "broken"),
        ("ask_back", said("Which?", "insufficient", clarification={"question": "Which?"}), "right"),
        ("ask_back", said("8 m", clarification={"question": "Which?"}), "right"),
        ("ask_back", said("8 m, tape"), "right"),
        ("ask_back", said("no", "insufficient"), "refused"),
        ("smalltalk", said("Hello!", intent="greeting"), "right"),
        ("smalltalk", said("Hello!", intent="greeting", citations=[{"n": 1}]), "beside"),
        ("smalltalk", said("Hello!"), "beside"),
        ("smalltalk", said("no", "insufficient"), "refused"),
    ],
)
def test_outcomes(expect: str, reply: dict[str, Any] | None, verdict: str) -> None:
    assert judged(of(expect), reply) == verdict


def test_asking_back_where_no_answer_is_told() -> None:
    row = of("ask_back", must=[])
    assert judged(row, said("no", "insufficient")) == "right"
    assert judged(row, said("8 m")) == "beside"


def test_a_document_is_named_with_its_folder_or_below_it() -> None:
    """Who writes the rows sees kb/; the knowledge base names what stands below it."""
    row = {"id": "1", "question": "?", "expect": "answered", "parts": [PART]}
    for doc in ("kb/fares/day.md", "fares/day.md", ["kb/fares/day.md"]):
        assert turn_row(Path("turns.jsonl"), row | {"doc": doc}).docs == ("fares/day.md",)
