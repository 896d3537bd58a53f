"""The comparison of values: whether two are the same, as "30 minutes" and "half an hour". Of the words around only a value's line is looked at."""

from __future__ import annotations

import re
from dataclasses import replace

from rai.check.comparison.contacts import agree
from rai.check.comparison.lookup_keys import PARTS
from rai.check.comparison.times import same_date, same_time
from rai.claims.amounts.currencies import CODES, pattern_of
from rai.claims.found import Found
from rai.claims.numbers.numbers import unit_words
from rai.claims.numbers.rates import same_per
from rai.claims.numbers.units import per_second, same_unit_value
from rai.claims.times.weekdays import EVERY_DAY
from rai.records import Kind

_NUMERIC = ("number", "quantity", "money", "percent", "date")
_COMPARABLE: dict[Kind, tuple[Kind, ...]] = {
    "number": ("number", "quantity", "money", "percent", "date", "phone", "entity"),
    "quantity": ("quantity", "number", "date", "time"),
    "money": ("money", "number"),
    "percent": ("percent", "number"),
    "date": ("date", "number", "quantity", "time"),
    "time": ("time", "date", "quantity", "number"),
    "phone": ("phone", "number", "entity"),
}
_FALLS = re.compile(
    r"\b(?:discount|rebate|off|less|lower|fewer|down|fell|falls?|drop\w{0,4}|declin\w{1,3}|decreas\w{1,3}|reduc\w{1,5}|loss|lost|credit|refund\w{0,3}|sav\w{1,4}|deduct\w{0,5})\b",
    re.IGNORECASE,
)
"""With these words a minus before an amount or percentage says what the word says."""


def comparable_kinds(claim: Found) -> tuple[Kind, ...]:
    """The kinds of a source's values that can be the same as `claim`."""
    if claim.entity == "code":
        return ("entity", "number", "phone")
    return _COMPARABLE.get(claim.kind, (claim.kind,))


def same_value(claim: Found, other: Found, around: str) -> bool:
    """True if `other`, found in a source, says what `claim` says; `around` is the line that `other` stands in.

    A bare number agrees with the number of a quantity, amount, percentage or year. A quantity, amount or percentage
    agrees with a bare number only if its unit, currency or % stands in the same line (a column of a table); an amount or percentage also if it does in the title, which
    is the first line of `around`. Quantities
    agree across units where the conversion is exact. What is per month is not per year. Contacts, addresses and codes
    agree by `contacts.agree`.
    """
    if _is_contact(claim) or _is_contact(other):
        return agree(claim, other, around) is not None
    if claim.kind == other.kind:
        return _same_kind(claim, other, around)
    if {claim.kind, other.kind} == {"date", "quantity"}:
        return claim.shares_form(other)  # in 30 days
    if claim.kind == "time" and other.kind == "number":
        return _bare_hour(claim, other, around)
    if claim.kind == "number" and other.kind in _NUMERIC:
        return bool(set(claim.forms) & set(other.magnitudes)) or _part(claim, other)
    if other.kind == "number" and claim.kind in _NUMERIC:
        if claim.kind == "date" and not re.fullmatch(r"\d{4}", claim.value):
            return False  # a year is not the day that an answer names
        if claim.kind == "quantity":  # a page on "numbers and hours" has not every number in hours
            _, titled, below = around.partition("\n")
            around = below if titled else around
        if claim.kind in ("money", "quantity") and not same_per(claim.per, other.per):
            return False
        return (bool(set(claim.magnitudes) & set(other.forms)) and _unit_stands(claim, around)) or _part(other, claim)
    return {claim.value, other.value} in ({"24/7", "24 hour"}, {"24/7", EVERY_DAY})


def _is_contact(found: Found) -> bool:
    return found.kind in ("phone", "url", "email") or found.entity in ("address", "code")


def _bare_hour(claim: Found, other: Found, around: str) -> bool:
    """True if a time on the hour is a bare number behind a word of time: 7 p.m. of "Let's make it 7"."""
    if not claim.value.endswith(":00") or not other.value.isdigit() or int(other.value) > 24:
        return False
    cued = re.search(rf"\b(?:at|by|until|till|from|around|about|make it|@) {other.value}(?![\w%€$£]|[.,:]\d)", around)
    return cued is not None and int(other.value) % 12 in {int(form[:2]) % 12 for form in claim.forms}


def _part(number: Found, percent: Found) -> bool:
    """True if a number is the part that a percentage says: half of them is 50% of them."""
    return percent.kind == "percent" and PARTS.get(percent.value) == number.value


def _same_kind(claim: Found, other: Found, around: str) -> bool:
    if claim.kind == "date":
        return same_date(claim, other, around)
    if claim.kind == "time":
        return same_time(claim, other)
    if claim.kind == "entity":
        return claim.value == other.value
    if claim.kind == "quantity":
        return _same_quantity(claim, other)
    if claim.kind == "money":
        return (claim.shares_form(other) or _same_fall(claim, other, around)) and same_per(claim.per, other.per)
    if claim.kind == "number" and not same_per(claim.per, other.per):
        return False
    return claim.shares_form(other) or (claim.kind == "percent" and _same_fall(claim, other, around))


def _same_quantity(claim: Found, other: Found) -> bool:
    if claim.per != other.per:
        claim, other = _as_speed(claim), _as_speed(other)
    if not same_per(claim.per, other.per):
        return False
    mine, theirs = set(claim.forms), set(other.forms)
    if mine & theirs:
        return True
    units = {form.partition(" ")[2] for form in (claim.value, other.value)}
    if "degree" in units:  # 5 degrees are 5 °C or 5 °F
        return len(units) == 2 and units < {"degree", "°C", "°F"} and claim.magnitudes == other.magnitudes
    return len(units) == 2 and any(same_unit_value(a, b) for a in mine for b in theirs)


def _as_speed(found: Found) -> Found:
    """A quantity per second in the unit of its speed (100 Mbit per second as 100 Mbps); any other as it is."""
    unit = per_second(found.value.partition(" ")[2], found.per)
    if unit is None:
        return found
    forms = tuple(f"{form.partition(' ')[0]} {unit}" for form in found.forms)
    return replace(found, value=forms[0], readings=forms, per="")


def _same_fall(claim: Found, other: Found, around: str) -> bool:
    """True if two values differ in nothing but a minus, and the source has it or speaks of less: a fall of 5% is -5%."""
    mine, theirs = ({form.removeprefix("-") for form in f.forms} for f in (claim, other))
    if not mine & theirs:
        return False
    return other.value.startswith("-") or _FALLS.search(around) is not None


def _unit_stands(claim: Found, around: str) -> bool:
    line = around.lower()
    if claim.kind == "percent":
        return not claim.value.endswith("pp") and ("%" in line or "percent" in line or "per cent" in line)
    if claim.kind == "money":
        return currency_stands(claim, around)
    if claim.kind == "quantity":
        if claim.value.endswith(" year") and re.search(r"\b(?:older|old|aged?|under|over)\b", line):
            return True  # "18 and older" speaks of years
        return not unit_words(claim.value).isdisjoint(re.findall(r"[^\W\d_]+|°[cf]", line))
    return claim.kind == "date"


def currency_stands(claim: Found, around: str) -> bool:
    """True if the line around a bare number names the currency of `claim`, by symbol, code or name in one of six languages."""
    code = claim.value.rpartition(" ")[2]
    return code in CODES and pattern_of(code).search(around.lower()) is not None
