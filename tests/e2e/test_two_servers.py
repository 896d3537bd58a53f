"""Two machines over one database: processes with homes of their own, and the session of docs/scale.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.e2e.processes import ROOT, address_of, started
from tests.howto import Command, missing, steps
from tests.knowledge_base import PAGE
from tests.postgres.shared import made

PATIENCE_S = 120.0
QUESTION = "What does Watch Plus cost a month?"
PAGE_OF_DOCS = ROOT / "docs" / "scale.md"
OWNER, WORKER = "postgresql://owner@db.example/attest", "postgresql://attest@db.example/attest"
"""The addresses that the page has."""


def environment_of(tmp_path: Path, home: str, url: str) -> dict[str, str]:
    """Of a server without models, whose keys every server has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATTEST_")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "ATTEST_HOME": str(tmp_path / home),
        "ATTEST_LEDGER_KEY_FILE": str(tmp_path / "keys" / "ledger.key"),
        "ATTEST_MODEL_FILE": str(tmp_path / "none.onnx"),
        "ATTEST_DATABASE_URL": url,
    }


def attest(*arguments: str, env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def outcome_of(base: str) -> str:
    """What a server says to the question."""
    asked = urllib.request.Request(
        f"{base}/api/ask", json.dumps({"question": QUESTION}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as reply:
        return str(json.load(reply)["outcome"])


def test_a_server_answers_from_what_another_machine_takes_in_while_it_runs(
    database_url: str, worker_url: str, tmp_path: Path
) -> None:
    made(database_url, tmp_path, make_url(worker_url).username)
    one, two = (environment_of(tmp_path, home, worker_url) for home in ("one", "two"))
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "plans.md").write_text(PAGE, "utf-8")
    with started("serve", "--port", "0", "--json", env=two, cwd=tmp_path) as server:
        base = address_of(server)
        assert outcome_of(base) == "insufficient"
        attest("ingest", "kb", env=one, cwd=tmp_path)
        until = time.monotonic() + PATIENCE_S
        while outcome_of(base) != "answered":
            assert time.monotonic() < until, "the server does not follow"
            time.sleep(0.5)
        attest("documents", "remove", "plans.md", env=one, cwd=tmp_path)
        assert outcome_of(base) == "insufficient"  # at once: the store decides, whatever the index holds
    assert attest("ledger", "verify", env=one, cwd=tmp_path).startswith("intact: ")


def test_the_session_of_the_page_is_what_happens(database_url: str, worker_url: str, tmp_path: Path) -> None:
    """Line by line, in one shell; the addresses and the role of the test stand for those of the page."""
    role = str(make_url(worker_url).username)
    text = PAGE_OF_DOCS.read_text("utf-8")
    console = text[text.index("```console") :]
    session = [step for step in steps(console[: console.index("\n```\n") + 5]) if isinstance(step, Command)]
    assert OWNER in console
    assert WORKER in console
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "attest"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bot "$@"\n', "utf-8")
    program.chmod(0o755)
    typed = [
        step.line.replace(OWNER, f"'{database_url}'")
        .replace(WORKER, f"'{worker_url}'")
        .replace("--worker attest", f"--worker {role}")
        for step in session
    ]
    script = "".join(f'{line}\necho "@@ $?"\n' for line in typed)
    env = environment_of(tmp_path, "unused", "") | {"PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "200"}
    del env["ATTEST_HOME"], env["ATTEST_LEDGER_KEY_FILE"], env["ATTEST_DATABASE_URL"]
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec 2>&1\n{script}"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_S,
        check=False,
    )
    printed = done.stdout.replace(role, "attest").split("@@ ")
    assert len(printed) == len(session) + 1, done.stdout
    for step, said, ended in zip(session, printed, printed[1:], strict=False):
        assert ended.splitlines()[0] == "0", f"{step.line}\n{said}"
        assert (line := missing(step, said)) is None, f"{step.line} does not print: {line}\n{said}"


@pytest.mark.parametrize("name", ["ATTEST_DATABASE_URL", "ATTEST_DATABASE_PASSWORD_FILE", "attest database upgrade"])
def test_the_page_names_what_is_set(name: str) -> None:
    assert name in PAGE_OF_DOCS.read_text("utf-8")
