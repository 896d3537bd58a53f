"""Values taken from another row, column or card than all else that their sentence says: "Tendai Marsh, on 020 7946 0330", of the card above hers.

A card is a group of lines between blank lines, such as an address block. No word need be shared. What anchors a sentence is what it says
beside the value: names, numbers and times that stand in one row, column or card alone, and on cards words that no other card has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from grounding.text import terms
from rai.check.answer import Answer, is_compared
from rai.check.comparison.values import same_value
from rai.check.context import Finding, name_of
from rai.check.reading.cards import card_at, cards_of
from rai.check.reading.keys import Line, line_at, rows_of
from rai.check.reading.sources import Place
from rai.records import CONTACT_KINDS, Claim

MOST_BESIDE = 12
"""Most other values of a sentence that are looked at as its anchors."""
FEWEST = 2
"""Fewest anchors that must stand in one row, column or card, and none in that of the value, before the value is taken for another's."""
_WORD = 3
"""Letters of the shortest word that may tell one card from others."""


@dataclass(frozen=True, slots=True)
class _SaidBeside:
    """What an answer says beside its n-th value: the places of each value of its sentence, and of the sentence before."""

    n: int
    answer: Answer
    anchors: Sequence[Sequence[Place]]
    earlier: Sequence[Sequence[Place]]


@dataclass(frozen=True, slots=True)
class _Region:
    """One way to divide a source into regions, rows, columns or cards, seen from a value in `line`.

    `by`: the rule that goes by it (other-row, other-column, other-card); `own`: the number of the value's own region; `contact`: whether
    the value is a contact, which any other of its kind on a card may replace, whatever its label.
    """

    by: str
    own: int
    text: str
    line: Line
    contact: bool = False

    def of(self, start: int) -> int | None:
        """The row, column or card at an offset; None outside of them."""
        if self.by == "other-card":
            return card_at(self.text, start)
        line = line_at(self.text, start)
        if line.group != self.line.group or line.kind != "row":
            return None
        return line.start if self.by == "other-row" else line.column(start)

    def piece(self, start: int) -> tuple[int, int]:
        """The cell, or the line with a label, that an offset is in."""
        if self.line.kind == "row":
            return next(((a, b) for a, b in self.line.cells if a <= start < b), (start, start))
        return (self.line.start, self.line.end) if self.line.kind == "label" and not self.contact else (start, start)

    def beside(self, start: int) -> int | str:
        """What a rival has to share with the value: of another row the column, of another column the row, of another card the label; of contacts nothing."""
        line = line_at(self.text, start)
        if self.by == "other-card":
            return line.label.strip(" *").lower() if self.line.kind == "label" and not self.contact else ""
        return line.column(start) if self.by == "other-row" else line.start


def elsewhere(n: int, claim: Claim, places: Sequence[Place], others: Sequence[Place], answer: Answer) -> Finding | None:
    """`wrong_role` for a value whose every place lies apart from what anchors its sentence, while a rival lies there; else None.

    `n`: the number of the value, `places`: where it stands in the sources, `others`: the places of other values of its kind and measure.
    """
    if is_compared(n, answer):
        return None
    anchors = [answer.standing(m) for m in islice(_beside(n, answer), MOST_BESIDE)]
    earlier = [answer.standing(m) for m in islice(_before(n, answer), MOST_BESIDE)]
    told = _SaidBeside(n, answer, anchors, earlier)
    first: tuple[str, Place] | None = None
    for place in places:
        rivals = ((way, _rival(way, place, others, told)) for way in _regions(claim, place))
        found = next(((way.by, rival) for way, rival in rivals if rival is not None), None)
        if found is None:
            return None
        first = first or found
    if first is None:
        return None
    by, rival = first
    spans = (places[0].span(), rival.span())
    why = f"{name_of(places[0])} has {spans[0].text} elsewhere; where it says the rest of this sentence it has {spans[1].text}."
    if by == "other-row" and claim.kind not in CONTACT_KINDS:
        return Finding("unchecked", spans, why, rule=by)
    return Finding("wrong_role", spans[:1], why, instead=spans[1], rule=by)


def _beside(n: int, answer: Answer) -> Iterator[int]:
    """The numbers of the other values of the sentence."""
    return (m for m in answer.near(n, 0) if m != n)


def _before(n: int, answer: Answer) -> Iterator[int]:
    """The numbers of the values of the sentence before."""
    return (m for m in answer.near(n, 1) if answer.at[m] == answer.at[n] - 1)


def _regions(claim: Claim, place: Place) -> Iterator[_Region]:
    if place.unit.field != "text":
        return
    text, start = place.text(), place.found.start
    line = line_at(text, start)
    if line.kind == "row":
        if line in rows_of(text, line):
            yield _Region("other-row", line.start, text, line)
            yield _Region("other-column", line.column(start), text, line)
    elif (claim.kind in CONTACT_KINDS or line.kind == "label") and (card := card_at(text, start)) is not None:
        yield _Region("other-card", card, text, line, contact=claim.kind in CONTACT_KINDS)


def _rival(way: _Region, place: Place, others: Sequence[Place], told: _SaidBeside) -> Place | None:
    """The value that stands where the sentence is anchored, if that is not where `place` is and the answer does not say it too.

    The sentence before counts for rows, where the sentence itself tells nothing.
    """
    n, answer = told.n, told.answer
    counted = _counted(way, place, told.anchors)
    if way.by == "other-card" and way.contact:
        counted.update(_worded(n, place, answer))
    if way.by == "other-row" and not counted and not _names_row(way, n, answer):
        counted = _counted(way, place, told.earlier)
    if way.own in counted or not counted:
        return None
    there, many = counted.most_common(1)[0]
    if many < FEWEST or list(counted.values()).count(many) > 1:
        return None
    beside = way.beside(place.found.start)
    for other in others:
        if other.source != place.source or other.unit.field != "text" or way.of(other.found.start) != there:
            continue
        if other.found.kind == place.found.kind and way.beside(other.found.start) == beside:
            return None if any(same_value(v, other.found, other.line()) for v in answer.values) else other
    return None


def _counted(way: _Region, place: Place, anchors: Sequence[Sequence[Place]]) -> Counter[int]:
    """By the number of a row, column or card, how many anchors stand there alone; values in the cell of `place` itself do not count."""
    counted = Counter[int]()
    start, end = way.piece(place.found.start)
    for held in anchors:
        if any(p.source == place.source and start <= p.found.start < end for p in held):
            continue
        found = {at for p in held if p.source == place.source and (at := way.of(p.found.start)) is not None}
        counted.update(found if len(found) == 1 else ())
    return counted


def _names_row(way: _Region, n: int, answer: Answer) -> bool:
    """True if the sentence says a word of the row of its value."""
    row = frozenset(terms(way.text[way.line.start : way.line.end]))
    said = terms(answer.sentence(n).replace(answer.written(n), " "))
    return any(w in row for w in said if not w[0].isdigit())


def _worded(n: int, place: Place, answer: Answer) -> Iterator[int]:
    """The card of each word of the sentence that stands on one card alone."""
    words = _words_of_cards(place.text())
    said = terms(answer.sentence(n).replace(answer.written(n), " "))
    for word in dict.fromkeys(w for w in said if len(w) >= _WORD and not w[0].isdigit()):
        cards = words.get(word, ())
        if len(cards) == 1:
            yield cards[0]


@lru_cache(maxsize=256)
def _words_of_cards(text: str) -> dict[str, tuple[int, ...]]:
    """By word, the numbers of the cards that have it, ascending."""
    found: dict[str, dict[int, None]] = {}
    for n, (start, end) in enumerate(cards_of(text)):
        for word in terms(text[start:end]):
            found.setdefault(word, {})[n] = None
    return {word: tuple(cards) for word, cards in found.items()}
