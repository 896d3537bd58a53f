"""A company's own questions over replies and records that are known, so that each verdict and each stage can be told by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.turns.lost import STAGES
from bot.records import Ask, Reply
from grounding.query.clarify import Clarification
from grounding.records import Grade
from rai.records import Outcome
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.fakes.replies import reply_of

COMPANY = Path(__file__).parent / "company"
KB = COMPANY / "kb"
ROWS = {row["id"]: row for row in map(json.loads, (COMPANY / "turns.jsonl").read_text("utf-8").splitlines())}
IDS = {row["question"]: row["id"] for row in ROWS.values()}
ALL = ("prices.md", "returns.md")
TOLD = "See the page."
REPLIES: dict[str, Reply] = {
    "right": Reply(Outcome.ANSWERED, "The **Ondo** costs €40 [1]."),
    "long": Reply(Outcome.ANSWERED, "It costs €40. " + "Really. " * 120),
    "half": Reply(Outcome.REPAIRED, "The lamp costs €40."),
    "beside": Reply(Outcome.ANSWERED, TOLD),
    "wrong": Reply(Outcome.ANSWERED, "Delivery costs €40."),
    "in-words": Reply(Outcome.ANSWERED, "Yes."),
    "deep": Reply(Outcome.ANSWERED, TOLD),
    "blocked": Reply(Outcome.BLOCKED, "I am sorry."),
    "down": Reply(Outcome.FAILED, "Try again.", code="search_unavailable"),
    "withheld": Reply(Outcome.WITHHELD, "I hold it back."),
    "made-up": Reply(Outcome.ANSWERED, "Yes, for €40."),
    "drifted": Reply(Outcome.ANSWERED, TOLD),
    "asked": Reply(Outcome.INSUFFICIENT, "Which?", clarification=Clarification("Which?", ("lamp", "bulb"), "a rule")),
    "guessed": Reply(Outcome.ANSWERED, TOLD),
    "hello": Reply(Outcome.ANSWERED, "Good morning."),
}
GRADES = {"refused": 0.1, "beside": 0.6, "wrong": 0.9}
"""Of every passage found; 1 unless it is told here."""
FOUND = {"unfound": ("prices.md",), "planted": ("returns.md!",)}
KEPT = {"refused": (), "beside": ("returns.md",)}
SHOWN = {"refused": (), "wrong": ("returns.md",), "beside": ("returns.md",)}
LOST = {
    "long": ("long", "answer"),
    "half": ("half", "answer"),
    "beside": ("beside", "decision"),
    "wrong": ("wrong", "evidence"),
    "refused": ("refused", "grading"),
    "unfound": ("refused", "search"),
    "planted": ("refused", "screen"),
    "deep": ("beside", "evidence"),
    "in-words": ("beside", "answer"),
    "blocked": ("broken", "screen"),
    "down": ("broken", "search"),
    "withheld": ("broken", "answer"),
    "too-long": ("broken", "reading"),
    "made-up": ("wrong", "decision"),
    "drifted": ("beside", "decision"),
    "guessed": ("beside", "decision"),
    "hello": ("beside", "reading"),
}
RIGHT = ("right", "absent", "asked", "restricted")


def reply(ask: Ask) -> Reply:
    row = IDS[ask.question]
    made = REPLIES.get(row, Reply(Outcome.INSUFFICIENT, "The documents do not say."))
    grades = tuple(
        Grade(f"c-{name.rstrip('!')}", GRADES.get(row, 1.0), "Good", "yes", None, "") for name in FOUND.get(row, ALL)
    )
    if made.outcome is Outcome.BLOCKED:
        return made
    return reply_of(made.outcome, made.answer, code=made.code, grades=grades, clarification=made.clarification)


def record(ask: Ask, _: Reply) -> dict[str, Any]:
    row = IDS[ask.question]

    def place(name: str) -> dict[str, Any]:
        doc = name.rstrip("!")
        end = len((KB / doc).read_text("utf-8"))
        return {"chunk_id": f"c-{doc}", "doc_id": doc, "title": doc, "start": 0, "end": end}

    found = FOUND.get(row, ALL)
    shown = SHOWN.get(row, found)
    return {
        "passages": [place(name) | {"screened": "IN-1" if name.endswith("!") else None} for name in found],
        "evidence": [place(n) | {"n": i, "text": "masked", "origin": "kb"} for i, n in enumerate(shown, 1)],
        "prompt": {"cuts": ["evidence [2]"] if row == "deep" else []},
        "decision": {"kept": [f"c-{name}" for name in KEPT.get(row, found)]},
    }


@pytest.fixture
def company(small: FakeWorld, attest: Attest) -> Attest:
    small.answers, small.recorded = reply, record
    return attest


def run(company: Attest, *more: str) -> dict[str, Any]:
    ran = company("eval", "turns", "--data", str(COMPANY), "--json", *more)
    assert ran.code == 0, ran.err
    (suite,) = ran.document["suites"]
    assert suite["suite"] == "turns"
    return dict(suite)


def test_each_outcome_and_each_stage(company: Attest) -> None:
    suite = run(company)
    assert {row["id"]: (row["outcome"], row["lost"]) for row in suite["wrong"]} == LOST
    assert {*RIGHT, *LOST} == set(ROWS)
    assert {stage for _, stage in LOST.values()} == set(STAGES)
    whole = suite["sets"][0]
    assert (whole["name"], whole["n"]) == ("company", len(ROWS))
    assert whole["metrics"]["right"] == pytest.approx(len(RIGHT) / len(ROWS))
    assert whole["metrics"]["lost_decision"] == pytest.approx(4 / len(ROWS))


def test_each_kind_is_a_set_and_together_they_are_the_whole(company: Attest) -> None:
    whole, *kinds = run(company)["sets"]
    assert {part["name"] for part in kinds} == {f"company:{row['kind']}" for row in ROWS.values()}
    for metric in ("right", "wrong", "broken", "lost_search"):
        assert sum(part["n"] * part["metrics"][metric] for part in kinds) == pytest.approx(
            whole["n"] * whole["metrics"][metric]
        )


def test_facts_are_followed_from_the_search_to_the_answer(company: Attest) -> None:
    m = run(company, "--kind", "value")["sets"][0]["metrics"]
    ways = ["facts_found", "facts_in_first_five", "facts_graded", "facts_kept", "facts_in_prompt", "facts_said"]
    assert [m[name] for name in ways] == sorted((m[name] for name in ways), reverse=True)
    assert m["facts_found"] == pytest.approx(8 / 9)
    assert m["facts_said"] == pytest.approx(2 / 9)


def test_the_worst_come_first_with_the_reason(company: Attest) -> None:
    wrong = run(company)["wrong"]
    order = [row["outcome"] for row in wrong]
    assert order == sorted(order, key=("wrong", "broken", "beside", "half", "refused", "long").index)
    why = {row["id"]: " ".join(row["why"]) for row in wrong}
    assert "says '€40'" in why["wrong"]
    assert "kept, but not put into the prompt" in why["wrong"]
    assert "taken for a planted order (IN-1)" in why["planted"]
    assert "in no passage that was found" in why["unfound"]
    assert "graded 0.10: too low" in why["refused"]
    assert why["too-long"] == "the question was not taken"


def test_the_table_counts_by_kind_and_names_what_was_lost(company: Attest) -> None:
    out = company("eval", "turns", "--data", str(COMPANY)).out
    assert out.index("lost at:") < out.index("the worst first")
    assert f"{len(ROWS)} turns, right {len(RIGHT) / len(ROWS):.2f}" in out
    assert "company:unanswerable" in out


def test_a_page_with_the_counts_and_where_each_was_lost(company: Attest, tmp_path: Path) -> None:
    page = tmp_path / "turns.html"
    run(company, "--html", str(page))
    html = page.read_text("utf-8")
    assert "which stage lost them" in html
    assert "wrong, lost at evidence" in html
    assert "in the prompt</span>" in html
    assert html.count('<article class="card"') == 1  # kinds are lines of its table, no cards of their own


def test_each_company_is_asked_in_a_home_of_its_own(company: Attest, small: FakeWorld, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(COMPANY)
    ran = company("eval", "turns", "--data", str(tmp_path), "--json", "--limit", "3", "--keep", str(tmp_path / "kept"))
    assert [s["name"] for s in ran.document["suites"][0]["sets"] if ":" not in s["name"]] == ["one", "two"]
    paths, acl, lexical, own = small.ingests[0]
    assert (paths[0].name, acl and acl.name, lexical) == ("kb", "readers.yaml", False)
    assert own.directory_path.name == "directory.yaml"
    assert own.files.home == tmp_path / "kept" / "one"
    assert f"ATTEST_LEDGER_KEY_FILE={own.files.ledger_key}" in "".join(ran.err.split())
    assert {ask.channel for ask in small.asked} == {"eval"}


def test_rows_ask_as_whom_they_name_with_what_was_said_before(company: Attest, small: FakeWorld) -> None:
    run(company)
    by_id = {IDS[ask.question]: ask for ask in small.asked}
    assert by_id["restricted"].user == "bob"
    assert [turn.text for turn in by_id["refused"].history] == ["May I send the lamp back?"]


def broken(folder: Path, **files: str) -> Path:
    folder.mkdir()
    (folder / "kb").mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return folder


ROW = {"id": "1", "question": "a?", "expect": "answered", "parts": [{"must": [["x"]]}]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (ROW | {"expect": "yes"}, "row 1: field 'expect' is 'yes'; allowed: answered, insufficient"),
        (ROW | {"parts": [{"must": "x"}]}, "a list of facts, each a list of spellings"),
        (ROW | {"parts": [{"must": [[]]}]}, "a list of facts, each a list of spellings"),
        (ROW | {"question": None}, "field 'question' is missing"),
        (ROW | {"as": "bob"}, "'as' needs directory.yaml beside it"),
    ],
)
def test_a_row_that_cannot_be_asked_is_one_line(company: Attest, tmp_path: Path, row: Any, said: str) -> None:
    folder = broken(tmp_path / "c", turns_jsonl=json.dumps(row))
    ran = company("eval", "turns", "--data", str(folder))
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_folder_that_is_no_company_is_one_line(company: Attest, tmp_path: Path) -> None:
    ran = company("eval", "turns", "--data", str(tmp_path))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "turns.jsonl" in ran.err
    folder = broken(tmp_path / "c", turns_jsonl="")
    (folder / "kb").rmdir()
    ran = company("eval", "turns", "--data", str(folder))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no folder kb" in ran.err


def test_a_kind_that_no_row_has_is_named(company: Attest) -> None:
    ran = company("eval", "turns", "--data", str(COMPANY), "--kind", "riddles")
    assert ran.code == 2
    assert "--kind riddles" in ran.err
    assert "two_part" in ran.err
