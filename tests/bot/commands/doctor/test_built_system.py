"""What `attest doctor` says of a system that stands: models whose files are there and were not taken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.commands.doctor.built_system import unusable_models
from bot.commands.doctor.machine import CLASSIFIER as CLASSIFIER_LINE
from bot.commands.doctor.machine import MODEL
from bot.compose.system import compose
from bot.settings.load import load_settings
from rai.model_files import CLASSIFIER, EMBEDDING, TOKENIZER


@pytest.mark.parametrize("damaged", [EMBEDDING, CLASSIFIER, TOKENIZER])
async def test_a_damaged_file_is_a_failure_with_its_remedy(tmp_path: Path, model_file: Path, damaged: str) -> None:
    """The program goes on without it, so nothing else would say so."""
    own = tmp_path / "models"
    own.mkdir()
    for name in (EMBEDDING, TOKENIZER, CLASSIFIER):
        shutil.copy(model_file.with_name(name), own)
    (own / damaged).write_bytes(b"half")
    system = await compose(load_settings(model_file=own / EMBEDDING))
    try:
        found = [(f.name, f.status, f.fix) for f in unusable_models(system)]
    finally:
        await system.close()
    lines = {EMBEDDING: [MODEL], CLASSIFIER: [CLASSIFIER_LINE], TOKENIZER: [MODEL, CLASSIFIER_LINE]}[damaged]
    assert found == [(name, "fail", "put a whole one there, with its tokenizer.json beside it") for name in lines]
