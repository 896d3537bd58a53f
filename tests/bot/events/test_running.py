"""What a server records of its own life, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from bot.events import running
from bot.events.running import DirectoryWatch, given_settings, groups_file, last_run, recorded_run
from bot.records import Versions
from bot.settings.load import load_settings
from bot.system import System
from rai.entry_schema import changed
from tests.fakes.ledger import FakeLedger, ShutLedger
from tests.fakes.system import fake_system


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def server(ledger: FakeLedger, home: Path, **settings: Any) -> System:
    told: dict[str, Any] = {"home": home, "ledger_key_file": home / "key", **settings}
    home.mkdir(exist_ok=True)
    (home / "key").write_bytes(b"k" * 32)
    return replace(fake_system(**told).system, ledger=ledger, versions=Versions(models={"screen": "rules-1"}))


async def ran(system: System, signal: int | None = SIGTERM) -> None:
    async with recorded_run(system) as run:
        run.signal = signal


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not met():  # noqa: ASYNC110 - a list tells nobody that it grew
            await asyncio.sleep(0.01)


def kinds(ledger: FakeLedger) -> list[str]:
    return [entry.kind for entry in ledger.kept]


async def test_a_run_is_two_entries(home: Path) -> None:
    ledger = FakeLedger()
    await ran(server(ledger, home))
    start, stop = ledger.kept
    assert kinds(ledger) == ["start", "stop"]
    assert start.body["models"] == {"screen": "rules-1"}
    assert (start.body["worker"], start.body["workers"]) == (1, 1)
    assert (stop.body["start"], stop.body["signal"]) == (start.entry_id, "SIGTERM")
    for entry in ledger.kept:
        assert changed(entry.body, entry.kind, lambda text, _leaf: text.upper()) == entry.body, "structure alone"


async def test_a_run_that_fails_ends_without_a_signal(home: Path) -> None:
    ledger = FakeLedger()
    with pytest.raises(ValueError, match="broken"):
        async with recorded_run(server(ledger, home)):
            raise ValueError("broken")
    assert ledger.kept[-1].body["signal"] is None


async def test_the_same_settings_again_are_no_news(home: Path) -> None:
    ledger = FakeLedger()
    for _ in range(2):
        await ran(server(ledger, home, company="Halden"))
    assert kinds(ledger) == ["start", "stop"] * 2


async def test_other_settings_are_named_without_their_values(home: Path) -> None:
    """Given, taken back and changed; those that decide nothing of a turn are not told, nor is a key."""
    ledger = FakeLedger()
    await ran(server(ledger, home, company="Halden", web="sample"))
    key = {"openai_base_url": "http://127.0.0.1:1", "openai_api_key": "sk-secret-value"}
    await ran(server(ledger, home, company="Zebedea", port=4000, **key))
    settings = ledger.kept[3]
    assert kinds(ledger) == ["start", "stop", "start", "settings", "stop"]
    assert settings.body["changed"] == [
        "ATTEST_COMPANY",
        "ATTEST_OPENAI_API_KEY",
        "ATTEST_OPENAI_BASE_URL",
        "ATTEST_WEB",
    ]
    assert (settings.body["before"], settings.body["after"]) == (
        ledger.kept[0].body["settings"],
        ledger.kept[2].body["settings"],
    )
    said = str([entry.body for entry in ledger.kept])
    for value in ("Halden", "Zebedea", "sk-secret-value", "127.0.0.1"):
        assert value not in said


def test_a_secret_is_set_or_not(home: Path) -> None:
    base = {"home": home, "openai_base_url": "http://127.0.0.1:1"}
    one, two = (given_settings(load_settings(**base, openai_api_key=key)) for key in ("sk-1", "sk-2"))
    assert one == two
    assert one["ATTEST_OPENAI_API_KEY"] == "set"
    assert "ATTEST_HOME" not in one


async def test_a_directory_that_changed_between_two_runs_is_told(home: Path) -> None:
    ledger, file = FakeLedger(), home / "directory.yaml"
    await ran(server(ledger, home))
    file.write_text("users: {ada: [hr]}\n", "utf-8")
    await ran(server(ledger, home))
    await ran(server(ledger, home))
    assert kinds(ledger) == ["start", "stop", "start", "directory", "stop", "start", "stop"]
    after = hashlib.sha256(file.read_bytes()).hexdigest()
    told = {name: ledger.kept[3].body[name] for name in ("file", "before", "after")}
    assert told == {"file": "directory.yaml", "before": None, "after": after}


async def test_a_directory_that_changes_while_it_is_served_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a ledger that could not be written at first; the next run counts from there."""
    monkeypatch.setattr(running, "WATCH_S", 0.01)
    ledger, file = ShutLedger(), home / "directory.yaml"
    ledger.shut = False
    async with recorded_run(server(ledger, home)):
        ledger.shut = True
        file.write_text("users: {ada: [hr]}\n", "utf-8")
        await asyncio.sleep(0.1)
        assert kinds(ledger) == ["start"]
        ledger.shut = False
        await until(lambda: "directory" in kinds(ledger))
    await ran(server(ledger, home))
    assert kinds(ledger) == ["start", "directory", "stop", "start", "stop"]


async def test_the_watch_tells_a_file_that_goes_or_cannot_be_read(home: Path) -> None:
    home.mkdir()
    file = home / "directory.yaml"
    file.write_text("users: {}", "utf-8")
    watch = DirectoryWatch(FakeLedger(), file)
    first = await watch.look()
    assert first == await watch.look() == hashlib.sha256(b"users: {}").hexdigest()
    file.unlink()
    assert await watch.look() is None
    file.mkdir()
    assert await watch.look() == "unreadable"
    assert await DirectoryWatch(FakeLedger(), None).look() is None


def test_with_graph_the_file_of_group_names_is_watched(home: Path) -> None:
    home.mkdir()
    (home / "groups.yaml").write_text("groups: {}", "utf-8")
    graph = {"directory": "graph", "identity": "managed", "graph_groups_file": home / "groups.yaml"}
    assert groups_file(load_settings(home=home)) == home / "directory.yaml"
    assert groups_file(load_settings(home=home, **graph)) == home / "groups.yaml"


async def test_the_other_processes_of_a_server_record_their_start_and_stop_alone(home: Path) -> None:
    ledger = FakeLedger()
    await ran(server(ledger, home))
    async with recorded_run(server(ledger, home, company="Halden"), 2, 3):
        pass
    assert kinds(ledger) == ["start", "stop"] * 2
    assert (ledger.kept[2].body["worker"], ledger.kept[2].body["workers"]) == (2, 3)


async def test_a_ledger_that_cannot_be_written_stops_no_server(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    ledger = ShutLedger()
    with caplog.at_level(logging.ERROR, "attest"):
        await ran(server(ledger, home))
    assert [r.getMessage() for r in caplog.records] == [
        "the start could not be recorded: the ledger cannot be used: the disk is full",
        "the stop could not be recorded: the ledger cannot be used: the disk is full",
    ]


async def test_a_run_is_found_however_far_back_it_lies() -> None:
    ledger = FakeLedger()
    assert (await last_run(ledger)).start is None
    start = await ledger.append("start", {"settings": "a", "directory": "before"})
    await ledger.append("directory", {"after": "now"})
    for _ in range(300):
        await ledger.append("turn", {})
    found = await last_run(ledger)
    assert (found.start, found.directory) == (start, "now")
