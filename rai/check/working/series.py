"""Series and days of the month that texts tell of: ten weekly lessons, the 20th of the month before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rai.check.answer import Answer
from rai.check.lexicon.load import pattern
from rai.check.operands import Operand
from rai.check.working.calendar import Reckoned
from rai.check.working.recurring import Series
from rai.check.working.terms import SAID
from rai.claims.found import Found
from rai.records import EvidenceSpan

_NEAR = 24
_DAY_BEFORE = re.compile(
    r"(?<![\w.,:/€$£-])(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|\.|º|ª|e)?,? (?:day |dia |día |dnia )?$", re.IGNORECASE
)
_DAY = re.compile(r"(?:\d{4}|-)-(\d\d)-(\d\d)")
_ORDINAL_ALONE = re.compile(
    r"\b(?:by|on|until|before|after|from|to) the (\d{1,2})(?:st|nd|rd|th)\b(?! of\b| [A-Z]| (?:floor|place|grade|year|birthday|edition))"
    r"|\bd[ií]a (\d{1,2})\b(?! de [a-z]{4,10}\b(?<!cada)(?<!este))",
)
"""A day without its month in a text that says no more: by the 10th."""
_MONTH = re.compile(r"(?:\d{4}|-)-(\d\d)")
MOST_TEXT = 20_000
"""Most characters of a source that are read for days of the month."""


def series_of(n: int, answer: Answer, operands: Sequence[Operand]) -> Iterator[Series]:
    """The weekly or monthly meetings and payments of which an operand tells how many there are: those that the answer or the person counts, if they do, and no others."""
    every = tuple(_every_series(n, answer, operands))
    said = tuple(each for each in every if each.count.far < SAID)
    return iter(said or every)


def _every_series(n: int, answer: Answer, operands: Sequence[Operand]) -> Iterator[Series]:
    sentence = answer.sentence(n)
    off = tuple(_days_off(answer))
    # the last evening is said with the day of the week that the first was on
    same_day = "-W-" in answer.values[n].value
    for operand in operands:
        if operand.found.kind not in ("number", "quantity") or operand.amount is None:
            continue
        for told in _told_of(operand, answer):
            if pattern("reckoning", "meetings", parts=True).search(told, 0, _NEAR + len(operand.text)) is None:
                continue
            every = f"{told} {sentence}"
            monthly = pattern("reckoning", "monthly", parts=True).search(every) is not None
            weekly = same_day or pattern("reckoning", "weekly", parts=True).search(every) is not None
            if not monthly and not weekly:
                continue
            left_out = pattern("reckoning", "break", parts=True)
            breaks, least = bool(off) or left_out.search(every) is not None, int(left_out.search(sentence) is not None)
            yield Series(operand, "month" if monthly else "week", breaks, least, off)


def _days_off(answer: Answer) -> Iterator[Found]:
    """The days of the sources on which there is no meeting: "There is no class on 22 October"."""
    left_out = pattern("reckoning", "break", parts=True)
    for text in answer.context.sources:
        for place in text.kinds.get("date", ()):
            before = place.text()[max(0, place.found.start - _NEAR) : place.found.start]
            goes_on = _TO.match(place.text(), place.found.end) is not None
            if left_out.search(before) and not (goes_on or _RANGE.search(before)):
                yield place.found


_TO = re.compile(r"[ \u00a0]?(?:[-–—]|to|bis|au|al|tot|do)[ \u00a0]?\d")
_RANGE = re.compile(r"\d\.?[ \u00a0]?(?:[-–—]|to|bis|au|al|tot|do)[ \u00a0]?$")
"""A day that ends a stretch of days, of which it is not known which have a meeting: 27–31 October."""


def _told_of(operand: Operand, answer: Answer) -> Iterator[str]:
    """What the sources and the answer say from an operand on to the end of the paragraph, 240 characters at most."""
    for span in operand.evidence[:4]:
        for text in answer.context.sources:
            if text.source.id == span.source and span.field == "text":
                yield text.source.text[span.start : span.end + 240].partition("\n\n")[0]
    if answer.text[operand.found.start : operand.found.end] == operand.text:
        yield answer.text[operand.found.start : operand.found.end + 240].partition("\n\n")[0]


def day_of_month(n: int, found: Found, answer: Answer) -> Iterator[Reckoned]:
    """Ways to a date that a source names without its month: 20 July of "the 20th of the previous month", beside August."""
    dates = [(int(m[1]), int(m[2])) for form in found.forms if (m := _DAY.match(form))]
    if not dates:
        return
    named = _months_named(n, answer)
    for text in answer.context.sources:
        for start, end, day, shift in _month_days(text.source.text[:MOST_TEXT]):
            if any(d == day and _fits(month, shift, named) for month, d in dates):
                written = text.source.text[start:end]
                span = EvidenceSpan(text.source.id, "text", start, end, written)
                yield Reckoned((Operand(found, written, 1.0, (span,)),), written, 1.0)


def _fits(month: int, shift: int, named: frozenset[int]) -> bool:
    """True if a month is the one before or after a month that is named, as the source says; any month where it says neither."""
    return not shift or not named or (month - 1 - shift) % 12 + 1 in named


def _months_named(n: int, answer: Answer) -> frozenset[int]:
    """The months of the other dates of the answer and of those of the question."""
    others = [value for m, value in enumerate(answer.values) if m != n and value.kind == "date"]
    question = answer.context.question
    others += [p.found for p in question.kinds.get("date", ())] if question else []
    return frozenset(int(m[1]) for value in others for form in value.forms if (m := _MONTH.match(form)))


@lru_cache(maxsize=256)
def _month_days(text: str) -> tuple[tuple[int, int, int, int], ...]:
    """Where a text names a day of a month that it leaves open: start, end, day, and -1 or 1 for the month before or after."""
    found = []
    for match in pattern("reckoning", "month_day").finditer(text):
        day = _DAY_BEFORE.search(text, max(0, match.start() - 10), match.start())
        if day and 1 <= int(day["d"]) <= 31:
            before = pattern("reckoning", "month_before", parts=True).search(match.group())
            after = pattern("reckoning", "month_after", parts=True).search(match.group())
            found.append((day.start("d"), match.end(), int(day["d"]), -1 if before else 1 if after else 0))
    for match in _ORDINAL_ALONE.finditer(text):
        number = next(int(g) for g in match.groups() if g)
        if 1 <= number <= 31:
            found.append((*match.span(), number, 0))
    return tuple(found)
