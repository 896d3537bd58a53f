"""Days as a language writes them (CLDR): `1 May 2026`, `01.05.2026`, `1 mai 2026`."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from babel.dates import format_date

_LOCALES = {"en": "en_GB"}
"""English with the day first: as its months are written out, nobody takes the one for the other."""


@lru_cache(maxsize=4096)
def day(iso: str, language: str) -> str:
    """The day at the beginning of an ISO 8601 date or time, in a language (ISO 639-1) of ours; as it stands where it is none."""
    try:
        return format_date(date.fromisoformat(iso[:10]), "medium", locale=_LOCALES.get(language, language))
    except ValueError:
        return iso[:10]
