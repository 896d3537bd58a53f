"""The pages for contributors: somebody who follows one to the letter has a working example at its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.howto import PAGES, Command, copy, missing, steps, write
from tests.thorough import some


@pytest.mark.parametrize("page", some(PAGES, 4), ids=lambda page: page.stem)
def test_a_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    """What it says is written into a copy of the tree; what it has typed then prints what it says, or ends well."""
    root = tmp_path / "attest"
    copy(root)
    # a copy's lines are none of ours; its commands share their bytecode
    without = ("COVERAGE_", "PYTHONDONTWRITEBYTECODE")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(without)}
    environment = ours | {
        "PYTHONPATH": str(root),
        "COLUMNS": "200",
        "ATTEST_HOME": str(tmp_path / "home"),
        "PYTEST_DEBUG_TEMPROOT": str(tmp_path),  # otherwise it clears away what older runs of the suite left behind
    }
    written = set[str]()
    for step in steps(page.read_text("utf-8")):
        if not isinstance(step, Command):
            write(step, root)
            written.add(step.path)
            continue
        done = subprocess.run(
            ["/bin/sh", "-c", step.line],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert step.output or done.returncode == 0, f"{step.line}\n{printed}"
        assert (line := missing(step, printed)) is None, f"{step.line} does not print: {line}\n{printed}"
    ruff, code = [sys.executable, "-m", "ruff"], sorted(path for path in written if path.endswith(".py"))
    for looked_at in (["check"], ["format", "--check"]):  # what the page did not write is looked at before the suite
        subprocess.run([*ruff, *looked_at, "--quiet", "--force-exclude", "--", *code], cwd=root, check=True)


SAID = re.compile(r"`([\w.]+)` (?:in|of) `([\w./]+\.\w+)`")
TESTS = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_is_there(page: Path) -> None:
    """`name` in `file`, and `file::test`."""
    text = page.read_text("utf-8")
    root = Path(__file__).parents[2]
    named = [(name, path) for name, path in SAID.findall(text)] + [(name, path) for path, name in TESTS.findall(text)]
    assert named
    for name, path in named:
        assert re.search(rf"\b{re.escape(name)}\b", (root / path).read_text("utf-8")), f"no {name} in {path}"
