"""A server publishes checkpoints while it runs and when it stops; a place that fails degrades and is logged without its secret."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from bot.http.background.ledger_checkpoints import SCHEDULE, CheckpointSchedule
from bot.server.app import build_app
from grounding.errors import ServiceUnavailable
from grounding.services.remote import Remote
from rai.azure.checkpoint_container import ContainerSink
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.checkpoints.publish import Publisher, name_of
from rai.ports import CheckpointSink
from rai.records import KeptCheckpoint
from tests.eventually import eventually
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

    monkeypatch.setattr("bot.http.background.ledger_checkpoints.STOP_S", 0.05)
    client = await aiohttp_client(serving(SignedLedger(Form2Ledger(2)), Hanging()))
    async with asyncio.timeout(5):
        await client.close()
    assert "no answer within 0.05 s" in caplog.text


async def test_without_a_place_nothing_is_published(aiohttp_client: AiohttpClient) -> None:
    app = build_app(fake_system().system)
    client = await aiohttp_client(app)
    assert app[SCHEDULE] is None
    assert await (await client.get("/readyz")).json() == {"status": "ready"}


class Counting(FolderSink):
    """A folder that one process publishes to; how often that one looks into it is counted."""

    looks = 0

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        self.looks += 1
        return await super().newest(prefix)


async def test_of_several_processes_one_publishes_and_all_say_what_became_of_it(
    aiohttp_client: AiohttpClient, tmp_path: Path
) -> None:
    ledger, sinks = SignedLedger(Form2Ledger(2)), [Counting(tmp_path) for _ in range(2)]
    one, two = [await aiohttp_client(serving(ledger, sink, every_s=0.05)) for sink in sinks]
    await until(tmp_path / name_of(LEDGER_ID, 3))
    looked = sinks[0].looks
    await eventually(lambda: sinks[0].looks >= looked + 3)
    assert sinks[1].looks == 0
    figures = ""
    while "attest_ledger_checkpoint_entries 3.0" not in figures:
        figures = await (await two.get("/metrics")).text()
    assert "attest_ledger_checkpoint_timestamp_seconds 1" in figures
    await two.close()  # while another publishes it has nothing to add at its end
    assert sinks[1].looks == 0
    third = Counting(tmp_path)
    await aiohttp_client(serving(ledger, third, every_s=0.05))
    await one.close()
    ledger.made.add("turn", {})
    await until(tmp_path / name_of(LEDGER_ID, 4))
    assert third.looks > 0


async def test_what_keeps_one_process_from_publishing_all_say(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    await Publisher(SignedLedger(Form2Ledger(5)), FolderSink(tmp_path)).publish()
    clients = [
        await aiohttp_client(serving(SignedLedger(Form2Ledger(2)), FolderSink(tmp_path), every_s=0.05))
        for _ in range(2)
    ]
    for client in clients:
        await eventually(partial(says_of_checkpoints, client, "a checkpoint of 6 is published"))
        assert "attest_ledger_checkpoint_ok 0.0" in await (await client.get("/metrics")).text()


async def says_of_checkpoints(client: TestClient[web.Request, web.Application], why: str) -> bool:
    ready = await (await client.get("/readyz")).json()
    return why in ready.get("degraded", {}).get("checkpoints", "")
