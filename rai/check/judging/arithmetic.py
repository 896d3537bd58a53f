"""Calculations written by somebody who is not trusted: read by a small grammar, computed in decimals, refused for anything else.

    side "=" atom;  side: product (("+" | "-") product)*;  product: factor (("*" | "/") factor)*
    factor: atom | "(" side ")";  atom: number [unit | "%"] | date (2026-03-14, --03-14) | time (09:30)

Dates and times take spans (14 days, 2 months, 5 working days, 45 minutes); the difference of two dates is in days, of two times in
minutes, unless the result has a unit of its own. There are no names, powers or functions, so nothing can run or grow.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Literal

LONGEST = 200
"""Most characters of a formula."""
MOST_OPERANDS = 8
"""Most operands of one."""
ANY_YEAR = 2000
"""The year of a date without one: a leap year, so that every day is in it."""
_MOST = Decimal(10) ** 15
_NEAREST = 100
"""A stated result may be off by this part of it at most, a hundredth: 100 / 3 is 33, 7 / 2 is not 4."""
_SPAN = r"working days?|business days?|days?|weeks?|months?|years?|hours?|minutes?|min"
_TOKEN = re.compile(
    rf"\s*(?:(?P<date>(?:\d{{4}}|-)-\d\d-\d\d)(?!\d)|(?P<time>\d\d?:\d\d)(?!\d)"
    rf"|[$€£]?\s?(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,6}})?|\d{{1,15}}(?:\.\d{{1,6}})?)(?![\d.,]*\d)(?:\s?(?:(?P<percent>%)|(?P<unit>{_SPAN})\b))?\s?[€£]?"
    r"|(?P<sign>[-+*/()=]))\s*"
)
_WORD = re.compile(r"[^\W\d_]+")
_SPANS = re.compile(_SPAN)
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})
_MINUTES = {"hour": 60, "minute": 1}


class NotComputed(ValueError):
    """Raised for a formula that this grammar does not read, or that has no result."""


class DoesNotHold(NotComputed):
    """Raised for a formula that was read and does not come to what it says."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, a date or a time, as an operand or result. `number`: of a time the minutes since midnight, of a percentage the percentage.

    `unit`: "day", "business day", "week", "month", "year", "hour", "minute", "%" or "". `places`: decimals that it was written with.
    `said`: it is written in the formula and no result on the way. `months`: between two dates, where they are whole.
    """

    kind: Literal["number", "date", "time"]
    number: Decimal = Decimal(0)
    day: date | None = None
    has_year: bool = True
    unit: str = ""
    places: int = 0
    said: bool = False
    months: int | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A formula that holds. `result`: what its operands give, as it is written; `written`: the formula without words that are no unit."""

    operands: tuple[Amount, ...]
    result: Amount
    factors: frozenset[int]
    """Numbers of the operands that something is multiplied with or divided by."""
    only_adds: bool
    """True if nothing is done but adding."""
    written: str


def computed(formula: str) -> Computed:
    """The operands and the result of `formula`. Raises NotComputed if it cannot be read or computes nothing, DoesNotHold if it
    comes to something else.
    """
    if len(formula) > LONGEST:
        raise NotComputed("too long")
    with localcontext() as exactly:
        exactly.prec = 40
        try:
            text = " ".join(_WORD.sub(_kept, formula.translate(_SIGNS)).split())
            return _FormulaReader(_tokens(text), text.replace("*", "×")).equation()
        except (InvalidOperation, OverflowError):
            raise NotComputed("no number") from None


@dataclass(frozen=True, slots=True)
class _Token:
    sign: str = ""
    amount: Amount | None = None


def _tokens(text: str) -> list[_Token]:
    at, found = 0, []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise NotComputed(f"not read from character {at}")
        found.append(_Token(match["sign"]) if match["sign"] else _Token(amount=_amount(match)))
        at = match.end()
    return found


def _kept(word: re.Match[str]) -> str:
    """A word of the formula as the grammar takes it: a unit of time, or x for times; what else is counted ("9 users") is left out."""
    text = word[0].lower()
    if text == "x":
        return "*"
    return text if text in ("working", "business") or _SPANS.fullmatch(text) else " "


def _amount(match: re.Match[str]) -> Amount:
    if match["date"]:
        return _dated(match["date"])
    if match["time"]:
        hours, _, minutes = match["time"].partition(":")
        if int(hours) > 24 or int(minutes) > 59:
            raise NotComputed("no time of day")
        return Amount("time", Decimal(60 * int(hours) + int(minutes)))
    written = match["number"].replace(",", "")
    unit = re.sub(r"^working", "business", match["unit"] or "").removesuffix("s")
    unit = "minute" if unit == "min" else unit
    return Amount(
        "number", Decimal(written), unit=match["percent"] or unit, places=len(written.partition(".")[2]), said=True
    )


def _dated(written: str) -> Amount:
    has_year = written[0] != "-"
    try:
        day = date.fromisoformat(written if has_year else f"{ANY_YEAR}-{written[2:]}")
    except ValueError:
        raise NotComputed("no day of the calendar") from None
    return Amount("date", day=day, has_year=has_year)


class _FormulaReader:
    """Reads the tokens of one formula from left to right, and computes on the way."""

    def __init__(self, tokens: list[_Token], written: str) -> None:
        self._tokens = tokens
        self._written = written
        self._at = 0
        self._operands: list[Amount] = []
        self._factors: set[int] = set()
        self._signs: set[str] = set()

    def equation(self) -> Computed:
        """The operands and the result of the whole formula. Raises NotComputed or DoesNotHold, as `computed`."""
        result = self._side()
        if self._sign("=") is None or not self._signs:
            raise NotComputed("an operation and its result are needed")
        stated = self._atom()
        if self._at != len(self._tokens):
            raise NotComputed("nothing may follow the result")
        if len(self._operands) > MOST_OPERANDS:
            raise NotComputed("too many operands")
        if not _agree(result, stated):
            raise DoesNotHold("it does not hold")
        return Computed(
            tuple(self._operands),
            _joined(result, stated),
            frozenset(self._factors),
            self._signs == {"+"},
            self._written,
        )

    def _side(self) -> Amount:
        value = self._product()
        while sign := self._sign("+", "-"):
            value = _added(value, self._product(), sign)
        return value

    def _product(self) -> Amount:
        value = self._factor()
        first = len(self._operands) - 1
        while sign := self._sign("*", "/"):
            value = _multiplied(value, self._factor(), sign)
            self._factors |= {first, len(self._operands) - 1}
        return value

    def _factor(self) -> Amount:
        if self._sign("(", keep=False) is None:
            self._operands.append(amount := self._atom())
            return amount
        value = self._side()
        if self._sign(")", keep=False) is None:
            raise NotComputed("a bracket is open")
        return value

    def _atom(self) -> Amount:
        amount = self._tokens[self._at].amount if self._at < len(self._tokens) else None
        if amount is None:
            raise NotComputed("a number is missing")
        self._at += 1
        return amount

    def _sign(self, *signs: str, keep: bool = True) -> str | None:
        """The next token if it is one of `signs`; `keep`: it is an operation."""
        token = self._tokens[self._at] if self._at < len(self._tokens) else _Token()
        if not token.sign or token.sign not in signs:
            return None
        self._at += 1
        if keep and token.sign != "=":
            self._signs.add(token.sign)
        return token.sign


def _multiplied(a: Amount, b: Amount, sign: str) -> Amount:
    if a.kind != "number" or b.kind != "number":
        raise NotComputed("days and times are not multiplied")
    left, right = _plain(a), _plain(b)
    if right in (0, 1) or (a.said and (left == 1 or (sign == "/" and left == right))):
        raise NotComputed("it computes nothing")
    return _bounded(left * right if sign == "*" else left / right)


def _added(a: Amount, b: Amount, sign: str) -> Amount:
    if a.kind == "date" or b.kind == "date":
        return _shifted(a, b, 1 if sign == "+" else -1)
    if a.kind == "time" or b.kind == "time":
        return _clocked(a, b, 1 if sign == "+" else -1)
    left, right = a.number, b.number
    if (a.unit == "%") != (b.unit == "%"):  # 50 - 20 % is 50 less a fifth of it
        if b.unit != "%":
            raise NotComputed("a number is not added to a percentage")
        right = left * right / 100
    if right == 0 or (a.said and sign == "-" and left == right):
        raise NotComputed("it computes nothing")
    value = _bounded(left + right if sign == "+" else left - right)
    return Amount("number", value.number, unit="%" if a.unit == b.unit == "%" else "")


def _shifted(a: Amount, b: Amount, sign: int) -> Amount:
    if a.day is None:
        raise NotComputed("a date comes first")
    if b.day is not None:
        if sign > 0 or a.has_year != b.has_year:
            raise NotComputed("dates are not added")
        return Amount("number", Decimal((a.day - b.day).days), unit="day", months=_months_between(b.day, a.day))
    if b.kind != "number" or b.number != int(b.number) or b.number > 10_000:
        raise NotComputed("no span of days")
    day = _moved(a.day, sign * int(b.number), b.unit)
    if not a.has_year and day.year != a.day.year:
        day = day.replace(year=a.day.year)
    return Amount("date", day=day, has_year=a.has_year)


def _months_between(first: date, last: date) -> int | None:
    """The whole months between two days: to the same day, or from the end of one to the end of another."""
    months = (last.year - first.year) * 12 + last.month - first.month
    ends = all(d.day == calendar.monthrange(d.year, d.month)[1] for d in (first, last))
    return months if ends or first.day == last.day else None


def _moved(day: date, count: int, unit: str) -> date:
    if unit in ("month", "year"):
        months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
        year, month = months // 12, months % 12 + 1
        if not 1 <= year <= 9999:
            raise NotComputed("out of the calendar")
        return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
    if unit == "business day":
        return _worked(day, count)
    if unit not in ("day", "week"):
        raise NotComputed("a date takes days, weeks, months or years")
    return day + timedelta(days=count * (7 if unit == "week" else 1))


def _worked(day: date, count: int) -> date:
    """The day so many working days later, Monday to Friday; no holidays are known here."""
    step = timedelta(days=1 if count > 0 else -1)
    for _ in range(abs(count)):
        day += step
        while day.isoweekday() > 5:
            day += step
    return day


def _clocked(a: Amount, b: Amount, sign: int) -> Amount:
    if a.kind != "time":
        raise NotComputed("a time comes first")
    if b.kind == "time":
        if sign > 0:
            raise NotComputed("times are not added")
        return Amount("number", a.number - b.number, unit="minute")
    if b.unit not in _MINUTES:
        raise NotComputed("a time takes hours or minutes")
    return Amount("time", (a.number + sign * b.number * _MINUTES[b.unit]) % (24 * 60))


def _plain(amount: Amount) -> Decimal:
    return amount.number / 100 if amount.unit == "%" else amount.number


def _bounded(number: Decimal) -> Amount:
    if abs(number) > _MOST:
        raise NotComputed("too large")
    return Amount("number", number)


def _agree(result: Amount, stated: Amount) -> bool:
    """True if `stated` is the result, as far as it is written."""
    if result.kind != stated.kind:
        return False
    if result.kind == "date":
        same = result.has_year == stated.has_year
        return same and result.day == stated.day
    number = result.number
    if stated.unit in ("month", "year") and result.months is not None:
        return result.months == stated.number * (12 if stated.unit == "year" else 1)
    if result.unit == "minute" and stated.unit == "hour":
        number /= 60
    elif result.unit == "day" and stated.unit == "week":
        number /= 7
    elif stated.unit == "%" and result.unit != "%":
        number *= 100
    elif result.unit and stated.unit not in ("", result.unit):
        return False
    return rounds_to(number, stated.number, stated.places)


def rounds_to(number: Decimal, stated: Decimal, places: int | None = None) -> bool:
    """True if `stated` is `number`, or what it rounds to with so many decimals (those of `stated` unless given) within a hundredth of it."""
    exponent = stated.as_tuple().exponent
    digits = places if places is not None else max(0, -exponent if isinstance(exponent, int) else 0)
    step = Decimal(1).scaleb(-digits)
    rounded = {number.quantize(step, way) for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)}  # a half goes either way
    return stated in rounded and abs(number - stated) <= abs(number) / _NEAREST


def _joined(result: Amount, stated: Amount) -> Amount:
    unit = stated.unit or result.unit
    return stated if unit == stated.unit else Amount(stated.kind, stated.number, unit=unit, places=stated.places)
