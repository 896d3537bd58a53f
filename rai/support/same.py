"""When two readings of characters are the same value. Nothing here looks at the words around."""

from __future__ import annotations

import re

from rai.claims.dates import coarser
from rai.claims.found import Found
from rai.claims.links import parse
from rai.claims.numbers import unit_words

_CURRENCY = {
    "USD": r"\$|\busd\b|dollar", "EUR": r"€|\beur\b|euro", "GBP": r"£|\bgbp\b|pound", "JPY": r"¥|\bjpy\b|yen",
    "CHF": r"\bchf\b|franc", "INR": r"₹|\binr\b|rupee",
}  # fmt: skip
_NUMERIC = ("number", "quantity", "money", "percent", "date")


def same_value(claim: Found, other: Found, around: str) -> bool:
    """True if `other`, found in a source, says what `claim` says; `around` is the line that `other` stands in.

    A bare number agrees with the number of a quantity, amount, percentage or year. A quantity, amount or percentage
    agrees with a bare number only if its unit, currency or % stands in the same line (a column of a table).
    """
    if claim.kind == other.kind:
        return _same_kind(claim, other, around)
    if claim.kind == "number" and other.kind in _NUMERIC:
        return bool(set(claim.forms) & set(other.magnitudes))
    if other.kind == "number" and claim.kind in _NUMERIC:
        if claim.kind == "date" and not re.fullmatch(r"\d{4}", claim.value):
            return False  # a year is not the day that an answer names
        return bool(set(claim.magnitudes) & set(other.forms)) and _unit_stands(claim, around)
    return {claim.value, other.value} == {"24/7", "24 hour"}


def _same_kind(claim: Found, other: Found, around: str) -> bool:
    if claim.kind == "date":
        return _same_date(claim, other, around)
    if claim.kind == "time":
        return _same_time(claim, other)
    if claim.kind == "url":
        return claim.value == other.value or _host_of(claim, other)
    if claim.kind == "phone":
        return bool(set(claim.forms) & set(other.forms)) or _same_digits(claim.value, other.value)
    if claim.kind == "entity":
        if claim.entity == "address" == other.entity:
            return other.value == claim.value or other.value.startswith(f"{claim.value} ")
        return claim.value == other.value
    return bool(set(claim.forms) & set(other.forms))


def _same_date(claim: Found, other: Found, around: str) -> bool:
    mine = set(claim.forms)
    theirs = set(other.forms).union(*(coarser(form) for form in other.forms))
    if mine & theirs:
        return True
    # the source says 5 May, the answer 5 May 2026: the year must stand in the same line
    return any(
        f"-{form[4:]}" in theirs and form[:4] in around for form in mine if re.fullmatch(r"\d{4}-\d\d-\d\d", form)
    )


def _same_time(claim: Found, other: Found) -> bool:
    """10:00 is 10:00, and 22:00 only if one side says a.m. or p.m.: hours on a 24-hour clock are said in full."""
    if claim.value == other.value:
        return True
    return (claim.half_given or other.half_given) and bool(set(claim.forms) & set(other.forms))


def _host_of(claim: Found, other: Found) -> bool:
    """A bare domain is held by any URL on it."""
    mine, theirs = parse(claim.value), parse(other.value)
    return mine is not None and theirs is not None and not mine.rest and mine.host == theirs.host


def _same_digits(mine: str, theirs: str) -> bool:
    """A number that no plan knows agrees with a full one that ends in all its digits (nine or more), or its own form."""
    unlisted, full = (mine, theirs) if mine.startswith("tel:") else (theirs, mine)
    digits = unlisted.removeprefix("tel:").lstrip("0")
    return unlisted.startswith("tel:") and len(digits) >= 9 and full.removeprefix("+").endswith(digits)


def _unit_stands(claim: Found, around: str) -> bool:
    line = around.lower()
    if claim.kind == "percent":
        return "%" in line or "percent" in line or "per cent" in line
    if claim.kind == "money":
        code = claim.value.rsplit(" ", 1)[-1]
        return re.search(_CURRENCY.get(code, rf"\b{code.lower()}\b"), line) is not None
    if claim.kind == "quantity":
        if claim.value.endswith(" year") and re.search(r"\b(?:older|old|aged?|under|over)\b", line):
            return True  # "18 and older" speaks of years
        return not unit_words(claim.value).isdisjoint(re.findall(r"[^\W\d_]+|°[cf]", line))
    return claim.kind == "date"
