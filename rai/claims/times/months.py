"""Names of months and weekdays in English, German, French, Spanish, Italian and Portuguese, from CLDR by babel.

Keys are lower case without a final full stop, with and without accents; values count from 1 (January, Monday), as ISO 8601 does.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from babel import Locale

LOCALES = ("en", "de", "fr", "es", "it", "pt")
_CONTEXTS = ("format", "stand-alone")
# Forms in use that CLDR does not list
_MORE_MONTHS = {"sept": 9, "jänner": 1, "feber": 2, "mrz": 3}
_MORE_DAYS = {"tues": 2, "weds": 3, "thur": 4, "thurs": 4, "sonnabend": 6}


@lru_cache(maxsize=1)
def month_names() -> dict[str, int]:
    """The number of each month by its full name in all six languages."""
    return {name: number for name, number in _names("months", "wide").items() if name != "marco"}  # Marco is a man


@lru_cache(maxsize=1)
def month_abbreviations() -> dict[str, int]:
    """The number of each month by its abbreviation, if that is no full name as well."""
    short = _names("months", "abbreviated") | _MORE_MONTHS
    return {name: number for name, number in short.items() if name not in month_names()}


@lru_cache(maxsize=1)
def weekday_names() -> dict[str, int]:
    """The number of each weekday by its full name, with the plurals in -s (Mondays, montags, domingos); Portuguese ones as their first word."""
    out = {name.partition("-")[0]: number for name, number in _names("days", "wide").items()}
    plural = {f"{name}s": n for name, n in out.items() if name.endswith(("day", "tag", "ado", "ingo", "woch"))}
    return out | plural | {"sonnabend": 6, "sonnabends": 6}


PORTUGUESE = frozenset({"segunda", "terça", "terca", "quarta", "quinta", "sexta"})
"""First words of segunda-feira to sexta-feira: ordinals as well, so days only before "-feira" or in a range."""


@lru_cache(maxsize=1)
def weekday_abbreviations() -> dict[str, dict[str, int]]:
    """The number of each weekday by its abbreviation, for each locale: what "mar" is depends on the words beside it."""
    return {
        locale: _names("days", "abbreviated", (locale,)) | (_MORE_DAYS if locale == "en" else {}) for locale in LOCALES
    }


def _names(what: str, width: str, locales: tuple[str, ...] = LOCALES) -> dict[str, int]:
    out: dict[str, int] = {}
    for code in locales:
        table = getattr(Locale(code), what)
        for context in _CONTEXTS:
            for number, name in table[context].get(width, {}).items():
                plain = name.lower().rstrip(".")
                value = number + 1 if what == "days" else number
                for form in (plain, unaccented(plain)):
                    out.setdefault(form, value)
    return out


def unaccented(name: str) -> str:
    """`name` without its accents: março is also written marco, mié also mie."""
    parts = unicodedata.normalize("NFD", name)
    return "".join(c for c in parts if not unicodedata.combining(c))
