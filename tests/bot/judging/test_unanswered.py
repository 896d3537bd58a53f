"""Unanswered questions put together, and their file."""

from __future__ import annotations

import csv
import io
import json

from bot.desk.index import UnansweredTurn
from bot.judging.unanswered import COLUMNS, as_csv, grouped
from bot.settings.load import SAMPLE
from tests.tables import Tables

TABLES = Tables(__file__)


def turns(*questions: str) -> list[UnansweredTurn]:
    """The newest first."""
    days = range(len(questions), 0, -1)
    return [
        UnansweredTurn(day, f"e{day}", f"2026-11-{day:02d}T09:00:00Z", text, text, is_open=day % 2 == 0)
        for day, text in zip(days, questions, strict=True)
    ]


@TABLES.each("pairs")
def test_near_equal_questions_fall_together_and_others_do_not(a: str, b: str, same: bool) -> None:
    assert len(grouped(turns(a, b))) == (1 if same else 2)


def test_questions_of_the_sample_stay_apart() -> None:
    rows = [json.loads(line) for line in (SAMPLE / "turns.jsonl").read_text("utf-8").splitlines()]
    asked = [row["question"] for row in rows if row["expect"] == "answered"]
    assert len(grouped(turns(*dict.fromkeys(asked)))) == len(set(asked))


def test_a_subject_tells_how_often_since_when_and_how_else_it_was_asked() -> None:
    found = grouped(turns("Do you ship to Iceland?", "price of a lamp", "ship to Iceland", "ship to Iceland"))
    assert [(s.times, s.question) for s in found] == [(3, "Do you ship to Iceland?"), (1, "price of a lamp")]
    first = found[0]
    assert (first.first[:10], first.last[:10], first.entry_id, first.open) == ("2026-11-01", "2026-11-04", "e4", 2)
    assert first.wordings == ("ship to Iceland",)


def test_the_file_runs_nothing() -> None:
    heads, cells = csv.reader(io.StringIO(as_csv(grouped(turns("=HYPERLINK(1) of lamps"))), newline=""))
    assert tuple(heads) == COLUMNS
    assert cells[0] == "'=HYPERLINK(1) of lamps"
