"""Whole turns over replies that are known, against what a row expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.golden import expectation, judge
from bot.records import Reply
from grounding.errors import InputError
from grounding.policies.files import ORDER
from rai.records import Outcome
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.bot.evaluate.labelled import GOLDEN, suites, write


def test_golden_reports_splits_apart_and_wrong_rows_with_reasons(attest: Attest, tmp_path: Path) -> None:
    good = {
        "outcome": ["answered", "repaired"],
        "cite": ["refunds.md", "x.md"],
        "must": ["5 BUSINESS days"],
        "must_not": ["9"],
    }
    bad = {"outcome": "blocked", "cite": ["other.md"], "must": ["ten"], "must_not": ["refunds"]}
    write(
        tmp_path / "golden.jsonl",
        {**GOLDEN, "expect": good},
        {**GOLDEN, "id": "g2", "expect": {"outcome": "answered"}},
        {**GOLDEN, "id": "g3", "split": "held", "expect": bad},
    )
    found = suites(attest, "golden", "--data", str(tmp_path))["golden"]
    assert found["dev"] == {
        "n": 2,
        "right": 1.0,
        "outcome": 1.0,
        "cite": 1.0,
        "must": 1.0,
        "must_not": 1.0,
        "refused_though_present": 0.0,
        "present_n": 2.0,
        "evidence_recall": 0.0,
        "model_calls": 0.0,
        "model_tokens": 0.0,
    }
    assert found["held"] == {
        "n": 1,
        "right": 0.0,
        "outcome": 0.0,
        "cite": 0.0,
        "must": 0.0,
        "must_not": 0.0,
        "evidence_recall": 0.0,
        "model_calls": 0.0,
        "model_tokens": 0.0,
    }
    words = attest("eval", "golden", "--data", str(tmp_path)).out
    assert words.index("wrong rows") < words.index("held")
    for reason in (
        "outcome answered, expected blocked",
        "cites refunds.md, expected other.md",
        "does not say 'ten'",
        "says 'refunds'",
    ):
        assert reason in " ".join(words.split())


def test_golden_runs_under_every_policy_and_compares_the_first_with_each_other(
    attest: Attest, small: FakeWorld, tmp_path: Path
) -> None:
    write(tmp_path / "golden.jsonl", {**GOLDEN, "expect": {"outcome": ["answered", "repaired"]}})
    page = tmp_path / "page.html"
    ran = attest("eval", "golden", "--data", str(tmp_path), "--policy", "all", "--json", "--html", str(page))
    (result,) = json.loads(ran.out)["suites"]
    assert [s["name"] for s in result["sets"]] == [f"{policy}:dev" for policy in ORDER]
    assert [asked.policy for asked in small.asked] == list(ORDER)
    assert {gain["against"] for gain in result["sets"][0]["gains"]} == set(ORDER[1:])
    assert not any("gains" in part for part in result["sets"][1:])
    text = page.read_text(encoding="utf-8")
    assert "golden, side by side" in text
    assert all(f">{policy}<" in text for policy in ORDER)
    two = attest("eval", "golden", "--data", str(tmp_path), "--policy", "superrag, dynamics", "--json")
    assert [s["name"] for s in json.loads(two.out)["suites"][0]["sets"]] == ["superrag:dev", "dynamics:dev"]
    assert attest("eval", "golden", "--data", str(tmp_path), "--policy", "crag").code == 2


def test_golden_asks_the_last_turn_with_what_was_said_before(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    said = [{"role": "customer", "text": "I have a Trail Pro."}, {"role": "customer", "text": "Is it waterproof?"}]
    row = {"id": "1", "history": said, "as": "hanna", "product": "Trail Pro", "expect": {"outcome": "answered"}}
    write(tmp_path / "golden.jsonl", row)
    suites(attest, "golden", "--data", str(tmp_path))
    asked = small.asked[0]
    assert (asked.question, [turn.text for turn in asked.history]) == ("Is it waterproof?", ["I have a Trail Pro."])
    assert (asked.user, asked.product) == ("hanna", "Trail Pro")


@pytest.mark.parametrize(
    ("expect", "outcome", "answer", "right"),
    [
        ({"outcome": "answered", "must": ["2–3 days"]}, "answered", "It takes 2-3 days.", True),
        ({"must": ["£5"]}, "answered", "It costs £50.", True),
        ({"must_not": ["£5"]}, "answered", "It costs £50.", False),
        ({"outcome": []}, "failed", "", True),
        ({"cite": ["a.md"]}, "insufficient", "", False),
        ({"cite": []}, "insufficient", "", True),
    ],
)
def test_judging_a_reply(expect: dict[str, Any], outcome: str, answer: str, right: bool) -> None:
    reply = Reply(Outcome(outcome), answer)
    assert judge("1", "dev", expectation({"expect": expect}), reply).right is right


@pytest.mark.parametrize("expect", [None, [], {"outcome": "done"}, {"outcome": 3}, {"cite": "a"}, {"must": [1]}])
def test_an_expectation_that_cannot_be_met_is_refused(expect: Any) -> None:
    with pytest.raises(InputError):
        expectation({"expect": expect})


def test_golden_rows_that_cite_only_unknown_documents_are_named(attest: Attest, tmp_path: Path) -> None:
    known = {"outcome": "answered", "cite": ["gone.md", "refunds.md"]}
    write(
        tmp_path / "golden.jsonl",
        {**GOLDEN, "expect": known},
        {**GOLDEN, "id": "g2", "expect": {"outcome": "answered", "cite": ["gone.md"]}},
    )
    ran = attest("eval", "golden", "--data", str(tmp_path))
    assert "dev: 1 of 2 rows cite only doc_ids that are not in the knowledge base: gone.md" in ran.err


def test_golden_tells_them_by_outcome(attest: Attest, tmp_path: Path) -> None:
    absent, present = {"outcome": ["insufficient", "withheld"]}, {"outcome": ["answered", "repaired"]}
    rows = [{**GOLDEN, "id": str(n), "expect": expect} for n, expect in enumerate((absent, present, {"outcome": []}))]
    write(tmp_path / "golden.jsonl", *rows)
    found = suites(attest, "golden", "--data", str(tmp_path))["golden"]["dev"]
    assert (found["answered_though_absent"], found["absent_n"]) == (1.0, 1)
    assert (found["refused_though_present"], found["present_n"]) == (0.0, 1)
