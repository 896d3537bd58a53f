"""What `attest doctor` says of the models: where they are, whether they can be used, and what mends it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.commands.doctor_models import CLASSIFIER as CLASSIFIER_LINE
from bot.commands.doctor_models import MODEL, models, unusable
from bot.compose.system import compose
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from rai.model_files import CLASSIFIER, EMBEDDING, TOKENIZER, installed_models


def told(settings: Settings) -> dict[str, tuple[str, str, str]]:
    return {found.name: (found.status, found.detail, found.fix) for found in models(settings)}


@pytest.fixture
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTEST_MODEL_FILE")


@pytest.mark.usefixtures("unnamed")
def test_the_models_of_the_installation_are_looked_for_whatever_the_home(tmp_path: Path) -> None:
    for home in (tmp_path / "one", tmp_path / "other"):
        settings = load_settings(home=home)
        assert settings.files.model_path == installed_models() / EMBEDDING
        assert settings.files.screen_model_path == installed_models() / CLASSIFIER


def test_a_named_model_that_is_not_there_is_not_mended_by_set_up(tmp_path: Path) -> None:
    named = tmp_path / "mine.onnx"
    found = told(load_settings(model_file=named))
    assert found[MODEL][:2] == ("note", f"{named} is not there, named by ATTEST_MODEL_FILE: search is by words only")
    assert found[CLASSIFIER_LINE][1].endswith("prompts are screened by rules alone")
    assert all(fix.startswith("correct ATTEST_MODEL_FILE, or leave it out") for _, _, fix in found.values())


def test_what_is_there_is_told_with_its_place(model_file: Path) -> None:
    found = told(load_settings(model_file=model_file))
    assert [status for status, _, _ in found.values()] == ["ok", "ok"]
    assert found[CLASSIFIER_LINE][1].startswith(f"{model_file.with_name(CLASSIFIER)} (22 MB)")


def test_models_that_a_home_still_holds_are_named_with_what_to_do(tmp_path: Path) -> None:
    old = tmp_path / "home" / "model"
    settings = load_settings(home=tmp_path / "home", model_file=tmp_path / "mine.onnx")
    assert "older models" not in told(settings)
    old.mkdir(parents=True)
    (old / EMBEDDING).write_bytes(b"")
    status, detail, fix = told(settings)["older models"]
    assert (status, fix) == ("note", f"delete {old}")
    assert detail.startswith(f"{old} is used by nothing")
    assert "older models" not in told(load_settings(home=tmp_path / "home", model_file=old / EMBEDDING))


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
        found = [(f.name, f.status, f.fix) for f in unusable(system)]
    finally:
        await system.close()
    lines = {EMBEDDING: [MODEL], CLASSIFIER: [CLASSIFIER_LINE], TOKENIZER: [MODEL, CLASSIFIER_LINE]}[damaged]
    assert found == [(name, "fail", "put a whole one there, with its tokenizer.json beside it") for name in lines]
