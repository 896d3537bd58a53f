"""Runs the program in this process over the small system in memory."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from tests.bot.commands.fakes import FakeWorld, world


@dataclass(frozen=True)
class Ran:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Attest = Callable[..., Ran]


@pytest.fixture
def small() -> FakeWorld:
    return world()


@pytest.fixture
def attest(small: FakeWorld, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Attest:
    """`attest("ask", "x", "--json")`; `stdin` is what the program reads from its standard input.

    Settings of the person who runs the suite are not the program's.
    """
    for name in [
        n
        for n in os.environ
        if n.startswith("ATTEST_") and n not in ("ATTEST_HOME", "ATTEST_LEDGER_KEY_FILE", "ATTEST_MODEL_FILE")
    ]:
        monkeypatch.delenv(name)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = main(arguments, small.wiring)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., str]:
    """Writes rows (objects, or raw text) to a JSONL file and gives its path."""

    def write(*rows: Any, name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
        return str(path)

    return write
