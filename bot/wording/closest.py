"""What a person reads where nothing answers, in their language: what comes closest, and which name the documents do not have."""

from __future__ import annotations

from functools import cache

from bot.wording.refusals import FALLBACK
from grounding.tables import yaml_table


@cache
def _texts() -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = yaml_table(__file__, "closest.yaml")
    return table


def closest(language: str) -> str:
    """The heading of the passages that come closest."""
    return _texts().get(language, _texts()[FALLBACK])["closest"]


def unknown(name: str, language: str) -> str:
    """The sentence that the documents do not have a name."""
    return _texts().get(language, _texts()[FALLBACK])["unknown"].format(name=name)
