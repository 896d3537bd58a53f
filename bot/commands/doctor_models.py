"""What `attest doctor` says of the models: where they are, whether they can be used, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bot.commands.doctor_page import Diagnosis
from bot.settings.settings import Settings
from bot.system import System
from rai.model_files import EMBEDDING

MODEL, CLASSIFIER = "model file", "screen's classifier"
WORDS, RULES = "search is by words only", "prompts are screened by rules alone"


def models(settings: Settings) -> Iterator[Diagnosis]:
    """Whether the models are there, and whether an older home keeps some that nothing uses."""
    yield _file(settings, MODEL, settings.files.model_path, WORDS)
    yield _file(settings, CLASSIFIER, settings.files.screen_model_path, RULES)
    old = settings.files.home / "model"
    if (old / EMBEDDING).is_file() and settings.files.model_path.parent != old:
        detail = f"{old} is used by nothing: models belong to the installation, not to the data"
        yield Diagnosis("older models", "note", detail, f"delete {old}")


def unusable(system: System) -> Iterator[Diagnosis]:
    """Models whose files are there and were not taken."""
    settings = system.settings
    if settings.embedding.kind == "embedded" and system.embedder is None and settings.files.model_path.is_file():
        yield _damaged(settings, MODEL, settings.files.model_path, WORDS)
    if "classifier" not in system.screen.name and settings.files.screen_model_path.is_file():
        yield _damaged(settings, CLASSIFIER, settings.files.screen_model_path, RULES)


def _file(settings: Settings, name: str, path: Path, without: str) -> Diagnosis:
    named = ", named by ATTEST_MODEL_FILE" if settings.files.model else ""
    if path.is_file():
        return Diagnosis(name, "ok", f"{path} ({path.stat().st_size / 2**20:.0f} MB){named}")
    fix = "correct ATTEST_MODEL_FILE, or leave it out: this installation has models of its own"
    return Diagnosis(name, "note", f"{path} is not there{named}: {without}", fix if named else "run make setup")


def _damaged(settings: Settings, name: str, path: Path, without: str) -> Diagnosis:
    fix = (
        "put a whole one there, with its tokenizer.json beside it"
        if settings.files.model
        else f"delete {path.parent} and run make setup"
    )
    return Diagnosis(name, "fail", f"{path} cannot be used: {without}", fix)
