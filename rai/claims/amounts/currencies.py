"""Currencies by symbol, ISO 4217 code and name; names in six languages from CLDR by babel.

A bare dollar is the US dollar, a bare pound sterling, ¥ the yen; "Canadian dollars", A$ and "$5 CAD" say which.
"""

from __future__ import annotations

import re
from functools import lru_cache

from babel.numbers import get_currency_name

from grounding.tables import table
from rai.claims.times.months import LOCALES, unaccented

_TABLE = table(__file__)
COMMON: tuple[str, ...] = tuple(_TABLE["common"])
"""Currencies whose names are known; of the others, the codes."""
CODES: frozenset[str] = frozenset((*COMMON, *_TABLE["others"]))
SYMBOLS: dict[str, str] = _TABLE["symbols"]
CROWNS = ("SEK", "NOK", "DKK")
"""Currencies that "kr" may mean."""
CROWN_NAMES = frozenset({"krone", "kroner", "kronen", "krona", "kronor", "crown", "crowns"})
"""Names that more than one of these currencies has, and that a text in another language uses for any."""
DOLLARS = frozenset({"USD", "AUD", "CAD", "NZD", "HKD", "SGD", "MXN"})
"""Currencies that a bare $ may mean beside their code: $5 CAD."""
_UNQUALIFIED: dict[str, str] = _TABLE["names"]
HUNDREDTHS: dict[str, tuple[str, ...]] = {word: tuple(codes) for word, codes in _TABLE["hundredths"].items()}
"""Hundredths, and the currencies they may be of, the likeliest first."""


@lru_cache(maxsize=1)
def names() -> dict[str, str]:
    """The ISO 4217 code of each name of a currency, lower case, one and many: {"canadian dollars": "CAD", "dollars canadiens": "CAD", …}."""
    out: dict[str, str] = {}
    for locale in LOCALES:
        for code in COMMON:
            for count in (None, 1, 2):
                name = get_currency_name(code, count=count, locale=locale).lower()
                for form in (name, unaccented(name)):
                    out.setdefault(form, code)
    out.pop("real", None)  # "3 real people"
    return out | _UNQUALIFIED


@lru_cache(maxsize=1)
def opening_words() -> frozenset[str]:
    """The first words of all names of currencies."""
    return frozenset(re.split(r"[\s.-]", name, maxsplit=1)[0] for name in names() if name)


@lru_cache(maxsize=64)
def pattern_of(code: str) -> re.Pattern[str]:
    """What names the currency in lower-case running text: its symbols, its code, the first words of its names."""
    words = {re.escape(name) for name, other in names().items() if other == code}
    symbols = {re.escape(s.lower()) for s, other in SYMBOLS.items() if other == code and not s.isalpha()}
    spoken = "|".join(sorted({code.lower(), *words}, key=len, reverse=True))
    return re.compile("|".join([*sorted(symbols, key=len, reverse=True), rf"(?<!\w)(?:{spoken})(?!\w)"]))
