"""Values that a calculation of what is at hand gives, where it gives hardly one of the values beside them: likely worked out, though nothing says how.

`derivation` asks of what near a value it was worked out; what answers work out in several steps, with prices that they leave out, lies too far
for it. Here every value of the sources, the question and the answer may be reckoned with, and that says nothing by itself: of the numbers of
two pages some calculation comes to nearly anything. So as many neighbours of the value are tried, equally round. Where the calculations
reach `MOST_BY_CHANCE` of them or more, reaching the value is chance. What remains is a doubt (`unchecked`) and never support.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.lexicon.load import pattern
from rai.check.operands import Operand, amount_of, nearest, spans_of, unit_of
from rai.check.reading.sources import Place
from rai.check.working.calendar import (
    MINUTES,
    ROUND_THE_CLOCK,
    Reckoned,
    days_of,
    is_span,
    minutes_of,
    moved_by,
    says,
    years_of,
)
from rai.check.working.derivation import as_meant
from rai.check.working.plausibility import is_against_its_words, takes_the_place_of_one
from rai.check.working.said_sums import said_sum
from rai.check.working.terms import SAID, SCALE, factor_of, of_fraction, scaled, to_cents
from rai.claims.found import Found
from rai.records import SUPPORTED

MOST_BY_CHANCE = 0.3
"""The share of the values beside one from which on reaching it says nothing (measured: docs/provenance.md)."""
MOST_OF_THREE = 0.1
"""The same for sums of three parts: a wrong total is one, with a price left out or another row's."""
_BESIDE = 7
"""How many neighbours are tried to each side."""
_MOST_OWN = 40
"""Most values of the kind that are reckoned with."""
_MOST_COUNTS = 12
_MOST_PERCENTS = 8
_LARGEST_COUNT = 100
_ROUND = (100, 50, 10, 5, 1)
"""What a number may be a multiple of; its neighbours are multiples of the same."""

Term = tuple[str, tuple[Operand, ...]]
"""A part of a calculation, as it is written, and its operands."""


def likely_worked_out(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`unchecked` for the n-th value if a calculation gives it that gives hardly one of its neighbours; else None.

    `findings`: of the values that are decided; those of the answer itself are reckoned with only if they are supported or were likely worked out themselves.
    """
    value = answer.values[n]
    if value.kind not in _RECKONED:
        return None
    at_hand = tuple(_at_hand(n, answer, findings))
    if value.kind == "date":
        found = _day(value, at_hand, beside=_tells(answer, "day_beside"), off=_tells(answer, "days_off"))
    elif value.kind == "time":
        found = _time(value, at_hand)
    else:
        found = _amount(n, answer, at_hand)
    if found is None:
        return None
    written, operands = found
    way = Reckoned(operands, written, 0.0)
    if takes_the_place_of_one(n, way, answer) or is_against_its_words(n, way, answer):
        return None
    return Finding(
        "unchecked",
        spans_of(operands),
        f"It may have been worked out, as {written} for one; nothing says so.",
        rule=RULE,
    )


_RECKONED = frozenset({"date", "time", "money", "quantity", "number", "percent"})
RULE = "perhaps-worked-out"
"""Name of the rule."""


def _at_hand(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Iterator[Operand]:
    """All values but the n-th: those of the answer that are held or count something, then those of the question, of what was given, of the sources."""
    for m, value in enumerate(answer.values):
        finding = findings.get(m)
        counts = value.kind == "number" and value.value.isdigit() and int(value.value) <= _LARGEST_COUNT
        held = finding is not None and (finding.status in SUPPORTED or finding.rule == RULE)
        if m != n and (held or counts) and not value.shares_form(answer.values[n]):
            yield Operand(value, answer.written(m), 0.0, finding.evidence if finding is not None and held else ())
    asked = (*((answer.context.question,) if answer.context.question else ()), *answer.context.given)
    for text in asked:
        yield from (Operand(found, place.span().text, SAID - 0.1) for place in text.places for found in _forms(place))
    for text in answer.context.sources:
        for place in text.places:
            yield from (Operand(found, place.span().text, SAID, (place.span(),)) for found in _forms(place))


def _forms(place: Place) -> Iterator[Found]:
    """A value as it stands, and the span that a rank of days is: on the 10th business day after."""
    yield place.found
    ranked = _RANKED_DAY.match(place.text(), place.found.end) if place.found.kind == "number" else None
    if ranked is not None:
        unit = "business day" if ranked["works"] else "day"
        yield replace(place.found, kind="quantity", value=f"{place.found.value} {unit}", readings=())


_RANKED_DAY = re.compile(
    r"(?:st|nd|rd|th|\.|er|e|ème|º|ª)?[ \u00a0](?:calendar )?(?:(?P<works>(?:business|working) days?|Werktag|Arbeitstag|jour ouvr(?:é|able)|día hábil|dia útil|giorno lavorativo|werkdag|dzień roboczy)|day|Tag|jour|día|dia|giorno|dag|dzień)\b",
    re.IGNORECASE,
)


def _beyond_chance(
    reach: Callable[[int], Term | None], number: int, step: int, most: float = MOST_BY_CHANCE
) -> Term | None:
    """What `reach` finds for a number if it finds something for a smaller share of its neighbours than `most`; None if it does not."""
    found = reach(number)
    if found is None:
        return None
    near = [m for d in range(1, _BESIDE + 1) for m in (number - d * step, number + d * step) if m > 0]
    reached = sum(reach(m) is not None for m in near)
    return found if reached < most * len(near) else None


def _amount(n: int, answer: Answer, at_hand: Sequence[Operand]) -> Term | None:
    """As `likely_worked_out`, for an amount, also one that is written as a bare number, a quantity or a percentage."""
    value = as_meant(n, answer)
    amount = amount_of(value)
    if amount is None or amount <= 0 or said_sum(n, answer) is not None:
        return None  # what a sum has to be is said
    if value.kind == "number" and not _LEAST_NUMBER <= amount < _YEARS:
        return None  # small ones are reached by nearly anything, and years are no sums
    if _is_slip(value, amount, at_hand):
        return None
    terms = _Terms(value, at_hand, halved=_tells(answer, "halved") or "half" in answer.text.lower())
    number = scaled(amount)
    step = _step(number)
    if value.kind == "number":
        return _beyond_chance(terms.sum_of_two, number, SCALE, MOST_OF_THREE)
    for reach, most in (
        (terms.sum_of_two, MOST_BY_CHANCE),
        (terms.product, MOST_BY_CHANCE),
        (terms.of_two, MOST_BY_CHANCE),
        (terms.rated_sum, MOST_BY_CHANCE),
        (terms.of_three, MOST_OF_THREE),
    ):
        if (found := _beyond_chance(reach, number, step, most)) is not None:
            return found
    return None


_LEAST_NUMBER, _YEARS = 13, 1900
"""Bare numbers from the first on, below the second, may be sums of two others."""


def _is_slip(value: Found, amount: Decimal, at_hand: Iterable[Operand]) -> bool:
    """True if a source has the number in another unit, or with its point elsewhere: 15 calendar days beside 15 working days, 34.90 beside 3.49."""
    for operand in at_hand:
        if operand.far < SAID or not operand.amount:
            continue
        if value.kind == "money" and operand.found.kind == "number" and operand.amount == amount:
            return True  # a price of another currency
        if operand.found.kind != value.kind:
            continue
        if unit_of(operand.found) == unit_of(value):
            if amount / operand.amount in _POWERS_OF_TEN:
                return True
        elif value.kind == "quantity" and operand.amount == amount > MOST_OF_ANYTHING:
            return True
    return False


_POWERS_OF_TEN = frozenset(Decimal(10) ** power for power in (-3, -2, -1, 1, 2, 3))
MOST_OF_ANYTHING = 2
"""So few of anything may be said of anything: two hours beside two weeks."""


def _step(number: int) -> int:
    """By how much the neighbours of a number differ from it: by what is as round as it is, of which it is more than three."""
    unit = next((u for u in (SCALE, SCALE // 10) if number % u == 0), SCALE // 100)
    return next((unit * by for by in _ROUND if number % (unit * by) == 0 and number > 3 * unit * by), unit)


class _Terms:
    """The parts of calculations that give a value of one kind: its own values, times counts, shares and percentages, and sums of them."""

    def __init__(self, value: Found, at_hand: Sequence[Operand], *, halved: bool) -> None:
        self.kind = value.kind
        self.own = _own(value, at_hand)
        self.products: dict[int, Term] = {}
        self._rated: dict[int, Term] | None = None
        self.counts = (
            _counts(at_hand, spans=value.kind == "money" or self._has_rate(value, at_hand))
            if value.kind in ("money", "quantity")
            else ()
        )
        self.percents = (
            nearest((o for o in at_hand if o.found.kind == "percent"), _MOST_PERCENTS) if value.kind == "money" else ()
        )
        for number, (written, operands) in self.own.items():
            for other, name, more in (*_times(number, self.counts, halved=halved), *_by_percent(number, self.percents)):
                rounded = to_cents(other) if value.kind == "money" else other
                self.products.setdefault(rounded, (name.format(written), (*operands, *more)))

    @staticmethod
    def _has_rate(value: Found, at_hand: Sequence[Operand]) -> bool:
        """True if a value of its measure is one for each of something: 150 miles per day."""
        return any(_as_one(value, o) is not None and o.found.per for o in at_hand)

    def product(self, number: int) -> Term | None:
        """One value times counts, divided by one, a percentage of it, with or without it."""
        return self.products.get(number)

    def sum_of_two(self, number: int) -> Term | None:
        """The sum or difference of two values as they stand."""
        for mine, first in self.own.items():
            for theirs, sign in ((number - mine, "+"), (number + mine, "-")):
                second = self.own.get(theirs)
                if second is not None and self._apart(second, first):
                    return _joined(second, sign, first)
        return None

    def of_two(self, number: int) -> Term | None:
        """The sum or difference of a part and a value as it stands; so many times the sum of two values."""
        for mine, first in self.own.items():
            for theirs, sign in ((number - mine, "+"), (number + mine, "-")):
                second = self.products.get(theirs)
                if second is not None and self._apart(second, first):
                    return _joined(second, sign, first)
        return self._times_sum(number)

    def rated_sum(self, number: int) -> Term | None:
        """A percentage of the sum of two values, or that sum with or without it."""
        if self._rated is None:
            self._rated = {}
            for (mine, first), (theirs, second) in combinations(self.own.items(), 2) if self.percents else ():
                written, operands = _joined(first, "+", second)
                for other, name, more in _by_percent(mine + theirs, self.percents):
                    self._rated.setdefault(to_cents(other), (name.format(f"({written})"), (*operands, *more)))
        return self._rated.get(number)

    def of_three(self, number: int) -> Term | None:
        """The sum of two parts; of a part and two values; of a value and so many times the sum of two. Three values as they stand are no way: the wrong three of a
        price list come to as likely a total as the right ones.
        """
        for mine, first in self.products.items():
            second = self.products.get(number - mine)
            if second is not None and self._apart(first, second):
                return _joined(first, "+", second)
        for (mine, first), (other, third) in combinations(self.own.items(), 2):
            second = self.products.get(number - mine - other)
            if second is not None and self._apart(second, first) and self._apart(second, third):
                return _joined(_joined(second, "+", first), "+", third)
        for mine, first in self.own.items():
            second = self._times_sum(number - mine)
            if second is not None and self._apart(second, first):
                return _joined(second, "+", first)
        return None

    def _apart(self, one: Term, other: Term) -> bool:
        """True if two parts have no value of the kind in common: 60 and half of 60 are no way to 90. A count may serve twice."""
        mine = {o.found for o in one[1] if o.found.kind == self.kind}
        return mine.isdisjoint(o.found for o in other[1])

    def _times_sum(self, number: int) -> Term | None:
        for count, operand in self.counts:
            if number > 0 and number % count == 0:
                for mine, first in self.own.items():
                    second = self.own.get(number // count - mine)
                    if second is not None and self._apart(first, second):
                        written, operands = _joined(first, "+", second)
                        return f"{operand.text} × ({written})", (operand, *operands)
        return None


def _joined(one: Term, sign: str, other: Term) -> Term:
    return f"{one[0]} {sign} {other[0]}", (*one[1], *other[1])


def _own(value: Found, at_hand: Iterable[Operand]) -> dict[int, Term]:
    """The values of the kind and unit of `value`, by their number; amounts may stand without a currency, quantities in another unit of theirs."""
    own: dict[int, Term] = {}
    for operand in at_hand:
        number = _as_one(value, operand)
        if number is not None and number > 0:
            own.setdefault(number, (operand.text, (operand,)))
        if len(own) == _MOST_OWN:
            break
    return own


def _as_one(value: Found, operand: Operand) -> int | None:
    """The number of an operand in the unit of `value`; None if it is of another kind or measure."""
    amount, kind = operand.amount, operand.found.kind
    if amount is None:
        return None
    if kind == value.kind and unit_of(operand.found) == unit_of(value):
        return scaled(amount)
    if value.kind == "money" and kind == "number" and ("." in operand.found.value or amount >= _LARGEST_COUNT):
        return scaled(amount)
    if value.kind == "quantity" and kind == "quantity":
        factor = factor_of(unit_of(operand.found), unit_of(value))
        return of_fraction(Fraction(amount) * factor) if factor is not None else None
    return None


def _counts(at_hand: Iterable[Operand], *, spans: bool) -> tuple[tuple[int, Operand], ...]:
    """The whole numbers from 2 to 100 that the answer and the question say, each once; `spans`: also so many days, months or persons of anything."""
    counts: dict[int, Operand] = {}
    for operand in at_hand:
        amount, kind = operand.amount, operand.found.kind
        said = kind == "number" and operand.far < SAID
        of_spans = spans and kind == "quantity" and unit_of(operand.found).rpartition(" ")[2] in _PRICED_BY
        if amount is None or not (said or of_spans) or amount != int(amount) or not 2 <= amount <= _LARGEST_COUNT:
            continue
        counts.setdefault(int(amount), operand)
        if len(counts) == _MOST_COUNTS:
            break
    return tuple(counts.items())


_PRICED_BY = frozenset(
    {"minute", "hour", "day", "night", "week", "month", "year", "person", "l", "m", "km", "m²", "kg", "kWh"}
)
"""Units that things have a price for each of."""


def _times(
    number: int, counts: Sequence[tuple[int, Operand]], *, halved: bool
) -> Iterator[tuple[int, str, tuple[Operand, ...]]]:
    if halved:
        yield number // 2, "half of {}", ()
    for count, operand in counts:
        yield number * count, f"{operand.text} × {{}}", (operand,)
        if number % count == 0:
            yield number // count, f"{{}} / {operand.text}", (operand,)
    for (count, first), (other, second) in combinations(counts, 2):
        yield number * count * other, f"{first.text} × {second.text} × {{}}", (first, second)


def _by_percent(number: int, percents: Sequence[Operand]) -> Iterator[tuple[int, str, tuple[Operand, ...]]]:
    for operand in percents:
        share = of_fraction(Fraction(number, SCALE) * Fraction(operand.amount or Decimal(0)) / 100)
        yield share, f"{operand.text} of {{}}", (operand,)
        yield number - share, f"{{}} - {operand.text}", (operand,)
        yield number + share, f"{{}} + {operand.text}", (operand,)


def _tells(answer: Answer, key: str) -> bool:
    """True if the question or a source has a phrase of `reckoning.tsv`: of the day beside another, without which a day off by one is a slip; of days off."""
    told = (answer.context.question,) if answer.context.question else ()
    texts = (text.source.text for text in (*told, *answer.context.given, *answer.context.sources))
    said = pattern("reckoning", key, parts=True)
    return any(said.search(text) is not None for text in texts)


def _day(value: Found, at_hand: Sequence[Operand], *, beside: bool, off: bool) -> Term | None:
    """As `likely_worked_out`, for a day: another one moved by a span; `beside`: or the one before or after it; `off`: working days may be fewer."""
    starts = nearest((o for o in at_hand if o.found.kind == "date"), _MOST_OWN)
    spans = nearest((o for o in at_hand if o.found.kind == "quantity" and is_span(o.found)), _MOST_OWN)
    years = years_of(starts, value)
    reached: dict[date, Term] = {}
    for start in starts:
        for day in days_of(start.found, years):
            for span in spans:
                for moved in _moved(day, span.found, off=off):
                    sign = "+" if moved > day else "-"
                    reached.setdefault(moved, (f"{start.text} {sign} {span.text}", (start, span)))
            for by, words in ((1, "the day after"), (-1, "the day before")) if beside else ():
                reached.setdefault(day + timedelta(days=by), (f"{words} {start.text}", (start,)))
    mine = next((day for day in reached if says(value, day)), None)
    if mine is None:
        return None
    near = [mine + timedelta(days=d) for d in range(-_BESIDE, _BESIDE + 1) if d]
    return reached[mine] if sum(day in reached for day in near) < MOST_BY_CHANCE * len(near) else None


def _moved(day: date, span: Found, *, off: bool) -> Iterator[date]:
    """The days a span before and after `day`; with `off` also one and two working days farther, past a holiday that a source names."""
    for moved in moved_by(day, span):
        yield moved
        if off and unit_of(span).startswith(("business", "working")):
            step = 1 if moved > day else -1
            farther = (moved + timedelta(days=step * by) for by in range(1, 6))
            yield from [to for to in farther if to.isoweekday() <= _FRIDAY][:_MOST_OFF]


_FRIDAY = 5
_MOST_OFF = 2
"""Most holidays that lie in a span of working days: Good Friday and Easter Monday."""


def _time(value: Found, at_hand: Sequence[Operand]) -> Term | None:
    """As `likely_worked_out`, for a time of day: another one moved by hours or minutes."""
    starts = nearest((o for o in at_hand if o.found.kind == "time"), _MOST_OWN)
    spans = nearest((o for o in at_hand if o.found.kind == "quantity" and unit_of(o.found) in MINUTES), _MOST_OWN)
    reached: dict[int, Term] = {}
    for start, span in ((start, span) for start in starts for span in spans):
        by = int((span.amount or Decimal(0)) * MINUTES[unit_of(span.found)])
        for clock in minutes_of(start.found):
            for sign, moved in (("+", clock + by), ("-", clock - by)):
                reached.setdefault(moved % ROUND_THE_CLOCK, (f"{start.text} {sign} {span.text}", (start, span)))
    for clock in minutes_of(value):
        step = next(by for by in (60, 30, 15, 5, 1) if clock % by == 0)
        if found := _beyond_chance(lambda m: reached.get(m % ROUND_THE_CLOCK), clock or ROUND_THE_CLOCK, step):
            return found
    return None
