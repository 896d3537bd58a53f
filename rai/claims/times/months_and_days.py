"""Dates with the month in words: 5 May 2026, May 5th, the 5th of May, May 5-8, 2026, in May, von 5. bis 8. Mai."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from rai.claims.found import Found
from rai.claims.times.months import month_abbreviations, month_names
from rai.claims.times.periods import YEAR, full
from rai.claims.word_spans import Word, words

_SPACE = "[ \u00a0\u202f]"
_SUFFIX = r"(?:st|nd|rd|th|er|\.?[ºª]|\.|°)?"
_DAY_BEFORE = re.compile(
    rf"(?<![\w./:,$€£])(?P<d>[0-9]{{1,2}}){_SUFFIX}(?:{_SPACE}|-|(?<=\.))(?P<of>(?:of|de|di|do|d['’]){_SPACE}?)?$",
    re.IGNORECASE,
)
_NUMBER_BEFORE = re.compile(rf"(?<![0-9])[0-9]{{1,3}}{_SUFFIX}(?:{_SPACE}|-)(?:(?:of|de|di) )?$", re.IGNORECASE)
_YEAR_AFTER = re.compile(
    rf"\.?(?:{_SPACE}?,?{_SPACE}(?:(?:of|de|del|do){_SPACE})?|-|,(?=[12]))(?:(?P<y>{YEAR})|(?P<short>['’][0-9]{{2}})|(?<=-)(?P<dashed>[0-9]{{2}}))"
    rf"(?!\w|[.,:]\d|-[0-9]{{2}}-)",
    re.IGNORECASE,
)
_COUNTED = (
    r"(?! ?(?:[ap]\.?m\b|%|(?:times|people|guests|users|customers|million|billion|thousand|percent|per cent|minutes?|hours?|days?|weeks?|months?|"
    r"years?|gb|mb|km|kg|eur|usd|gbp|euros?|dollars?|or more)\b))"
)
_NOT_A_DAY = rf"(?!\w|[:.%/]\d|%|,[0-9]{{3}}(?![0-9])){_COUNTED}"
_DAY_AFTER = re.compile(rf"\.?(?:{_SPACE}|-)(?:the )?(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?{_NOT_A_DAY}", re.IGNORECASE)
_OPENING = re.compile(
    rf"(?<![\w./:,$€£-])(?P<written>(?P<d>[0-9]{{1,2}}){_SUFFIX})(?:[ ]?[-–—/][ ]?|[ ](?:to|and|&|bis|und|au|al|a|e|y|et|until|through|till)[ ])"
    r"(?:the )?$",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"(?<![\w./:,$€£-])(?P<written>(?P<d>[0-9]{{1,2}}){_SUFFIX}),[ ](?:the )?$", re.IGNORECASE)
_MOST_LISTED = 8
_CLOSING = re.compile(
    rf"(?:[ ]?[-–—][ ]?|[ ](?:to|through|thru|until|till|bis)[ ])(?:the )?(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?{_NOT_A_DAY}"
    r"|,? (?:and|&|or) (?:the )?(?P<also>[0-9]{1,2})(?:(?:st|nd|rd|th)\b|(?=[.;)]|,? [12][0-9]{3}\b|$))",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:in|of|next|last|this|for|around|since|from|until|till|through|during|before|after|every|each|early|late|mid|im|seit|ab|bis|en|depuis|desde|hasta|em|until the end of|"
    r"end of|beginning of|between|by)[ -]$",
    re.IGNORECASE,
)
_FRENCH = re.compile(r"\b(?:(?:le|du|au|les|dès le|jusqu'au) [0-9]{1,2}|1er) $", re.IGNORECASE)
_TO = re.compile(r"[ ]?[-–—][ ]?|[ ](?:to|through|thru|until|till|and|bis|und|à|a|al|y|e|et|hasta)[ ]", re.IGNORECASE)
# words of their own in some language: months only where a day and a year, or a day and "de", stand beside
_WORDS = frozenset({"set", "out", "ago", "gen", "mag", "lug"})
_VERBS = frozenset({"may", "march", "mar", "mayo"})  # in lower case only with a year
_NOUNS = frozenset({"may", "march", "august"})  # in lower case never without a day


@lru_cache(maxsize=1)
def _known() -> dict[str, tuple[int, bool]]:
    short = {name: (number, False) for name, number in month_abbreviations().items()}
    return short | {name: (number, True) for name, number in month_names().items()}


def find(text: str) -> list[Found]:
    """Finds every date that names its month, both ends of a range for themselves."""
    known = _known()
    found: list[Found] = []
    named = [w for w in words(text) if w[0] in known and not _joined(text, w)]
    alone: list[Word] = []
    last = 0
    for at, word in enumerate(named):
        if word[1] < last:
            continue
        here = _dated(text, word, known[word[0]][0])
        if here is None:
            after = named[at + 1] if at + 1 < len(named) else None
            before = named[at - 1] if at else None
            whole = known[word[0]][1]
            if whole:
                alone.append(word)
            ends = _ends_a_range(text, before, word) or _ends_a_range(text, word, after)
            if ends or (whole and _stands_alone(text, word, alone, after)):
                here = [dated(word[1], word[2], f"--{known[word[0]][0]:02d}")]
        found += here or []
        last = here[-1].end if here else last
    return found


def _stands_alone(text: str, word: Word, alone: list[Word], after: Word | None) -> bool:
    """True if a month by itself is a date: "in May", "from April to October". It is one behind a word that goes with months, and across a range."""
    name, start, end = word
    if text[start].islower() and name in _NOUNS:
        return False
    before = alone[-2] if len(alone) > 1 else None
    return bool(
        _CUE.search(text, max(0, start - 18), start)
        or (before and start - before[2] <= 10 and _TO.fullmatch(text[before[2] : start]))
        or (after and after[1] - end <= 10 and _TO.fullmatch(text[end : after[1]]) and name not in _NOUNS)
    )


def _ends_a_range(text: str, first: Word | None, last: Word | None) -> bool:
    """True if two months, short or whole, with capitals and neither a word of some language, are the ends of a range: "Apr–Oct", "Nov to Mar"."""
    if first is None or last is None or not 0 < last[1] - first[2] <= _LONGEST_RANGE_SIGN:
        return False
    written = all(text[word[1]].isupper() and word[0] not in _WORDS for word in (first, last))
    return written and _RANGE.fullmatch(text[first[2] : last[1]]) is not None


_LONGEST_RANGE_SIGN = 9
_RANGE = re.compile(r"\.?(?:[ ]?[-–—/][ ]?|[ ](?:to|through|thru|until|till|bis|à|al|hasta|tot)[ ])", re.IGNORECASE)


def _joined(text: str, word: Word) -> bool:
    """True if a name of a month is part of a longer word: in mar_2 and 3D-mar5, not in May's."""
    before, after = text[word[1] - 1 : word[1]], text[word[2] : word[2] + 1]
    return before == "_" or after == "_" or after.isdigit() or (before.isdigit() and not before.isalpha())


def _dated(text: str, word: Word, month: int) -> list[Found] | None:
    """The date around a month; None if it has neither day nor year, [] if what stands there is no date."""
    name, start, end = word
    before = _DAY_BEFORE.search(text, max(0, start - 12), start)
    if before and not _is_word(text, word, before, _YEAR_AFTER.match(text, end)):
        return _after_day(text, before, end, month)
    if before or _NUMBER_BEFORE.search(text, max(0, start - 8), start) or name in _WORDS or name in ("mai", "mars"):
        year = _YEAR_AFTER.match(text, end)
        plain = not before and year and year["y"] and (name == "mai" or (name == "mars" and text[start].islower()))
        return _month_year(start, month, year) if plain else []
    return _before_day(text, word, month)


def _is_word(text: str, word: Word, before: re.Match[str], year: re.Match[str] | None) -> bool:
    name, start, _ = word
    if (before["of"] or "").strip().lower() in ("de", "di", "do"):
        return False
    if name in _WORDS:
        return year is None or text[start].isupper()  # the 3rd Gen 2020 model
    if year:
        return False
    if name == "mars":
        return not _FRENCH.search(text, max(0, start - 14), start)
    return name in _VERBS and text[start].islower()


def _after_day(text: str, before: re.Match[str], end: int, month: int) -> list[Found]:
    year = _YEAR_AFTER.match(text, end)
    stop = year.end() if year else end
    digits = _year(year)
    value = iso(digits, month, before["d"])
    if value is None:
        return []
    found = [dated(before.start(), stop, value)]
    opening = _OPENING.search(text, max(0, before.start() - 14), before.start())
    if opening and int(opening["d"]) < int(before["d"]) and (first := iso(digits, month, opening["d"])):
        found = [*_listed(text, opening, digits, month), dated(opening.start(), opening.end("written"), first), *found]
    return found


def _listed(text: str, last: re.Match[str], year: str | None, month: int) -> list[Found]:
    """The days of a list before its last but one: 25, 26 of "25, 26, 28 and 29 December"."""
    found: list[Found] = []
    while len(found) < _MOST_LISTED and (day := _LISTED.search(text, max(0, last.start() - 10), last.start())):
        value = iso(year, month, day["d"]) if int(day["d"]) < int(last["d"]) else None
        if value is None:
            break
        found.insert(0, dated(day.start(), day.end("written"), value))
        last = day
    return found


def _before_day(text: str, word: Word, month: int) -> list[Found] | None:
    name, start, end = word
    match = _DAY_AFTER.match(text, end)
    if match is None:
        year = _YEAR_AFTER.match(text, end)
        return _month_year(start, month, year) if year else None
    closing = _CLOSING.match(text, match.end())
    last = closing or match
    year = _YEAR_AFTER.match(text, last.end())
    digits = _year(year)
    value = iso(digits, month, match["d"])
    if value is None or (name in _VERBS and text[start].islower() and digits is None):
        return []
    stop = year.end() if year else last.end()
    if closing is None:
        return [dated(start, stop, value)]
    group = "d" if closing["d"] else "also"
    second = iso(digits, month, closing[group])
    if second is None or int(closing[group]) <= int(match["d"]):
        year = _YEAR_AFTER.match(text, match.end())
        value = iso(_year(year), month, match["d"]) or value
        return [dated(start, year.end() if year else match.end(), value)]
    return [dated(start, match.end(), value), dated(closing.start(group), stop, second)]


def _month_year(start: int, month: int, year: re.Match[str] | None) -> list[Found]:
    value = iso(_year(year), month, None)
    return [dated(start, year.end(), value)] if year and value else []


def _year(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    return match["y"] or full(match["short"] or match["dashed"])


def dated(start: int, end: int, value: str) -> Found:
    """A date with its year as the plain number in it."""
    return Found("date", start, end, value, (), (value[:4],) if value[0] != "-" else ())


def iso(year: str | None, month: int, day: str | None) -> str | None:
    """The normal form, or None if there is no such day."""
    try:
        date(int(year or 2000), month, int(day or 1))
    except ValueError:
        return None
    if day is None:
        return f"{year or '-'}-{month:02d}"
    return f"{year or '-'}-{month:02d}-{int(day):02d}"
