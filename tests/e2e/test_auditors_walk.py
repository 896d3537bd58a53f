"""An auditor's walk: a server that publishes, then an export, its checkpoints and the public key in another folder, and Attest nowhere near."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from rai.ledger import attest_verify
from tests.e2e.processes import ROOT, address_of, copy_of_home, environment_of, started

PATIENCE_S = 120.0
Change = Callable[[list[str]], list[str]]


def ask(base: str, question: str) -> str:
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{base}/api/ask", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
        return str(json.loads(reply.read())["entry_id"])


def program(*arguments: str, env: dict[str, str], cwd: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "bot", "ledger", *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.fixture(scope="module")
def walk(quick_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The auditor's folder, and the entry of a turn that was asked."""
    folder = tmp_path_factory.mktemp("walk")
    home, place, auditor = copy_of_home(quick_home, folder / "home"), folder / "elsewhere", folder / "auditor"
    place.mkdir()
    auditor.mkdir()
    env = environment_of(home, ATTEST_LEDGER_CHECKPOINTS=str(place), ATTEST_LEDGER_CHECKPOINT_S="1")
    with started("serve", "--json", "--port", "0", env=env, cwd=folder) as server:
        base = address_of(server)
        entries = [ask(base, "How long do refunds take?") for _ in range(3)]
        until = time.monotonic() + PATIENCE_S
        while not list(place.iterdir()) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(place.iterdir()), "nothing was published while it ran"
        entries += [ask(base, "How do I return a parcel?") for _ in range(2)]
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
    shutil.copy(attest_verify.__file__, auditor)
    shutil.copytree(place, auditor / "checkpoints")
    (auditor / "ledger.jsonl").write_text(program("export", env=env, cwd=folder), "utf-8")
    (auditor / "key.txt").write_text(program("public-key", env=env, cwd=folder), "utf-8")
    (auditor / "proof.json").write_text(program("prove", entries[-1], env=env, cwd=folder), "utf-8")
    shutil.rmtree(home)
    return auditor, entries[-1]


def checked(auditor: Path, *what: str) -> subprocess.CompletedProcess[str]:
    """The auditor's own Python, isolated, without any package."""
    notes = sorted(str(path.relative_to(auditor)) for path in (auditor / "checkpoints").iterdir())
    command = [sys.executable, "-I", "-S", "attest_verify.py", *what, "--checkpoint", *notes, "--key", "key.txt"]
    return subprocess.run(command, cwd=auditor, capture_output=True, text=True, check=False, env={})


def test_the_ledger_is_sound_and_all_of_it_is_covered(walk: tuple[Path, str]) -> None:
    auditor, _ = walk
    assert ROOT not in auditor.parents
    ran = checked(auditor, "ledger.jsonl", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert (told["ok"], told["not_yet_covered"], told["form_1"]) == (True, None, 0)
    assert told["entries"] == told["covered"] >= 6
    assert {point["state"] for point in told["points"]} == {"as signed"}
    assert len(told["points"]) >= 2


def test_one_turn_is_proven_alone(walk: tuple[Path, str]) -> None:
    auditor, entry = walk
    ran = checked(auditor, "--proof", "proof.json", "--json")
    assert ran.returncode == 0
    assert (json.loads(ran.stdout)["entry"]["entry_id"], json.loads(ran.stdout)["entry"]["body"]) == (
        entry,
        "as committed",
    )


def test_one_turn_is_read_whole_where_nothing_is_installed(walk: tuple[Path, str]) -> None:
    auditor, entry = walk
    ran = checked(auditor, "ledger.jsonl", "--show", entry)
    assert ran.returncode == 0
    body = json.loads(ran.stdout)
    assert body["ask"]["question"] == "How do I return a parcel?"
    assert all(item["text"] for item in body["evidence"])
    assert body["policy"]["name"]
    lines = (auditor / "ledger.jsonl").read_text("utf-8").splitlines()
    stored = next(json.loads(line)["body"] for line in lines if f'"{entry}"' in line)
    assert "evidence" not in stored


def at(lines: list[str], kind: str = "turn") -> int:
    return next(n for n, line in enumerate(lines) if f'"kind": "{kind}"' in line)


def reworded(lines: list[str]) -> list[str]:
    n = at(lines)
    return [*lines[:n], lines[n].replace("refunds", "returns"), *lines[n + 1 :]]


def redated(lines: list[str]) -> list[str]:
    n = at(lines)
    entry = json.loads(lines[n])
    return [*lines[:n], json.dumps({**entry, "at": "2020" + entry["at"][4:]}), *lines[n + 1 :]]


def removed(lines: list[str]) -> list[str]:
    n = at(lines)
    return [*lines[:n], *lines[n + 1 :]]


def swapped(lines: list[str]) -> list[str]:
    n = at(lines)
    return [*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]]


def cut(lines: list[str]) -> list[str]:
    return lines[:-2]


@pytest.mark.parametrize("change", [reworded, redated, removed, swapped, cut])
def test_each_change_of_the_export_is_found(walk: tuple[Path, str], change: Change) -> None:
    auditor, _ = walk
    lines = (auditor / "ledger.jsonl").read_text("utf-8").splitlines()
    changed = change(lines)
    assert changed != lines
    (auditor / "changed.jsonl").write_text("\n".join(changed) + "\n", "utf-8")
    ran = checked(auditor, "changed.jsonl")
    assert ran.returncode == 1
    assert "BROKEN" in ran.stdout
