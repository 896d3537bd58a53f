"""What pyproject.toml says of the repository is so."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
BUILT = {"build", "dist"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_strict_types_hold_for_every_folder_with_code(project: dict[str, Any]) -> None:
    """A folder that the type checker is not told of is checked by nobody."""
    folders = {p.name for p in ROOT.iterdir() if p.is_dir() and p.name[0] != "." and any(p.rglob("*.py"))} - BUILT
    types = project["tool"]["mypy"]
    assert types["strict"] is True
    assert set(types["files"]) == folders
