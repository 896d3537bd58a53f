"""What a value is paid or counted per: a month, a person, an item. Read from right after the value, or from a word before it."""

from __future__ import annotations

import re

_TIMES = {
    word: period
    for period, words in {
        "second": "second seconds sec s seconde segundo secondo sekunde",
        "minute": "minute minutes min minuto",
        "hour": "hour hours hr h hourly stunde heure hora ora",
        "day": "day days daily tag jour día dia giorno",
        "night": "night nights nightly nacht nuit noche notte noite",
        "week": "week weeks wk weekly woche semaine semana settimana",
        "fortnight": "fortnight fortnightly",
        "month": "month months mo mth monthly monat mois mes mese mês",
        "quarter": "quarter quarterly quartal trimestre",
        "year": "year years yr annum annual annually yearly jahr an année año anno ano",
    }.items()
    for word in words.split()
}
_THINGS = {
    word: thing
    for thing, words in {
        "person": "person people head pax guest guests visitor traveler traveller passenger adult child kid pp personne persona pessoa",
        "user": "user users seat seats license licence account agent utilisateur usuario benutzer nutzer",
        "device": "device devices machine computer",
        "item": "item items piece pieces unit units each apiece stück",
        "GB": "gb gigabyte", "MB": "mb megabyte", "TB": "tb terabyte", "mile": "mile mi", "km": "km kilometer kilometre", "kg": "kg kilo",
        "lb": "lb pound", "l": "liter litre l", "kWh": "kwh", "m²": "m² sqm", "sqft": "sqft",
        "room": "room rooms zimmer chambre habitación camera quarto", "ticket": "ticket tickets", "order": "order orders", "trip": "trip trips ride rides",
        "transaction": "transaction transactions transfer", "call": "call calls", "page": "page pages", "line": "line lines",
        "bag": "bag bags", "vehicle": "vehicle vehicles car cars", "group": "group party", "message": "message messages",
    }.items()
    for word in words.split()
}  # fmt: skip
_DISTINCT = {"adult": "adult", "child": "child", "kid": "child"}
_THINGS.update(_DISTINCT)
_KNOWN = _TIMES | _THINGS
_NAMED = r"([^\W\d_]{1,14}²?)"
_AFTER = re.compile(
    rf"(?: ?/ ?| per | pro | par | por | al | a | an | each | every |,? (?=(?:hour|dai|night|week|fortnight|month|quarter|year|annual)ly\b|annual\b|each\b|apiece\b|pp\b)){_NAMED}",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r" ?(?:p\.? ?([amnpw])\.?)(?!\w)", re.IGNORECASE)
_SHORT = {"a": "year", "m": "month", "n": "night", "p": "person", "w": "week"}
_BEFORE = re.compile(
    r"\b(hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annual|annually)(?: (?!share|part|portion)[a-z]{2,14}){1,3}(?: ?[:=]| (?:is|of|at|are|was))? $",
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
    found: list[str] = []
    while len(found) < _MOST:
        match = _AFTER.match(text, end)
        unit = _KNOWN.get(match[1].lower()) if match else None
        if match is None or unit is None:
            break
        found.append(unit)
        end = match.end()
    if not found:
        short = _ABBREVIATED.match(text, end)
        found += [_SHORT[short[1].lower()]] if short and "." in short[0] else []
    if start is not None and not set(found) & set(_TIMES.values()):
        before = _BEFORE.search(text, max(0, start - _BACK), start)
        if before and _COST.search(before[0]) and _SEVERAL.search(text, max(0, before.start() - 8), before.start()):
            before = None  # twelve monthly passes cost that together
        found += [_TIMES[before[1].lower()]] if before else []
    return " ".join(sorted(set(found)))


def same_per(mine: str, theirs: str) -> bool:
    """False only if both say a period and not the same, or both say a thing and not the same; "item" may be any thing."""
    if not (mine and theirs) or mine == theirs:
        return True
    periods = frozenset(_TIMES.values())
    ours, others = frozenset(mine.split(" ")), frozenset(theirs.split(" "))
    return all(_agree(a, b) for a, b in ((ours & periods, others & periods), (ours - periods, others - periods)))


def _agree(ours: frozenset[str], others: frozenset[str]) -> bool:
    either = ours | others
    if not (ours and others) or ours & others or "item" in either:
        return True
    return "person" in either and either <= _HEADS  # a price per person is one per adult, but not that of a child


_HEADS = frozenset({"person", "adult"})
