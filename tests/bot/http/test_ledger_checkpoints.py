"""A server publishes checkpoints while it runs and when it stops; a place that fails degrades and is logged without its secret."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from pytest_aiohttp.plugin import AiohttpClient

from bot.http.ledger_checkpoints import SCHEDULE, CheckpointSchedule
from bot.server.app import build_app
from grounding.errors import ServiceUnavailable
from grounding.services.remote import Remote
from rai.azure.checkpoint_container import ContainerSink
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.publish import Publisher, name_of
from rai.ports import CheckpointSink
from rai.records import KeptCheckpoint
from tests.fakes import faults
from tests.fakes.blob_server import SIGNATURE, BlobServer
from tests.fakes.form2 import LEDGER_ID, Form2Ledger
from tests.fakes.signed_ledger import SignedLedger
from tests.fakes.system import fake_system


def serving(ledger: SignedLedger, sink: CheckpointSink, every_s: float = 3600) -> web.Application:
    system = fake_system(ledger_checkpoint_s=every_s).system
    return build_app(replace(system, checkpoints=Publisher(ledger, sink)))


def schedule_of(app: web.Application) -> CheckpointSchedule:
    found = app[SCHEDULE]
    assert found is not None
    return found


async def until(path: Path) -> None:
    for _ in range(500):
        if path.exists():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path.name} was not published")


async def test_one_is_published_at_the_start_on_the_schedule_and_at_the_end(
    aiohttp_client: AiohttpClient, tmp_path: Path
) -> None:
    ledger = SignedLedger(Form2Ledger(2))
    client = await aiohttp_client(serving(ledger, FolderSink(tmp_path), every_s=0.05))
    await until(tmp_path / name_of(LEDGER_ID, 3))
    ledger.made.add("turn", {})
    await until(tmp_path / name_of(LEDGER_ID, 4))
    figures = ""
    while "attest_ledger_checkpoint_entries 4.0" not in figures:  # told just after it was written
        figures = await (await client.get("/metrics")).text()
    assert "attest_ledger_checkpoint_ok 1.0" in figures
    assert "attest_ledger_checkpoint_timestamp_seconds 1" in figures
    assert await (await client.get("/readyz")).json() == {"status": "ready"}


async def test_what_was_added_since_is_published_at_the_end(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    ledger = SignedLedger(Form2Ledger(2))
    client = await aiohttp_client(serving(ledger, FolderSink(tmp_path)))
    await until(tmp_path / name_of(LEDGER_ID, 3))
    ledger.made.add("turn", {})
    await client.close()
    assert sorted(path.name for path in tmp_path.glob("*.txt")) == [name_of(LEDGER_ID, 3), name_of(LEDGER_ID, 4)]
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "ledger-checkpoints"]


async def test_a_place_that_fails_degrades_and_is_logged_once_without_its_secret(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with BlobServer(otherwise=faults.echoed(403)) as server:
        sink = ContainerSink(server.url, Remote("checkpoints", retries=0), setting="ATTEST_LEDGER_CHECKPOINTS")
        app = serving(SignedLedger(Form2Ledger(2)), sink)
        client = await aiohttp_client(app)
        for _ in range(3):
            await schedule_of(app).publish()
        ready = await client.get("/readyz")
        told = await ready.json()
        assert ready.status == 200
        assert told["degraded"] == {"checkpoints": "the SAS does not allow this, or has ended (status 403)"}
        figures = await (await client.get("/metrics")).text()
        assert "attest_ledger_checkpoint_ok 0.0" in figures
        ours = [record for record in caplog.records if record.name != "aiohttp.access"]  # that is the blob server's own
        assert sum("no checkpoint of the ledger was published" in record.getMessage() for record in ours) == 1
        for said in (str(told), figures, *(record.getMessage() for record in ours)):
            assert SIGNATURE[:10] not in said
        server.otherwise = None
        await schedule_of(app).publish()
        assert "degraded" not in await (await client.get("/readyz")).json()
        assert "attest_ledger_checkpoint_ok 1.0" in await (await client.get("/metrics")).text()
        assert "checkpoints of the ledger are published again" in caplog.text
        await sink.aclose()


async def test_a_ledger_that_was_cut_degrades(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    await Publisher(SignedLedger(Form2Ledger(5)), FolderSink(tmp_path)).publish()
    app = serving(SignedLedger(Form2Ledger(2)), FolderSink(tmp_path))
    client = await aiohttp_client(app)
    await schedule_of(app).publish()
    degraded = (await (await client.get("/readyz")).json())["degraded"]
    assert "a checkpoint of 6 is published" in degraded["checkpoints"]


async def test_a_failure_that_nobody_expected_does_not_end_the_schedule(
    aiohttp_client: AiohttpClient, tmp_path: Path
) -> None:
    class Odd(FolderSink):
        """Raises what no sink should, once."""

        failed = False

        async def newest(self, prefix: str) -> KeptCheckpoint | None:
            if not self.failed:
                self.failed = True
                raise RuntimeError(prefix)
            return await super().newest(prefix)

    await aiohttp_client(serving(SignedLedger(Form2Ledger(2)), Odd(tmp_path), every_s=0.01))
    await until(tmp_path / name_of(LEDGER_ID, 3))


async def test_an_end_waits_for_no_place_that_hangs(
    aiohttp_client: AiohttpClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Hanging:
        """Never answers, once the server has started."""

        place = "far away"

        async def put(self, name: str, note: str) -> str | None:
            raise ServiceUnavailable("checkpoints", f"{len(name) + len(note)}")

        async def read(self, name: str) -> str | None:
            raise ServiceUnavailable("checkpoints", name)

        async def newest(self, prefix: str) -> KeptCheckpoint | None:
            assert prefix
            await asyncio.sleep(60)
            return None

    monkeypatch.setattr("bot.http.ledger_checkpoints.STOP_S", 0.05)
    client = await aiohttp_client(serving(SignedLedger(Form2Ledger(2)), Hanging()))
    async with asyncio.timeout(5):
        await client.close()
    assert "no answer within 0.05 s" in caplog.text


async def test_without_a_place_nothing_is_published(aiohttp_client: AiohttpClient) -> None:
    app = build_app(fake_system().system)
    client = await aiohttp_client(app)
    assert app[SCHEDULE] is None
    assert await (await client.get("/readyz")).json() == {"status": "ready"}
