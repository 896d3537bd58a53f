"""The program over a home of its own: settings for this process, and processes that can be killed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.settings.load import load_settings
from bot.settings.settings import Settings

ROOT = Path(__file__).parents[2]


def settings_over(home: Path, model: Path | None = None, **more: object) -> Settings:
    """Settings whose every file lies in or beside `home`; without `model` search goes by words only."""
    return load_settings(
        home=home, ledger_key_file=_key_of(home), model_file=model or home / "none.onnx", port=0, **more
    )


def copy_of_home(source: Path, target: Path) -> Path:
    """The knowledge base and the people of `source` in a new home; its ledger and state begin empty."""
    target.mkdir(parents=True)
    shutil.copytree(source / "index", target / "index")
    shutil.copyfile(source / "directory.yaml", target / "directory.yaml")
    return target


def environment_of(home: Path, model: Path | None = None, **more: str) -> dict[str, str]:
    """The environment of a process that has the settings of `settings_over`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATTEST_")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "ATTEST_HOME": str(home),
        "ATTEST_LEDGER_KEY_FILE": str(_key_of(home)),
        "ATTEST_MODEL_FILE": str(model or home / "none.onnx"),
        **more,
    }


def _key_of(home: Path) -> Path:
    return home.with_name(f"{home.name}.config") / "ledger.key"


@contextmanager
def started(*arguments: str, env: dict[str, str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """`attest` as a process; it is killed at the end, if it still runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def address_of(server: subprocess.Popen[str]) -> str:
    """The base URL of a process that runs `serve --json`, once it takes requests."""
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line:
        assert server.stderr is not None
        raise AssertionError(f"the server did not start: {server.stderr.read()}")
    return str(json.loads(line)["messages"]).removesuffix("/api/messages")
