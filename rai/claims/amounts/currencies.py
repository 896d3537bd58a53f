"""Currencies by symbol, ISO 4217 code and name; names in six languages from CLDR by babel.

A bare dollar is the US dollar, a bare pound sterling, ¥ the yen; "Canadian dollars", A$ and "$5 CAD" say which.
"""

from __future__ import annotations

import re
from functools import lru_cache

from babel.numbers import get_currency_name

from rai.claims.times.months import LOCALES, unaccented

COMMON = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR",
    "SGD", "HKD", "KRW", "TRY", "RUB", "THB",
)  # fmt: skip
"""Currencies whose names are known; of the others, the codes."""
CODES = frozenset(
    (
        *COMMON,
        "AED",
        "SAR",
        "ILS",
        "ISK",
        "RON",
        "BGN",
        "UAH",
        "VND",
        "IDR",
        "MYR",
        "PHP",
        "TWD",
        "ARS",
        "CLP",
        "COP",
        "EGP",
        "NGN",
    )
)
SYMBOLS = {
    "US$": "USD", "USD$": "USD", "A$": "AUD", "AU$": "AUD", "AUD$": "AUD", "C$": "CAD", "CA$": "CAD", "CAD$": "CAD", "CAN$": "CAD", "NZ$": "NZD",
    "HK$": "HKD", "S$": "SGD", "SG$": "SGD", "R$": "BRL", "MX$": "MXN", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "CN¥": "CNY", "JP¥": "JPY",
    "₹": "INR", "RS": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND", "฿": "THB", "₪": "ILS", "₱": "PHP", "ZŁ": "PLN", "KČ": "CZK", "元": "CNY",
    "円": "JPY", "SFR": "CHF", "FR.": "CHF", "KN": "HRK", "FT": "HUF",
}  # fmt: skip
CROWNS = ("SEK", "NOK", "DKK")
"""Currencies that "kr" may mean."""
DOLLARS = frozenset({"USD", "AUD", "CAD", "NZD", "HKD", "SGD", "MXN"})
"""Currencies that a bare $ may mean beside their code: $5 CAD."""
_UNQUALIFIED = {
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "buck": "USD", "dólar": "USD", "dólares": "USD", "dolar": "USD", "dolares": "USD",
    "dollari": "USD", "dollaro": "USD", "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "sterling": "GBP",
    "pfund": "GBP", "livres": "GBP", "libras": "GBP", "sterline": "GBP", "yen": "JPY", "yens": "JPY", "ienes": "JPY", "yuan": "CNY", "yuans": "CNY",
    "renminbi": "CNY", "rmb": "CNY", "rupee": "INR", "rupees": "INR", "rupien": "INR", "roupies": "INR", "rupias": "INR", "rupie": "INR",
    "franc": "CHF", "francs": "CHF", "franken": "CHF", "francos": "CHF", "franchi": "CHF", "won": "KRW", "peso": "MXN", "pesos": "MXN",
    "krona": "SEK", "kronor": "SEK", "krone": "NOK", "kroner": "NOK", "zloty": "PLN", "zlotys": "PLN", "złoty": "PLN", "złotych": "PLN",
    "koruna": "CZK", "forint": "HUF", "forints": "HUF", "reais": "BRL", "reales": "BRL", "rand": "ZAR", "lira": "TRY", "liras": "TRY",
    "rubles": "RUB", "ruble": "RUB", "roubles": "RUB", "rubel": "RUB", "baht": "THB",
    "singapore dollars": "SGD", "aussie dollars": "AUD", "kiwi dollars": "NZD", "us dollars": "USD", "u.s. dollars": "USD", "american dollars": "USD",
    "hong kong dollars": "HKD", "pounds sterling": "GBP", "pound sterling": "GBP",
}  # fmt: skip
HUNDREDTHS = {
    "cent": ("USD", "EUR", "CAD", "AUD"), "cents": ("USD", "EUR", "CAD", "AUD"), "¢": ("USD", "CAD"), "pence": ("GBP",), "penny": ("GBP",),
    "p": ("GBP",), "ct": ("EUR",), "centimes": ("EUR", "CHF"), "rappen": ("CHF",), "céntimos": ("EUR",), "cêntimos": ("EUR",),
    "centesimi": ("EUR",), "centavos": ("BRL", "MXN"), "paise": ("INR",),
}  # fmt: skip
"""Hundredths, and the currencies they may be of, the likeliest first."""


@lru_cache(maxsize=1)
def names() -> dict[str, str]:
    """Code by name, lower case, one and many: {"canadian dollars": "CAD", "dollars canadiens": "CAD", …}."""
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
    """First words of all names."""
    return frozenset(re.split(r"[\s.-]", name, maxsplit=1)[0] for name in names() if name)


@lru_cache(maxsize=64)
def pattern_of(code: str) -> re.Pattern[str]:
    """What names the currency in lower-case running text: its symbols, its code, the first words of its names."""
    words = {re.escape(name) for name, other in names().items() if other == code}
    symbols = {re.escape(s.lower()) for s, other in SYMBOLS.items() if other == code and not s.isalpha()}
    spoken = "|".join(sorted({code.lower(), *words}, key=len, reverse=True))
    return re.compile("|".join([*sorted(symbols, key=len, reverse=True), rf"(?<!\w)(?:{spoken})(?!\w)"]))
