"""The hooks of a commit run what `make test` runs, and hooks of others cannot change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools.test_lists import CHECK

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / ".pre-commit-config.yaml"


@pytest.fixture(scope="module")
def repositories() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(CONFIG.read_text("utf-8"))["repos"]
    return found


def own_hooks(repositories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [hook for repository in repositories if repository["repo"] == "local" for hook in repository["hooks"]]


def test_a_hook_runs_what_the_suite_runs(repositories: list[dict[str, Any]]) -> None:
    """Lint, format and types are the commands of `make test`, all of them, and the lists are looked at as their test does."""
    recipe = re.search(r"^test:.*\n\t@(.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert recipe
    suite = [*recipe[1].split(" && "), " ".join([".venv/bin/python", *CHECK])]
    assert [hook["entry"] for hook in own_hooks(repositories)] == suite


def test_a_hook_uses_the_tools_of_the_lock_on_the_whole_tree(repositories: list[dict[str, Any]]) -> None:
    """With the files of a commit alone, `mypy` and `ruff` would go by other settings than in `make test`."""
    for hook in own_hooks(repositories):
        assert (hook["language"], hook["pass_filenames"]) == ("system", False), hook["id"]


def test_hooks_of_others_are_pinned_by_commit(repositories: list[dict[str, Any]]) -> None:
    lines = re.findall(r"rev: (.+)", CONFIG.read_text("utf-8"))
    assert len(lines) == len([r for r in repositories if r["repo"] != "local"]) > 0
    assert [line for line in lines if not re.fullmatch(r"[0-9a-f]{40}  # frozen: v\d+\.\d+\.\d+", line)] == []
