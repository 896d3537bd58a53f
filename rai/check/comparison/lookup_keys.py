"""Keys to look values up by: two values that can be the same share one, so that a value is compared with few places of a long source.

A key says nothing by itself: `same.values.same_value` decides, and whatever it may call the same must share a key here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rai.claims.contacts.links import parse
from rai.claims.found import Found
from rai.claims.numbers.units import bases, dimension_of, per_second, units_beside
from rai.claims.times import weekdays
from rai.claims.times.dates import coarser
from rai.records import EntityType, Kind

PARTS = {"50%": "0.5", "25%": "0.25", "75%": "0.75", "20%": "0.2", "10%": "0.1", "33.333333%": "0.333333"}
"""Percentages that are also said as a part: half of, a quarter of, a fifth of."""
_LAST = 4
"""Digits at the end of a telephone number by which it is looked up, whatever stands before them."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_OF_WEEKDAY = re.compile(r"-(-\d\d-\d\d)-W-\d")
_DIGITS = re.compile(r"[+\d .*#-]+")
_DEGREES = frozenset({"degree", "°C", "°F"})
_ROUND_THE_CLOCK = frozenset({"24/7", "24 hour", weekdays.EVERY_DAY})
Measure = tuple[Kind, EntityType | None, str]
"""What makes two values comparable: kind, type of name, and unit, currency or dimension (`measure_of`)."""


def stored_under(found: Found) -> frozenset[str]:
    """The keys under which a value of a source is stored."""
    own = {*_on_both_sides(found)}
    if found.kind == "date":
        for form in found.forms:
            own.update(_plain(c) for c in coarser(form))
            if weekdays.days_of(form) or _DAY.fullmatch(form):
                own.add("weekday")
    elif found.kind == "quantity":
        own.update(f"in {unit}" for _, unit in _measured(found))
    return frozenset(own)


def looked_up(found: Found) -> frozenset[str]:
    """The keys to look up for a value of an answer: each value of a source that can be the same is stored under one of them."""
    own = {*_on_both_sides(found)}
    if found.kind == "date":
        for form in found.forms:
            if weekdays.days_of(form):
                own.add("weekday")
            elif _DAY.fullmatch(form):
                own.add(form[5:])
            elif match := _OF_WEEKDAY.fullmatch(form):
                own.add(_plain(match[1]))
    elif found.kind == "quantity":
        own.update(f"in {other}" for _, unit in _measured(found) for other in units_beside(unit))
    return frozenset(own)


def _on_both_sides(found: Found) -> Iterator[str]:
    """The keys that a value has in an answer as in a source."""
    if found.kind == "phone":
        for form in found.forms:
            yield _ending(form.partition(";")[0])
    elif found.kind == "url":
        address = parse(found.value)
        yield address.host if address else found.value
    elif found.kind == "email":
        yield found.value
    elif found.entity == "address":
        yield "address"
    else:
        yield from map(_plain, (found.value, *found.readings, *found.magnitudes))
        yield from _special(found)


def _special(found: Found) -> Iterator[str]:
    if found.value in _ROUND_THE_CLOCK:
        yield "24/7"
    if found.kind in ("number", "entity"):
        yield from _of_digits(found.value)
    elif found.kind == "percent" and found.value in PARTS:
        yield PARTS[found.value]
    elif found.kind == "time":
        for form in found.forms:
            yield from _of_time(form)
    elif found.kind == "quantity":
        for number, unit in _measured(found):
            yield from bases(number, unit)
            yield f"{_plain(number)} {unit}"
            if unit in _DEGREES:
                yield "degree"


def _of_digits(value: str) -> Iterator[str]:
    """The keys of bare digits, which may be a telephone number, and an hour: "Let's make it 7"."""
    if _DIGITS.fullmatch(value):
        yield _ending(value)
    if value.isdigit() and len(value) <= len("24"):
        yield _hour(value)


def _of_time(form: str) -> Iterator[str]:
    clock, _, zone = form.partition(" ")
    yield clock
    if clock.endswith(":00"):
        yield _hour(clock[:-3])
    if zone:
        yield "zone"


def _measured(found: Found) -> list[tuple[str, str]]:
    """Number and unit of each reading of a quantity, and those of it as a speed: 100 Mbit, per second, are 100 Mbps."""
    read = [form.partition(" ")[::2] for form in found.forms]
    speeds = ((number, per_second(unit, found.per)) for number, unit in read) if found.per else ()
    return [*read, *((number, unit) for number, unit in speeds if unit)]


def _hour(digits: str) -> str:
    return f"hour {int(digits) % 12}"


def _plain(form: str) -> str:
    """A value without its sign: a fall of 5 % may be written -5 %."""
    return form.lstrip("-")


@lru_cache(maxsize=8192)
def _ending(number: str) -> str:
    return "tel" + re.sub(r"\D", "", number).zfill(_LAST)[-_LAST:]


def measure(found: Found) -> str:
    """What a value measures: the unit of a quantity, the currency of an amount, "weekday" of a day of the week, "" of all else."""
    if found.kind in ("quantity", "money"):
        return found.value.partition(" ")[2]
    return "weekday" if found.value.startswith("-W-") else ""


def rivalled(found: Found) -> str:
    """What values that can replace each other have in common: of a quantity its dimension, else its `measure`.

    5 GB and 500 MB may stand for the same thing, of two plans.
    """
    unit = found.value.partition(" ")[2]
    return (dimension_of(unit) or unit) if found.kind == "quantity" else measure(found)


def measure_of(found: Found) -> Measure:
    """Kind, type of name, and `rivalled` of a value: values that are equal in these can replace each other."""
    return found.kind, found.entity, rivalled(found)
