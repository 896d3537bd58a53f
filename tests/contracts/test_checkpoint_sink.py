"""What every second place of checkpoints must do: keep each as it was written first, tell the newest, and say when it cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grounding.errors import ServiceError, StoreError
from grounding.services.remote import Remote
from rai.azure.checkpoint_container import ContainerSink
from rai.embedded.checkpoint_folder import FolderSink
from rai.ports import CheckpointSink
from tests.fakes import faults
from tests.fakes.blob_server import SIGNATURE, BlobServer
from tests.fakes.form2 import Form2Ledger

NOTE = Form2Ledger(2).checkpoint()
OTHER = Form2Ledger(3).checkpoint()


@dataclass(frozen=True, slots=True)
class Subject:
    """An empty place, and how to break what stands behind it."""

    sink: CheckpointSink
    break_it: Callable[[], object]


@asynccontextmanager
async def _folder(folder: Path) -> AsyncIterator[Subject]:
    place = folder / "checkpoints"
    place.mkdir()
    yield Subject(FolderSink(place), lambda: place.rename(folder / "gone"))


@asynccontextmanager
async def _container(_folder: Path) -> AsyncIterator[Subject]:
    async with BlobServer(page=2) as server:
        sink = ContainerSink(server.url, Remote("checkpoints", retries=0), setting="ATTEST_LEDGER_CHECKPOINTS")
        yield Subject(sink, lambda: setattr(server, "otherwise", faults.status(500)))
        await sink.aclose()


MAKERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Subject]]] = {
    "folder": _folder,
    "container": _container,
}


@pytest.fixture(params=sorted(MAKERS))
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    async with MAKERS[request.param](tmp_path) as made:
        yield made


async def test_an_empty_place_has_no_newest(subject: Subject) -> None:
    assert await subject.sink.newest("a-") is None


async def test_what_was_put_is_the_newest(subject: Subject) -> None:
    assert await subject.sink.put("a-1.txt", NOTE) == NOTE
    found = await subject.sink.newest("a-")
    assert found is not None
    assert found.name == "a-1.txt"
    assert abs(datetime.now(UTC) - found.at) < timedelta(minutes=1)


async def test_what_was_put_is_read(subject: Subject) -> None:
    assert await subject.sink.read("a-1.txt") is None
    await subject.sink.put("a-1.txt", NOTE)
    assert await subject.sink.read("a-1.txt") == NOTE


async def test_nothing_is_written_over(subject: Subject) -> None:
    assert await subject.sink.put("a-1.txt", NOTE) == NOTE
    assert await subject.sink.put("a-1.txt", OTHER) == NOTE
    assert await subject.sink.put("a-1.txt", NOTE) == NOTE


async def test_the_newest_is_the_last_by_name_of_its_prefix(subject: Subject) -> None:
    """However many there are, whenever they were written."""
    for n in (3, 1, 5, 4, 2):
        await subject.sink.put(f"a-{n}.txt", NOTE)
    await subject.sink.put("b-9.txt", NOTE)
    for prefix, name in (("a-", "a-5.txt"), ("b-", "b-9.txt")):
        found = await subject.sink.newest(prefix)
        assert found is not None
        assert found.name == name
    assert await subject.sink.newest("c-") is None


async def test_a_place_that_fails_says_so_on_one_line_without_a_secret(subject: Subject) -> None:
    subject.break_it()
    for call in (subject.sink.put("a-1.txt", NOTE), subject.sink.read("a-1.txt"), subject.sink.newest("a-")):
        with pytest.raises((StoreError, ServiceError)) as caught:
            await call
        line = str(caught.value)
        assert "\n" not in line
        assert "sig=" not in line


async def test_the_place_can_be_told_to_a_person(subject: Subject) -> None:
    assert subject.sink.place
    assert "sig" not in subject.sink.place
    assert SIGNATURE[:10] not in subject.sink.place
