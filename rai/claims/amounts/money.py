"""Amounts of money: symbol, ISO code or name, before or after the number; ranges, cents, credits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from rai.claims.amounts import currencies
from rai.claims.found import Found
from rai.claims.numbers import rates
from rai.claims.numbers.ranges import joint
from rai.claims.numbers.read_digits import Numeral, canonical, numerals

_SYMBOL = "|".join(
    re.escape(s) for s in sorted(currencies.SYMBOLS, key=len, reverse=True) if not s.isalpha() and not s.endswith(".")
)
_CODE = "|".join(sorted(currencies.CODES))
_BEFORE = re.compile(
    rf"(?:(?<![^\W\d_])(?P<code>{_CODE})|(?P<symbol>(?<![^\W\d_])(?:{_SYMBOL})|[€£¥₹₩₽₺₫฿₪₱$])|(?<![^\W\d_])(?P<rupees>Rs|SFr|Fr)\.?)"
    r"[ \u00a0\u202f]{0,2}[-−]?$"
)
_DASH = r"(?:[.,][-–—]{1,2})?"
_AFTER = re.compile(
    rf"(?:[.,][-–—]{{1,2}})?[ \u00a0\u202f-]{{0,2}}(?:(?P<symbol>{_SYMBOL}|¢|zł(?!\w)|Kč(?!\w)|Ft(?!\w)|kr(?!\w))|(?P<code>{_CODE})(?![\w])|(?P<lower>{_CODE.lower()})(?!\w)"
    r"|(?:d['’]|de |di )?(?P<name>[^\W\d_]{1,14}(?:[. -]{1,2}[^\W\d_]{2,14}){0,3}))"
)
_WHOLE_CENTS = re.compile(r"(euro|us)[ -]?cents?\b")
_DASHED = re.compile(r"[.,][-–—]{1,2}")
_SCALE = re.compile(r" ?(?P<scale>k|m|mm|mn|bn|b|tn|t|mio|mrd|lakh|crore|cr)\.?(?!\w)", re.IGNORECASE)
_SCALES = {
    "k": 3,
    "m": 6,
    "mm": 6,
    "mn": 6,
    "mio": 6,
    "b": 9,
    "bn": 9,
    "mrd": 9,
    "t": 12,
    "tn": 12,
    "lakh": 5,
    "crore": 7,
    "cr": 7,
}
_UNIT = re.compile(
    r"[ -]?(?:%|percent|per cent|(?:days?|hours?|minutes?|mins?|weeks?|months?|years?|people|guests|users|items|times|gb|mb|kg|km|miles?|nights?)\b)",
    re.IGNORECASE,
)
_CENTS = re.compile(r",? (?:and|und|et|y|e) | ", re.IGNORECASE)
_AND_SMALL = re.compile(r" (?:(?:and|und|et|y|e|con|en) )?", re.IGNORECASE)
_A_WHOLE = re.compile(r"\ban? (?P<name>dollar|euro|pound|quid|buck|franc) (?:and )?$", re.IGNORECASE)
_COUNTS = re.compile(r"[ -]?(?:[^\W\d_]+|%|[.,:/]\d)")
_GOES_ON = re.compile(
    r" (?:an?|per|each|every|for|or|and|in|on|at|to|if|with|plus|rather|instead|more|less|than|from|as|is|was|once|all|pro|je|die|der|das|für|und|oder|im|par|pour|et|ou|por|para|y|o|al|a|per|ogni|e|cada|voor|en|of|za|i|lub)\b",
    re.IGNORECASE,
)
_NORMAL = re.compile(r"(?P<n>-?[0-9]{1,30}(?:\.[0-9]{1,12})?) (?:" + _CODE + ")")
_OF_COUNTRY = {
    "canadian": "CAD",
    "australian": "AUD",
    "us": "USD",
    "american": "USD",
    "mexican": "MXN",
    "singapore": "SGD",
}
_WHOSE = re.compile(rf" ({'|'.join(_OF_COUNTRY)})(?: dollars)?\b", re.IGNORECASE)
"""$6 Canadian."""
_OF_WEIGHT = re.compile(r" (?:of|in weight|heavier|lighter)\b", re.IGNORECASE)
_WEIGHS = re.compile(r"\bweigh\w{0,3} (?:up to |about |only |over |under )?$", re.IGNORECASE)
_ENDS = re.compile(r"[.,;:!?)]|$| (?:per|a|an|each|for|or|and|to)\b")
_THOUSAND = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_WHOLE_POUND = 100
_OF_THE_NEXT = re.compile(r" ?\d{1,3}(?:[.,' ]?\d{3})*[.,]\d\d(?!\d)")
"""An amount that a currency stands before: from year 2 EUR 620,00."""
_CENTS_SAID = re.compile(r"[.,]\d\d$")
_SIGN = re.compile(
    r"(?:^|(?<=[\s(:]))[-−]$|(?:^|[^\w\s] ?|\b(?:at|to|of|is|was|are|by|from|and|or|between|below|above|about|around|than) )minus $",
    re.IGNORECASE,
)
""""A balance of minus $24", not "the difference minus $24"."""


def find(text: str) -> list[Found]:
    """Finds amounts of money, as "1200 USD": canonical decimal and ISO 4217 code; a bare $ is read as US dollars, ¥ as yen.

    Both ends of a range have its currency ($10-20, 10 to 20 euros); "99 cents" is 0.99, of dollars or of euros.
    """
    if len(text) <= 48 and (itself := _NORMAL.fullmatch(text)) and canonical(Decimal(itself["n"])) == itself["n"]:
        return [Found("money", 0, len(text), text, (text,), (itself["n"],))]
    every = numerals(text)
    found: list[Found] = []
    leading: dict[int, str] = {}
    for at, numeral in enumerate(every):
        amount = _amount(text, numeral, found[-1].end if found else 0)
        if amount is None:
            if _ends_amount(text, found, numeral):
                continue
            if at - 1 in leading and _closes(text, every[at - 1], numeral):
                leading[at] = leading[at - 1]
                found.append(_found(text, numeral, (leading[at],), 0, (numeral.start, numeral.end)))
            continue
        codes, power, start, end = amount
        if start < numeral.start:
            leading[at] = codes[0]
        elif at and at - 1 not in leading and joint(text, every[at - 1], numeral) == "range":
            first = every[at - 1]
            if not found or found[-1].end <= first.start:
                found.append(_found(text, first, codes, power, (first.start, first.end)))
        if power and _adds(text, found, start, codes):
            found[-1] = _with_cents(found[-1], numeral, end)
            continue
        found.append(_found(text, numeral, codes, power, (start, end)))
    return found


def _amount(text: str, numeral: Numeral, taken: int) -> tuple[tuple[str, ...], int, int, int] | None:
    """The currencies, power of ten, start and end of the amount that a numeral is; None if it is none."""
    if numeral.unit:
        return None
    before = _BEFORE.search(text, max(0, numeral.start - 8), numeral.start)
    if before and before.start() >= taken:
        mark = (before["code"] or before["symbol"] or before["rupees"]).upper()
        code = currencies.SYMBOLS.get(mark, "CHF" if mark == "FR" else mark)
        end, power = _scaled(text, numeral)
        if mark == "$" and (whose := _WHOSE.match(text, end)):
            return (_OF_COUNTRY[whose[1].lower()],), power, before.start(), whose.end()
        after = _currency_after(text, end)
        if after and after[2] == 0 and (after[0][0] == code or (mark == "$" and after[0][0] in currencies.DOLLARS)):
            return after[0], power, before.start(), after[1]
        dashed = _DASHED.match(text, end)
        return (code,), power, before.start(), dashed.end() if dashed else end
    end, power = (numeral.end, 0) if numeral.power else _crores(text, numeral)
    after = _currency_after(text, end)
    if after is None or (
        after[2] and text[numeral.end : after[1]].strip().lower() == "p" and not _is_pence(text, numeral)
    ):
        return None
    if (
        after[2] == 0
        and _OF_THE_NEXT.match(text, after[1])
        and numeral.end < after[1]
        and not _CENTS_SAID.search(text, numeral.start, numeral.end)
    ):
        return None
    return after[0], power + after[2], numeral.start, after[1]


def _scaled(text: str, numeral: Numeral) -> tuple[int, int]:
    """Where the scale behind a numeral with a currency ends, and its power of ten: $1.2m, ₹5 lakh. Any scale is one there."""
    match = None if numeral.power or numeral.spelled else _SCALE.match(text, numeral.end)
    if match is None or (len(match["scale"]) == 1 and text[numeral.end] == " "):
        return numeral.end, 0
    return match.end("scale"), _SCALES[match["scale"].lower()]


def _crores(text: str, numeral: Numeral) -> tuple[int, int]:
    match = _SCALE.match(text, numeral.end)
    if match is None or match["scale"].lower() not in ("mio", "mrd", "mn", "bn", "lakh", "crore"):
        return numeral.end, 0
    return match.end(), _SCALES[match["scale"].lower()]


def _currency_after(text: str, at: int) -> tuple[tuple[str, ...], int, int] | None:
    """The currencies that stand at `at`, where they end, and -2 if they are hundredths."""
    match = _AFTER.match(text, at)
    if match is None:
        return None
    if match["symbol"]:
        mark = match["symbol"].upper()
        if mark == "¢":
            return currencies.HUNDREDTHS[mark], match.end(), -2
        # 5 $10 notes, one €690 fee: the sign belongs to what follows
        if text[match.end() : match.end() + 1].isdigit() and (mark != "€" or match.start("symbol") > at):
            return None
        return _crowns(text) if mark == "KR" else (currencies.SYMBOLS[mark],), match.end(), 0
    if match["code"] or match["lower"]:
        return ((match["code"] or match["lower"]).upper(),), match.end(), 0
    return _named(text, match)


def _crowns(text: str) -> tuple[str, ...]:
    """The currencies that "kr" may mean in a text: those whose codes it names, or all three."""
    return tuple(code for code in currencies.CROWNS if code in text) or currencies.CROWNS


def _named(text: str, match: re.Match[str]) -> tuple[tuple[str, ...], int, int] | None:
    phrase, start = match["name"].lower(), match.start("name")
    first = re.match(r"[^\s.-]+", phrase)
    if first is None:
        return None
    hundredths = currencies.HUNDREDTHS.get(first[0])
    if hundredths:
        return hundredths, start + first.end(), -2
    of_whole = _WHOLE_CENTS.match(phrase)
    if of_whole:
        return ("EUR" if of_whole[1] == "euro" else "USD",), start + of_whole.end(), -2
    if first[0] not in currencies.opening_words() and not phrase.startswith("u.s"):
        return None
    known = currencies.names()
    end = len(phrase)
    while end > 0:
        code = known.get(phrase[:end])
        if code:
            codes = _crowns(text) if phrase[:end] in currencies.CROWN_NAMES else (code,)
            return None if _is_other(text, phrase[:end], start, start + end) else (codes, start + end, 0)
        end = max(phrase.rfind(" ", 0, end), phrase.rfind("-", 0, end), phrase.rfind(".", 0, end))
    return None


def _is_other(text: str, name: str, start: int, end: int) -> bool:
    """True if a name of a currency means something else: a weight in five pounds of coffee, and in "it weighs five pounds"; "the 5 won the game"."""
    if name == "won":
        return not _ENDS.match(text, end)
    if name not in ("pound", "pounds", "pfund", "libras"):
        return False
    return bool(_OF_WEIGHT.match(text, end) or _WEIGHS.search(text, max(0, start - 40), _digits_before(text, start)))


def _digits_before(text: str, at: int) -> int:
    """Where the numeral before `at` begins, at most 20 characters back."""
    match = re.search(r"[0-9.,]{1,18}[ -]?$", text[max(0, at - 20) : at])
    return at - len(match[0]) if match else at


def _is_pence(text: str, numeral: Numeral) -> bool:
    """True if a "p" behind a numeral is pence: 50p is half a pound, 17.5p/kWh a tariff; 720p is a picture."""
    return text[numeral.end : numeral.end + 1] == "p" and Decimal(numeral.readings[0]) < _WHOLE_POUND


def _closes(text: str, first: Numeral, second: Numeral) -> bool:
    """True if a bare numeral is the second end of a range of amounts: $10-20, between $10 and 20; of $5-10 minutes it counts minutes."""
    return joint(text, first, second) == "range" and not _UNIT.match(text, second.end)


def _adds(text: str, found: Sequence[Found], start: int, codes: tuple[str, ...]) -> bool:
    """True if hundredths belong to the amount before them: 5 dollars and 50 cents."""
    if not found or not 0 < start - found[-1].end <= 6 or "." in found[-1].value:
        return False
    same = found[-1].value.rpartition(" ")[2] in codes
    return same and _CENTS.fullmatch(text, found[-1].end, start) is not None


def _ends_amount(text: str, found: list[Found], numeral: Numeral) -> bool:
    """True of a bare numeral that is the small change of an amount: `found` then ends with the whole of it."""
    small = _small_change(text, found, numeral)
    if small is None:
        return False
    if found and found[-1].start == small.start:
        found.pop()
    found.append(small)
    return True


def _small_change(text: str, found: Sequence[Found], numeral: Numeral) -> Found | None:
    """The amount that a bare numeral ends: a dollar fifty, 2 euros 50, zwei Euro fünfzig; None if it counts something else."""
    if numeral.unit or not re.fullmatch(r"[1-9][0-9]", numeral.readings[0]):
        return None
    if _COUNTS.match(text, numeral.end) and not _GOES_ON.match(text, numeral.end):
        return None
    if one := _A_WHOLE.search(text, max(0, numeral.start - 16), numeral.start):
        code = "GBP" if one["name"].lower() == "quid" else currencies.names().get(one["name"].lower(), "USD")
        one_whole = Found("money", one.start(), one.end(), f"1 {code}")
        return replace(_with_cents(one_whole, numeral, numeral.end), per=rates.per_of(text, numeral.end))
    whole = found[-1] if found else None
    if whole is None or not text[whole.end - 1].isalpha() or "." in whole.value or whole.value.startswith("-"):
        return None
    named = re.fullmatch(r"\S{1,14} [^\W\d_]{3,}", text[whole.start : whole.end])
    alike = text[whole.start].isdigit() != numeral.spelled
    if named is None or not alike or not 0 < numeral.start - whole.end <= 5:
        return None
    if not _AND_SMALL.fullmatch(text, whole.end, numeral.start):
        return None
    return replace(_with_cents(whole, numeral, numeral.end), per=rates.per_of(text, numeral.end))


def _with_cents(whole: Found, cents: Numeral, end: int) -> Found:
    number, _, code = whole.value.partition(" ")
    value = canonical(Decimal(number) + Decimal(cents.readings[0]).scaleb(-2))
    return Found("money", whole.start, end, f"{value} {code}", (f"{value} {code}",), (value,))


def _priced(text: str, numeral: Numeral) -> tuple[str, ...]:
    """The readings of a numeral as an amount. 1.500 € is fifteen hundred: amounts have no three decimals, whichever sign parts the thousands. 1.500 million may have."""
    if numeral.power or not _THOUSAND.fullmatch(text, numeral.start, numeral.end):
        return numeral.readings
    return tuple(r for r in numeral.readings if "." not in r) or numeral.readings


def _found(text: str, numeral: Numeral, codes: tuple[str, ...], power: int, span: tuple[int, int]) -> Found:
    start, end = span
    numbers = tuple(canonical(Decimal(r).scaleb(power)) for r in _priced(text, numeral))
    sign = _SIGN.search(text, max(0, start - 15), start) if start < numeral.start else None
    if sign:
        bullet = sign[0] in "-−" and (sign.start() == 0 or text[sign.start() - 1] == "\n")
        negative = tuple(f"-{n}" if n[0] != "-" else n for n in numbers)
        numbers, start = (*negative, *numbers) if bullet else negative, sign.start()
    readings = tuple(f"{n} {code}" for code in codes for n in numbers)
    magnitudes = tuple(dict.fromkeys((*numeral.readings, *(numbers if power > 0 else ()))))
    return Found("money", start, end, readings[0], readings, magnitudes, per=rates.per_of(text, end, start))
