"""Set-up builds the models of an installation once, whole, and every home finds them: a checkout with an environment of its own, and the real commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from rai.model_files import CLASSIFIER, EMBEDDING, FILES, RECIPE, TOKENIZER, recipe
from tests.environments import add_locked, add_weights, make_environment

ROOT = Path(__file__).parent.parent
WHOLE = FILES
OLDER = "0123456789ab"
"""The folder of another recipe."""
BUILD_S = 300.0
"""For building on a machine that is busy with the rest of the suite; it takes about 10 s alone."""
INSTALLED = "import runpy; made = runpy.run_path('tools/setup.py'); open(made['stamp_path']('runtime'), 'w').write(made['fingerprint']('runtime'))"


@dataclass(frozen=True)
class Checkout:
    """A copy of what set-up works on, whose packages are installed and whose models are not built."""

    root: Path

    @property
    def models(self) -> Path:
        return self.root / ".venv" / "share" / "attest" / "models"

    def set_up(self) -> subprocess.Popen[str]:
        return self._start(Path(sys.executable), "tools/setup.py", "runtime")

    def attest(self, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        process = self._start(self.python, "-m", "bot", *arguments, ATTEST_HOME=str(home), **more)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    def _start(self, *command: object, **more: str) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATTEST_", "PYTHON"))}
        env = {**kept, "ATTEST_LEDGER_KEY_FILE": str(self.root / "ledger.key"), **more}
        pipe = subprocess.PIPE
        return subprocess.Popen([str(c) for c in command], cwd=self.root, env=env, stdout=pipe, stderr=pipe, text=True)

    def checks(self, home: Path, **more: str) -> dict[str, dict[str, Any]]:
        """What doctor says, by part."""
        return {c["name"]: c for c in json.loads(self.attest(home, "doctor", "--json", **more).stdout)["checks"]}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Made up to the models; an older set and what a killed build left lie where they are to be built."""
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    for name in ("grounding", "rai", "bot", "tools", "requirements"):
        # with the bytecode, which is half of what the commands would take
        shutil.copytree(ROOT / name, made.root / name)
    shutil.copy(ROOT / "pyproject.toml", made.root)
    packages = make_environment(made.root / ".venv")
    for lock in ("build.txt", "runtime.txt", "model.txt"):
        add_locked(packages, ROOT / "requirements" / lock)
    add_weights(made.root / ".venv" / "share" / "attest" / "weights")
    subprocess.run([sys.executable, "-c", INSTALLED], cwd=made.root, check=True)
    return made


@pytest.fixture(scope="module")
def folder(checkout: Checkout) -> Path:
    """The folder of models after set-up was killed in the middle of building, somebody deleted files, and it was run again."""
    older = checkout.models / OLDER
    older.mkdir(parents=True)
    (older / EMBEDDING).write_bytes(b"of an older recipe")
    with checkout.set_up() as killed:
        _wait_for(checkout.models / ".building" / TOKENIZER)
        _kill(killed)
    assert _sets(checkout.models) == {OLDER: (EMBEDDING,)}  # half a set is none
    lacking = checkout.models / recipe()
    lacking.mkdir()
    (lacking / EMBEDDING).write_bytes(b"its companions were deleted")
    with checkout.set_up() as again:
        seen = _seen_while(again, checkout.models)
        assert again.returncode == 0, again.stderr.read() if again.stderr else ""
    assert seen <= {(EMBEDDING,), (), WHOLE}
    [name] = _sets(checkout.models)
    return checkout.models / name


def _wait_for(path: Path) -> None:
    until = time.monotonic() + BUILD_S
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.01)


def _kill(process: subprocess.Popen[str]) -> None:
    """With what it has started: the build is a process of its own."""
    started = psutil.Process(process.pid)
    for one in [*started.children(recursive=True), started]:
        one.kill()


def _sets(models: Path) -> dict[str, tuple[str, ...]]:
    """The sets of models that a program could find, and which files of one they hold."""
    made = [path for path in models.iterdir() if not path.name.startswith(".")]
    return {path.name: tuple(name for name in WHOLE if (path / name).exists()) for path in made}


def _seen_while(process: subprocess.Popen[str], models: Path) -> set[tuple[str, ...]]:
    """What a program that looks for models of this recipe could have seen while they were built."""
    seen: set[tuple[str, ...]] = set()
    while process.poll() is None:
        seen |= {files for name, files in _sets(models).items() if name != OLDER}
        time.sleep(0.005)
    return seen


def test_a_build_that_was_killed_is_made_good_and_the_older_set_goes(folder: Path) -> None:
    """As is a set of which files were deleted, which is what doctor and the warnings advise where one cannot be used."""
    assert {p.name for p in folder.iterdir()} == set(WHOLE)
    assert (folder / EMBEDDING).stat().st_size > 2**20
    assert {p.name for p in folder.parent.iterdir()} == {folder.name, ".lock"}


def test_set_up_that_has_nothing_to_do_touches_nothing(checkout: Checkout, folder: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in folder.iterdir()}
    with checkout.set_up() as process:
        _, said = process.communicate()
    assert (process.returncode, said) == (0, "")
    assert {p: p.stat().st_mtime_ns for p in folder.iterdir()} == before


def test_every_home_finds_them_and_an_older_homes_copy_is_not_used(
    checkout: Checkout, folder: Path, tmp_path: Path
) -> None:
    """Also half a copy, as set-up once left it in a home."""
    first, second = tmp_path / "first", tmp_path / "second"
    old = second / "model" / EMBEDDING
    old.parent.mkdir(parents=True)
    old.write_bytes(b"half of what a home once held")
    page = tmp_path / "refunds.md"
    page.write_text("# Refunds\n\nA refund takes five working days.\n", "utf-8")
    assert checkout.attest(second, "ingest", str(page)).returncode == 0
    asked = checkout.attest(second, "ask", "How long does a refund take?", "--json")
    mode = json.loads(asked.stdout)["mode"]
    assert (mode["search"], mode["screen"], asked.stderr) == ("hybrid", "rules+classifier", "")
    for home in (first, second):
        checks = checkout.checks(home)
        for part, name in {"model file": EMBEDDING, "screen's classifier": CLASSIFIER}.items():
            assert (checks[part]["status"], checks[part]["detail"].split(" (")[0]) == ("ok", str(folder / name))
        assert ("older models" in checks) is (home == second)
    assert checks["older models"]["fix"] == f"delete {second / 'model'}"


def test_a_named_model_wins_with_what_stands_beside_it(checkout: Checkout, folder: Path, tmp_path: Path) -> None:
    """No classifier beside it: none is taken from the installation."""
    own = tmp_path / "own"
    own.mkdir()
    for name in (EMBEDDING, TOKENIZER):
        shutil.copy(folder / name, own)
    checks = checkout.checks(tmp_path / "home", ATTEST_MODEL_FILE=str(own / EMBEDDING))
    assert checks["model file"]["detail"].startswith(f"{own / EMBEDDING} (")
    classifier = checks["screen's classifier"]
    assert classifier["status"] == "note"
    assert classifier["detail"].startswith(f"{own / CLASSIFIER} is not there")
    assert "ATTEST_MODEL_FILE" in classifier["fix"]


@pytest.mark.parametrize("changed", RECIPE, ids=lambda path: path.name)
def test_another_recipe_asks_for_other_models(checkout: Checkout, folder: Path, changed: Path) -> None:
    """Set-up's question, and the program's: neither takes the models of the recipe that was."""
    file = checkout.root / changed.relative_to(ROOT)
    whole = file.read_bytes()
    ask = [str(checkout.python), "-m", "rai.model_files"]
    before = subprocess.run(ask, cwd=checkout.root, capture_output=True, text=True, check=False)
    try:
        file.write_bytes(whole + b"\n")
        after = subprocess.run(ask, cwd=checkout.root, capture_output=True, text=True, check=False)
    finally:
        file.write_bytes(whole)
    assert (before.returncode, before.stdout.strip()) == (0, str(folder))
    assert after.returncode == 1
    assert after.stdout.strip() not in ("", str(folder))


def test_clean_takes_the_models_with_the_environment_and_leaves_the_data(tmp_path: Path) -> None:
    """Read from a dry run: nothing is removed here."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    said = subprocess.run(
        ["make", "--no-print-directory", "-n", "clean"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    removed = said.split()[2:]
    assert said.startswith("rm -rf .venv ")
    assert not {".attest", "data", "~"} & set(removed)
