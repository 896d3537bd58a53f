"""Values of an answer against the sources: the places that hold one, and which of them speak of the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan
from rai.support.conflict import conflict
from rai.support.contacts import agree
from rai.support.derive import derived
from rai.support.entities import is_loose, match_loose, match_name, within_name
from rai.support.keys import Measure, measure_of
from rai.support.missing import may_be_tally, missing, open_date, tallied
from rai.support.owners import anothers
from rai.support.roles import Said, clash, in_role, quotes, rival, speaks_of_less
from rai.support.rounding import rounded
from rai.support.setting import Around, Finding, Setting, holds, name_of, said, standing
from rai.support.sources import Place
from rai.support.words import numbered, role_terms

MOST_COMPARED = 200_000
"""Pairs of a place of a claim's value and another value of its measure that are compared. Sources that hold one value a
hundred times beside two thousand others are none that a person wrote; what is then left undecided is `unchecked`."""


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
    quoting = {id(u): quotes(around.plain, u.plain) for u in {id(p.unit): p.unit for p in places}.values()}
    quoted = [p for p in places if p.unit.field == "text" and quoting[id(p.unit)]]
    if quoted:
        return conflict(claim, found, quoted, around, setting) or _supported(claim, found, quoted)
    rest = around.sentence.replace(claim.text, " ")
    words = role_terms(rest)
    fitting = in_role(places, words, setting.question_terms)
    if not fitting and claim.kind == "number" and (spans := within_name(claim, around, setting)):
        return Finding("normalised", spans, f"Part of the name {spans[0].text} in {spans[0].source}.")
    if not fitting:
        why = f"{claim.text} stands in {name_of(places[0])}, but in a sentence about something else."
        return Finding("wrong_role", (places[0].span(),), why)
    told = Said(around.frame, words | numbered(rest), setting.question_terms | around.leading)
    agreeing: list[Place] = []
    clashing: list[tuple[Place, str]] = []
    for place in fitting:
        says = clash(told, place)
        if says is None:
            agreeing.append(place)
        else:
            clashing.append((place, says))
    if not agreeing:
        place, says = clashing[0]
        return Finding("wrong_role", (place.span(),), f"{name_of(place)} has {place.span().text} {says}.")
    others = _Others(setting, {id(p) for p in places})
    beaten = [(p, _beating(p, found, told, around, others)) for p in others.affordable(agreeing)]
    rivals = [other for _, other in beaten if other is not None]
    kept = [p for p, other in beaten if other is None and not any(speaks_of_less(told, p, r) for r in rivals)]
    if kept:
        return conflict(claim, found, kept, around, setting) or _supported(claim, found, kept)
    if len(beaten) < len(agreeing):
        return Finding("unchecked", (), f"The sources hold {claim.text} too often to tell what each place is about.")
    place, other = next((p, o) for p, o in beaten if o is not None)
    spans = (place.span(), other.span())
    return Finding(
        "wrong_role",
        spans[:1],
        f"{name_of(place)} has {spans[0].text} for something else; here {name_of(other)} says {spans[1].text}.",
        instead=spans[1],
    )


def _beating(place: Place, found: Found, told: Said, around: Around, others: _Others) -> Place | None:
    """The value of a source that stands for what the claim names, if `place` does not."""
    rivals = others.of(place)
    if found.kind in CONTACT_KINDS:
        question = others.setting.question.source.text if others.setting.question else ""
        if other := anothers(around.clause, around.sentence, question, place, rivals):
            return other
    return rival(told, place, rivals)


@dataclass(slots=True)
class _Others:
    """Values of the sources that a claim does not name. `standing`: the identities of the places that hold the claim's."""

    setting: Setting
    standing: set[int]
    known: dict[Measure, list[Place]] = field(default_factory=dict)

    def of(self, place: Place) -> list[Place]:
        """Other values of the same kind and measure as `place`, in any source."""
        measure = measure_of(place.found)
        if measure not in self.known:
            alike = (p for s in self.setting.sources for p in s.alike.get(measure, ()))
            self.known[measure] = [p for p in alike if id(p) not in self.standing]
        return self.known[measure]

    def affordable(self, places: list[Place]) -> list[Place]:
        """The first of `places`, so many that no more than `MOST_COMPARED` pairs with their rivals are compared; one at least."""
        if len(places) == 1:
            return places
        most = max(len(self.of(p)) for p in places)
        return places[: max(1, MOST_COMPARED // max(1, most))]


def _supported(claim: Claim, found: Found, places: Sequence[Place]) -> Finding:
    exact = [span for p in places if (span := _same_characters(claim.text, p))]
    if exact:
        return Finding("exact", tuple(exact), f"Stands in the same characters in {exact[0].source}.")
    spans = tuple(p.span() for p in places)
    said_less = agree(found, places[0].found, places[0].line())
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
    if place.found.kind in CONTACT_KINDS and (at, at + len(text)) != (place.found.start, place.found.end):
        return None
    return place.span(at, at + len(text))
