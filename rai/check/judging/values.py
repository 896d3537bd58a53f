"""The values within a quotation, and whether one of them is that of a claim, by the equality that the check itself uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grounding.text import caseless, fold
from rai.check.comparison.lookup_keys import measure_of
from rai.check.comparison.values import comparable_kinds, same_value
from rai.check.context import standing
from rai.check.judging.quotes import FoundQuote
from rai.check.reading.sources import Place, prepare
from rai.claims.contacts.phones import REGIONS
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan, Source


@dataclass(frozen=True, slots=True)
class Values:
    """Compares the values of one answer with those in quotations. `regions`: where national telephone numbers may come from."""

    answer: str
    regions: tuple[str, ...] = REGIONS

    def found(self, claim: Claim) -> Found:
        """The value at `claim` with all its readings, where the finders read it as the claim does; else, as of a name that a tagger found, as it is."""
        for found in find_values(self.answer, self.regions):
            if (found.start, found.end, found.kind) == (claim.start, claim.end, claim.kind):
                return found
        return Found(claim.kind, claim.start, claim.end, claim.value or claim.text, entity=claim.entity)

    def places(self, known: FoundQuote) -> Iterator[Place]:
        """The values that stand wholly within a quotation, as places of its source."""
        source = known.source or Source("", known.said)
        for place in prepare(source, self.regions).places:
            if any(_within(place, span.field, span.start, span.end) for span in known.spans):
                yield place

    def carrying(self, claim: Claim, known: FoundQuote) -> Place | None:
        """The place in the quotation that holds the value of `claim`, of a contact the very same characters; None if it does not."""
        found = self.found(claim)
        for place in self.places(known):
            if claim.kind in CONTACT_KINDS:
                if place.found.kind == claim.kind and fold(place.span().text) == fold(claim.text):
                    return place
            elif same_value(found, place.found, place.line()):
                return place
        return None

    def verbatim(self, claim: Claim, known: FoundQuote) -> EvidenceSpan | None:
        """The place of the characters of `claim` in the quotation, whatever they are read as there: the 12 of "12 April", the 32 days of "32 days ago".

        Only of claims with digits, never of a contact, and never as a part of a longer number.
        """
        if claim.kind in (*CONTACT_KINDS, "entity", "statement") or not any(c.isdigit() for c in claim.text):
            return None
        for span in known.spans:
            at = _alone(fold(claim.text), fold(span.text))
            if at is not None:
                start = span.start + at
                return EvidenceSpan(
                    span.source, span.field, start, start + len(claim.text), span.text[at:][: len(claim.text)]
                )
        return None

    def rival(self, claim: Claim, known: FoundQuote) -> Place | None:
        """The place of a value in the quotation that could stand where `claim` does and is not the same; None if there is none."""
        found = self.found(claim)
        kinds = comparable_kinds(found)
        for place in self.places(known):
            other = place.found
            comparable = other.kind in kinds and (other.kind != found.kind or measure_of(other) == measure_of(found))
            if comparable and not same_value(found, other, place.line()):
                return place
        return None

    def stands(self, claim: Claim, sources: Sequence[Source]) -> bool:
        """True if any source holds the value of `claim`, wherever."""
        if claim.kind == "entity" and named(claim.text, (f"{s.title}\n{s.text}" for s in sources)):
            return True
        return bool(standing(self.found(claim), [prepare(s, self.regions) for s in sources]))


def named(name: str, texts: Iterator[str]) -> bool:
    """True if one of `texts` has the words of `name` in this order."""
    wanted = f" {_words(name)} "
    return any(wanted in f" {_words(text)} " for text in texts)


def _alone(text: str, within: str) -> int | None:
    pattern = rf"(?<![\w.,:/+-]){re.escape(text)}(?![\w:/-]|[.,]\d)"
    match = re.search(pattern, within)
    return match.start() if match else None


def _words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in caseless(text)).split())


def _within(place: Place, field: str, start: int, end: int) -> bool:
    return place.unit.field == field and start <= place.found.start and place.found.end <= end
