"""Checkpoints in a blob container: rights of the SAS, refusals, and no word of the SAS anywhere."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from grounding.errors import ServiceError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable, SettingsError
from grounding.services.remote import Remote
from rai.azure.checkpoint_container import ContainerSink
from tests.fakes import faults
from tests.fakes.blob_server import SIGNATURE, BlobServer

SETTING = "ATTEST_LEDGER_CHECKPOINTS"


@asynccontextmanager
async def sink_over(server: BlobServer, retries: int = 0) -> AsyncIterator[ContainerSink]:
    async def no_pause(_seconds: float) -> None:
        return None

    async with server:
        sink = ContainerSink(server.url, Remote("checkpoints", retries=retries, sleep=no_pause), setting=SETTING)
        yield sink
        await sink.aclose()


async def test_a_sas_that_may_create_alone_is_enough_to_put() -> None:
    """What is there then cannot be read nor listed."""
    async with sink_over(BlobServer(rights="c")) as sink:
        assert await sink.put("a-1.txt", "one") == "one"
        assert await sink.put("a-1.txt", "two") is None
        with pytest.raises(ServiceRejected, match="the SAS does not allow this"):
            await sink.newest("a-")


async def test_a_sas_that_may_not_create_is_told() -> None:
    async with sink_over(BlobServer(rights="rl")) as sink:
        with pytest.raises(ServiceRejected, match=r"does not allow this, or has ended \(status 403\)"):
            await sink.put("a-1.txt", "one")


async def test_what_is_put_says_what_it_is() -> None:
    server = BlobServer()
    async with sink_over(server) as sink:
        await sink.put("a-1.txt", "one — two")
        sent = server.headers[0]
        assert (sent["x-ms-blob-type"], sent["If-None-Match"]) == ("BlockBlob", "*")
        assert sent["Content-Type"] == "text/plain; charset=utf-8"
        assert server.blobs["a-1.txt"][0].decode() == "one — two"


async def test_a_listing_goes_on_over_its_pages() -> None:
    server = BlobServer(page=3)
    async with sink_over(server) as sink:
        for n in range(10):
            await sink.put(f"a-{n}.txt", "x")
        before = len(server.bodies)
        found = await sink.newest("a-")
        assert found is not None
        assert found.name == "a-9.txt"
        assert len(server.bodies) - before == 4


@pytest.mark.parametrize("code", [408, 500, 503])
async def test_a_failure_that_passes_is_tried_again(code: int) -> None:
    async with sink_over(BlobServer(faults.status(code)), retries=2) as sink:
        assert await sink.put("a-1.txt", "one") == "one"


async def test_an_answer_that_was_lost_is_no_fault() -> None:
    """The blob was made and the reply never came: the next attempt finds it there."""
    server = BlobServer()

    async def made_and_cut(request: web.Request) -> web.StreamResponse:
        await server.answer(request, {})
        return await faults.closed()(request)

    server.script.append(made_and_cut)
    async with sink_over(server, retries=2) as sink:
        assert await sink.put("a-1.txt", "one") == "one"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.status(500), ServiceUnavailable),
        (faults.closed(), ServiceUnavailable),
        (faults.echoed(400), ServiceRejected),
        (faults.echoed(403), ServiceRejected),
        (faults.status(404), ServiceRejected),
        (faults.redirect("https://elsewhere.example/"), ServiceRejected),
        (faults.html(200), ServiceError),
        (faults.raw("<EnumerationResults><Blobs>"), ServiceReplyInvalid),
        (faults.raw("<Error/>"), ServiceReplyInvalid),
        (
            faults.raw("<EnumerationResults><Blobs><Blob><Name>a-1</Name></Blob></Blobs></EnumerationResults>"),
            ServiceReplyInvalid,
        ),
    ],
)
async def test_no_fault_shows_the_sas(
    fault: faults.Fault, kind: type[ServiceError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with sink_over(BlobServer(otherwise=fault)) as sink:
        with pytest.raises(kind) as caught:
            await sink.newest("a-")
        with pytest.raises(ServiceError) as put:
            await sink.put("a-1.txt", "one")
    logged = [record.getMessage() for record in caplog.records if record.name != "aiohttp.access"]  # the server's own
    for said in (str(caught.value), repr(caught.value), str(put.value), *logged):
        assert SIGNATURE[:10] not in said
        assert "sig=" not in said


@pytest.mark.parametrize(
    "url",
    [
        "http://name.blob.core.windows.net/audit?sig=abc",
        "https://name.blob.core.windows.net/?sig=abc",
        "https://name.blob.core.windows.net/audit",
        "https://name.blob.core.windows.net/audit?sp=c",
        "https://user@name.blob.core.windows.net/audit?sig=abc",
        "https://name.blob.core.windows.net/audit?sig=abc#x",
        "ftp://name/audit?sig=abc",
    ],
)
def test_what_is_no_address_with_a_sas_is_refused_without_it(url: str) -> None:
    with pytest.raises(SettingsError, match=f"^{SETTING}: allowed is") as caught:
        ContainerSink(url, Remote("checkpoints"), setting=SETTING)
    assert "abc" not in str(caught.value)
