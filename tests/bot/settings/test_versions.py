"""What turns run on, as their records keep it."""

from __future__ import annotations

from pathlib import Path

from bot.settings.load import load_settings
from bot.settings.versions import settings_hash, versions
from bot.version import VERSION


def test_models_that_are_not_there_are_not_named(tmp_path: Path) -> None:
    told = versions(load_settings(home=tmp_path), embedding="", screen="rules-1", reader="")
    assert (told.program, told.models) == (VERSION, {"screen": "rules-1"})


def test_the_hash_goes_by_what_decides_how_a_turn_runs(tmp_path: Path) -> None:
    """Another company, policy or model is another hash; another home, port or log is not."""
    base = settings_hash(load_settings(home=tmp_path))
    assert len(base) == 16
    assert settings_hash(load_settings(home=tmp_path / "other", port=4000, log_level="debug")) == base
    assert settings_hash(load_settings(home=tmp_path, ledger_checkpoints=str(tmp_path.parent))) == base
    assert settings_hash(load_settings(home=tmp_path, company="Halden")) != base
    assert settings_hash(load_settings(home=tmp_path, web="sample")) != base


def test_no_secret_is_in_the_hash(tmp_path: Path) -> None:
    """Two keys give one hash, so that nobody can try keys on it."""
    one, two = (
        settings_hash(load_settings(home=tmp_path, openai_base_url="http://127.0.0.1:1", openai_api_key=key))
        for key in ("sk-one", "sk-two")
    )
    assert one == two
