"""Words of the message extension, in the language of the person's own program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.wording.notices import in_languages
from bot.wording.refusals import FALLBACK


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Language to its words by name, as `extension.yaml` has them."""
    return in_languages("extension.yaml")


class ExtensionWords:
    """The words of one language; English where there are none in it. `locale` as "de-AT"."""

    def __init__(self, locale: str | None) -> None:
        code = (locale or "").replace("_", "-").partition("-")[0].lower()
        self.language = code if code in texts() else FALLBACK
        self._words = texts()[self.language]

    def __call__(self, name: str, **values: object) -> str:
        """The words of that name, with what is filled in."""
        return self._words[name].format(**values)

    def count(self, name: str, n: int) -> str:
        """How many there are of something."""
        return self._words[f"{name}_one" if n == 1 else f"{name}_many"].format(n=n)
