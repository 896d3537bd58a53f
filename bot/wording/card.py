"""Words of the card below an answer, in the language of the question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.wording.notices import in_languages
from bot.wording.refusals import FALLBACK
from rai.records import Status


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Language to its words by name, as `card.yaml` has them."""
    return in_languages("card.yaml")


class CardWords:
    """The words of one language; English where there are none in it."""

    def __init__(self, language: str) -> None:
        self._words = texts().get(language) or texts()[FALLBACK]

    def __call__(self, name: str, **values: object) -> str:
        """The words of that name, with what is filled in."""
        return self._words[name].format(**values)

    def count(self, name: str, n: int) -> str:
        """How many there are of something."""
        return self._words[f"{name}_one" if n == 1 else f"{name}_many"].format(n=n)

    def status(self, status: Status) -> str:
        """What the check found of a value."""
        return self._words[f"status_{status}"]
