"""Values that no source holds, nobody said and nothing yields: they are absent, or there is a reason why the check cannot tell.

With `absent` goes what the value comes near to, for the person who reads the report.
"""

from __future__ import annotations

import re
from functools import lru_cache

from grounding.text import STOP_WORDS, fold, stem
from rai.check.answer import Answer
from rai.check.comparison.contacts import near
from rai.check.comparison.lookalike_host import looks_like
from rai.check.comparison.lookup_keys import measure
from rai.check.context import Around, CheckContext, Finding, holds, host_of, name_of
from rai.check.names.entities import within_name
from rai.check.phrasing.plain import is_question
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.claims.numbers.rates import ONCE, same_per
from rai.claims.times import holidays, weekdays
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan

COUNTS = "how-many"
"""Name of the rule that leaves open what says how many, how often or when in short: "both", "weekly", "7 to go"."""
MOST_COUNTED = 12
"""The largest number in words that may count what the answer itself lists."""
_OFTEN = re.compile(r"(?:once|twice|thrice|daily|weekly|monthly|yearly|annually|hourly|nightly)", re.IGNORECASE)


def missing(n: int, claim: Claim, answer: Answer) -> Finding:
    """The finding of the n-th value, which no other rule has decided: `absent`, `unchecked`, `lookalike`, or `normalised` as part of a name."""
    if why := _untold(n, claim, answer):
        return Finding("unchecked", (), why, rule=COUNTS)
    value = answer.values[n]
    return _left_over(claim, value, answer.around[value], answer.context)


def _untold(n: int, claim: Claim, answer: Answer) -> str:
    """Why the value says in short what sources write out, and is not held against the answer; "" if it does not."""
    value = answer.values[n]
    if claim.kind == "number" and claim.text[:1].isalpha() and _small(value.value):
        return f"{claim.text} may count what the answer tells of."
    if claim.kind == "number" and _counts_what_no_source_counts(n, answer):
        return f"{claim.text} may count what the answer tells of; no source gives another number for it."
    if claim.kind == "quantity" and _MULTIPLIES.fullmatch(claim.text):
        return f"{claim.text} may count what the answer tells of."
    if claim.kind == "date" and _closes_a_year(value, answer.text):
        return f"{claim.text} ends the year that begins before it; no source names it."
    if claim.kind == "date" and holidays.is_holiday(claim.text):
        return f"No source names {claim.text}."
    if bounded := _beside_a_bound(n, claim, answer):
        return f"{claim.text} lies next to the bound {bounded.span().text} in {bounded.source.id}."
    in_words = claim.kind in ("quantity", "time") and not any(c.isdigit() for c in claim.text)
    if in_words and not _has_another_unit(value, answer.context):
        return f"No source says {claim.text}; in words this may say in short what one writes out."
    if claim.kind == "date" and len(weekdays.days_of(value.value)) > 1:
        return f"Which days {claim.text} are, no source says in these words."
    if claim.kind in ("quantity", "date") and _OFTEN.fullmatch(claim.text):
        return f"How often {claim.text} is, no source says in these words."
    return ""


_MULTIPLIES = re.compile(r"(?:[1-9]|1[0-2]) ?[×x]")
"""How often an amount behind it is taken: 1 × EUR 7,00."""


def _has_another_unit(value: Found, context: CheckContext) -> bool:
    """True of a span of time that a source has in another unit: five weeks, where it says 3 to 5 working days."""
    number, _, unit = value.value.replace("business day", "day").partition(" ")
    if unit not in _SPANS or number in _FEW:
        return False
    told = (place.found.value.replace("business day", "day").partition(" ") for place in _kinds(context, "quantity"))
    return any(theirs == number and other in _SPANS and other != unit for theirs, _, other in told)


_SPANS = frozenset({"minute", "hour", "day", "week", "month", "year"})
_FEW = frozenset({"1", "2"})
"""So few of anything may be said of anything: two hours beside two weeks."""


def _closes_a_year(value: Found, text: str) -> bool:
    """True if the value ends a school or business year of two: 26 in 2025/26."""
    match = _TWO_YEARS.search(text, max(0, value.start - 5), value.end)
    return match is not None and match.end() == value.end and (int(match[1]) + 1) % 100 == int(match[2]) % 100


_TWO_YEARS = re.compile(r"([12]\d{3})[/–-](\d{2}|\d{4})(?!\d)")


def _counts_what_no_source_counts(n: int, answer: Answer) -> bool:
    """True of a small number that neither counts something named ("12 instalments") nor numbers what a source numbers ("rule no. 9").

    Such are: those who are still 7, 22 to go, Sunday the 29th, day 1.
    """
    value = answer.values[n]
    if not value.value.isdigit() or int(value.value) > MOST_ALONE:
        return False
    head = _HEAD.match(answer.text, value.end)
    if head and (head[1].lower() == "of" or head[1].lower() not in STOP_WORDS):
        return False
    label = _LABEL.search(answer.text, max(0, value.start - 60), value.start)
    if label is None or value.value == "1":
        return True
    return not any(stem(fold(label[1]).lower()) in _numbered(s.source.text) for s in answer.context.sources)


MOST_ALONE = 31
"""The largest number that may count nothing named: a day of the month."""
_HEAD = re.compile(r"(?:st|nd|rd|th|\.)?[ -]([^\W\d_]{2,30})")
_LABEL = re.compile(r"([^\W\d_]{2,30})[.:]? (?:\d{1,3}(?:, | and | or )){0,6}$")
_BEFORE_A_NUMBER = re.compile(r"([^\W\d_]{2,30})[.:]? \d")


@lru_cache(maxsize=256)
def _numbered(text: str) -> frozenset[str]:
    """The stems of the words that stand before a number in a text: "step" of "step 3"."""
    return frozenset(stem(word.lower()) for word in _BEFORE_A_NUMBER.findall(fold(text)) if word not in STOP_WORDS)


def _beside_a_bound(n: int, claim: Claim, answer: Answer) -> Place | None:
    """The bound of a source that a whole number is one off, where the sentence says the bound too: of "at least 8 years" those who are still 7."""
    value = answer.values[n].value
    if claim.kind != "number" or not value.isdigit() or int(value) > MOST_BESIDE:
        return None
    next_to = {str(int(value) + 1), str(int(value) - 1)}
    beside = {m for other in answer.near(n, 0) if other != n for m in answer.values[other].magnitudes} & next_to
    if not beside:
        return None
    places = (p for s in answer.context.sources for p in s.places if p.frame.bound and set(p.found.magnitudes) & beside)
    return next(places, None)


MOST_BESIDE = 120
"""The largest number that is taken for a neighbour of a bound."""


def _small(value: str) -> bool:
    return value.startswith("0.") or (value.isdigit() and int(value) <= MOST_COUNTED)


_RELATIVE = re.compile(r"(?<=[a-z\d])[+-]\d{1,4}$")

_DATED = re.compile(r"(?P<year>\d{4}|-)-(?P<month>\d\d)(?:-(?P<day>\d\d))?")


def _left_over(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding:
    """The status of a value that neither stands in a source nor follows from one."""
    if claim.kind in ("url", "email") and (twin := _lookalike(found, context)):
        return twin
    if context.question and holds(found, (context.question,)):
        return _only_asked(claim, found, context)
    if claim.kind not in CONTACT_KINDS and is_question(around.sentence):
        return Finding(
            "unchecked",
            (),
            f"{claim.text} stands in a question to the reader, which claims nothing.",
            rule="asks-the-reader",
        )
    if claim.kind == "number" and (spans := within_name(claim, around, context)):
        return Finding(
            "normalised", spans, f"Part of the name {spans[0].text} in {spans[0].source}.", rule="within-name"
        )
    if dialled := _dialling_code(claim, around, context):
        why = f"{dialled.source} has {dialled.text}, which begins so."
        return Finding("normalised", (dialled,), why, rule="within-name")
    if yearless := _of_no_year(found, context):
        why = f"{name_of(yearless)} has {yearless.span().text}, of no year; the answer adds it."
        return Finding("unchecked", (yearless.span(),), why, rule="open-year")
    if open_year := _in_open_year(found, context):
        why = f"{name_of(open_year)} has {open_year.span().text} of a year that depends on when it was written."
        return Finding("unchecked", (open_year.span(),), why, rule="open-year")
    return Finding("absent", (), _why_absent(claim, found, context), rule="no-source")


def _dialling_code(claim: Claim, around: Around, context: CheckContext) -> EvidenceSpan | None:
    """The telephone number of a source that begins with a country's code: "with the prefix +351"."""
    if claim.kind != "number" or not around.preceding.endswith("+"):
        return None
    begins = re.compile(rf"\+{re.escape(claim.text)}(?!\d)")
    return next((place.span() for place in _kinds(context, "phone") if begins.match(place.span().text)), None)


def open_date(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding:
    """The finding of a date relative to an unknown day ("tomorrow", "35 years ago"): `unchecked`, or `absent` if a source has another number of the same unit.

    35 years ago is not 31 years ago, whenever it is read.
    """
    unit = _RELATIVE.sub("", found.value)
    words = role_terms(around.sentence.replace(claim.text, " "))
    told = [p for p in _kinds(context, "date") if _RELATIVE.sub("", p.found.value) == unit and words & p.unit.terms]
    if told and not any(found.shares_form(p.found) for p in told) and unit != found.value:
        why = f"{name_of(told[0])} says {told[0].span().text} here, not {claim.text}."
        return Finding("absent", (told[0].span(),), why)
    why = f"Which day {claim.text} is depends on when this is read; the time of the conversation was not given."
    return Finding("unchecked", tuple(p.span() for p in told[:1]), why)


def _lookalike(found: Found, context: CheckContext) -> Finding | None:
    host = host_of(found.value)
    known: dict[str, Place] = {}
    for place in _kinds(context, "url", "email"):
        if their := host_of(place.found.value):
            known.setdefault(their, place)
    twin = looks_like(host, known) if host else None
    if twin is None:
        return None
    why = f"{host} is not {twin}, which the sources name, but could be taken for it."
    return Finding("lookalike", (known[twin].span(),), why, rule="lookalike")


def _why_absent(claim: Claim, found: Found, context: CheckContext) -> str:
    places = _kinds(context, claim.kind)
    like = near(found, [p.found for p in places])
    if like is None:
        return f"No source has {claim.text}."
    place, difference = places[like[0]], like[1]
    return f"No source has {claim.text}; {name_of(place)} has {place.span().text}: {difference}."


def another_rate(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`wrong_role` for an amount or quantity that a source has per something else: $9 a month is not $9 a year. None if no source has it so."""
    if claim.kind not in ("money", "quantity"):
        return None
    if not found.per:
        return None
    for place in _kinds(context, claim.kind, "number"):
        other = place.found
        same = found.shares_form(other) if other.kind == claim.kind else bool({*found.magnitudes} & {*other.forms})
        if same and not same_per(found.per, other.per):
            why = f"{name_of(place)} has {place.span().text} {_per(other.per)}, not {_per(found.per)}."
            said = _SAID_PER.match(around.following)
            return Finding("wrong_role", (place.span(),), why, rule="rate", reach=said.end() if said else 0)
    return None


def _per(per: str) -> str:
    return per if per == ONCE else f"per {per}".replace("-minute", " minutes")


_SAID_PER = re.compile(
    r"(?: ?/ ?| per | an? | each | every | pro | je | par | por | al | alla | à la | za | na )(?:(?:started|begun|full|quarter of an|half an) )?[^\W\d_]{1,14}|,? (?:daily|weekly|monthly|yearly|annually)"
)


def _in_open_year(found: Found, context: CheckContext) -> Place | None:
    """The day or month of a source that says its year relative to an unknown one, and may be the answer's: "17 August last year" for August 2022."""
    dated = _DATED.fullmatch(found.value)
    if dated is None or dated["year"] == "-":
        return None
    told = [int(p.found.value[:4]) for p in _kinds(context, "date") if p.found.value[:4].isdigit()]
    if told and min(abs(int(dated["year"]) - year) for year in told) > 1:
        return None
    for place in _kinds(context, "date"):
        open_ = _DATED.fullmatch(place.found.value)
        if open_ and open_["year"] == "-" and any(w.startswith("=relative:year") for w in place.frame.local):
            days = {dated["day"], open_["day"]} - {None}
            if dated["month"] == open_["month"] and len(days) < 2:
                return place
    return None


def _of_no_year(found: Found, context: CheckContext) -> Place | None:
    """The day of a source that has no year, where the answer adds a year that no source contradicts."""
    dated = _DATED.match(found.value) if found.kind == "date" else None
    if dated is None or dated["year"] == "-" or not dated["day"]:
        return None
    bare = f"--{dated['month']}-{dated['day']}"
    places = [p for p in _kinds(context, "date") if any(form[:7] == bare for form in p.found.forms)]
    others = (p for p in _kinds(context, "date") if p.found.value[4:10] == f"-{bare[2:]}" and p.found.value[0] != "-")
    fitting = (p for p in places if not (years := _years(p.source.text)) or dated["year"] in years)
    return next(fitting, None) if next(others, None) is None else None


@lru_cache(maxsize=256)
def _years(text: str) -> frozenset[str]:
    """The years from 1900 to 2099 that a text names."""
    return frozenset(_YEAR.findall(text))


_YEAR = re.compile(r"(?<![\d.,$€£])(?:19|20)\d\d(?![\d,]|\.\d)")


def _only_asked(claim: Claim, found: Found, context: CheckContext) -> Finding:
    """The finding of a value that only the question has: `absent` where a source gives another for the same, else `unchecked`."""
    rivals = [p for p in _kinds(context, found.kind) if measure(p.found) == measure(found)]
    fitting = [p for p in rivals if context.question_terms & (p.unit.terms | p.unit.context)]
    if fitting and found.kind in ("quantity", "money", "percent", "time", "phone"):
        why = f"{claim.text} stands only in the question; {name_of(fitting[0])} says {fitting[0].span().text}."
        return Finding("absent", (), why, rule="only-asked")
    return Finding(
        "unchecked", (), f"{claim.text} stands only in the question; no source confirms it.", rule="only-asked"
    )


def _kinds(context: CheckContext, *kinds: str) -> list[Place]:
    return [p for s in context.sources for kind, places in s.kinds.items() if kind in kinds for p in places]
