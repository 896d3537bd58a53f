"""Hosted CI does what the Makefile does, on the Pythons that pyproject.toml names, with actions that cannot change and few rights."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.release import NOTES, OUT

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMMAND = re.compile(r"(?:\.ci/run|make) ([a-z-]+)(?: [A-Z]+=\S+)*")
IN_THE_HOST_ITSELF = re.compile(r"cat build/[\w./-]+ >> \"\$GITHUB_STEP_SUMMARY\"|gh release create .*")
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+\b")


def read(path: Path) -> dict[str, Any]:
    """A workflow. Its `on` is YAML's word for true, and is put back."""
    found = yaml.safe_load(path.read_text("utf-8"))
    return {("on" if key is True else key): value for key, value in found.items()}


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in read(path)["jobs"].items():
            yield f"{path.name}:{name}", job


def steps() -> Iterator[tuple[str, str]]:
    """Each line that a step runs, with where it stands."""
    for name, job in jobs():
        for step in job["steps"]:
            yield from ((name, line) for line in lines_of(step))


def lines_of(step: dict[str, Any]) -> list[str]:
    return [line.strip() for line in step.get("run", "").splitlines()]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def test_there_is_something_to_hold() -> None:
    assert ".ci/run test" in [line for _, line in steps()]


@pytest.mark.parametrize(("job", "line"), sorted(set(steps())))
def test_every_command_is_a_target_of_the_makefile(job: str, line: str) -> None:
    """What CI does, a person can do by the same word; only what the host shows is its own."""
    command = COMMAND.fullmatch(line)
    assert (command and command.group(1) in targets()) or IN_THE_HOST_ITSELF.fullmatch(line), f"{job}: {line}"


def test_the_suite_runs_on_every_python_that_is_promised(project: dict[str, Any]) -> None:
    """The matrix, the classifiers and the range of requires-python are the same versions."""
    prefix = "Programming Language :: Python :: "
    classified = [line.removeprefix(prefix) for line in project["classifiers"] if line.startswith(prefix)]
    lowest, end = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", project["requires-python"]).groups()  # type: ignore[union-attr]  # None fails too
    assert classified == [f"3.{minor}" for minor in range(int(lowest), int(end))]
    assert read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == classified


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit(path: Path) -> None:
    """A tag can be moved by whoever owns the action; the version stands behind the commit for people."""
    used = re.findall(r"uses: (.+)", path.read_text("utf-8"))
    assert [line for line in used if not PINNED.match(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_no_more(path: Path) -> None:
    """What asks for more says so at its job; code of a stranger's pull request is never run with the rights of the repository."""
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow["on"]


@pytest.mark.parametrize(("name", "job"), list(jobs()), ids=lambda part: part if isinstance(part, str) else "")
def test_what_may_write_runs_no_code_of_the_repository(name: str, job: dict[str, Any]) -> None:
    """It takes what another job has made; nothing is checked out beside a token that could change the repository."""
    if job.get("permissions"):
        assert not [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")], name
        assert all(IN_THE_HOST_ITSELF.fullmatch(line) for step in job["steps"] for line in lines_of(step)), name


def test_a_release_is_made_of_a_version_tag_and_told_in_its_notes() -> None:
    """No branch and no pull request makes one; what `make release` writes is what is attached."""
    workflow = read(ROOT / ".github" / "workflows" / "release.yml")
    assert workflow["on"] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}
    build, publish = workflow["jobs"]["build"]["steps"], workflow["jobs"]["publish"]["steps"]
    (made,) = [line for step in build for line in lines_of(step)]
    assert made.startswith('make release TAG="$GITHUB_REF_NAME" ')
    (line,) = [line for step in publish for line in lines_of(step)]
    assert shlex.split(line)[-3:] == [f"{OUT}/{NOTES}", f"{OUT}/*.whl", f"{OUT}/*.tar.gz"]


@pytest.mark.parametrize(("name", "job"), list(jobs()), ids=lambda part: part if isinstance(part, str) else "")
def test_no_job_runs_without_end(name: str, job: dict[str, Any]) -> None:
    assert 0 < job["timeout-minutes"] <= 60, name


@pytest.mark.parametrize(("given", "target"), [([], "test"), (["test"], "test"), (["coverage"], "coverage")])
def test_ci_runs_the_target_that_is_given(given: list[str], target: str, tmp_path: Path) -> None:
    """With what it needs at hand it installs nothing, makes browser and nginx a must, and hands over to make."""
    said = 'echo "$(basename "$0") $* $TEST_REQUIRE_BROWSER$TEST_REQUIRE_NGINX"\n'
    for name in ("make", "chromium", "nginx", "apt-get"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{said}", "utf-8")
        (tmp_path / name).chmod(0o755)
    for name in ("bash", "dirname", "basename"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [str(ROOT / ".ci" / "run"), *given],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"make {target} 11\n", "")


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
