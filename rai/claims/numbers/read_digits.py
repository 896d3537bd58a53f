"""Numerals: digits, separators, signs, scales and number words, read as exact decimals.

Digits are found first and what stands before and after them decides what they are, so that nothing is looked for where
there is none. Every repetition of a pattern is bounded or consumes what it matches: the scan is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from grounding.tables import table
from rai.claims.languages import Language, language
from rai.claims.numbers.english_words import english
from rai.claims.numbers.fractions import VULGAR, vulgar, with_fraction
from rai.claims.numbers.numeral import Numeral, canonical, scaled
from rai.claims.numbers.other_languages import before_units, foreign
from rai.claims.numbers.ranges import share_scale
from rai.claims.word_spans import words

__all__ = ["Numeral", "canonical", "numerals"]

_RUN = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_SWISS = re.compile(r"[0-9]{1,3}(?:['’][0-9]{3}){1,6}(?:[.,][0-9]{1,4})?(?![0-9'’])")
_THIN = re.compile(r"[0-9]{1,3}(?:[\u00a0\u202f\u2009][0-9]{3}){1,6}(?:[.,][0-9]{1,2})?(?![0-9])")
_WIDE = re.compile(r"[0-9]{1,3}(?: [0-9]{3}){1,6}(?:[.,][0-9]{1,2})?(?![0-9])")
_TOKENISED = re.compile(r"[0-9]{1,3}(?: , [0-9]{3}){1,4}(?: \. [0-9]{1,2})?(?![0-9])|[0-9]{1,9} \. [0-9]{1,3}(?![0-9])")
_INDIAN = re.compile(r"[0-9]{1,2}(?:,[0-9]{2}){1,5},[0-9]{3}(?:\.[0-9]+)?")
_CURRENCY_BEFORE = re.compile(r"(?:[$€£¥₹₩₽₺]|\b(?:USD|EUR|GBP|CHF|JPY|INR|AUD|CAD|Rs))\.? ?$")
_MEASURE_AFTER = re.compile(
    r" ?(?:[%€$£]|(?:kr|zł|Kč|Ft|SEK|NOK|DKK|PLN|CZK|EUR|USD|GBP|CHF|euros?|dollars?|pounds?|francs?|percent|per cent|km|kg|kWh|hundred|thousand|million|billion|trillion)\b)"
)
_SCALES: dict[str, int] = table(__file__)["scales"]
_SCALE = re.compile(
    r"[ \u00a0-]?([a-zäöüßóõãíç]{2,10})(?![\w])\.?|([kKMB])(?![\w])| ?([mMbBkK])(?![\w])", re.IGNORECASE
)
_SHORT_SCALES = frozenset({"mio", "mrd", "mln", "mn", "bn", "tsd", "mia"})
_ONLY_IN = {"mil": ("es", "pt"), "mila": ("it",), "mia": ("de",), "billiones": ("es",)}
_CROWDS = re.compile(
    r" (?:people|users|customers|subscribers|downloads|views|followers|members|viewers|jobs|homes|copies|visitors|passengers"
    r"|votes|dollars|euros|pounds)\b"
)
_MARKS = re.compile(r"\[[0-9]{1,3}(?:\s?[,–-]\s?[0-9]{1,3}){0,9}\]|【[0-9]{1,3}】")
_SIGN_BEFORE = re.compile(
    r"(?:[(=:|<>≤≥~]|\b(?:at|to|of|is|was|are|by|from|and|or|between|below|above|about|around|under|over|than)) ?$",
    re.IGNORECASE,
)
_MINUS_BEFORE = re.compile(
    r"(?:^|[^\w\s] ?|\b(?:at|to|of|is|was|are|by|from|and|or|between|below|above|about|around|than) )(?:minus|negative) $",
    re.IGNORECASE,
)
_DEGREES = re.compile(r" ?(?:°|℃|℉|degrees?\b)", re.IGNORECASE)
_WIDTHS = str.maketrans(
    {chr(0xFF10 + d): str(d) for d in range(10)}
    | {chr(0x0660 + d): str(d) for d in range(10)}
    | {chr(0x06F0 + d): str(d) for d in range(10)}
    | {chr(0x0966 + d): str(d) for d in range(10)}
    | {"，": ",", "．": ".", "％": "%", "＄": "$", "￥": "¥", "￡": "£", "\u2007": "\u00a0"}
)
_LONGEST = 40  # digits and separators; longer runs are data, not a value


def plain(text: str) -> str:
    """`text` with full-width, Arabic-Indic and Devanagari digits as 0-9; of the same length."""
    return text if text.isascii() else text.translate(_WIDTHS)


def lowered(text: str) -> str:
    """`text` in lower case, of the same length."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


@lru_cache(maxsize=16)
def numerals(text: str) -> tuple[Numeral, ...]:
    """Finds every numeral of `text`, ascending; list markers, citation marks ([1]) and "Step 2" are none.

    A numeral with a `unit` ("twice", "an hour") is a quantity by itself and no number.
    """
    text = plain(text)
    lower, cut = lowered(text), words(text)
    code = language({word for word, _, _ in cut})
    found = [
        *_digits(text, code, by_comma=bool(_BY_COMMA.search(text)) and not _BY_POINT.search(text)),
        *_spelled(lower, cut, code),
    ]
    if any(c in text for c in VULGAR) and not text.isascii():
        found += vulgar(text)
    found.sort(key=lambda n: (n.start, -n.end))
    result: list[Numeral] = []
    for numeral in _unmarked(text, found):
        if not result or numeral.start >= result[-1].end:
            result.append(_short_year(text, numeral, result))
    return tuple(share_scale(text, result))


def _unmarked(text: str, found: list[Numeral]) -> Iterator[Numeral]:
    masked = [m.span() for m in _MARKS.finditer(text)]
    at = 0
    for numeral in found:
        while at < len(masked) and masked[at][1] <= numeral.start:
            at += 1
        inside = at < len(masked) and masked[at][0] <= numeral.start
        if not (inside or _list_marker(text, numeral) or _step(text, numeral)):
            yield numeral


_IN_LINE = re.compile(r"(?<![^\s:])([1-9][0-9]?)([.)]) (?=[^\W\d_])")
_BEFORE_ITEM = re.compile(r"(?:^|[.:;!?)\]]|\b(?:and|und|et|y|e|en|then|dann))[*_]{0,2}\s+$")
_FEWEST_ITEMS = 3


@lru_cache(maxsize=16)
def items_in_line(text: str) -> frozenset[int]:
    """Where the numbers of a list begin that is written on in one line: "1. Turn it off. 2. Open the valve. 3. Press reset." They count from 1 without a gap, and each stands
    where a sentence may begin.
    """
    found: list[int] = []
    run: list[int] = []
    for match in _IN_LINE.finditer(text):
        if not _BEFORE_ITEM.search(text, max(0, match.start() - 12), match.start()) and match.start() > 0:
            continue
        number = int(match[1])
        if number == 1:
            found += run if len(run) >= _FEWEST_ITEMS else []
            run = [match.start(1)]
        elif number == len(run) + 1:
            run.append(match.start(1))
    return frozenset([*found, *(run if len(run) >= _FEWEST_ITEMS else [])])


def _list_marker(text: str, numeral: Numeral) -> bool:
    if numeral.end - numeral.start > 3 or text[numeral.end : numeral.end + 1] not in (".", ")"):
        return False
    if numeral.start in items_in_line(text):
        return True
    at = numeral.start
    while at and text[at - 1] in " \t":
        at -= 1
    return text[numeral.end + 1 : numeral.end + 2].isspace() and (at == 0 or text[at - 1] == "\n")


def _step(text: str, numeral: Numeral) -> bool:
    if numeral.spelled or numeral.end - numeral.start > 3:
        return False
    before = text[max(0, numeral.start - 7) : numeral.start].lower()
    word = before.removesuffix(" ").removesuffix("s")
    return before.endswith(" ") and word.endswith("step") and not word[:-4][-1:].isalnum()


def _spelled(lower: str, cut: tuple[tuple[str, int, int], ...], code: Language) -> Iterator[Numeral]:
    native = code in ("en", "")
    found = english(lower, cut) if native else foreign(lower, cut, code)
    if native:
        yield from before_units(cut)
    for numeral in found:
        if numeral.unit or numeral.ordinal:
            yield numeral
        else:
            yield _negated(lower, _scaled(lower, numeral, code))


_BY_COMMA = re.compile(r"(?<![\d.,])[0-9]{1,6},[0-9]{1,2}(?![\d,]|\.\d)")
_BY_POINT = re.compile(r"(?<![\d.,/])[0-9]{1,6}\.[0-9]{1,2}(?![\d./])")
"""Decimals of a text: 41,10 and 16,8, or 41.10 and 16.8. One that has the former alone writes 84.000 for 84,000."""


def _digits(text: str, code: Language, *, by_comma: bool) -> Iterator[Numeral]:
    consumed = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        if start < consumed or not _begins(text, start):
            continue
        if text[start - 1 : start] == "." and match[0].isdigit():
            if len(match[0]) <= _LONGEST:
                yield _scaled(text, Numeral(start - 1, end, _decimals(f"0.{match[0]}")), code)
            continue
        grouped = _grouped(text, start, end)
        token, end = grouped or (match[0], end)
        consumed = end
        if len(token) > _LONGEST:
            continue
        readings = _read(token, code, by_comma=by_comma)
        if readings:
            numeral = _scaled(text, _signed(text, Numeral(start, end, readings)), code)
            numeral = with_fraction(text, numeral) or numeral
            consumed = numeral.end
            yield numeral
        elif "," in token and "." not in token:
            for part in re.finditer("[0-9]+", token):
                yield Numeral(start + part.start(), start + part.end(), (str(int(part[0])),))


def _begins(text: str, start: int) -> bool:
    if not start:
        return True
    before, earlier = text[start - 1], text[start - 2 : start - 1] if start > 1 else ""
    if before in "xX":
        return earlier.isdigit()
    if before == ".":
        return "a" <= earlier <= "z" or not (earlier.isalnum() or earlier in ("_", "."))
    if before == ",":
        return "a" <= earlier <= "z"
    return not (before.isalnum() or before == "_")


def _grouped(text: str, start: int, end: int) -> tuple[str, int] | None:
    """The plain form and the end of digits that are grouped by apostrophes or spaces, or spaced by tokenisation; None of others."""
    gap = text[end : end + 1]
    if end - start > 3 and gap != " ":
        return None
    if gap in ("'", "’"):
        match = _SWISS.match(text, start)
    elif gap in ("\u00a0", "\u202f", "\u2009"):
        match = _THIN.match(text, start)
    elif gap == " ":
        match = _WIDE.match(text, start) or _TOKENISED.match(text, start)
        if match and not (" , " not in match[0] and " . " not in match[0] and match[0].count(" ") > 1):
            clear = _CURRENCY_BEFORE.search(text, max(0, start - 6), start) or _MEASURE_AFTER.match(text, match.end())
            match = match if clear else None
    else:
        return None
    if match is None:
        return None
    token = match[0].replace(" , ", "").replace(" . ", ".")
    token = re.sub(r"['’\s]", "", token)
    return re.sub(",", ".", token), match.end()


def _read(token: str, code: Language, *, by_comma: bool) -> tuple[str, ...]:
    if token.isdigit():
        return (token.lstrip("0") or "0",)
    commas, dots = token.count(","), token.count(".")
    groups = re.split("[.,]", token)
    thousands = 0 < len(groups[0]) <= 3 and groups[0] != "0" and all(len(g) == 3 for g in groups[1:])
    if commas > 1 and _INDIAN.fullmatch(token):
        return _decimals(token.replace(",", ""))
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
        return _comma(token, joined, thousands, code)
    if dots and thousands:
        return _decimals(joined, token) if by_comma or code not in ("en", "") else _decimals(token, joined)
    return _decimals(token)


def _comma(token: str, joined: str, thousands: bool, code: Language) -> tuple[str, ...]:
    """The readings of digits with a comma. In English one before three digits is no decimal mark; in other languages it may be one or the other."""
    decimal = token.replace(",", ".")
    if not thousands:
        return _decimals(decimal)
    return _decimals(joined) if code == "en" else _decimals(joined, decimal)


def _decimals(*tokens: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(canonical(Decimal(t)) for t in tokens))
    except InvalidOperation:
        return ()


def _signed(text: str, numeral: Numeral) -> Numeral:
    """The numeral with the sign before it: -5, −5, minus 5. A hyphen between words or numbers is no sign, and where it may be a bullet both readings stay."""
    start = numeral.start
    before = text[start - 1 : start]
    if before == " ":
        return _negated(text, numeral)
    if before not in ("-", "−", "–") or not before:
        return numeral
    ahead = text[max(0, start - 4) : start - 1]
    nearest = ahead.rstrip(" \u00a0")[-1:]
    if nearest.isdigit() or (ahead and not (ahead[-1].isspace() or ahead[-1] in "(=:|<>≤≥~$€£¥[/,;")):
        return numeral
    negative = tuple(scaled(f"-{r}", 0) for r in numeral.readings)
    if before == "−" or _DEGREES.match(text, numeral.end) or _SIGN_BEFORE.search(text, max(0, start - 9), start - 1):
        return replace(numeral, start=start - 1, readings=negative)
    if not ahead or ahead[-1] == "\n":
        return replace(numeral, readings=(*numeral.readings, *negative))
    return replace(numeral, start=start - 1, readings=(*negative, *numeral.readings))


def _negated(text: str, numeral: Numeral) -> Numeral:
    if text[numeral.start - 6 : numeral.start].lower() not in ("minus ", "ative "):
        return numeral
    sign = 6 if text[numeral.start - 6 : numeral.start].lower() == "minus " else 9
    stated = _MINUS_BEFORE.search(text, max(0, numeral.start - 20), numeral.start)
    if not stated and not _DEGREES.match(text, numeral.end):
        return numeral
    readings = tuple(scaled(f"-{r}", 0) for r in numeral.readings)
    return replace(numeral, start=numeral.start - sign, readings=readings)


def _scaled(text: str, numeral: Numeral, code: Language) -> Numeral:
    for _ in range(2):  # five hundred thousand, 2 mil millones
        match = _SCALE.match(text, numeral.end)
        power = _power(text, numeral, match, code) if match else 0
        if match is None or not power:
            break
        end = match.end() - (match[0].endswith(".") and not _abbreviated(text, match))
        readings = tuple(scaled(r, power) for r in numeral.readings)
        numeral = replace(numeral, end=end, readings=readings, power=numeral.power + power)
    return numeral


def _abbreviated(text: str, match: re.Match[str]) -> bool:
    """The full stop belongs to "3 Mio. Euro", not to "3 million. Then"."""
    return (match[1] or "").lower() in _SHORT_SCALES and text[match.end() : match.end() + 2].strip() != ""


def _power(text: str, numeral: Numeral, match: re.Match[str], code: Language) -> int:
    if match[1]:
        word = match[1].lower()
        limited = _ONLY_IN.get(word)
        if word == "mil" and text.startswith((" millones", " milhões"), match.end()):
            return 3
        return _SCALES.get(word, 0) if limited is None or code in limited else 0
    letter = (match[2] or match[3]).lower()
    if numeral.spelled or numeral.power:
        return 0
    # 5m may be five metres: a capital or k directly after digits scales, any letter if a currency or a crowd says so
    sure = bool(match[2]) and match[2] in "kKMB"
    sure = sure or _CURRENCY_BEFORE.search(text, max(0, numeral.start - 6), numeral.start) is not None
    return _SCALES[letter] if sure or _CROWDS.match(text, match.end()) else 0


def _short_year(text: str, numeral: Numeral, before: list[Numeral]) -> Numeral:
    """The numeral as the second year of 2007–08, if it is one; else as it is."""
    if not before or numeral.end - numeral.start != 2 or numeral.start - before[-1].end != 1:
        return numeral
    full = text[before[-1].start : before[-1].end]
    if text[numeral.start - 1] in "-–/" and re.fullmatch("(?:19|20)[0-9]{2}", full):
        return replace(numeral, readings=(full[:2] + text[numeral.start : numeral.end], *numeral.readings))
    return numeral
