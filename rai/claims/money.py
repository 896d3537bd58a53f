"""Amounts of money: symbol, ISO code or name, before or after the number."""

from __future__ import annotations

import re
from decimal import Decimal

from rai.claims.found import Found
from rai.claims.numerals import canonical, numerals

_BEFORE = re.compile(
    r"(?:US\$|A\$|AU\$|C\$|CA\$|NZ\$|HK\$|S\$|R\$|[$€£¥₹₩₽₺₫฿]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|"
    r"MXN|ZAR|SGD|HKD|KRW|TRY|RUB|THB|Rs))\.?[ \u00a0]{0,2}-?$"
)
_AFTER = re.compile(
    r"[ \u00a0\u202f-]{0,2}(US\$|[$€£¥₹₩₽₺₫฿]|(?:us dollar|dollar|euro|pound|yen|yuan|rupee|franc|cent|pence|buck|won|peso|"
    r"krona|krone|zloty)s?\b|(?:usd|eur|gbp|chf|jpy|cny|inr|aud|cad|nzd|sek|nok|dkk|pln|czk|huf|brl|mxn|zar|sgd|hkd|krw|"
    r"rub|thb)\b)",
    re.IGNORECASE,
)
_CODES = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "RS": "INR", "₩": "KRW", "₽": "RUB",
    "₺": "TRY", "₫": "VND", "฿": "THB", "US DOLLAR": "USD", "DOLLAR": "USD", "BUCK": "USD", "EURO": "EUR",
    "POUND": "GBP", "YEN": "JPY", "YUAN": "CNY", "RUPEE": "INR", "FRANC": "CHF", "WON": "KRW", "PESO": "MXN",
    "KRONA": "SEK", "KRONE": "NOK", "ZLOTY": "PLN",
}  # fmt: skip
_HUNDREDTHS = {"CENT": "USD", "PENCE": "GBP", "PENC": "GBP"}


def find(text: str) -> list[Found]:
    """Amounts as "1200 USD": canonical decimal and ISO 4217 code; a bare $ is read as US dollars, ¥ as yen."""
    found: list[Found] = []
    for numeral in numerals(text):
        before = _BEFORE.search(text, max(0, numeral.start - 8), numeral.start)
        if before:
            code, power, start, end = (
                _CODES.get(_key(before.group()), _key(before.group())),
                0,
                before.start(),
                numeral.end,
            )
            doubled = _AFTER.match(text, numeral.end)
            if doubled and _currency(doubled.group(1)) == (code, 0):
                end = doubled.end()
        else:
            after = _AFTER.match(text, numeral.end)
            if after is None or _weight(text, after):
                continue
            (code, power), start, end = _currency(after.group(1)), numeral.start, after.end()
        readings = tuple(f"{canonical(Decimal(r).scaleb(power))} {code}" for r in numeral.readings)
        found.append(Found("money", start, end, readings[0], readings, numeral.readings))
    return found


def _key(mark: str) -> str:
    return mark.strip(" \u00a0.-").upper()


def _currency(mark: str) -> tuple[str, int]:
    word = mark.upper()
    singular = word[:-1] if word.endswith("S") and len(word) > 3 else word
    for name in (word, singular):
        if name in _HUNDREDTHS:
            return _HUNDREDTHS[name], -2
        if name in _CODES:
            return _CODES[name], 0
    return word, 0


def _weight(text: str, after: re.Match[str]) -> bool:
    """Five pounds of coffee are a weight."""
    return after.group(1).lower().startswith("pound") and text[after.end() : after.end() + 4].lower() == " of "
