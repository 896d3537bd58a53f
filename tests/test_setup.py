"""Set-up says in one line what stops it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
SETUP = ROOT / "tools" / "setup.py"


@pytest.fixture(scope="module")
def setup_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attest_setup", SETUP)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ((3, 10, 13), False),
        ((3, 11, 0), True),
        ((3, 12, 1), True),
        ((3, 13, 0), True),
        ((3, 14, 0), False),
        ((2, 7, 18), False),
    ],
)
def test_which_pythons_fit(setup_module: ModuleType, version: tuple[int, ...], *, fits: bool) -> None:
    assert setup_module.fits(version) is fits


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "WARNING: Retrying ... NewConnectionError: Failed to establish a new connection: [Errno 101] Network is unreachable",
            "package index cannot be reached",
        ),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "locked hash"),
        ("something odd\n\nERROR: it broke\n", "ERROR: it broke"),
        ("", "no reason was given"),
    ],
)
def test_reasons_are_read_from_the_log(setup_module: ModuleType, tmp_path: Path, log: str, expected: str) -> None:
    path = tmp_path / "setup.log"
    path.write_text(log, "utf-8")
    assert expected in setup_module.reason(str(path))


def test_a_full_disk_is_said_before_anything_is_installed(setup_module: ModuleType) -> None:
    with pytest.raises(setup_module.Stop, match=r"not enough disk: 12 MB free .* about \d+ MB needed"):
        setup_module.check_disk("runtime", free=12 * 2**20)


def test_an_unknown_level_is_a_usage_line() -> None:
    done = subprocess.run([sys.executable, str(SETUP), "everything"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (2, "usage: python3 tools/setup.py [runtime|dev]")


def test_a_python_that_does_not_fit_gets_one_line(tmp_path: Path) -> None:
    """With another version, and no fitting one on the path, there is a sentence and exit 2, no traceback and no .venv."""
    for name in ("tools", "requirements"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    as_if = "import runpy, sys; sys.version_info = (3, 9, 18, 'final', 0); sys.argv = ['setup.py']; runpy.run_path('tools/setup.py', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", as_if],
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("set-up stopped: Python 3.11, 3.12 or 3.13 is needed; python3 is 3.9")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / ".venv").exists()
