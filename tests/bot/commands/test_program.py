"""The program as a process: help, exit codes, pipes, signals, and what a start costs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest

from bot.cli import COMMANDS, main
from bot.commands.shared.wiring import Ingester, Wiring
from bot.settings.settings import Settings
from bot.system import OpenLedger, System
from bot.version import VERSION
from grounding.ingest.history import History
from rai.ports import Ledger
from tests.bot.commands.conftest import Attest
from tests.bot.settings.facts import facts

ROOT = Path(__file__).parents[3]
HEAVY = ("presidio_analyzer", "onnxruntime", "botbuilder", "aiohttp", "tantivy", "sqlalchemy", "spacy", "openai")


def run(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bot", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env, input=stdin)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches(attest: Attest, name: str) -> None:
    ran = attest(name, "--help")
    assert ran.code == 0
    if name in ("documents", "index", "ledger", "refusals", "quarantine", "privacy", "review", "database"):
        assert "Commands:" in ran.out
    else:
        assert f"attest {name}" in ran.out.split("Example", 1)[1]
    assert ran.err == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_can_be_run(name: str, attest: Attest) -> None:
    ran = attest(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.split()[:3] == ["Usage:", "attest", name]


def test_help_lists_only_what_exists(attest: Attest) -> None:
    listed = attest("--help").out
    assert all(f"\n  {name} " in listed for name in COMMANDS)
    ledger = attest("ledger", "--help").out
    assert all(f"\n  {name} " in ledger for name in ("search", "replay", "affected"))


def test_the_program_alone_shows_its_help(attest: Attest) -> None:
    assert attest().out == attest("--help").out


@pytest.mark.parametrize("arguments", ["--help", "settings", "bogus"])
def test_a_light_command_imports_no_heavy_library(arguments: str) -> None:
    code = (
        "import sys; from bot.cli import main; main(sys.argv[1:]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, arguments], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_does_not_even_load_the_settings() -> None:
    code = "import sys; from bot.cli import main; main(['--help']); print('pydantic' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stderr == "False\n"


def test_a_reader_that_leaves_is_met_with_silence() -> None:
    writer = subprocess.Popen(
        [sys.executable, "-m", "bot", "settings", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    assert writer.stderr.read() == b""
    assert writer.wait(30) == 130
    writer.stderr.close()


class Bug(Exception):
    """Not one of ours."""


async def no_ingester(_: Settings) -> Ingester:
    raise AssertionError("nothing is ingested here")


def no_past(_: Settings) -> History:
    raise AssertionError("nobody looks back here")


def no_record(_: Settings) -> AbstractAsyncContextManager[Ledger]:
    raise AssertionError("nothing is read out here")


def no_ledger(_: Settings, *, writes: bool = False) -> AbstractAsyncContextManager[OpenLedger]:
    raise AssertionError(f"nothing is proven here, {writes}")


def broken_wiring() -> Wiring:
    async def compose(_: Settings) -> System:
        raise Bug("with the customer's words in it")

    return Wiring(compose, no_ingester, no_past, no_record, no_ledger)


def test_a_bug_is_one_line_without_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "x"], broken_wiring) == 3
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Bug" in err
    assert "ATTEST_LOG_LEVEL=debug" in err
    assert "customer" not in err


def test_a_bug_shows_its_traceback_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEST_LOG_LEVEL", "debug")
    assert main(["ask", "x"], broken_wiring) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    async def compose(_: Settings) -> System:
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the signal is handled at once")

    assert main(["ask", "x"], lambda: Wiring(compose, no_ingester, no_past, no_record, no_ledger)) == 130
    assert capsys.readouterr().err == ""


def test_a_port_that_is_taken_is_one_line(attest: Attest) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = attest("serve", "--port", str(port))
    assert ran.code == 2
    assert ran.err == f"attest: port {port} on 127.0.0.1 is taken; choose another with --port N (0 picks a free one)\n"


def test_the_script_and_the_module_are_the_same_program(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("attest")
    if not script.exists():
        pytest.skip("the program is not installed beside this Python")
    environment = {**os.environ, "ATTEST_HOME": str(tmp_path)}
    asked = ["settings", "--json"]
    first = subprocess.run([script, *asked], capture_output=True, text=True, env=environment, timeout=300, check=True)
    assert json.loads(first.stdout) == json.loads(run(*asked, env=environment).stdout)


def test_an_unreadable_env_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    for command in (["settings"], ["ask", "hi"], ["doctor"]):
        done = subprocess.run(
            [sys.executable, "-m", "bot", *command],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("attest: .env: not readable as UTF-8")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("under", ["", "below"])
@pytest.mark.parametrize("arguments", [["ask", "hi"], ["ingest", "--sample"], ["serve", "--port", "0"]])
def test_a_home_that_is_no_folder_is_one_line(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], under: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the whole path may be longer than what is shown of it
    (tmp_path / "file").touch()
    monkeypatch.setenv("ATTEST_HOME", str(Path("file") / under))
    ran = attest(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"attest: ATTEST_HOME='{Path('file') / under}' (environment) ")
    assert "a folder" in ran.err.partition("allowed is ")[2]
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["settings", "doctor"])
def test_a_slip_in_the_name_of_a_setting_is_told(attest: Attest, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("ATTEST_PROT", "8080")
    ran = attest(command)
    assert ran.code == 0
    assert (facts(ran.err), ran.err.count("\n")) == ("PROT PORT", 1)


def test_the_version_is_that_of_the_package(attest: Attest) -> None:
    """Package and program take it from one place; a program that runs from its files alone has one too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "bot.version.VERSION"}
    assert "version" in project["project"]["dynamic"]
    ran = attest("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"attest {VERSION}\n", "")
