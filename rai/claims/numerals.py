"""Numerals: digits, separators, scales and number words, read as exact decimals.

Each pattern starts at a place where no numeral can have begun earlier and every repetition is bounded or consumes
what it matches, so the scan is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from text_to_num import text2num

_ONES = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_WORD = rf"(?:{_ONES}|hundred|thousand|million|billion|trillion)"
_WORDS = re.compile(
    rf"(?<![\w-])(?:{_ONES}|a(?=[ -]hundred))(?:(?:[ -]| and )(?={_WORD}\b){_WORD}){{0,11}}(?!\w)", re.IGNORECASE
)
_ONE_WORD = re.compile(rf"{_WORD}", re.IGNORECASE)
_DIGITS = re.compile(r"(?:(?<![\w.,])|(?<=\d[xX×])|(?<=[a-z][.,]))[0-9]+(?:[.,][0-9]+)*|(?<![\w.])\.[0-9]+")
_SPACED = re.compile(
    r"(?<![\w.,])[0-9]{1,3}(?:[\u00a0\u202f\u2009][0-9]{3}){1,6}(?![0-9])|(?<![\w.,])[0-9]{1,3}(?: [0-9]{3}){2,6}(?![0-9])"
)
_SCALE = re.compile(
    r"[ \u00a0-]?(hundred|thousand|million|billion|trillion|mio|mln|mrd|bn|mn)\b\.?|(k|K|M|B)(?![\w])", re.IGNORECASE
)
_NOT_VALUES = re.compile(
    r"^[ \t]*(?:[0-9]{1,3}[.)](?=\s))|\[[0-9]{1,3}(?:\s?[,–-]\s?[0-9]{1,3}){0,9}\]|【[0-9]{1,3}】|\bsteps? [0-9]{1,3}\b",
    re.IGNORECASE | re.MULTILINE,
)
_SCALES = {
    "hundred": 2, "thousand": 3, "k": 3, "million": 6, "mio": 6,
    "mln": 6, "mn": 6, "m": 6,
    "billion": 9, "bn": 9, "mrd": 9, "b": 9, "trillion": 12,
}  # fmt: skip
_LONGEST = 40  # digits and separators; longer runs are data, not a value


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as written. `readings`: canonical decimals, likeliest first (1.200 is 1.2 or 1200)."""

    start: int
    end: int
    readings: tuple[str, ...]
    spelled: bool = False


def canonical(number: Decimal) -> str:
    """The shortest plain decimal: 19, 19.5, -3; never an exponent."""
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


@lru_cache(maxsize=16)
def numerals(text: str) -> tuple[Numeral, ...]:
    """Every numeral of `text`, ascending; list markers, citation marks ([1]) and "Step 2" are none."""
    masked = [m.span() for m in _NOT_VALUES.finditer(text)]
    found = [*_spaced(text), *_digits(text), *_spelled(text)]
    found.sort(key=lambda n: (n.start, -n.end))
    result: list[Numeral] = []
    at = 0
    for numeral in found:
        while at < len(masked) and masked[at][1] <= numeral.start:
            at += 1
        inside = at < len(masked) and masked[at][0] <= numeral.start
        if not inside and (not result or numeral.start >= result[-1].end):
            result.append(_short_year(text, _scaled(text, numeral), result))
    return tuple(result)


def _spaced(text: str) -> list[Numeral]:
    return [Numeral(m.start(), m.end(), (str(int(re.sub(r"\D", "", m.group()))),)) for m in _SPACED.finditer(text)]


def _digits(text: str) -> list[Numeral]:
    found: list[Numeral] = []
    for match in _DIGITS.finditer(text):
        token = match.group()
        if len(token) > _LONGEST:
            continue
        readings = _read(token)
        if readings:
            found.append(Numeral(match.start(), match.end(), readings))
        elif "," in token and "." not in token:
            found.extend(_list_of(match.start(), token))
    return found


def _list_of(start: int, token: str) -> list[Numeral]:
    return [Numeral(start + m.start(), start + m.end(), (str(int(m.group())),)) for m in re.finditer("[0-9]+", token)]


def _read(token: str) -> tuple[str, ...]:
    commas, dots = token.count(","), token.count(".")
    groups = re.split("[.,]", token)
    thousands = 0 < len(groups[0]) <= 3 and groups[0] != "0" and all(len(g) == 3 for g in groups[1:])
    if commas and dots:
        mark = "." if token.rindex(".") > token.rindex(",") else ","
        whole, _, part = token.rpartition(mark)
        pieces = re.split("[.,]", whole)
        well_formed = mark not in whole and len(pieces[0]) <= 3 and all(len(g) == 3 for g in pieces[1:])
        return _decimals(f"{''.join(pieces)}.{part}") if well_formed else ()
    joined = "".join(groups)
    if commas + dots > 1:
        return _decimals(joined) if thousands else ()
    if commas:
        return _decimals(joined, token.replace(",", ".")) if thousands else _decimals(token.replace(",", "."))
    if dots and thousands:
        return _decimals(token, joined)
    return _decimals(token)


def _decimals(*tokens: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(canonical(Decimal(t)) for t in tokens))
    except InvalidOperation:
        return ()


def _spelled(text: str) -> list[Numeral]:
    found: list[Numeral] = []
    for match in _WORDS.finditer(text):
        value = _words_value(match.group())
        if value is not None:
            found.append(Numeral(match.start(), match.end(), (value,), spelled=True))
            continue
        for word in _ONE_WORD.finditer(text, match.start(), match.end()):
            single = _words_value(word.group())
            if single is not None:
                found.append(Numeral(word.start(), word.end(), (single,), spelled=True))
    return found


@lru_cache(maxsize=4096)
def _words_value(words: str) -> str | None:
    plain = words.lower().replace("-", " ")
    plain = "one" + plain[1:] if plain.startswith("a ") else plain
    try:
        return str(text2num(plain, "en"))
    except ValueError:
        return None


def _scaled(text: str, numeral: Numeral) -> Numeral:
    match = None if numeral.spelled else _SCALE.match(text, numeral.end)
    if match is None:
        return numeral
    letter = match.group(2)
    # "5M" without a currency before it may be five metres: only a capital or k directly after digits scales
    if letter is not None and letter not in "kKMB":
        return numeral
    power = _SCALES[(match.group(1) or letter).lower()]
    readings = tuple(canonical(Decimal(r).scaleb(power)) for r in numeral.readings)
    return Numeral(numeral.start, match.end(), readings)


def _short_year(text: str, numeral: Numeral, before: list[Numeral]) -> Numeral:
    """2007–08: the second end is a year."""
    if not before or numeral.end - numeral.start != 2 or numeral.start - before[-1].end != 1:
        return numeral
    full = text[before[-1].start : before[-1].end]
    if text[numeral.start - 1] in "-–/" and re.fullmatch("(?:19|20)[0-9]{2}", full):
        return Numeral(numeral.start, numeral.end, (full[:2] + text[numeral.start : numeral.end], *numeral.readings))
    return numeral
