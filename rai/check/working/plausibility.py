"""Tests whether a calculation is plausible: not where the value is rather a source's own, miswritten; perhaps where one line of a source gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations, groupby, islice

from grounding.text import terms
from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.lexicon.load import pattern
from rai.check.operands import Operand, amount_of, unit_of
from rai.check.reading.sources import Place
from rai.check.working.calendar import Reckoned
from rai.check.working.said_sums import is_taken_off
from rai.check.working.terms import SAID
from rai.claims.found import Found


def takes_the_place_of_one(n: int, way: Reckoned, answer: Answer) -> bool:
    """True if the n-th value of the answer is an operand of the calculation `way` miswritten, not its result: it stands in the words that a source has
    around that operand.

    "The first 50 minutes of fault-finding", of the first 20 minutes of fault-finding and half an hour.
    """
    value = answer.values[n]
    if value.kind in ("date", "time") or says_that_it_reckons(n, answer):
        return False
    return any(
        o.far >= SAID
        and o.found.kind == value.kind
        and unit_of(o.found) == unit_of(value)
        and _alike_around(n, o, answer)
        for o in way.operands
    )


def is_against_its_words(n: int, way: Reckoned, answer: Answer) -> bool:
    """True if a calculation adds what the answer takes off ("$525, less the $40 member reduction"), or takes for a count what a source prices as part of a name: a four-syringe
    pack, where "four syringes" has a price of its own; or reckons with the other end of a range: three to five weeks.
    """
    value = answer.values[n]
    return any(
        _is_other_end(value, o.found, answer.text)
        or (f"+ {o.text}" in way.written and _is_taken_off(o, answer))
        or ("×" in way.written and o.found.kind == "number" and _is_part_of_a_name(n, o, answer))
        for o in way.operands
        if answer.text[o.found.start : o.found.end] == o.text
    )


def takes_off_unsaid(n: int, way: Reckoned, answer: Answer) -> bool:
    """True of a calculation of several operands that takes an amount off which nothing calls a discount, a difference or what was paid."""
    return len(way.operands) >= _SEVERAL and any(
        f"- {o.text}" in way.written and o.found.kind == "money" and not _may_be_taken_off(n, o, answer)
        for o in way.operands
    )


_SEVERAL = 3
"""Operands of a calculation from which on what is taken off has to be called so: of three amounts and a count some difference comes to nearly anything."""


def _may_be_taken_off(n: int, operand: Operand, answer: Answer) -> bool:
    """True if the sentence of the n-th value, that of the operand or its line in a source speaks of a discount, a difference or what is left."""
    said = pattern("reckoning", "taken_off", parts=True)
    beside = (
        answer.sentence(m)
        for m, value in enumerate(answer.values)
        if value.start == operand.found.start and answer.written(m) == operand.text
    )
    lines = (
        text[max(0, span.start - _LINE) : span.end + _LINE] for text, span in answer.in_texts(operand.evidence[:2])
    )
    return any(said.search(text) is not None for text in (answer.sentence(n), *beside, *lines))


_LINE = 60
"""Characters to each side of an amount in a source in which it is called a discount."""
_TO = re.compile(r"\s?(?:[-–—]|to|bis|à|a|tot|do)\s?", re.IGNORECASE)


def _is_other_end(value: Found, other: Found, text: str) -> bool:
    if value.kind == "money":  # "up $17 to $74.95" says by how much
        return False
    first, second = sorted((value, other), key=lambda found: found.start)
    return first.end <= second.start and _TO.fullmatch(text, first.end, second.start) is not None


def _is_taken_off(operand: Operand, answer: Answer) -> bool:
    return any(value.start == operand.found.start and is_taken_off(m, answer) for m, value in enumerate(answer.values))


def _is_part_of_a_name(n: int, operand: Operand, answer: Answer) -> bool:
    """True of the four of a "four-syringe pack" where a line of a source says it of what it has a price for."""
    value = answer.values[n]
    joined = _JOINED_NOUN.match(answer.text, operand.found.end)
    if joined is None or value.kind != "money":
        return False
    stem = joined[1].lower()[:_STEM]
    same = re.compile(
        rf"(?<![\w.,])(?:{re.escape(operand.text)}|{operand.amount:f})[ -]{re.escape(stem)}", re.IGNORECASE
    )
    return any(
        same.search(place.unit.line) is not None
        for text in answer.context.sources
        for place in text.kinds.get("money", ())
    )


_JOINED_NOUN = re.compile(
    r"-(?!(?:second|minute|hour|day|night|week|month|year|person)s?\b)([^\W\d_]{3,20})", re.IGNORECASE
)
_STEM = 6


def says_that_it_reckons(n: int, answer: Answer) -> bool:
    """True if the n-th value's sentence has words of a result, which no source says of its own values: in total, faster, that's, you save."""
    return _RESULT.search(answer.sentence(n)) is not None


_RESULT = re.compile(
    r"[=+×]|\b(?:in total|total\w*|altogether|together|in all|combined|sum|left|remain\w*|difference|half (?:of|the|that|price)|twice|double|(?:more|fewer|less) than|faster|slower|longer|shorter|cheaper|dearer|sav(?:e|es|ing|ings)|that['’]?s|comes? to|"
    r"insgesamt|zusammen|bleib\w*|mehr|weniger|hälfte|spar\w*|au total|en tout|reste\w*|économ\w*|de plus|de moins|en total|quedan?|más|menos|ahorr\w*|in tutto|rimangono|restano|più|meno|risparmi\w*|"
    r"no total|mais|poup\w*|in totaal|samen|meer|minder|bespaar\w*|razem|łącznie|zostaje|oszczędz\w*)\b",
    re.IGNORECASE,
)


def _alike_around(n: int, operand: Operand, answer: Answer) -> bool:
    value = answer.values[n]
    mine = _around(answer.text, value.start, value.end)
    told = answer.in_texts(operand.evidence[:2])
    return any(len(mine & _around(text, span.start, span.end)) >= _ALIKE for text, span in told)


def _around(text: str, start: int, end: int) -> frozenset[str]:
    """The words that tell something right before and behind a value, in its own stretch of the sentence."""
    before = re.split(r"[.;:!?\n|]\s|, ", text[max(0, start - _BESIDE_CHARS) : start])[-1]
    behind = re.split(r"[.;:!?\n|](?:\s|$)|, ", text[end : end + _BESIDE_CHARS])[0]
    return frozenset(w for w in (*terms(before)[-3:], *terms(behind)[:3]) if not w[0].isdigit()) - _PERIODS


_PERIODS = frozenset(terms("minute minutes hour hours day days week weeks month months year years per each"))
_ALIKE = 2
"""Words around both: two of six."""
_BESIDE_CHARS = 48


def of_one_line(n: int, answer: Answer) -> Finding | None:
    """`unchecked` for a value that is the sum or difference of two in one line of a source: 55 minutes by bus, 32 by train. Else None."""
    value, mine = answer.values[n], amount_of(answer.values[n])
    for one, other in _pairs_of_lines(value, answer) if mine is not None else ():
        less, more = sorted((one, other), key=lambda p: amount_of(p.found) or 0)
        small, large = amount_of(less.found) or Decimal(0), amount_of(more.found) or Decimal(0)
        if mine in (large + small, large - small):
            sign = "+" if mine == large + small else "-"
            why = f"It may be {more.span().text} {sign} {less.span().text}; nothing says so."
            return Finding("unchecked", (more.span(), less.span()), why, rule="may-follow")
    return None


def _pairs_of_lines(value: Found, answer: Answer) -> Iterator[tuple[Place, Place]]:
    """Every two values of the kind and unit of `value` that stand in one line of a source."""
    unit = unit_of(value)
    for text in answer.context.sources:
        alike = (p for p in text.kinds.get(value.kind, ()) if p.unit.field == "text" and unit_of(p.found) == unit)
        for _, group in groupby(alike, key=lambda p: p.text().count("\n", 0, p.found.start)):
            yield from combinations(islice(group, _MOST_IN_LINE), 2)


_MOST_IN_LINE = 8
"""Most values of a line that are added and subtracted."""
