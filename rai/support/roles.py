"""Whether a value stands in the source for what the answer says it is: the first, safe step of role binding.

1. A value counts only in a sentence or row that shares a content word with the claim's sentence, or whose title,
   heading or sentence before does. A claim sentence without content words of its own takes those of the question.
2. Among sentences or rows with values of the same kind, words that only some of them have tell them apart (the plan,
   the day, the product). If the claim names such a word of another row and none of the row that holds the value, the
   value is another's.
"""

from __future__ import annotations

from collections.abc import Sequence

from rai.support.sources import Place
from rai.support.words import role_terms

Words = frozenset[str]


def in_role(places: Sequence[Place], words: Words, question: Words) -> list[Place]:
    """Places whose sentence, title, heading or sentence before shares a content word with the claim's."""
    asked = words or question
    if not asked or (len(words) <= 2 and not question):
        return list(places)
    direct = [p for p in places if asked & (p.unit.terms | p.unit.context)]
    # "It is $19." has hardly any word to share: the question says what "it" is
    return direct or [p for p in places if len(words) <= 2 and question & (p.unit.terms | p.unit.context)]


def rival(place: Place, others: Sequence[Place], words: Words, question: Words) -> Place | None:
    """Another row with another value of the same kind, which the claim names and `place` is not, or None.

    `others`: values of the same kind in the same source. Only words that do not stand in all candidate units count.
    """
    candidates = {id(p.unit): p for p in (place, *others) if p.unit.field == "text"}
    if len(candidates) < 2 or place.unit.field != "text":
        return None
    common = frozenset.intersection(*(p.unit.terms for p in candidates.values()))
    told_apart = frozenset().union(*(p.unit.terms for p in candidates.values())) - common
    named = (words & told_apart) or (question & told_apart if len(words) <= 2 else frozenset())
    if not named or named & place.unit.terms:
        return None
    best = max(candidates.values(), key=lambda p: (len(named & p.unit.terms), -p.unit.start))
    return best if _alike(place, best) and len(named & best.unit.terms) >= len(named) else None


def other_cell(place: Place, clause: str) -> bool:
    """True if the clause names the label of another cell of the value's row, and not the one that the value stands in.

    Only words that one label alone has count: "Watch Plus has 1 camera" of "Watch Basic: 1 | Watch Plus: up to 5".
    """
    row = place.text()[place.unit.start : place.unit.end]
    if place.unit.field != "text" or " | " not in row:
        return False
    at = row.count(" | ", 0, place.found.start - place.unit.start)
    labels = [role_terms(cell.partition(":")[0]) if ":" in cell else frozenset() for cell in row.split(" | ")]
    if at >= len(labels) or not labels[at] or labels.count(labels[at]) > 1:
        return False
    words = role_terms(clause)
    own, others = labels[at], [x for n, x in enumerate(labels) if n != at and x]
    telling = own - frozenset().union(*others)
    # labels that share a word are of one kind (plans, days); a price has nothing to do with the name of its row
    rivals = [x - own for x in others if x & own and x - own and x - own <= words]
    return bool(telling) and bool(rivals) and not telling & words


def _alike(place: Place, other: Place) -> bool:
    """Two rows of a table, or two sentences that say the same thing of two subjects."""
    if place.unit.row and other.unit.row:
        return True
    shared, least = place.unit.terms & other.unit.terms, min(len(place.unit.terms), len(other.unit.terms))
    return least > 0 and len(shared) * 2 >= least
