"""What `attest doctor` says of a system that stands: models whose files are there and were not taken, and the ledger's checkpoints."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.commands.doctor.built_system import check_system, unusable_models
from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.machine import CLASSIFIER as CLASSIFIER_LINE
from bot.commands.doctor.machine import MODEL
from bot.commands.doctor.machine import READER as READER_LINE
from bot.compose.system import compose
from bot.settings.load import load_settings
from grounding.services.remote import Remote
from rai.azure.checkpoint_container import ContainerSink
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.checkpoints.publish import Publisher, name_of
from rai.model_files import CLASSIFIER, EMBEDDING, FILES, TOKENIZER
from tests.fakes import faults
from tests.fakes.blob_server import SIGNATURE, BlobServer
from tests.fakes.form2 import LEDGER_ID, Form2Ledger
from tests.fakes.signed_ledger import SignedLedger
from tests.fakes.system import fake_system


@pytest.mark.parametrize("damaged", FILES)
async def test_a_damaged_file_is_a_failure_with_its_remedy(tmp_path: Path, model_file: Path, damaged: str) -> None:
    """The program goes on without it, so nothing else would say so."""
    own = tmp_path / "models"
    own.mkdir()
    for name in FILES:
        shutil.copy(model_file.with_name(name), own)
    (own / damaged).write_bytes(b"half")
    system = await compose(load_settings(model_file=own / EMBEDDING))
    try:
        found = [(f.name, f.status, f.fix) for f in unusable_models(system)]
    finally:
        await system.close()
    lines = {EMBEDDING: [MODEL], CLASSIFIER: [CLASSIFIER_LINE], TOKENIZER: [MODEL, CLASSIFIER_LINE]}.get(
        damaged, [READER_LINE]
    )
    assert found == [(name, "fail", "put a whole one there, with its tokenizer beside it") for name in lines]


async def checkpoints(publisher: Publisher | None, place: str | None = None) -> Diagnosis:
    made = fake_system() if place is None else fake_system(ledger_checkpoints=place)
    system = replace(made.system, checkpoints=publisher)
    return next(found for found in await check_system(system) if found.name == "checkpoints")


async def test_without_a_place_nobody_outside_can_prove_anything() -> None:
    found = await checkpoints(None)
    assert (found.status, "ATTEST_LEDGER_CHECKPOINTS" in found.fix) == ("note", True)


async def test_where_the_last_checkpoint_is_and_how_old(tmp_path: Path) -> None:
    ledger = SignedLedger(Form2Ledger(2))
    publisher = Publisher(ledger, FolderSink(tmp_path))
    assert (await checkpoints(publisher)).detail == f"none yet in {tmp_path}"
    await publisher.publish()
    assert await checkpoints(publisher) == Diagnosis("checkpoints", "ok", f"3 of 3 entries, 0 s ago, in {tmp_path}")
    for age, told, status in ((7_000, "117 min", "ok"), (7_300, "2 h", "note"), (400_000, "5 days", "note")):
        ledger.made.add("turn", {})
        written = (tmp_path / name_of(LEDGER_ID, 3)).stat()
        os.utime(tmp_path / name_of(LEDGER_ID, 3), (written.st_atime, _now() - age))
        found = await checkpoints(publisher)
        assert (found.status, found.detail) == (
            status,
            f"3 of {len(ledger.made.entries)} entries, {told} ago, in {tmp_path}",
        )
    ledger.made.entries[2:] = []
    assert (await checkpoints(publisher)).status == "fail"


def _now() -> float:
    return datetime.now(UTC).timestamp()


async def test_a_folder_that_is_not_there_fails_with_its_remedy(tmp_path: Path) -> None:
    found = await checkpoints(Publisher(SignedLedger(Form2Ledger(2)), FolderSink(tmp_path / "share")))
    assert (found.status, found.service) == ("fail", False)
    assert found.fix == f"make or mount {tmp_path / 'share'}, and let this program write to it"


async def test_a_container_that_refuses_fails_as_a_service_without_its_secret() -> None:
    async with BlobServer(otherwise=faults.echoed(403)) as server:
        sink = ContainerSink(server.url, Remote("checkpoints", retries=0), setting="ATTEST_LEDGER_CHECKPOINTS")
        found = await checkpoints(Publisher(SignedLedger(Form2Ledger(2)), sink), server.url)
        await sink.aclose()
    assert (found.status, found.service) == ("fail", True)
    assert found.detail == "the SAS does not allow this, or has ended (status 403)"
    assert SIGNATURE[:10] not in str(found)
