"""What the claims of one answer are judged against, and what a judgement is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grounding.text import fold
from rai.claims.found import Found
from rai.claims.links import parse
from rai.records import EvidenceSpan, Status
from rai.support.same import same_value
from rai.support.sources import Place, Prepared


@dataclass(frozen=True, slots=True)
class Setting:
    """What all claims of one answer are judged against."""

    sources: tuple[Prepared, ...]
    given: tuple[Prepared, ...]
    question: Prepared | None
    question_terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement of one claim."""

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Around:
    """The sentence of a claim, and up to 40 characters before and after the claim."""

    sentence: str
    preceding: str
    following: str


def line_of(place: Place) -> str:
    """The line of the value, with the title and the first row of its table: a currency often stands there."""
    return f"{place.source.title}\n{place.unit.header}\n{place.text()[place.unit.start : place.unit.end]}"


def name_of(place: Place) -> str:
    return f"{place.source.id} ({place.source.title})" if place.source.title else place.source.id


def measure(found: Found) -> str:
    """What is measured: the unit, the currency; a weekday is not a day of the year."""
    if found.kind in ("quantity", "money"):
        return found.value.partition(" ")[2]
    return "weekday" if found.value.startswith("-W-") else ""


def holds(found: Found, texts: Iterable[Prepared]) -> bool:
    return any(same_value(found, p.found, line_of(p)) for t in texts for p in t.places)


def said(text: str, texts: Iterable[Prepared]) -> bool:
    return any(fold(text) in fold(t.source.text) for t in texts)


def host_of(value: str) -> str | None:
    if "://" not in value and "@" in value:
        return value.rpartition("@")[2]
    address = parse(value)
    return address.host if address else None
