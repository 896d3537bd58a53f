"""Values of another country: "€239 in Germany", which every source has for France."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from grounding.quoting.countries import country_codes
from rai.check.answer import Answer
from rai.check.comparison.lookup_keys import measure_of
from rai.check.context import Finding, name_of
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, Kind

_KINDS: frozenset[Kind] = CONTACT_KINDS | {"money", "quantity", "percent", "time"}
_MOST_RIVALS = 200
_LONGEST = 2000
"""Characters of a line beyond which it is not read for countries: no person wrote it."""


def of_another_country(n: int, claim: Claim, found: Found, places: Sequence[Place], answer: Answer) -> Finding | None:
    """The finding of a value that every one of `places` has for other countries than the one that the answer, or else the question, speaks of: `wrong_role` where
    a source has another value for that one on the same line, in doubt where none has. None where a place names no country, or several are spoken of.
    """
    if claim.kind not in _KINDS:
        return None
    spoken_of = _codes(answer.sentence(n))
    if not spoken_of and answer.context.question:
        spoken_of = _codes(answer.context.question.source.text)
    if len(spoken_of) != 1:
        return None
    [mine] = spoken_of
    theirs = [_of(place) for place in places]
    if not theirs or any(not codes or mine in codes for codes in theirs):
        return None
    units = {(p.source.id, p.unit.field, p.unit.number) for p in places}
    measures = {measure_of(found), *(measure_of(p.found) for p in places)}
    alike = (p for s in answer.context.sources for m in measures for p in s.alike.get(m, ()))
    near = islice((p for p in alike if (p.source.id, p.unit.field, p.unit.number) in units), _MOST_RIVALS)
    rival = next((p for p in near if mine in _of(p)), None)
    place = places[0]
    if rival is None:
        why = f"{name_of(place)} has {place.span().text} for another country, and no source for this one."
        return Finding("unchecked", (place.span(),), why, rule="country")
    why = f"{name_of(place)} has {place.span().text} for another country; for this one it says {rival.span().text}."
    return Finding("wrong_role", (place.span(),), why, instead=rival.span(), rule="country")


def _of(place: Place) -> frozenset[str]:
    """The countries that a place is of: its cell's label, else the first cells of its row or its sentence, else the title of its source."""
    text, unit = place.text(), place.unit
    if unit.end - unit.start > _LONGEST:
        return frozenset()
    line = text[unit.start : unit.end]
    at = place.found.start - unit.start
    cell = line.rfind("|", 0, at) + 1
    if unit.row and (label := _codes(line[cell:at])):
        return label
    said = _codes(line[: cell or at] if unit.row else line)
    return said or _codes(place.source.title)


def _codes(text: str) -> frozenset[str]:
    return country_codes(text[:_LONGEST])
