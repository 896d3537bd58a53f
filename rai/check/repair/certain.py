"""The choice of what may be written in place of an unsupported value: only what a source says for the same thing, beyond doubt.

A source points at it: the sentence quotes one that has another value in this place, or another value of the kind stands
for what the claim names (both `Claim.instead`); the host is made to look like the source's; the contact is one slip away
from the only one that is near it; or the check, given any other value of the kind in this place, refuses it and names
this one. And nothing else would do: of all values of its kind in the sources it is the only one that the check takes in
this place. Who holds two candidates holds none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grounding.text import caseless
from rai.check.comparison.contacts import near
from rai.check.comparison.edit_distance import edit_distance
from rai.check.comparison.lookalike_host import looks_like
from rai.check.comparison.lookup_keys import rivalled
from rai.check.context import host_of
from rai.check.reading.sources import Place, Prepared
from rai.claims.contacts.links import parse
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, UNSUPPORTED, Claim, EvidenceSpan

MOST_CANDIDATES = 24
"""Most values of one kind and measure of which one may be certain: a long table is not tried cell by cell."""
_SLIPS = frozenset(
    {"another digit", "two digits are swapped", "a digit is missing", "a digit too many", "another spelling"}
)


def pointed_at(claim: Claim, found: Found, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The place of the value that a source has instead of `claim`, or None. A conflict is never resolved here: sources disagree."""
    if claim.status not in UNSUPPORTED or claim.kind == "statement":
        return None
    if claim.status == "lookalike":
        return _own_host(found, sources)
    if claim.instead is not None:
        return claim.instead
    if claim.status == "absent" and claim.kind in CONTACT_KINDS:
        return _only_near(found, sources)
    return None


def candidates(found: Found, sources: Sequence[Prepared]) -> list[Place]:
    """One place of every value that is of a kind with `found`, amounts in any currency, quantities of its dimension.

    None at all if there are more than can be tried.
    """
    places: dict[str, Place] = {}
    for source in sources:
        for place in source.places:
            if _of_a_kind(found, place.found):
                places.setdefault(place.found.value, place)
    return list(places.values()) if len(places) <= MOST_CANDIDATES else []


def _of_a_kind(mine: Found, other: Found) -> bool:
    same = (mine.kind, mine.entity) == (other.kind, other.entity)
    return same and (mine.kind == "money" or rivalled(mine) == rivalled(other) or keeps_half(mine, other))


def keeps_half(mine: Found, other: Found) -> bool:
    """True if they have the same unit or the same figure: a slip of two is no slip of one."""
    if mine.kind not in ("money", "quantity"):
        return True
    (figure, _, unit), (theirs, _, their_unit) = mine.value.partition(" "), other.value.partition(" ")
    return figure == theirs or unit == their_unit


def is_certain_alone(claim: Claim, found: Found, sources: Sequence[Prepared]) -> bool:
    """True of a link or mailbox that differs from the source's in nothing but a look-alike host: no other value can be meant."""
    span = pointed_at(claim, found, sources) if claim.status == "lookalike" else None
    address = parse(found.value) if found.kind == "url" else None
    return span is not None and (found.kind == "email" or (address is not None and bool(address.rest)))


def place_of(span: EvidenceSpan, sources: Sequence[Prepared]) -> Place | None:
    """The value that stands at `span`, or that it is a part of."""
    return next(
        (
            p
            for s in sources
            for p in s.places
            if p.source.id == span.source
            and p.unit.field == span.field
            and p.found.start <= span.start
            and span.end <= p.found.end
        ),
        None,
    )


def _own_host(found: Found, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The source's link to the same page, or its mailbox of the same name, on the likest host; a bare host for a bare host."""
    host = host_of(found.value)
    places = [p for s in sources for p in s.places if p.found.kind == found.kind]
    hosts = {p: h for p in places if host and (h := host_of(p.found.value)) and looks_like(host, (h,))}
    mine = parse(found.value) if found.kind == "url" else None
    if host is None or (mine is None and found.kind == "url") or (mine and mine.user):
        return None
    same = [p for p in hosts if _rest(p.found) == _rest(found)]
    if not same and mine and not mine.rest:
        near_ = _likest(host, set(hosts.values()))
        return next((_host_span(p, h) for p, h in hosts.items() if h == near_), None)
    likest = _likest(host, {hosts[p] for p in same})
    return next((p.span() for p in same if hosts[p] == likest), None)


def _rest(found: Found) -> str:
    """What a link or address has besides its host: the page, the mailbox."""
    address = parse(found.value) if found.kind == "url" else None
    return address.page if address else found.value.rpartition("@")[0]


def _likest(host: str, hosts: Iterable[str]) -> str | None:
    """The host with the fewest changes, if there is one alone."""
    ranked = sorted((edit_distance(host, h, 9), h) for h in set(hosts))
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def _host_span(place: Place, host: str) -> EvidenceSpan | None:
    """Where a link's address ends after its host."""
    text = place.text()
    at = caseless(text).find(host, place.found.start, place.found.end)
    return place.span(place.found.start, at + len(host)) if at >= 0 else None


def _only_near(found: Found, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The only contact that is near, if it is one slip away."""
    places = [p for s in sources for p in s.places if p.found.kind == found.kind]
    like = near(found, [p.found for p in places])
    if like is None or like[1] not in _SLIPS:
        return None
    place = places[like[0]]
    others = [p.found for p in places if not p.found.shares_form(place.found)]
    return None if near(found, others) else place.span()
