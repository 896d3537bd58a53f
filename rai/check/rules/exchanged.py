"""Values that an answer puts in each other's place: "Berlin on 089 …, Munich on 030 …", where the source has them the other way round.

An answer that names two things and gives both their values is read generously elsewhere, since free wording names them in any order. What stands
right beside a value is another matter: the name of the rival alone there, and not its own name beside the rival's value, is no wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rai.check.answer import Answer
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place, clause_of, said_of
from rai.records import CONTACT_KINDS, Kind

_OF_THE_LAST = re.compile(r"^\s?(?:\(|(?:for|in|at|of|für|in|im|bei|à|pour|en|para|per|a|em|voor|w|dla) )")
"""Behind a value, what it is of: "030 1234567 (Berlin)", "$5 in Berlin"."""
_ENDS = re.compile(r"[,;.)\n]|\s(?:and|und|et|y|e|en|i) ")
"""Where that ends."""
_NEXT = 12
"""Values to each side among which the next one of a kind, and one that changed places with it, are looked for."""
_REACH = 300
"""Characters to each side of a value that are read: no person says later what it is of."""


def is_exchanged(n: int, place: Place, rivals: Iterable[int], other: Place, answer: Answer) -> bool:
    """True if beside the n-th value, which stands at `place`, the answer names what `other` is of, and beside `other`'s own value, one of `rivals`, something else."""
    mine, theirs = said_of(place), said_of(other)
    if other.unit is place.unit:
        mine, theirs = clause_of(place), clause_of(other)
    own, others = mine - theirs, theirs - mine
    before, behind = _beside(n, answer)
    for said, at in ((before, 0), (behind, 1)):
        if said & others and not said & own:
            return not any(_beside(m, answer)[at] & others for m in rivals)
    return False


def exchanged(n: int, places: Sequence[Place], answer: Answer) -> Place | None:
    """The place of another value near the n-th, with which it has changed places: each stands beside the other's name and not beside its own. None if there is none.

    `places`: where the n-th value may stand. Amounts only in tables: in prose one is beside many a name.
    """
    kind = answer.values[n].kind
    if kind not in _KINDS:
        return None
    mine, beside = places[:_FEW], [m for m in range(n - _NEXT, n + _NEXT + 1) if m != n and m in answer.near(n, 1)]
    for m in (m for m in beside if answer.values[m].kind == kind):
        for other in answer.standing(m)[:_FEW]:
            in_rows = other.unit.row and all(p.unit.row for p in mine)
            if (kind in CONTACT_KINDS or in_rows) and all(_are_exchanged(n, p, m, other, answer) for p in mine):
                return other
    return None


def _are_exchanged(n: int, place: Place, m: int, other: Place, answer: Answer) -> bool:
    return is_exchanged(n, place, [m], other, answer) and is_exchanged(m, other, [n], place, answer)


_KINDS: frozenset[Kind] = CONTACT_KINDS | {"money"}
_FEW = 4
"""Places of a value that are looked at: one that stands often stands for much."""


def _beside(n: int, answer: Answer) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the n-th value's sentence that stand before it, and those behind it that are said to be its own, as far as the next value of its kind."""
    value, at = answer.values[n], answer.at[n]
    if at < 0:
        return frozenset(), frozenset()
    span, text = answer.sentences[at], answer.text
    alike = [v for v in answer.values[max(0, n - _NEXT) : n + _NEXT + 1] if v.kind == value.kind]
    start = max([span.start, *(v.end for v in alike if v.end <= value.start)])
    end = min([span.end, *(v.start for v in alike if v.start >= value.end)])
    before, behind = (
        text[max(start, value.start - _REACH) : value.start],
        text[value.end : min(end, value.end + _REACH)],
    )
    if start > span.start and _OF_THE_LAST.match(before):
        before = before[found.start() :] if (found := _ENDS.search(before)) else ""
    behind = _ENDS.split(behind, maxsplit=1)[0] if _OF_THE_LAST.match(behind) else ""
    return role_terms(before), role_terms(behind)
