"""Values of an answer against the sources: the places that hold one, and which of them speak of the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan
from rai.support.conflict import conflict
from rai.support.contacts import agree
from rai.support.derive import derived
from rai.support.entities import is_loose, match_loose, match_name
from rai.support.missing import may_be_tally, missing, open_date, tallied
from rai.support.owners import anothers
from rai.support.roles import Said, clash, in_role, rival
from rai.support.rounding import rounded
from rai.support.same import same_value
from rai.support.setting import Around, Finding, Setting, holds, name_of, rivalled, said, standing
from rai.support.sources import Place
from rai.support.words import role_terms

LEAST_QUOTED = 40
"""Characters of a part of a sentence below which it may stand in one that says something else."""


def match_value(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding:
    """The status of one value or name."""
    if claim.kind == "entity" and claim.entity != "address":
        return match_name(claim, found, around, setting)
    if is_loose(found):
        return match_loose(claim, setting)
    places = standing(found, setting.sources)
    if found.value.startswith("relative:") and not any(p.found.kind != "date" for p in places):
        return open_date(claim, found, around, setting)
    if places:
        finding = _placed(claim, found, places, around, setting)
        if finding.status != "wrong_role":
            return finding
        if may_be_tally(claim, found, around, setting):
            return tallied(claim)
        return _worked_out(claim, found, around, setting) or finding
    if claim.kind == "entity":
        return match_name(claim, found, around, setting)
    if holds(found, setting.given):
        return Finding(
            "exact" if said(claim.text, setting.given) else "normalised",
            (),
            "Stands in the context that was given with the request; it needs no source.",
        )
    return _worked_out(claim, found, around, setting) or missing(claim, found, around, setting)


def _worked_out(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding | None:
    return rounded(claim, found, around, setting) or derived(claim, found, around, setting)


def _placed(claim: Claim, found: Found, places: list[Place], around: Around, setting: Setting) -> Finding:
    quoted = [p for p in places if p.unit.field == "text" and _quotes(around.plain, p.unit.plain)]
    if quoted:
        return conflict(claim, found, quoted, around, setting) or _supported(claim, found, quoted)
    words = role_terms(around.sentence.replace(claim.text, " "))
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
    beaten = [(p, _beating(p, found, told, around, setting)) for p in fitting]
    kept = [p for p, other in beaten if other is None]
    if kept:
        return conflict(claim, found, kept, around, setting) or _supported(claim, found, kept)
    place, other = next((p, o) for p, o in beaten if o is not None)
    spans = (place.span(), other.span())
    return Finding(
        "wrong_role",
        spans[:1],
        f"{name_of(place)} has {spans[0].text} for something else; here {name_of(other)} says {spans[1].text}.",
        instead=spans[1],
    )


def _quotes(sentence: str, unit: str) -> bool:
    """True if a unit is this sentence or row, or holds it word for word."""
    return sentence == unit or (len(sentence) >= LEAST_QUOTED and f" {sentence} " in f" {unit} ")


def _beating(place: Place, found: Found, told: Said, around: Around, setting: Setting) -> Place | None:
    """The value of a source that stands for what the claim names, if `place` does not."""
    others = _rivals(place, found, setting)
    if found.kind in CONTACT_KINDS - {"money"}:
        question = setting.question.source.text if setting.question else ""
        if other := anothers(around.clause, around.sentence, question, place, others):
            return other
    return rival(told, place, others)


def _rivals(place: Place, found: Found, setting: Setting) -> list[Place]:
    """Other values of the same kind and measure in any source."""
    mine, entity = rivalled(place.found), place.found.entity
    return [
        p
        for s in setting.sources
        for p in s.kinds.get(place.found.kind, ())
        if p.found.entity == entity and rivalled(p.found) == mine and not same_value(found, p.found, p.unit.line)
    ]


def _supported(claim: Claim, found: Found, places: Sequence[Place]) -> Finding:
    exact = [span for p in places if (span := _same_characters(claim.text, p))]
    if exact:
        return Finding("exact", tuple(exact), f"Stands in the same characters in {exact[0].source}.")
    spans = tuple(p.span() for p in places)
    said_less = agree(found, places[0].found, places[0].unit.line)
    why = f"{spans[0].source} writes it as {spans[0].text}."
    return Finding("normalised", spans, f"{why} {said_less}" if said_less else why)


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
