"""Dates relative to the conversation: today, next Monday, 3 days ago, last week.

Normal forms: "relative:day+1" (tomorrow), "relative:week-1", "relative:month+0", "relative:quarter+1", "relative:year-1",
"relative:weekend+0", "relative:-W-1+1" (next Monday; +0 is this Monday). They are dates only once `resolve` knows the time.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from grounding.tables import table
from rai.claims.found import Found
from rai.claims.numbers.read_digits import numerals
from rai.claims.times.months import weekday_names
from rai.claims.word_spans import words

_TABLE = table(__file__)
_DAYS: dict[str, int] = _TABLE["days"]
_PHRASES: dict[str, tuple[re.Pattern[str], str]] = {
    first: (re.compile(rf"{rest}\b"), form) for first, (rest, form) in _TABLE["phrases"].items()
}
_STEPS = {"next": 1, "last": -1, "this": 0, "coming": 0, "upcoming": 0, "previous": -1}
_UNIT = re.compile(r" (?P<unit>week|month|year|quarter|weekend|night|morning|afternoon|evening)(?!\w)", re.IGNORECASE)
_WEEKDAY = re.compile(r" (?P<day>[^\W\d_]{6,10})(?!\w)")
_OF = re.compile(r" of\b|['’]s\b.{0,12}\b(?:world|age|market)\b|-", re.IGNORECASE)
_THE = re.compile(r"\b(?:the|your|our|his|her|their|its|my|every|each|a) $", re.IGNORECASE)
_AGO = re.compile(
    r"[ -]?(?P<unit>day|week|month|year)s?(?:(?P<how>(?P<time>['’]? time)| ago| from (?:now|today))(?!\w)|(?=[.,;!)\n]|$))",
    re.IGNORECASE,
)
_COUNTS = re.compile(r" ago\b| from (?:now|today)\b| time\b|\bin ")
_EVENT = re.compile(
    r"\b(?:arrives?|expires?|ends?|starts?|begins?|leaves?|departs?|due|renews?|opens?|closes?|launch(?:es)?|takes place|returns?|scheduled|"
    r"is|are) $",
    re.IGNORECASE,
)
_NORMAL = re.compile(r"relative:(-W-[1-7]|day|week|weekend|month|quarter|year)([+-]\d{1,4})")
_IN = re.compile(r"\b(?:in) $", re.IGNORECASE)
_A = re.compile(r"\b(?:a|one) (?P<unit>day|week|month|year)(?P<how> ago| from (?:now|today))(?!\w)", re.IGNORECASE)
_MORGEN = re.compile(r"\b(?:bis|ab|erst|schon|ist|wird|und|oder|heute oder) $", re.IGNORECASE)
# "Is there anything else I can help you with today?", "Call us today!", "How are you today?", "today's world"
_OFFER = re.compile(
    r"\b(?:help|assist|anything|something|else|reach|call|contact|chat|chatting|talk|thank|thanks|welcome|glad|happy|pleased|sorry|hope|hear|"
    r"sign|(?<!your )(?<!the )order|buy|try|join|subscribe|apply|register|get|start|download|how are|have a|how may|how can|what can|looking)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:until|till|before|by|since|as of|from|opens?|closes?|closed|expires?|ends?|starts?|begins?|due|arrives?|scheduled|is|are|was|were) $"
)
_SENTENCE_END = re.compile(r"[.!?\n]")


def find(text: str) -> list[Found]:
    """Finds every relative date that claims something. Offers and closings ("call us today"), spans ("within 3 days", "3 days before
    departure") and what another date fixes ("the next day", "the last week of May") are none.
    """
    if len(text) <= 24 and _NORMAL.fullmatch(text):
        return [Found("date", 0, len(text), text)]
    found: list[Found] = []
    for word, start, end in words(text):
        if word in _DAYS:
            found += _day(text, word, start, end)
        elif word in _STEPS:
            found += _step(text, word, start, end)
        elif word in _PHRASES:
            match = _PHRASES[word][0].match(text, end)
            found += [_found(start, match.end(), _PHRASES[word][1])] if match else []
        elif word == "morgen" and text[start] == "m" and _MORGEN.search(text, max(0, start - 14), start):
            found.append(_found(start, end, "day+1"))
    return sorted([*found, *_counted(text)], key=lambda f: f.start)


def _found(start: int, end: int, what: str) -> Found:
    return Found("date", start, end, f"relative:{what}")


def _day(text: str, word: str, start: int, end: int) -> list[Found]:
    if (
        (word == "today" and text.startswith(("'s", "’s"), end))
        or text[start - 1 : start] == "-"
        or text[end : end + 1] == "-"
    ):
        return []
    return (
        []
        if word in ("today", "tonight") and _is_offer(text, start, end)
        else [_found(start, end, f"day{_DAYS[word]:+d}")]
    )


def _is_offer(text: str, start: int, end: int) -> bool:
    """What is said to the reader, rather than of the day: a sentence around of at most 160 characters."""
    if _DATED.search(text, max(0, start - 12), start):
        return False
    window = text[max(0, start - 120) : start]
    breaks = [m.end() for m in _SENTENCE_END.finditer(window)]
    following = _SENTENCE_END.search(text, end, end + 40)
    return bool((following and following[0] == "?") or _OFFER.search(window[breaks[-1] if breaks else 0 :]))


def _step(text: str, word: str, start: int, end: int) -> list[Found]:
    steps = _STEPS[word]
    if _THE.search(text, max(0, start - 7), start) and word not in ("coming", "upcoming"):
        return []  # "the next week" lasts seven days, "the last month" may be of any year
    match = _UNIT.match(text, end)
    if match:
        unit = match["unit"].lower()
        if unit in ("night", "morning", "afternoon", "evening"):
            return [] if steps > 0 else [_found(start, match.end(), f"day{steps:+d}")]
        return [] if _OF.match(text, match.end()) else [_found(start, match.end(), f"{unit}{steps:+d}")]
    match = _WEEKDAY.match(text, end)
    number = weekday_names().get(match["day"].lower()) if match else None
    return [_found(start, match.end(), f"-W-{number}{steps:+d}")] if match and number else []


def _counted(text: str) -> list[Found]:
    """Finds dates so many days or weeks away: 3 days ago, two weeks from now, in two days' time, arrives in two days."""
    if not _COUNTS.search(text):
        return []
    found = [_found(m.start(), m.end(), f"{m['unit'].lower()}{_sign(m['how'])}1") for m in _A.finditer(text)]
    for numeral in numerals(text):
        number = numeral.readings[0]
        match = _AGO.match(text, numeral.end) if number.isdigit() and len(number) <= 4 else None
        if match is None or (number == "1" and match["how"]):
            continue
        lead = _IN.search(text, max(0, numeral.start - 4), numeral.start)
        if match["how"]:
            what = f"{match['unit'].lower()}{_sign(match['how'])}{number}"
            found.append(_found(lead.start() if lead and match["time"] else numeral.start, match.end(), what))
        elif lead and _EVENT.search(text, max(0, lead.start() - 24), lead.start()):
            unit = match["unit"].lower()
            forms = (f"relative:{unit}+{number}", f"{number} {unit}")
            # "expires in 30 days" may be a date or a rule: either reading supports it
            found.append(Found("date", lead.start(), match.end(), forms[0], forms, (number,)))
    return found


def _sign(how: str) -> str:
    return "-" if "ago" in how.lower() else "+"


def resolve(value: str, at: datetime) -> tuple[str, ...]:
    """The dates that a relative date means in a conversation at `at` (in the customer's zone), likeliest first, as ISO 8601.

    A week is 2026-W19, a month 2026-05, a quarter 2026-Q2. "Next Monday" is the coming one or that of next week; a number of
    weeks, months or years names the day as well as the period. Empty if `value` is no relative date.
    """
    match = _NORMAL.fullmatch(value)
    if match is None:
        return ()
    unit, steps, today = match[1], int(match[2]), at.date()
    try:
        if unit.startswith("-W-"):
            return _weekdays(today, int(unit[-1]), steps)
        if unit in ("day", "week", "weekend"):
            return _days(today, unit, steps)
        return _months(today, unit, steps)
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        return ()


def _days(today: date, unit: str, steps: int) -> tuple[str, ...]:
    day = today + timedelta(days=steps if unit == "day" else 7 * steps)
    if unit == "day":
        return (day.isoformat(),)
    year, week, weekday = day.isocalendar()
    if unit == "weekend":
        saturday = day + timedelta(days=6 - weekday)
        return (saturday.isoformat(), (saturday + timedelta(days=1)).isoformat())
    return (f"{year}-W{week:02d}", *((day.isoformat(),) if abs(steps) > 0 else ()))


def _months(today: date, unit: str, steps: int) -> tuple[str, ...]:
    if unit == "year":
        year = date(today.year + steps, 1, 1).year
        return (f"{year:04d}", *_same_day(year, today.month, today.day, steps))
    months = today.year * 12 + today.month - 1 + steps * (3 if unit == "quarter" else 1)
    year, month = date(months // 12, months % 12 + 1, 1).year, months % 12 + 1
    if unit == "quarter":
        return (f"{year:04d}-Q{(month + 2) // 3}",)
    return (f"{year:04d}-{month:02d}", *_same_day(year, month, today.day, steps))


def _same_day(year: int, month: int, day: int, steps: int) -> tuple[str, ...]:
    """The same day of another month, for two months from 5 May are 5 July as well as July; nothing if that month lacks the day."""
    try:
        return (date(year, month, day).isoformat(),) if abs(steps) > 0 else ()
    except ValueError:
        return ()


def _weekdays(today: date, weekday: int, steps: int) -> tuple[str, ...]:
    monday = today - timedelta(days=today.weekday())
    this = monday + timedelta(days=weekday - 1)
    if steps == 0:
        coming = this if this >= today else this + timedelta(days=7)
        return tuple(dict.fromkeys((coming.isoformat(), this.isoformat())))
    direction = 1 if steps > 0 else -1
    nearest = today + timedelta(days=direction)
    while nearest.isoweekday() != weekday:
        nearest += timedelta(days=direction)
    return tuple(dict.fromkeys((nearest.isoformat(), (this + timedelta(days=7 * direction)).isoformat())))
