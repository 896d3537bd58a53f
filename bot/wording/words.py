"""Words by name in one language, from a file of this folder that holds them by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bot.wording.dates import day
from bot.wording.notices import in_languages
from bot.wording.refusals import FALLBACK


class Wording:
    """The words of one language (ISO 639-1, a region behind it is not looked at); English where there are none in it."""

    FILE: ClassVar[str]

    def __init__(self, language: str | None) -> None:
        code = (language or "").replace("_", "-").partition("-")[0].lower()
        table = self.texts()
        self.language = code if code in table else FALLBACK
        self._words: Mapping[str, str] = table[self.language]

    @classmethod
    def texts(cls) -> Mapping[str, Mapping[str, str]]:
        """Language to its words by name, as the file has them."""
        return in_languages(cls.FILE)

    def __call__(self, name: str, **values: object) -> str:
        """The words of that name, with what is filled in. Raises KeyError for a name that the file does not have."""
        return self._words[name].format(**values)

    def day(self, iso: str) -> str:
        """The day of an ISO 8601 date or time, as the language writes it."""
        return day(iso, self.language)

    def count(self, name: str, n: int) -> str:
        """How many there are of something."""
        return self._words[f"{name}_one" if n == 1 else f"{name}_many"].format(n=n)
