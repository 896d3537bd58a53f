"""The wheel holds what the source tree does: every module, every file that a module reads, and the word that the packages are typed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "grounding", "rai")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names inside a wheel that is built from a copy, so that nothing is left behind in the tree."""
    source = tmp_path_factory.mktemp("source")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*command, "--wheel-dir", str(source / "out")], cwd=source, check=True, capture_output=True)
    [path] = (source / "out").glob("attest_copilot-*.whl")
    return set(zipfile.ZipFile(path).namelist())


def test_the_wheel_has_every_file_of_the_packages(wheel: set[str]) -> None:
    tree = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tree == {name for name in wheel if ".dist-info/" not in name}


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_says_that_it_is_typed(package: str, wheel: set[str]) -> None:
    """Without `py.typed` a type checker takes whatever another project imports from here for Any."""
    assert f"{package}/py.typed" in wheel
