"""Values that the person who asks said themselves: nine months of a contract, a price that they paid. They need no source where the answer uses them as theirs."""

from __future__ import annotations

import re

from grounding.text import caseless, terms
from rai.check.comparison.lookup_keys import measure_of
from rai.check.context import Around, CheckContext, Finding, holds, name_of, said, standing
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.claims.numbers.units import same_unit_value
from rai.claims.times.months import month_names
from rai.records import CONTACT_KINDS, Claim


def said_by_the_person(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`given` for a value that stands in the question or in the context given with it; `absent` where a source has another in its place.

    None if the person did not say it, and for a contact that only the question has.
    """
    if holds(found, context.given):
        how = "in these characters" if said(claim.text, context.given) else "in another form"
        why = f"Stands {how} in the context that was given with the request; it needs no source."
        return Finding("given", (), why, rule="context")
    if claim.kind in CONTACT_KINDS or context.question is None:
        return None
    if not (
        holds(found, (context.question,))
        or _without_sign(found, context)
        or _in_parts(found, context)
        or _so_long_ago(found, context)
    ):
        return None
    if other := _stands_for_it(found, around, context):
        why = f"{claim.text} stands only in the question; {name_of(other)} says {other.span().text}."
        return Finding("absent", (other.span(),), why, instead=other.span(), rule="question-rival")
    return Finding("given", (), "The person said it; no source speaks against it.", rule="question")


def _so_long_ago(found: Found, context: CheckContext) -> bool:
    """True of a span that the person said as how long something is ago or will be, in whatever unit: 70 days, of ten weeks ago."""
    if found.kind != "quantity" or context.question is None:
        return False
    for place in context.question.kinds.get("date", ()):
        relative = _AGO.fullmatch(place.found.value)
        told = f"{relative['n']} {relative['unit']}" if relative else ""
        if told and any(told == form or same_unit_value(told, form) for form in found.forms):
            return True
    return False


_AGO = re.compile(r"relative:(?P<unit>day|week|month|year|hour)[+-](?P<n>\d{1,4})")


def _in_parts(found: Found, context: CheckContext) -> bool:
    """True of a date whose parts the person said apart: "in March last year, 2025", "till 27 November, so on Sunday the 29th"."""
    dated = _DATE.fullmatch(found.value) if found.kind == "date" else None
    if dated is None or context.question is None:
        return False
    text = caseless(context.question.source.text[:LONGEST])
    month = any(month_names().get(word) == int(dated["month"]) for word in _WORD.findall(text))
    day = dated["day"] is None or re.search(
        rf"\b(?:the )?{int(dated['day'])}(?:st|nd|rd|th)\b|\b(?:the|den|am|le|el|il) {int(dated['day'])}\b", text
    )
    year = dated["year"] is None or dated["day"] is not None or re.search(rf"\b{dated['year']}\b", text)
    return bool(month and day and year)


_DATE = re.compile(r"(?:(?P<year>\d{4})|-)-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?:-W-\d)?")
_WORD = re.compile(r"[^\W\d_]{3,12}")
LONGEST = 2000
"""Characters of a question that are read for parts of a date."""


def _without_sign(found: Found, context: CheckContext) -> bool:
    """True of an amount that the person wrote without its currency: a ticket for 74,90."""
    if found.kind != "money" or context.question is None:
        return False
    bare = (p.found for p in context.question.kinds.get("number", ()) if not p.span().text[:1].isalpha())
    return any(set(found.magnitudes) & set(number.magnitudes) and len(number.value) >= _TELLING for number in bare)


_TELLING = 3
"""Fewest characters of a bare number that is an amount rather than a count."""
_ANSWERING = frozenset(terms("yes no sure correct right indeed exactly ja nein oui non sí sim si"))
_OWN = re.compile(r"\b(?:you|your|my|i|we|their|his|her|of the)\b", re.IGNORECASE)
"""A sentence with one of these speaks of the person's own matter, or of a part of what was asked."""
_SUPPOSED = re.compile(
    r"\b(?:if|when|suppose|say|wenn|falls|si|quand|cuando|se|quando|als|wanneer|jeśli|i|we|she|he|they|ich|wir|je|nous|yo|io|ik|wij)\b[^.!?;]{0,80}$"
    r"|\b(?:an?|my|our|his|her|their|eine[mnrs]?|ein|une?|una|uma?|een) $",
    re.IGNORECASE,
)


def _supposed(found: Found, context: CheckContext) -> bool:
    """True if the question supposes the value or tells it of somebody: "if I send 14 kWh", "in a £95 frame", which no source can contradict; not of "it is $12, right?"."""
    if context.question is None:
        return False
    text = context.question.source.text
    places = standing(found, (context.question,))
    return any(_SUPPOSED.search(text[max(0, p.found.start - 100) : p.found.start]) for p in places)


_RECKONED = re.compile(r"\** ?[+−–×·/-] ?[^\d\s]{0,3} ?\d[^=\n]{0,40}=")
"""A calculation that goes on behind a value."""


def _tells_from_to(sentence: str, context: CheckContext) -> bool:
    """True of a sentence that says two times of the person's: from 08:10 to 17:40 is how long it was out."""
    times = context.question.kinds.get("time", ()) if context.question is not None else ()
    return len({p.found.value for p in times if p.span().text in sentence}) > 1


def _stands_for_it(found: Found, around: Around, context: CheckContext) -> Place | None:
    """The place of another value in a source sentence that has all words of the answer's: "the fee is $12", whatever fee was asked about."""
    if _RECKONED.match(around.following) is not None:
        return None  # £180 − £75 = £105
    if found.kind == "time" and _tells_from_to(around.sentence, context):
        return None
    words = role_terms(around.sentence) - _ANSWERING - role_terms(found.value)
    if not words or found.kind in ("date", "number") or _OWN.search(around.sentence) or _supposed(found, context):
        return None
    for text in context.sources:
        for place in text.alike.get(measure_of(found), ()):
            if words <= place.unit.terms and not place.found.shares_form(found):
                return place
    return None
