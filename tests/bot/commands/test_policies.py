"""`attest policies`: side by side, one in full, and a company's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from grounding.policies.files import ORDER, built_in, read_policies
from grounding.policy import Policy
from tests.bot.commands.conftest import Attest


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "policies").mkdir(parents=True)
    return tmp_path / "home"


def test_all_stand_side_by_side_and_the_one_that_counts_is_marked(attest: Attest) -> None:
    words = attest("policies").out
    assert words.splitlines()[0].split() == ["attest", "*", *ORDER[1:]]
    for title in ("query", "search", "grades", "enough when", "keeps", "otherwise", "evidence", "answer", "asks back"):
        assert f"\n{title}" in words


@pytest.mark.parametrize("columns", ["80", "180"])
def test_which_one_counts_is_said_once_at_any_width(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert attest("policies").out.count("attest counts unless a turn names another") == 1


def test_json_has_every_field_of_every_policy(attest: Attest) -> None:
    data = json.loads(attest("policies", "--json").out)
    assert data["default"] == "attest"
    assert [p["name"] for p in data["policies"]] == list(ORDER)
    assert set(data["policies"][0]) == set(Policy().as_json())


@pytest.mark.parametrize("name", ORDER)
def test_one_in_full_is_a_file_that_makes_it_again(attest: Attest, home: Path, name: str) -> None:
    (home / "policies" / "mine.yaml").write_text(attest("policies", name).out, encoding="utf-8")
    mine, original = read_policies(home / "policies")["mine"].as_json(), built_in()[name].as_json()
    assert mine | {"name": name} == original


def test_a_companys_own_is_listed_and_can_count(attest: Attest, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "policies" / "strict.yaml").write_text(yaml.safe_dump({"correct_at": 0.9, "corrective": []}))
    monkeypatch.setenv("ATTEST_POLICY", "strict")
    data = json.loads(attest("policies", "--json").out)
    assert (data["default"], data["policies"][-1]["name"], data["policies"][-1]["correct_at"]) == (
        "strict",
        "strict",
        0.9,
    )


@pytest.mark.parametrize("command", [("policies",), ("ask", "x"), ("settings",)])
def test_a_file_that_is_no_policy_stops_the_program_in_one_line(
    attest: Attest, home: Path, command: tuple[str, ...]
) -> None:
    (home / "policies" / "mine.yaml").write_text("correct_at: often\n")
    ran = attest(*command)
    assert ran.code == 2
    assert "mine.yaml: correct_at" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_an_unknown_name_lists_what_there_is(attest: Attest) -> None:
    ran = attest("policies", "crag")
    assert (ran.code, "allowed: attest, hybrid-crag" in ran.err) == (2, True)
