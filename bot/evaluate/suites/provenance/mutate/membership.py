"""Membership of numbers, times, days, digits and words in a text: tells whether a changed value is wrong for certain.

Nothing here is shared with the check. It errs on the side of "holds": a mutant that might be right by any reading is
not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from bot.evaluate.suites.provenance.mutate.surfaces import MONTHS, WEEKDAYS

_RUN = re.compile(r"\d[\d.,']*")
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {w: n for n, w in enumerate(ONES)} | {w: 10 * n for n, w in enumerate(TENS, 2)}
_WORDS |= {
    "half": 0,
    "once": 1,
    "twice": 2,
    "double": 2,
    "triple": 3,
    "dozen": 12,
    "pair": 2,
    "couple": 2,
    "both": 2,
    "single": 1,
    "a": 1,
    "an": 1,
}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_WORDS |= {w: n for n, w in enumerate(_ORDINALS, 1)}
_SCALES = (Decimal(1), Decimal(100), Decimal(1000), Decimal(10) ** 6, Decimal(10) ** 9, Decimal(12))
_DECADES = re.compile(r"daily|every ?day|week(?:day|end)s?|all week|7 days|seven days", re.IGNORECASE)


@lru_cache(maxsize=4096)
def numbers(text: str) -> frozenset[Decimal]:
    """Every number that a text might hold: digit runs in each reading, their parts, and number words."""
    found: set[Decimal] = set()
    for match in _RUN.finditer(text):
        run = match.group().rstrip(".,'")
        for form in (
            run.replace(",", "").replace("'", ""),
            run.replace(".", "").replace(",", "."),
            *re.split(r"[.,']", run),
        ):
            try:
                found.add(Decimal(form))
            except InvalidOperation:
                continue
    found |= _number_words(text)
    return frozenset(found)


def _number_words(text: str) -> set[Decimal]:
    found: set[Decimal] = set()
    before: int | None = None
    for word in re.findall(r"[a-z]+", text.lower()):
        number = _WORDS.get(word)
        if number is not None:
            found.add(Decimal(number))
            if before is not None and before in range(20, 100, 10) and 0 < number < 10:
                found.add(Decimal(before + number))
        elif word in ("hundred", "thousand", "million", "billion"):
            scale = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}[word]
            found |= {Decimal(scale), Decimal((before or 1) * scale)}
        before = number
    return found


def holds_number(value: Decimal, texts: Iterable[str]) -> bool:
    """True if a text holds `value`, a common multiple of it, or a number that rounds to it."""
    step = _step(value)
    for text in texts:
        for held in numbers(text):
            if abs(held - value) <= step / 2:
                return True
            if any(held * s == value or value * s == held for s in _SCALES):
                return True
            if any(abs(held / s - value) <= step / 2 for s in _SCALES[2:5] if held >= s):
                return True
    return False


def _step(value: Decimal) -> Decimal:
    """The place of the last digit that is not a trailing zero: of 1200 it is 100, of 0.25 it is 0.01."""
    exponent = value.normalize().as_tuple().exponent
    return Decimal(10) ** exponent if isinstance(exponent, int) else Decimal(1)


def plain(text: str) -> str:
    """Letters and digits of a text, lower-cased, others as single spaces."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.lower()), ""])


def holds_words(phrase: str, texts: Iterable[str]) -> bool:
    """True if the words of `phrase` stand in a text in a row."""
    wanted = plain(phrase)
    return any(wanted in _plain(text) for text in texts)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return plain(text)


def holds_digits(text: str, texts: Iterable[str]) -> bool:
    """True if the digits of `text` stand in a row in a text, whatever stands between them."""
    wanted = re.sub(r"\D", "", text).lstrip("0")
    return any(wanted in _digits(t) for t in texts)


@lru_cache(maxsize=4096)
def _digits(text: str) -> str:
    return re.sub(r"[^\dA-Za-z]+", "", text)


@lru_cache(maxsize=4096)
def clock_times(text: str) -> frozenset[int]:
    """Minutes of the day of every clock time in a text, with both halves of the day where neither is said."""
    found: set[int] = set()
    for match in re.finditer(r"(?<!\d)(\d{1,2})(?:[:.h](\d{2}))?\s?([ap])?\.?m?\b", text, re.IGNORECASE):
        hour, minute = int(match[1]), int(match[2] or 0)
        if hour > 24 or minute > 59:
            continue
        half = (match[3] or "").lower()
        hours = {hour % 12 + 12} if half == "p" else {hour % 12} if half == "a" else {hour % 24, (hour + 12) % 24}
        found |= {h * 60 + minute for h in hours}
    found |= {720} if re.search(r"\bnoon|midday", text, re.IGNORECASE) else set()
    found |= {0} if re.search(r"\bmidnight", text, re.IGNORECASE) else set()
    return frozenset(found)


def holds_time(surface: str, texts: Iterable[str]) -> bool:
    """True if a text holds a clock time that `surface` may be."""
    mine = clock_times(surface)
    return any(mine & clock_times(text) for text in texts)


def holds_day(day: int, month: int, texts: Iterable[str]) -> bool:
    """True if a text has this day beside this month, in words or in figures."""
    name = MONTHS[month - 1][:3]
    near = re.compile(
        rf"(?<!\d)0?{day}(?!\d).{{0,12}}{name}|{name}[a-z]*.{{0,14}}(?<!\d)0?{day}(?!\d)"
        rf"|(?<!\d)0?{day}[./-]0?{month}(?!\d)|(?<!\d)0?{month}[./-]0?{day}(?!\d)",
        re.IGNORECASE,
    )
    return any(near.search(text) for text in texts)


def holds_weekday(name: str, texts: Iterable[str]) -> bool:
    """True if a text names the weekday, or a run of days that may hold it ("Monday to Friday", "daily")."""
    for text in texts:
        named = [d for d in WEEKDAYS if re.search(rf"\b{d[:3]}", text, re.IGNORECASE)]
        if name in named or _DECADES.search(text):
            return True
        if re.search(
            rf"(?:{'|'.join(d[:3] for d in WEEKDAYS)})[a-z]*\s?(?:to|-|–|until|through)\s", text, re.IGNORECASE
        ):
            return True
    return False
