"""What a person reads where nothing answers, in their language: what comes closest, and which name the documents do not have."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml

from bot.wording.refusals import FALLBACK


@cache
def _texts() -> dict[str, dict[str, str]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    table: dict[str, dict[str, str]] = yaml.load(
        resources.files("bot.wording").joinpath("closest.yaml").read_text("utf-8"),
        loader,  # noqa: S506 - both are safe loaders
    )
    return table


def closest(language: str) -> str:
    """The heading of the passages that come closest."""
    return _texts().get(language, _texts()[FALLBACK])["closest"]


def unknown(name: str, language: str) -> str:
    """The sentence that the documents do not have a name."""
    return _texts().get(language, _texts()[FALLBACK])["unknown"].format(name=name)
