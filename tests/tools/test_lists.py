"""The lists in the documents are what the program says, and what makes them reads the program alone."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from bot.cli import COMMANDS
from bot.settings.forms import PREFIX
from bot.settings.settings import PLACES
from tools.lists import ROOT, choices, commands, fits, leans_on, main, metrics, needs, renewed, settings

PAGE = "# Fruit\n\nBy hand.\n\n<!-- generated: fruit; make lists writes it -->\nplums\n<!-- end -->\n\nBy hand too.\n"
CHECK = ["-m", "tools.lists", "--check"]
"""What Python runs to look at the lists, here and before a commit."""
LISTS = {"fruit": lambda: "apples\npears\n"}


def row(text: str, first: str) -> list[str]:
    """The cells of the one row of a table that begins with this cell."""
    (found,) = (line for line in text.splitlines() if line.startswith(f"| `{first}` |"))
    return [cell.strip() for cell in found.strip("|").split(" | ")]


def test_the_documents_hold_what_the_program_says() -> None:
    """In a process of its own, as `make lists` runs it: it imports every module."""
    done = subprocess.run([sys.executable, *CHECK], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_list_is_put_between_its_marks() -> None:
    new, named, stale = renewed(PAGE, LISTS)
    assert new == PAGE.replace("plums\n", "apples\npears\n")
    assert (named, stale) == (["fruit"], ["fruit"])
    assert renewed(new, LISTS) == (new, ["fruit"], [])


def test_a_mark_that_names_no_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no such list: fruit; there are herbs"):
        renewed(PAGE, {"herbs": lambda: ""})


def test_a_stale_list_is_told_with_the_command_that_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "fruit.md"
    page.parent.mkdir()
    page.write_text(PAGE, "utf-8")
    assert main(["--check"], tmp_path, LISTS) == 1
    assert capsys.readouterr().out == "docs/fruit.md: the list of fruit is not what the program says: make lists\n"
    assert page.read_text("utf-8") == PAGE
    assert main([], tmp_path, LISTS) == 0
    assert capsys.readouterr().out == "docs/fruit.md: the list of fruit is written\n"
    assert main(["--check"], tmp_path, LISTS) == 0


def test_a_list_that_stands_nowhere_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# Fruit\n", "utf-8")
    assert main([], tmp_path, LISTS) == 1
    assert capsys.readouterr().out == "no document holds the list of fruit\n"


def test_every_setting_has_one_row() -> None:
    text = settings()
    for name in PLACES:
        assert len(row(text, PREFIX + name.upper())) == 4


def test_settings_are_those_of_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is set where the list is made, rightly or wrongly, is not in it."""
    before = settings()
    monkeypatch.setenv("ATTEST_PORT", "many")
    monkeypatch.setenv("ATTEST_COMPANY", "Kestrelby Home")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("ATTEST_RETRIES=none\n", "utf-8")
    assert settings() == before


def test_what_a_setting_takes_and_needs_is_what_the_program_refuses() -> None:
    text = settings()
    assert row(text, "ATTEST_PORT")[1:3] == ["`3978`", "a whole number from 0 to 65535"]
    assert row(text, "ATTEST_LOCAL")[1:3] == ["`auto`", "`auto` · `on` · `off`"]
    assert row(text, "ATTEST_OPENAI_API_KEY")[2] == "a secret"
    assert row(text, "ATTEST_SEARCH_KEY")[3].endswith(". Needs `ATTEST_SEARCH=azure`.")
    web = row(text, "ATTEST_WEB")[3]
    assert "`tavily` needs `ATTEST_TAVILY_KEY`. `bing` needs `ATTEST_BING_ENDPOINT` and `ATTEST_BING_KEY`." in web
    assert "duckduckgo` needs" not in web


def test_the_table_of_web_searches_has_each_with_what_it_needs() -> None:
    """What each is good for is written by hand, in docs/web.md; which there are and what they need is not up to it."""
    place = PLACES["web"]
    page = (ROOT / "docs" / "web.md").read_text("utf-8")
    written = re.findall(r"^\| `(\w+)`[^|]*\|([^|]*)\|", page, re.MULTILINE)
    assert sorted(name for name, _ in written) == sorted(["ATTEST_WEB", *choices(place)])
    for name, needed in written[1:]:
        for variable in re.findall(rf"`{name}` needs ([^.]*)", needs("web", place)):
            assert set(re.findall(r"ATTEST_\w+", variable)) <= set(re.findall(r"ATTEST_\w+", needed)), name


def test_every_command_has_its_row() -> None:
    text = commands()
    assert {line.split("`")[1].split()[1] for line in text.splitlines()[2:]} == set(COMMANDS)
    assert row(text, "attest check --jsonl FILE")[2] == "`--fail-on <unsupported>` `--html FILE`"
    assert row(text, "attest settings [WORD]…")[2] == "`--set` `--json`"


def test_series_tell_their_labels() -> None:
    text = metrics()
    assert row(text, "attest_turns_total")[1:3] == ["counter", "`outcome` `code`"]
    assert row(text, "attest_turn_seconds")[1:3] == ["histogram", "–"]
    assert row(text, "attest_remote_breakers")[1:3] == ["gauge", "`service` `state`"]


class Seam(Protocol):
    @property
    def name(self) -> str: ...

    async def find(self, text: str, most: int = 3) -> list[str]: ...


class Whole:
    @property
    def name(self) -> str:
        return "whole"

    async def find(self, text: str, most: int = 3, *, least: int = 0) -> list[str]:
        return [text][least:most]


@dataclass(frozen=True)
class Wrapped:
    inner: Seam
    name: str = "wrapped"

    async def find(self, text: str, most: int = 3) -> list[str]:
        return await self.inner.find(text, most)


class Nameless:
    async def find(self, text: str, most: int = 3) -> list[str]:
        return [text][:most]


class Blocking(Nameless):
    name = "blocking"

    def find(self, text: str, most: int = 3) -> list[str]:  # type: ignore[override]
        return [text][:most]


class Other(Nameless):
    name = "other"

    async def find(self, pattern: str, most: int = 3) -> list[str]:
        return [pattern][:most]


@pytest.mark.parametrize(
    ("kind", "fit"), [(Whole, True), (Wrapped, True), (Nameless, False), (Blocking, False), (Other, False)]
)
def test_what_a_seam_asks_is_had_or_not(kind: type, fit: bool) -> None:
    assert fits(kind, Seam) is fit


def test_what_is_made_with_another_has_one_behind_it() -> None:
    assert leans_on(Wrapped, Seam)
    assert not leans_on(Whole, Seam)
