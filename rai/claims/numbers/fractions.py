"""Fractions in digits: ½, 2½, 1/2, 2 1/2, 1⁄2, and "and a half" after digits."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from math import gcd

from rai.claims.numbers.numeral import Numeral, decimal_of

VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅒"
_SLASHED = re.compile(r"([0-9]{1,2})[/⁄]([0-9]{1,2})(?![\w/⁄]|[.,][0-9])")
_MIXED = re.compile(r"(?:[ \u00a0-])?([0-9])[/⁄]([0-9]{1,2})(?![\w/⁄]|[.,][0-9])")
_AND = re.compile(r" and (?:a (half|quarter|third)|(three) quarters)\b", re.IGNORECASE)
_ANDS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "third": Fraction(1, 3), "three": Fraction(3, 4)}
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64})


def with_fraction(text: str, numeral: Numeral) -> Numeral | None:
    """A numeral in whole digits with the fraction that it is or that follows it (1/2, 2 1/2, 2½, 2 and a half), or None.

    Only a reduced proper fraction with a usual denominator is one: 3/4 is, 24/7, 2/4 and 1/2/2026 are not.
    """
    after = text[numeral.end : numeral.end + 2]
    whole = numeral.readings[0]
    if not (after and whole.lstrip("-").isdigit()):
        return None
    sign = -1 if whole.startswith("-") else 1
    if after[0] in VULGAR or (after[0] in " \u00a0" and after[1:] and after[1] in VULGAR):
        end = numeral.end + (1 if after[0] in VULGAR else 2)
        return _of(numeral, end, int(whole) + sign * Fraction(unicodedata.numeric(text[end - 1])).limit_denominator(16))
    if after[0] in "/⁄":
        match = _SLASHED.match(text, numeral.end - len(whole.lstrip("-")))
        part = _proper(match) if match else None
        if not (match and part) or text[numeral.start - 1 : numeral.start] in ("/", "⁄"):
            return None
        return _of(numeral, match.end(), sign * part)
    mixed = _MIXED.match(text, numeral.end) if after[1:].isdigit() else None
    part = _proper(mixed) if mixed else None
    if mixed and part:
        return _of(numeral, mixed.end(), int(whole) + sign * part)
    said = _AND.match(text, numeral.end) if after in {" a", " A"} else None
    return _of(numeral, said.end(), int(whole) + sign * _ANDS[(said[1] or said[2]).lower()]) if said else None


def vulgar(text: str) -> list[Numeral]:
    """Finds fraction signs that stand alone: ½ hour, ¾ of them."""
    found = []
    for match in _SIGN.finditer(text):
        start = match.start()
        before = text[max(0, start - 2) : start]
        if not (before[-1:].isalnum() or (before[:1].isdigit() and before[1:] in " \u00a0")):
            value = Fraction(unicodedata.numeric(match[0])).limit_denominator(16)
            found.append(Numeral(start, start + 1, (decimal_of(value),)))
    return found


_SIGN = re.compile(f"[{VULGAR}]")


def _proper(match: re.Match[str]) -> Fraction | None:
    above, below = int(match[1]), int(match[2])
    usual = below in _DENOMINATORS and 0 < above < below and gcd(above, below) == 1
    return Fraction(above, below) if usual else None


def _of(numeral: Numeral, end: int, value: Fraction) -> Numeral:
    return Numeral(numeral.start, end, (decimal_of(value),))
