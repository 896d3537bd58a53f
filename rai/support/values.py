"""Values of an answer against the sources: the places that hold one, and which of them speak of the same thing."""

from __future__ import annotations

import re

from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan
from rai.statements.wording import is_question
from rai.support.entities import is_loose, match_loose, match_name, within_name
from rai.support.lookalike import looks_like
from rai.support.roles import Said, clash, in_role, rival
from rai.support.same import same_value
from rai.support.setting import Around, Finding, Setting, holds, host_of, line_of, measure, name_of, said
from rai.support.sources import Place
from rai.support.words import role_terms

_EVERY_DAY = re.compile(
    r"\b(?:daily|every ?day|each day|all week|7 days|seven days|24/7|weekdays?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)\w{0,6} ?"
    r"(?:-|–|to|through|thru|until) ?(?:mon|tues|wednes|thurs|fri|satur|sun))",
    re.IGNORECASE,
)


def match_value(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding:
    """The status of one value or name."""
    if claim.kind == "entity" and claim.entity != "address":
        return match_name(claim, found, setting)
    if is_loose(found):
        return match_loose(claim, setting)
    places = [p for s in setting.sources for p in s.places if same_value(found, p.found, line_of(p))]
    if places:
        return _placed(claim, found, places, around, setting)
    if claim.kind == "entity":
        return match_name(claim, found, setting)
    if holds(found, setting.given):
        return Finding(
            "exact" if said(claim.text, setting.given) else "normalised",
            (),
            "Stands in the context that was given with the request; it needs no source.",
        )
    return _missing(claim, found, around, setting)


def _placed(claim: Claim, found: Found, places: list[Place], around: Around, setting: Setting) -> Finding:
    words = role_terms(_without(around.sentence, claim.text))
    fitting = in_role(places, words, setting.question_terms)
    if not fitting:
        why = f"{claim.text} stands in {name_of(places[0])}, but in a sentence about something else."
        return Finding("wrong_role", (places[0].span(),), why)
    told = Said(around.frame, words, setting.question_terms | around.leading)
    clashing = [(p, says) for p in fitting if (says := clash(told, p)) is not None]
    fitting = [p for p in fitting if all(p is not c for c, _ in clashing)]
    if not fitting:
        place, says = clashing[0]
        return Finding("wrong_role", (place.span(),), f"{name_of(place)} has {place.span().text} {says}.")
    others = _rivals(fitting[0], found, setting)
    beaten = [(p, rival(told, p, others)) for p in fitting]
    kept = [p for p, other in beaten if other is None]
    if kept:
        return _supported(claim, kept)
    place, other = next((p, o) for p, o in beaten if o is not None)
    spans = (place.span(), other.span())
    return Finding(
        "wrong_role",
        spans[:1],
        f"{name_of(place)} has {spans[0].text} for something else; here {name_of(other)} says {spans[1].text}.",
    )


def _supported(claim: Claim, places: list[Place]) -> Finding:
    exact = [span for p in places if (span := _same_characters(claim.text, p))]
    if exact:
        return Finding("exact", tuple(exact), f"Stands in the same characters in {exact[0].source}.")
    spans = tuple(p.span() for p in places)
    return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.")


def _same_characters(text: str, place: Place) -> EvidenceSpan | None:
    field = place.text()
    at = field.find(text, max(0, place.found.start - 1), place.found.end + len(text))
    if at < 0 or at >= place.found.end:
        return None
    before, after = field[max(0, at - 1) : at], field[at + len(text) : at + len(text) + 2]
    inside = (text[0].isalnum() and before.isalnum()) or (text[-1].isalnum() and after[:1].isalnum())
    if inside or (text[-1].isdigit() and re.match(r"[.,]\d", after)):
        return None
    # a part of a URL, an address or a phone number leads elsewhere than the whole
    if place.found.kind in CONTACT_KINDS - {"money"} and (at, at + len(text)) != (place.found.start, place.found.end):
        return None
    return place.span(at, at + len(text))


def _missing(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding:
    if claim.kind in ("url", "email"):
        host = host_of(found.value)
        known = {
            h
            for s in setting.sources
            for p in s.places
            if p.found.kind in ("url", "email")
            if (h := host_of(p.found.value))
        }
        twin = looks_like(host, known) if host else None
        if twin:
            at = next(
                p
                for s in setting.sources
                for p in s.places
                if host_of(p.found.value) == twin and p.found.kind in ("url", "email")
            )
            return Finding(
                "lookalike", (at.span(),), f"{host} is not {twin}, which the sources name, but could be taken for it."
            )
    if setting.question and holds(found, (setting.question,)):
        return _only_asked(claim, found, setting)
    if claim.kind not in CONTACT_KINDS and is_question(around.sentence):
        return Finding("unchecked", (), f"{claim.text} stands in a question to the reader, which claims nothing.")
    if claim.kind == "number" and (spans := within_name(claim, around, setting)):
        return Finding("normalised", spans, f"Part of the name {spans[0].text} in {spans[0].source}.")
    if claim.kind == "number" and _may_be_tally(claim, found, around, setting):
        return Finding(
            "unchecked", (), f"{claim.text} may count what the answer tells of; no source gives another number for it."
        )
    if (
        claim.kind == "date"
        and found.value.startswith("-W-")
        and any(_EVERY_DAY.search(s.source.text) for s in setting.sources)
    ):
        return Finding(
            "unchecked", (), f"No source names {claim.text}, but one names a range of days that may hold it."
        )
    return Finding("absent", (), f"No source has {claim.text}.")


def _may_be_tally(claim: Claim, found: Found, around: Around, setting: Setting) -> bool:
    """A small number in words ("two ways") counts more often than it quotes, unless a sentence on the same has another."""
    if not claim.text.isalpha() or len(found.value) > 1:
        return False
    words = role_terms(_without(around.sentence, claim.text))
    others = (p for s in setting.sources for p in s.places if p.found.kind == "number")
    return not any(words & p.unit.terms for p in others)


def _only_asked(claim: Claim, found: Found, setting: Setting) -> Finding:
    """A number of the question confirms nothing, and where a source gives another one it is wrong."""
    rivals = [
        p
        for s in setting.sources
        for p in s.places
        if p.found.kind == found.kind and measure(p.found) == measure(found)
    ]
    fitting = [p for p in rivals if setting.question_terms & (p.unit.terms | p.unit.context)]
    if fitting and found.kind in ("quantity", "money", "percent", "time", "phone"):
        return Finding(
            "absent",
            (),
            f"{claim.text} stands only in the question; {name_of(fitting[0])} says {fitting[0].span().text}.",
        )
    return Finding("unchecked", (), f"{claim.text} stands only in the question; no source confirms it.")


def _rivals(place: Place, found: Found, setting: Setting) -> list[Place]:
    """Other values of the same kind and measure in any source."""
    return [
        p
        for s in setting.sources
        for p in s.places
        if p.found.kind == place.found.kind
        and measure(p.found) == measure(place.found)
        and not same_value(found, p.found, line_of(p))
    ]


def _without(sentence: str, value: str) -> str:
    return sentence.replace(value, " ")
