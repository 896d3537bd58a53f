"""What a value is paid or counted per: a month, a person, an item. Read from right after the value, or from a word before it."""

from __future__ import annotations

import re

from grounding.tables import table

_TABLE = table(__file__)
_TIMES: dict[str, str] = {word: period for period, words in _TABLE["times"].items() for word in words}
_THINGS: dict[str, str] = {word: thing for thing, words in _TABLE["things"].items() for word in words}
_DISTINCT = {"adult": "adult", "child": "child", "kid": "child"}
_THINGS.update(_DISTINCT)
_KNOWN = _TIMES | _THINGS
_NAMED = r"([^\W\d_]{1,14}²?)"
_AFTER = re.compile(
    rf"(?: ?/ ?| per | pro | je | par | por | al | a | an | each | every | ogni | cada | chaque | elke | za | na |,? (?=(?:hour|dai|night|week|fortnight|month|quarter|year|annual)ly\b|annual\b|each\b|apiece\b|pp\b)){_NAMED}",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    rf"(?: ?/ ?| per | pro | je | par | por | a | each | every | ogni | cada | chaque | elke | co | za | alle )(?:(?P<of>quarter[ -](?:of an )?hour|half[ -](?:an[ -])?hour|"
    rf"quart d['’]heure|cuarto de hora|quarto d['’]ora|quarto de hora|demi-heure|media hora|mezz['’ ]?ora|meia hora|half uur|pół godziny)|(?P<n>[0-9]{{1,3}})[ -]{_NAMED})(?!\w)",
    re.IGNORECASE,
)
_LENGTHS = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}
_ALONE = re.compile(f" {_NAMED}")
_FOR = re.compile(
    r" (?:for|für|pour|por|per|voor|za)(?= (?:each|every|jede|chaque|cada|ogni|elke|każd))", re.IGNORECASE
)
_JOINED = re.compile(r" (?:and|und|et|y|e|en|i) (?=[^\W\d_])", re.IGNORECASE)
_QUALIFIED = re.compile(
    r"(?: per | pro | je | par | por | each | every | elke | za | jede[nrs]? | chaque | cada | ogni )(?P<how>started|full|begun|whole|angefangene[nrs]?|begonnene[nrs]?|volle[nrs]?|begonnen|gereserveerde?|rozpoczęt[aąey]|"
    r"further|additional|extra|subsequent|weitere[nrs]?|zusätzliche[nrs]?|ulteriore|volgende|kolejn[aąey]) [^\W_]",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r" ?(?:p\.? ?([amnpw])\.?)(?!\w)", re.IGNORECASE)
_SHORT = {"a": "year", "m": "month", "n": "night", "p": "person", "w": "week"}
_BEFORE = re.compile(
    r"\b(hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annual|annually)(?: (?!share|part|portion)[a-z]{2,14}){1,3}(?: ?[:=]| (?:is|of|at|are|was))? $",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r" ?(?:flat|net|gross|fix(?:ed)?|,? ?\(?(?:plus|\+|incl(?:\.|uding|usive of)?|excl(?:\.|uding|usive of)?|before|after|zzgl\.?|inkl\.?|exkl\.?|hors|más|più|plus|excl\.?) ?(?:[0-9]{1,2} ?% ?)?"
    r"(?:vat|gst|(?:sales )?tax|mwst\.?|ust\.?|tva|iva|btw|vat)\)?)(?= )",
    re.IGNORECASE,
)
"""What may stand between an amount and what it is per: "£9 plus VAT per hour", "$30 flat per night"."""
_ONCE = re.compile(
    r"\b(?:one-time|one-off|einmalig(?:e[nrms]?)?|ponctuel(?:le)?|una tantum|eenmalig(?:e)?|jednorazow[aey])(?: [^\W\d_]{2,14}){0,2}(?: ?[:=]| (?:is|of|von|de|di|van))? $",
    re.IGNORECASE,
)
"""Before an amount that is paid once: "a one-time $8", "a one-off fee of $8"."""
_ONCE_AFTER = re.compile(
    r",? (?:once(?! (?:a|per|every|each|the|you|your|we|it|they|in)\b)|one-time|one-off|einmalig|una tantum|eenmalig|jednorazowo)(?![\w-])",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"(?:[0-9]|two|three|four|five|six|seven|eight|nine|ten|twelve) $", re.IGNORECASE)
_COST = re.compile(r"s cost $", re.IGNORECASE)
_SURE = re.compile(r"(?: ?/ ?| per )$", re.IGNORECASE)
_MOST = 3
_BACK = 60


def per_of(text: str, end: int, start: int | None = None) -> str:
    """What the value that ends at `end` is per: "month", "person", "month user" (sorted, by a space); "" if nothing says.

    With `start`, where the value begins, also a word before it counts: "the monthly fee is $5". At most 60 characters
    before and three words after are looked at. "$5 a lot" is per nothing; after "per" and "/" only known words count.
    """
    if aside := _ASIDE.match(text, end):
        end = aside.end()
    found: list[str] = []
    while len(found) < _MOST:
        read = _next_per(text, end, joined=bool(found))
        if read is None:
            break
        found.append(read[0])
        end = read[1]
    if not found:
        short = _ABBREVIATED.match(text, end)
        found += [_SHORT[short[1].lower()]] if short and "." in short[0] else []
    if start is not None and not set(found) & set(_TIMES.values()):
        before = _BEFORE.search(text, max(0, start - _BACK), start)
        if before and _COST.search(before[0]) and _SEVERAL.search(text, max(0, before.start() - 8), before.start()):
            before = None  # twelve monthly passes cost that together
        found += [_TIMES[before[1].lower()]] if before else []
    if not set(found) & set(_TIMES.values()) and _is_once(text, end, start):
        found.append(ONCE)
    return " ".join(sorted(set(found)))


def _is_once(text: str, end: int, start: int | None) -> bool:
    """True if an amount is said to be paid once."""
    if _ONCE_AFTER.match(text, end):
        return True
    return start is not None and _ONCE.search(text, max(0, start - _BACK), start) is not None


def _next_per(text: str, end: int, *, joined: bool) -> tuple[str, int] | None:
    """What is said to be "per" at `end`, and where that ends; with `joined` also the second of "per person and night"."""
    if opened := _FOR.match(text, end):
        end = opened.end()
    if measured := _MEASURED.match(text, end):
        named = _of_length(measured)
        return (named, measured.end()) if named else None
    also = _JOINED.match(text, end) if joined else None
    qualified = _QUALIFIED.match(text, end)
    if qualified:
        read = _next_per(f" per{text[qualified.end('how') : qualified.end('how') + 24]}", 0, joined=False)
        return (read[0], qualified.end("how") + read[1] - 4) if read else None
    if also:
        match = _AFTER.match(text, also.end() - 1) or _ALONE.match(text, also.end() - 1)
    else:
        match = _AFTER.match(text, end)
    unit = _KNOWN.get(match[1].lower()) if match else None
    return (unit, match.end()) if match and unit else None


def _of_length(match: re.Match[str]) -> str:
    """The stretch of time that a number of another is: 24 hours are a day, a quarter of an hour is 15 minutes. "" if the words name no stretch of time."""
    if match["of"]:
        return "15-minute" if match["of"].lower().startswith(("quar", "cuar")) else "30-minute"
    unit = _TIMES.get(match[3].lower(), "") or _TIMES.get(match[3].lower().rstrip("nes"), "")
    if unit not in _LENGTHS:
        return ""
    minutes = int(match["n"]) * _LENGTHS[unit]
    return next((u for u, m in _LENGTHS.items() if m == minutes), f"{minutes}-minute")


_IN_LABEL = re.compile(r" ?/ ?(?=[^\W\d_])| (?=(?:per|pro|je|par|por) )", re.IGNORECASE)
_TIMELY = re.compile(
    r" (hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annual|annually)(?![\w-])", re.IGNORECASE
)
_LONGEST_LABEL = 80


def per_of_label(label: str) -> str:
    """What the amounts under a label are per: "minute" of "Parked, per minute", "month" of "Monthly price"; "" if it says nothing."""
    text = f" {label[:_LONGEST_LABEL].replace(',', ' ').replace('(', ' ')}"
    found = (per_of(text, match.start()) for match in _IN_LABEL.finditer(text))
    if per := next(filter(None, found), ""):
        return per
    timely = _TIMELY.search(text)
    return _TIMES[timely[1].lower()] if timely else ""


def same_per(mine: str, theirs: str) -> bool:
    """False only if both say a period and not the same, or both say a thing and not the same; "item" may be any thing."""
    if not (mine and theirs) or mine == theirs:
        return True
    ours, others = frozenset(mine.split(" ")), frozenset(theirs.split(" "))
    times = frozenset(p for p in ours | others if p in _PERIODS or p.endswith("-minute"))
    return all(_agree(a, b) for a, b in ((ours & times, others & times), (ours - times, others - times)))


def _agree(ours: frozenset[str], others: frozenset[str]) -> bool:
    either = ours | others
    if not (ours and others) or ours & others or "item" in either:
        return True
    return "person" in either and either <= _HEADS  # a price per person is one per adult, but not that of a child


ONCE = "once"
"""What an amount is per that is paid once: no amount a month is."""
_PERIODS = frozenset(_TIMES.values()) | {ONCE}
_HEADS = frozenset({"person", "adult"})
