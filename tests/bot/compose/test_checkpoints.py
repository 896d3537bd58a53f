"""Which place the settings stand for."""

from __future__ import annotations

from pathlib import Path

from bot.compose.checkpoints import checkpoint_sink
from bot.compose.resources import Resources
from bot.settings.load import load_settings


def test_without_a_place_there_is_none() -> None:
    assert checkpoint_sink(load_settings(), Resources()) is None


def test_a_folder_is_a_folder(tmp_path: Path) -> None:
    sink = checkpoint_sink(load_settings(ledger_checkpoints=str(tmp_path)), Resources())
    assert sink is not None
    assert sink.place == str(tmp_path)


async def test_a_url_is_a_container_whose_calls_are_bounded_and_which_is_closed() -> None:
    resources = Resources()
    url = "https://name.blob.core.windows.net/audit?sv=1&sp=rcl&sig=abc"
    sink = checkpoint_sink(load_settings(ledger_checkpoints=url), resources)
    assert sink is not None
    assert sink.place == "https://name.blob.core.windows.net/audit"
    assert len(resources) == 1
    assert resources.trouble(needed=False) == {}
    await resources.close()
