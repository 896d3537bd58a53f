"""`attest check --html`: a page beside the lines, whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.http.report_page import PAGE_MAX
from tests.bot.commands.conftest import Attest

Lines = Callable[..., str]
GOOD = {"id": "a", "answer": "It costs 5.", "sources": [{"id": "s", "text": "It costs 5.", "title": "Prices"}]}


def test_the_page_is_written_beside_the_lines(attest: Attest, lines: Lines, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("old", "utf-8")
    ran = attest("check", "--jsonl", lines(GOOD, {**GOOD, "id": "b", "answer": "wrong 5"}), "--html", str(page))
    assert ran.code == 0
    assert [line["verdict"] for line in ran.lines] == ["supported", "unsupported"]
    assert ran.err == f"wrote {page}: 2 answers\n"
    text = page.read_text("utf-8")
    assert re.findall(r'data-verdict="(\w+)"', text) == ["supported", "unsupported"]
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert sorted(p.name for p in tmp_path.iterdir() if "html" in p.name or "tmp" in p.name) == ["report.html"]
    assert page.stat().st_mode & 0o444 == 0o444


def test_on_stdout_the_page_is_all(attest: Attest, lines: Lines) -> None:
    ran = attest("check", "--jsonl", lines(GOOD, "{"), "--html", "-")
    assert ran.code == 2
    assert ran.out.startswith("<!doctype html>")
    assert ran.out.rstrip().endswith("</html>")
    assert "Line 2 was not checked: line is not JSON" in ran.out


def test_fail_on_still_decides_the_exit_code(attest: Attest, lines: Lines, tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    rows = lines({**GOOD, "answer": "wrong 5"})
    assert attest("check", "--jsonl", rows, "--html", str(page), "--fail-on", "unsupported").code == 1
    assert page.exists()


def test_a_page_is_never_written_over_the_input(attest: Attest, lines: Lines, tmp_path: Path) -> None:
    rows = lines(GOOD)
    link = tmp_path / "link.html"
    link.symlink_to(rows)
    for target in (rows, str(link), f"{tmp_path}/./rows.jsonl"):
        ran = attest("check", "--jsonl", rows, "--html", target)
        assert (ran.code, ran.out) == (2, "")
        assert "is the input of this command" in ran.err
    assert Path(rows).read_text("utf-8").startswith('{"id"')


@pytest.mark.parametrize(("name", "says"), [("", "is a folder"), ("none/p.html", "its folder does not exist")])
def test_a_place_that_cannot_be_written_is_told_before_any_work(
    attest: Attest, lines: Lines, tmp_path: Path, name: str, says: str
) -> None:
    ran = attest("check", "--jsonl", lines(GOOD), "--html", f"{tmp_path}/{name}")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_page_holds_so_many_answers_and_counts_the_rest(attest: Attest, lines: Lines, tmp_path: Path) -> None:
    rows = lines(*({**GOOD, "id": str(i)} for i in range(PAGE_MAX + 2)))
    ran = attest("check", "--jsonl", rows, "--html", str(tmp_path / "p.html"))
    assert len(ran.lines) == PAGE_MAX + 2
    assert "2 more are not on it" in ran.err
    text = (tmp_path / "p.html").read_text("utf-8")
    assert "2 more were checked" in text
    assert text.count("data-report ") == PAGE_MAX
