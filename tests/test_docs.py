"""What the documents promise: commands and their options exist, links lead somewhere, files that are named are there."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.main import get_command

from bot.cli import app
from bot.settings.forms import PREFIX
from bot.settings.settings import PLACES
from rai.records import Kind

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    p.relative_to(ROOT)
    for p in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bot" / "sample" / "README.md"]
)
FENCE = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4}|\t)(.*)$", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROOM_PATH = re.compile(r"^(?:bot|grounding|rai|tests|docs|tools|infra|requirements)/[\w./-]*$")
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?attest (.*)$")
ENDS_A_COMMAND = frozenset({"|", ">", ">>", "<", "&&", ";", "&"})
OF_THE_SUITE = frozenset({"ATTEST_TEST_DATABASE_URL", "TEST_CHROMIUM", "TEST_MODEL_FILE", "TEST_REQUIRE_BROWSER"})


def text_of(page: Path) -> str:
    return (ROOT / page).read_text("utf-8")


def block_lines(page: Path) -> Iterator[str]:
    """Lines of code blocks, fenced or indented."""
    text = text_of(page)
    for block in FENCE.findall(text):
        yield from (line.strip() for line in block.splitlines())
    yield from (line.strip() for line in INDENTED.findall(FENCE.sub("", text)))


def inline_code(page: Path) -> list[str]:
    """Code inside sentences."""
    return INLINE.findall(FENCE.sub("", text_of(page)))


def attest_command(line: str) -> list[str]:
    """Arguments of `attest …`, up to what the shell reads; none if the line is something else."""
    match = COMMAND.match(line)
    words = shlex.split(match.group(1), comments=True) if match else []
    return words[: next((i for i, word in enumerate(words) if word in ENDS_A_COMMAND), len(words))]


def commands(lines: Callable[[Path], Iterable[str]], pages: Iterable[Path] = PAGES) -> list[tuple[str, ...]]:
    return sorted({(str(page), *words) for page in pages for line in lines(page) if (words := attest_command(line))})


RUN = Path("docs/howto")
"""What pages here have typed is run, after the example that may add to it: tests/e2e/test_howto.py."""
TO_BE_TYPED, MENTIONED = commands(block_lines, [p for p in PAGES if p.parent != RUN]), commands(inline_code)


@cache
def whole() -> Any:
    """The command line with all its commands."""
    return get_command(app)


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that `words` name, and what is left of them. Fails if there is none."""
    command: Any = whole()
    while hasattr(command, "list_commands") and words and not words[0].startswith("-"):
        found = command.get_command(None, words[0]) if words[0] in command.list_commands(None) else None
        assert found is not None, f"no such command: {words[0]}"
        command, words = found, words[1:]
    return command, words


def check_names(words: list[str]) -> None:
    """The command exists and has every option that is named."""
    command, rest = resolved(words)
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    for word in rest:
        if word.startswith("-") and word != "-":
            assert word.split("=")[0] in known, f"no such option: {word}"


def check_command(words: list[str]) -> None:
    """As it stands, the command takes these arguments. Nothing is run."""
    check_names(words)
    command, rest = resolved(words)
    if not {"--help", "-h"} & set(rest):
        command.make_context(command.name, rest)


def test_there_are_commands_to_check() -> None:
    assert {"ask", "ingest", "ledger", "doctor", "check", "serve"} <= {words[1] for words in TO_BE_TYPED}


def refused(look: Callable[[list[str]], None], lines: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines, each with its page, that `look` does not let pass, and why."""
    found = []
    for words in lines:
        try:
            look(list(words[1:]))
        except (AssertionError, typer.TyperException) as error:
            found.append(f"{' '.join(words)}: {error}")
    return found


def test_every_command_of_a_code_block_can_be_typed() -> None:
    assert refused(check_command, TO_BE_TYPED) == []


def test_every_command_of_a_sentence_exists() -> None:
    assert refused(check_names, [words for words in MENTIONED if words[1] != "COMMAND"]) == []


@pytest.mark.parametrize(
    "words", ["askk", "ask x --loud", "refusals decide", "serve --port many", "ask", "ledger show", "eval everything"]
)
def test_a_command_that_does_not_exist_would_be_found(words: str) -> None:
    with pytest.raises((AssertionError, typer.TyperException)):
        check_command(words.split())


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_relative_link_resolves(page: Path) -> None:
    prose = INLINE.sub("", FENCE.sub("", text_of(page)))
    for link in LINK.findall(prose):
        target = link.split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_file_that_is_named_exists(page: Path) -> None:
    for code in inline_code(page):
        if ROOM_PATH.match(code):
            assert (ROOT / code).exists(), f"{page} names {code}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_make_target_and_script_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for line in [*block_lines(page), *inline_code(page)]:
        for target in re.findall(r"(?:^|=\S+ )make ([a-z-]+)", line):
            assert target in targets, f"{page}: make {target}"
        for script in re.findall(r"^python3? (tools/\S+)", line):
            assert (ROOT / script).is_file(), f"{page}: {script}"


def known_settings() -> set[str]:
    return {PREFIX + name.upper() for name in PLACES}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    text = text_of(page)
    made = {
        PREFIX + name.upper() for name in re.findall(r'^\+ .*alias="(\w+)"', text, re.MULTILINE)
    }  # by the page's own example
    assert set(re.findall(r"\bATTEST_[A-Z_]*[A-Z]\b", text)) <= known_settings() | OF_THE_SUITE | made


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    groups = [project["project"]["dependencies"], *extras.values(), *project["dependency-groups"].values()]
    needed = {re.split(r"[<>=!~;\[ ]", line)[0] for group in groups for line in group}
    written = set(re.findall(r"^\| `([^`]+)`", text_of(Path("docs/decisions/0004-dependencies.md")), re.MULTILINE))
    assert needed == written


def test_every_kind_of_claim_is_named_where_a_policy_may_name_it() -> None:
    assert f"Kinds are those of claims: {', '.join(get_args(Kind))}." in text_of(Path("docs/policies.md"))


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 200_000, picture.name


@pytest.mark.parametrize("package", ["bot", "grounding", "rai"])
def test_the_map_names_every_folder(package: str) -> None:
    """The table of a package in docs/architecture.md has each folder of it that holds modules, and no other that does not exist."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.split(f"| `{package}/` | |", 1)[1].split("\n\n", 1)[0]
    named = set(re.findall(r"`([a-z_]+)/`", table))
    folders = {p.name for p in (ROOT / package).iterdir() if (p / "__init__.py").is_file()}
    assert folders <= named, sorted(folders - named)
    assert all((ROOT / package / name).is_dir() or (ROOT / package / "ingest" / name).is_dir() for name in named)
