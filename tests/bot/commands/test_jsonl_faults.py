"""No row is lost: what fails for a reason of ours, or for want of a service, has an error object in its place, and the run goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest

from bot.cli import main
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import (
    BudgetSpent,
    ContentFiltered,
    PromptBlocked,
    ServiceTimeout,
    SettingsError,
    StoreError,
    WorkFailed,
    WorkOverran,
)
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld, world

Lines = Callable[..., str]
POISON = "Quillfeather"
SEAMS = {"screen": "screen", "check": "check", "grade": "grader", "query": "queries", "retrieve": "retriever"}
"""Of each command, the seam that a rule of ours may fail in."""


class Planted:
    """Any seam, which raises for what holds the poison and is itself for everything else."""

    def __init__(self, seam: Any, error: Exception) -> None:
        self._seam, self._error = seam, error

    def __getattr__(self, name: str) -> Any:
        return self._planted(getattr(self._seam, name))

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._planted(self._seam)(*given, **named)

    def _planted(self, plain: Any) -> Any:
        if not callable(plain):
            return plain

        async def call(*given: Any, **named: Any) -> Any:
            if POISON in repr(given):
                raise self._error
            return await plain(*given, **named)

        return call


@dataclass
class PlantedWorld(FakeWorld):
    """The small system with one seam that raises."""

    seam: str = ""
    error: Exception | None = None

    async def compose(self, settings: Settings) -> System:
        system = await super().compose(settings)
        if self.error is None:
            return system
        parts: dict[str, Any] = {self.seam: Planted(getattr(system, self.seam), self.error)}
        return replace(system, **parts)


@pytest.fixture
def small() -> PlantedWorld:
    return PlantedWorld(world().library)


def rows(command: str, *texts: str) -> list[dict[str, Any]]:
    def row(text: str) -> dict[str, Any]:
        forms: dict[str, dict[str, Any]] = {
            "screen": {"text": text},
            "check": {"answer": text, "sources": [{"id": "s", "text": "Refunds take 5 days."}]},
            "grade": {"query": "refunds", "passages": [{"id": "p", "text": text}]},
            "query": {"history": [{"role": "customer", "text": text}]},
            "retrieve": {"query": text},
        }
        return forms[command]

    return [{"id": str(n), **row(text)} for n, text in enumerate(texts, 1)]


HONEST = "How long do refunds take?"


@pytest.mark.parametrize("command", SEAMS)
def test_a_row_that_fails_inside_has_an_error_and_the_others_their_result(
    command: str, attest: Attest, small: PlantedWorld, lines: Lines
) -> None:
    """In order, with nothing of the row in what is said, and exit code 2."""
    small.seam, small.error = SEAMS[command], KeyError(f"of {POISON}")
    ran = attest(command, "--jsonl", lines(*rows(command, HONEST, POISON, HONEST, POISON, HONEST)))
    assert ran.code == 2
    assert [row["id"] for row in ran.lines] == ["1", "2", "3", "4", "5"]
    assert ["error" in row for row in ran.lines] == [False, True, False, True, False]
    failed = ran.lines[1]
    assert (failed["line"], failed["error"]["code"]) == (2, "internal")
    assert "KeyError at " in failed["error"]["message"]
    assert POISON not in ran.out + ran.err
    assert "2 rows failed for reasons of ours" in ran.err
    assert small.closed == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PromptBlocked(None, unavailable=True), (3, "screen_unavailable")),
        (PromptBlocked("rule"), (2, "blocked")),
        (ServiceTimeout("screen", "no answer within 5 s"), (3, "deadline")),
        (StoreError("the store is locked"), (3, "store_unavailable")),
        (ContentFiltered("the filter refused the prompt"), (2, "refused")),
        (BudgetSpent("no room"), (2, "refused")),
        (RecursionError(), (2, "internal")),
    ],
)
def test_a_row_without_its_service_is_told_and_the_run_goes_on(
    error: Exception, told: tuple[int, str], attest: Attest, small: PlantedWorld, lines: Lines
) -> None:
    small.seam, small.error = "screen", error
    ran = attest("screen", "--jsonl", lines(*rows("screen", POISON, HONEST)))
    assert (ran.code, ran.lines[0]["error"]["code"]) == told
    assert ran.lines[1]["verdict"] == "allow"


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (WorkOverran("the screen took longer than 6 s and was ended"), (2, "too_slow")),
        (WorkFailed("the screen failed: KeyError at rai/x.py:1"), (2, "internal")),
        (KeyError(POISON), (2, "internal")),
        (ServiceTimeout("content-safety", "no answer"), (3, "screen_unavailable")),
        (TimeoutError(), (3, "screen_unavailable")),
    ],
)
def test_a_screen_of_ours_that_fails_is_no_service(
    cause: Exception, told: tuple[int, str], attest: Attest, small: PlantedWorld, lines: Lines
) -> None:
    """As the screen's wrapper raises it: closed, and why."""
    small.seam, small.error = "screen", PromptBlocked(None, unavailable=True)
    small.error.__cause__ = cause
    ran = attest("screen", "--jsonl", lines(*rows("screen", POISON, HONEST)))
    assert (ran.code, ran.lines[0]["error"]["code"]) == told
    assert POISON not in ran.out + ran.err
    assert ran.lines[1]["verdict"] == "allow"


def test_a_text_that_no_person_asks_is_a_bad_line(attest: Attest, small: PlantedWorld, lines: Lines) -> None:
    ran = attest("screen", "--jsonl", lines(*rows("screen", "a" * 1_000_001, HONEST)))
    assert (ran.code, ran.lines[0]["error"]["code"]) == (2, "too_long")
    assert "1,000,001 characters; allowed: at most 1,000,000" in ran.lines[0]["error"]["message"]
    assert ran.lines[1]["verdict"] == "allow"


def test_a_bad_line_outranks_a_service_that_did_not_answer(attest: Attest, small: PlantedWorld, lines: Lines) -> None:
    small.seam, small.error = "screen", PromptBlocked(None, unavailable=True)
    ran = attest("screen", "--jsonl", lines(*rows("screen", POISON), "{", *rows("screen", HONEST)))
    assert (ran.code, len(ran.lines)) == (2, 3)


def test_a_setting_that_cannot_be_used_ends_the_run(attest: Attest, small: PlantedWorld, lines: Lines) -> None:
    """It would be the same for every row."""
    small.seam, small.error = "screen", SettingsError("ATTEST_X=1 is not allowed")
    ran = attest("screen", "--jsonl", lines(*rows("screen", POISON, HONEST)))
    assert (ran.code, ran.out) == (2, "")


def test_a_row_is_written_before_the_next_is_read(small: PlantedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """So memory does not grow with the file, however many rows fail."""
    small.seam, small.error = "screen", LookupError(POISON)
    seen: list[str] = []

    class Given(BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if line:
                seen.append(f"read {json.loads(line)['id']}")
            return line

    class Told(StringIO):
        def write(self, text: str, /) -> int:
            seen.append(f"wrote {json.loads(text)['id']}")
            return super().write(text)

    given = Given("".join(json.dumps(row) + "\n" for row in rows("screen", POISON, HONEST, POISON)).encode())
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(given))
    monkeypatch.setattr(sys, "stdout", Told())
    assert main(("screen", "--jsonl", "-"), small.wiring) == 2
    assert seen == [f"{what} {n}" for n in (1, 2, 3) for what in ("read", "wrote")]
