"""Helpers for rules about numbers: the number of a value, its position in its sentence, and the source values that speak of the same thing.

Used by rounding, by conflict and by what is worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice

from rai.check.comparison.lookup_keys import measure
from rai.check.context import Around, CheckContext
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place
from rai.check.roles import SaidAround, clash, in_role, rival
from rai.claims.found import Found
from rai.records import Claim

LONGEST_SENTENCE = 600
"""Most characters of a sentence that is kept whole; of a longer one only what stands next to the value is."""
MOST_CANDIDATES = 24
"""Most values of the sources that are weighed for one claim."""
MOST_RIVALS = 64
"""Most other values of the same kind and measure that are compared with a place, to see whether the claim means one of them."""

_NUMERIC = ("number", "quantity", "money", "percent")


@dataclass(frozen=True, slots=True)
class Spot:
    """A claim in its sentence: `sentence[start:end]` is the claim's text."""

    sentence: str
    start: int
    end: int

    @property
    def before(self) -> str:
        """What the sentence says before the value."""
        return self.sentence[: self.start]

    @property
    def after(self) -> str:
        """What the sentence says after the value."""
        return self.sentence[self.end :]

    @property
    def words(self) -> frozenset[str]:
        """Role words of the sentence without the value."""
        return role_terms(f"{self.before} {self.after}")


def spot_of(claim: Claim, around: Around) -> Spot:
    """The claim in its sentence; of a sentence longer than `LONGEST_SENTENCE` only the 40 characters to each side are kept."""
    sentence = around.sentence
    if len(sentence) <= LONGEST_SENTENCE:
        at = sentence.find(claim.text)
        while at >= 0:
            tail = min(at, len(around.preceding))
            if sentence[at - tail : at] == around.preceding[len(around.preceding) - tail :]:
                return Spot(sentence, at, at + len(claim.text))
            at = sentence.find(claim.text, at + 1)
    near = f"{around.preceding}{claim.text}{around.following}"
    return Spot(near, len(around.preceding), len(around.preceding) + len(claim.text))


def number_of(found: Found) -> Decimal | None:
    """The number of a value in its likeliest reading: 1200 of "1200 USD", 4.5 of "4.5%"; None of a date, a time, a name."""
    if found.kind not in _NUMERIC:
        return None
    try:
        return Decimal(found.value.partition(" ")[0].rstrip("%"))
    except InvalidOperation:
        return None


def kindred(mine: Found, theirs: Found) -> bool:
    """True if two values are of one kind and measure the same: one unit, one currency."""
    return mine.kind == theirs.kind and measure(mine) == measure(theirs)


def role_fitting(places: Sequence[Place], spot: Spot, around: Around, context: CheckContext) -> list[Place]:
    """The `places` that speak of what the claim's sentence speaks of, and of nothing else.

    `places`: values of one kind and measure; the first `MOST_CANDIDATES` are looked at.
    """
    words = spot.words
    told = SaidAround(around.frame, words, context.question_terms | around.leading)
    fitting = in_role(places[:MOST_CANDIDATES], words, context.question_terms | around.leading)
    fitting = [p for p in fitting if clash(told, p) is None]
    if not fitting:
        return []
    every = (p for s in context.sources for p in s.places if kindred(fitting[0].found, p.found))
    others = list(islice(every, MOST_RIVALS))
    return [p for p in fitting if rival(told, p, [o for o in others if not _agree(p, o)]) is None]


def _agree(place: Place, other: Place) -> bool:
    return place is other or place.found.shares_form(other.found)
