"""What may be written in place of an unsupported value: only what a source says for the same thing, beyond doubt.

A source points at it: the sentence quotes one that has another value in this place (`Claim.instead`), another value of
the kind stands for what the claim names (`Claim.instead`), the host is made to look like the source's, or the contact
is one slip away from the only one that is near it. And nothing else would do: of all values of its kind and measure in
the sources it is the only one that the check takes in this place. Who holds two candidates holds none.
"""

from __future__ import annotations

from collections.abc import Sequence

from grounding.text import caseless
from rai.claims.found import Found
from rai.claims.links import parse
from rai.records import CONTACT_KINDS, UNSUPPORTED, Claim, EvidenceSpan
from rai.support.contacts import near
from rai.support.lookalike import looks_like
from rai.support.setting import host_of, measure
from rai.support.sources import Place, Prepared

MOST_CANDIDATES = 12
"""Values of one kind and measure above which none is certain: a long table is not tried cell by cell."""
_SLIPS = frozenset(
    {"another digit", "two digits are swapped", "a digit is missing", "a digit too many", "another spelling"}
)


def pointed_at(claim: Claim, found: Found, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The value that a source has instead of `claim`, or None. A conflict is never resolved here: sources disagree."""
    if claim.status not in UNSUPPORTED or claim.kind == "statement":
        return None
    if claim.status == "lookalike":
        return _own_host(found, sources)
    if claim.instead is not None:
        return claim.instead
    if claim.status == "absent" and claim.kind in CONTACT_KINDS - {"money"}:
        return _only_near(found, sources)
    return None


def alternatives(place: Place, sources: Sequence[Prepared]) -> list[Place] | None:
    """One place of every other value of its kind and measure; None if there are more than can be tried."""
    found = place.found
    others: dict[str, Place] = {}
    for source in sources:
        for p in source.places:
            same = (p.found.kind, p.found.entity, measure(p.found)) == (found.kind, found.entity, measure(found))
            if same and not set(p.found.forms) & set(found.forms):
                others.setdefault(p.found.value, p)
    return list(others.values()) if len(others) < MOST_CANDIDATES else None


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
    """The source's link to the same page, or its mailbox of the same name; a bare host for a bare host."""
    places = [p for s in sources for p in s.places if p.found.kind == found.kind]
    hosts = {host for p in places if (host := host_of(p.found.value))}
    host = host_of(found.value)
    twin = looks_like(host, hosts) if host else None
    alike = [p for p in places if twin and host_of(p.found.value) == twin]
    if found.kind == "email":
        same = [p for p in alike if p.found.value.rpartition("@")[0] == found.value.rpartition("@")[0]]
        return same[0].span() if same else None
    mine = parse(found.value)
    if mine is None or mine.user:
        return None
    same = [p for p in alike if (a := parse(p.found.value)) is not None and a.page == mine.page]
    if same:
        return same[0].span()
    return _host_span(alike[0], twin) if alike and twin and not mine.rest else None


def _host_span(place: Place, host: str) -> EvidenceSpan | None:
    """Where a link's address ends after its host."""
    text = place.text()
    at = caseless(text).find(host, place.found.start, place.found.end)
    return place.span(place.found.start, at + len(host)) if at >= 0 else None


def _only_near(found: Found, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The only contact that is near, if it is one slip away."""
    places = [p for s in sources for p in s.places if p.found.kind == found.kind]
    like = near(found, places)
    if like is None or like[1] not in _SLIPS:
        return None
    others = [p for p in places if not set(p.found.forms) & set(like[0].found.forms)]
    return None if near(found, others) else like[0].span()
