"""Contacts that a source names to say that they are not to be used: "never call 0800 …", "… has been switched off", a fax where somebody is to call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rai.check.context import Around, Finding, name_of
from rai.check.lexicon.load import pattern
from rai.check.reading.sources import Place
from rai.records import CONTACT_KINDS, Claim

_BEFORE, _BEHIND = 60, 60
"""Characters before a contact and behind it in which its source says so."""
_ENDS = re.compile(r"[.;!?\n|]")
_REST = re.compile(r"(?:[ \"'“„«(]*[^\W\d_]+){0,3}[ \"'“„«(]*")
"""What may stand between such words and the contact: "do not call the number 0800 …"; with a comma it is another clause."""
_THAT = r"[\s\"'”“»),:–—-]{0,4}(?:(?:it|this|that|which|das|dies|diese|der|die|es|ce|cela|esto|este|questo|isto|dit|deze|ten|to)(?: (?:number|nummer|numéro|número|numero|numer|link|address|adresse|site|page))? )?"
"""What may stand between the contact and what is said of it: "…, it is not our number"."""


def usable(claim: Claim, places: Sequence[Place], around: Around) -> tuple[Sequence[Place], Finding | None]:
    """The places of a value whose source does not say there that it is not to be used. Where that leaves none of a contact, `wrong_role`, unless the answer says so too."""
    if claim.kind not in CONTACT_KINDS:
        return places, None
    said = [(place, _said_of(place, claim)) for place in places]
    left = [place for place, why in said if not why]
    if left or not said or any(find.search(around.sentence) for find in _told(said[0][1])):
        return left or places, None
    place, why = said[0]
    return (), Finding("wrong_role", (place.span(),), f"{name_of(place)} has {place.span().text} {why}.", rule="unused")


_NOT_TO_BE_USED, _FAX = "as one that is not to be used", "for a fax"


@cache
def _told(why: str) -> tuple[re.Pattern[str], ...]:
    """What an answer says that says the same."""
    return tuple(pattern("unused", key) for key in (("fax",) if why == _FAX else ("before", "behind")))


def _said_of(place: Place, claim: Claim) -> str:
    """What the source says of a contact that nobody should call or write to; "" where it says nothing of the kind."""
    text, start, end = place.text(), place.found.start, place.found.end
    before = _ENDS.split(text[max(place.unit.start, start - _BEFORE) : start])[-1]
    told = list(pattern("unused", "before").finditer(before))
    if told and _REST.fullmatch(rest := before[told[-1].end() :]) and not pattern("unused", "voice").search(rest):
        return _NOT_TO_BE_USED
    if _behind().match(text[end : end + _BEHIND]):
        return _NOT_TO_BE_USED
    label = before.rpartition(",")[2]
    is_fax = pattern("unused", "fax").search(label) and not pattern("unused", "voice").search(label)
    return _FAX if is_fax and claim.kind == "phone" else ""


@cache
def _behind() -> re.Pattern[str]:
    return re.compile(_THAT + pattern("unused", "behind").pattern.removeprefix(r"\b"), re.IGNORECASE)
