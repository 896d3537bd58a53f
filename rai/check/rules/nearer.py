"""Values whose surrounding words ask for another one: "drones have 14 days", where the source says 14 of phones and 15 of drones.

The values of one kind that a document has are candidates, then those of all documents: what an answer says of lost property may stand in a page that has
30 days for lockers alone. Which of them the answer asks for by its words, and by what else it takes from there, a fitted model says (`rai.check.places`).
Free wording shares words with none of them, and then nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from rai.check.answer import Answer, is_compared
from rai.check.context import Finding, name_of
from rai.check.places.labels import labels_of
from rai.check.places.rank import Ranked, model, ranked
from rai.check.reading.frames import Frame
from rai.check.reading.keys import line_at
from rai.check.reading.owners import label_words, owner
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.claims.numbers.rates import same_per
from rai.records import CONTACT_KINDS

MOST_RIVALS = 60
"""Most values of the documents that are weighed against a value."""
MOST_PLACES = 12
"""Most places of a value that is weighed at all; what stands oftener is told by no words."""
MOST_BESIDE = 24
"""Most values beside one in the answer that are looked at, for they may be the rival itself."""
NAMED_FROM = 5.0
"""The margin (`Ranked.margin`) from which even a contact is called another's whose own characters say whose it is: claims@…, below "Claims"."""
_SHORT = len("tel:12345")
"""Fewest characters of an ordinary telephone number; a shorter one, 911, nobody takes for a desk's."""
_SKIPPED = ("entity", "number")
"""Kinds that are not weighed: a document has too many of them that are no rivals."""
_RANGE = re.compile(
    r"\s?(?:[-–—/]|to|until|through|bis|au|à|al?|hasta|fino al?|até|tot|do|and|und|et|y|e|i|en)\s?(?:the )?",
    re.IGNORECASE,
)


def nearer(n: int, places: Sequence[Place], others: Iterable[Place], answer: Answer) -> Finding | None:
    """`unchecked` for a value whose surrounding words ask for one of `others`; `wrong_role` for a contact if they do so clearly; else None.

    `n`: the number of the value, `places`: where it stands in the sources. An amount is never condemned by that: of nine that were, four
    were right.
    """
    contest = contested(n, places, others, answer)
    if contest is None:
        return None
    here, rivals = contest
    documents = {p.source for p in here}
    beside = [r for r in rivals if r.source in documents]
    circles = [beside, rivals] if 0 < len(beside) < len(rivals) else [rivals]
    found = (_asked_for(n, here, each, answer) for each in circles)
    return next((finding for finding in found if finding is not None), None)


def _asked_for(n: int, here: list[Place], rivals: list[Place], answer: Answer) -> Finding | None:
    found, fitted = ranked(n, here, rivals, answer), model()
    if answer.values[n].kind in CONTACT_KINDS:
        if _says_whose(found, answer.sentence(n)):
            return None
        if found.margin >= (NAMED_FROM if labels_of(found.place).says_itself else fitted.contact_from):
            return _another(found)
        if labels_of(found.place).says_itself:
            return None
        return _doubtful(found) if found.margin >= fitted.contact_doubt_from else None
    return _doubtful(found) if found.margin >= fitted.doubt_from else None


def _says_whose(found: Ranked, sentence: str) -> bool:
    """True if the sentence of a contact has a word of the contact's owner that the rival's has not, and none that only the rival's has."""
    mine, theirs, said = owner(found.place), owner(found.rival), label_words(sentence)
    return bool((mine - theirs) & said) and not (theirs - mine) & said


def contested(
    n: int, places: Sequence[Place], others: Iterable[Place], answer: Answer
) -> tuple[list[Place], list[Place]] | None:
    """The places of the n-th value, and those of values that could be said instead of it.

    None if it has no rival, or stands where the words around it do not tell: in a heading, in a key of a table, behind "instead of".
    """
    value = answer.values[n]
    here = [p for p in places if p.found.kind == value.kind]
    if value.kind in _SKIPPED or answer.at[n] < 0 or _is_weekday(value) or not here or len(here) > MOST_PLACES:
        return None
    if (
        any(p.frame.key or _is_above(p) for p in here)
        or answer.around[value].frame.past == "surely"
        or is_compared(n, answer)
    ):
        return None
    documents = {p.source for p in here}
    rivals = sorted((o for o in others if not o.found.shares_form(value)), key=lambda o: o.source not in documents)
    rivals = rivals[:MOST_RIVALS]
    frame = answer.around[value].frame
    rivals = [r for r in rivals if _is_comparable(value, frame, r)]
    if not rivals:
        return None
    said = _said_beside(n, answer)
    rivals = [r for r in rivals if id(r) not in said]
    alone = _is_alone_of_its_kind(n, answer)
    rivals = [
        r
        for r in rivals
        if not any(_is_range(p, r) or (not alone and r.unit is p.unit and "|" not in r.unit.line) for p in here)
    ]
    return (here, rivals) if rivals else None


def _is_alone_of_its_kind(n: int, answer: Answer) -> bool:
    """Whether a sentence has no other value of the kind that no source has: such a one stands for a neighbour of this, whose words are there for it."""
    kind = answer.values[n].kind
    near = islice((m for m in answer.near(n, 0) if m != n), MOST_BESIDE)
    return not any(answer.values[m].kind == kind and not answer.standing(m) for m in near)


def _another(found: Ranked) -> Finding:
    spans = found.place.span(), found.rival.span()
    why = f"{name_of(found.place)} has {spans[0].text} for something else; of what the sentence names it says {spans[1].text}."
    return Finding("wrong_role", spans[:1], why, instead=spans[1], rule="words-of-another", p=round(found.p, 3))


def _doubtful(found: Ranked) -> Finding:
    spans = found.place.span(), found.rival.span()
    why = f"The words of the sentence stand rather by {spans[1].text} in {name_of(found.rival)}."
    return Finding("unchecked", spans, why, rule="words-nearer", p=round(found.p, 3))


def _is_weekday(value: Found) -> bool:
    """True of a day of the week by itself: days have rules of their own."""
    return value.value.startswith("-W-")


def _is_above(place: Place) -> bool:
    """True of a value in a title or heading, which is said of all that stands below."""
    return (
        place.unit.field == "title"
        or place.unit.heading
        or line_at(place.source.text, place.found.start).kind == "heading"
    )


def _is_comparable(value: Found, frame: Frame, rival: Place) -> bool:
    """True if the rival could be said in the value's place: in the same unit, per the same, a day for a day, a start for a start."""
    theirs = rival.found
    if _is_above(rival) or theirs.kind != value.kind or rival.frame.key or _shape(theirs) != _shape(value):
        return False
    if value.kind == "phone" and (len(theirs.value) < _SHORT) != (len(value.value) < _SHORT):
        return False
    if not same_per(value.per, theirs.per) or (_unit(theirs) != _unit(value) and not rival.unit.row):
        return False
    if value.kind == "time" and frame.days and rival.frame.days and not frame.days & rival.frame.days:
        return False
    return not (frame.bound and rival.frame.bound and frame.bound != rival.frame.bound)


def _is_range(place: Place, other: Place) -> bool:
    """True of the two ends of one range."""
    first, second = sorted((place, other), key=lambda p: p.found.start)
    return place.unit is other.unit and _RANGE.fullmatch(place.text(), first.found.end, second.found.start) is not None


def _shape(found: Found) -> str:
    """The currency of an amount; how a date is written: a weekday, a day, a month, a year."""
    if found.kind == "date":
        return re.sub(r"\d+", "0", found.value).replace("0-", "--", 1) if not found.value.startswith("-W-") else "-W-"
    return found.value.partition(" ")[2] if found.kind == "money" else ""


def _unit(found: Found) -> str:
    """The unit of a quantity, "" of other values."""
    return found.value.partition(" ")[2] if found.kind == "quantity" else ""


def _said_beside(n: int, answer: Answer) -> frozenset[int]:
    """The identities (`id`) of the places of values that the answer says close by itself: its words are there for those."""
    near = islice((m for m in answer.near(n, 1) if m != n), MOST_BESIDE)
    return frozenset(id(place) for m in near for place in answer.standing(m))
