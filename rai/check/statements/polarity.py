"""Words that an answer denies and a source affirms of the same thing, or the other way round.

Clauses differ too much between free wording and a source for whole ones to be set against each other: "its date or time can't be
changed either" and "You may, however, change the date or time of an Advance journey". The word behind the negation tells, with its object
and what stands around it on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rai.check.lexicon.load import Cue, cues
from rai.check.phrasing.antonyms import exclusive, opposite
from rai.check.statements.contrast import NEGATIVE, same_word
from rai.check.statements.source_pieces import SourcePiece
from rai.check.statements.terms import Term, terms

FEWEST = 2
"""Fewest words around the denied one that both sides have."""
_AROUND = 7
"""Words to each side of a word that count as standing around it."""
_NEXT = 30
"""Most characters from a negation to the word that it denies."""
_STOP = re.compile(r"[.;:!?()—]|, (?:but|aber|mais|pero|ma|mas|maar|ale)\b")


@dataclass(frozen=True, slots=True)
class Head:
    """A word that may be denied, with the words around it. `object`: the word right behind it, or the one before where none is; `denied`:
    whether a negation bears on it.
    """

    word: Term
    object: Term | None
    around: tuple[Term, ...]
    denied: bool


@dataclass(frozen=True, slots=True)
class Clash:
    """A word that the answer says and the piece `unit` of a source denies, or the other way round."""

    mine: Head
    theirs: Head
    unit: SourcePiece


def clash(plain: str, units: Sequence[SourcePiece], code: str) -> Clash | None:
    """The first word of the sentence `plain` that a piece turns round, and none has as the sentence does; None if there is none.

    `units`: the pieces to look at; `code`: the language of both.
    """
    told = cues(plain, code)
    denying = _denies(told)
    if _is_limited(plain, told, denying=True):
        return None
    for head in heads(plain, code):
        if denying and not head.denied:
            continue
        found = [(u, other, _shared(head, other)) for u in units for other in _same(head, u, code)]
        against = [
            (u, o, n)
            for u, o, n in found
            if o.denied != head.denied
            and n >= FEWEST
            and not _is_limited(u.span.text, _telling(u.span.text, u.cues, o.word), denying=o.denied)
            and (o.denied or not _denies(u.cues))
        ]
        if against and not any(other.denied == head.denied for _, other, _ in found):
            unit, other, _ = max(against, key=lambda a: a[2])
            return Clash(head, other, unit)
    return None


def _telling(text: str, told: Sequence[Cue], word: Term) -> list[Cue]:
    """The cues of a sentence that bear on `word`: an "only" of another stretch between commas does not."""
    return [c for c in told if c.key != "only" or "," not in text[min(c.start, word.start) : max(c.start, word.start)]]


def _denies(told: Sequence[Cue]) -> bool:
    return any(c.concept == "negation" or c.key in NEGATIVE for c in told)


def _is_limited(text: str, told: Sequence[Cue], *, denying: bool) -> bool:
    """True of what holds under a condition, for some, or at another time; of what is denied also if it is denied up to a bound or from one on."""
    return any(
        (c.concept == "conditions" and c.key != "requires")
        or (c.concept == "universals" and c.key == "some")
        or (c.concept == "negation" and c.key != "not")
        or (
            c.concept == "past"
            and c.key == "past"
            and not any(n.concept == "negation" and n.start == c.start for n in told)
        )
        or (denying and c.concept == "bounds" and c.key in ("before", "until"))
        or (denying and c.concept in ("bounds", "bounds_behind") and c.key in _LIMITS and _NUMBER.match(text, c.end))
        for c in told
    )


_LIMITS = ("after", "over", "under", "least", "from")
_NUMBER = re.compile(r".{0,12}\d")


def _same(head: Head, unit: SourcePiece, code: str) -> Iterator[Head]:
    if unit.question or unit.row:
        return
    for other in heads(unit.span.text, code):
        if head.word.key == other.word.key and _object_shared(head, other) and not _of_another(head, other):
            yield other


def _of_another(mine: Head, theirs: Head) -> bool:
    """True if the two tell apart what they speak of: who cancels early, who cancels late."""
    ours = [a for a in mine.around if not any(same_word(a, b) for b in theirs.around)]
    others = [b for b in theirs.around if not any(same_word(a, b) for a in mine.around)]
    return any(opposite(a.key, b.key) or exclusive(a.key, b.key) for a in ours for b in others)


def _object_shared(mine: Head, theirs: Head) -> bool:
    denied, other = (mine, theirs) if mine.denied else (theirs, mine)
    return denied.object is not None and any(same_word(denied.object, t) for t in other.around)


def _shared(mine: Head, theirs: Head) -> int:
    return sum(any(same_word(a, b) for b in theirs.around) for a in mine.around)


@lru_cache(maxsize=4096)
def heads(text: str, code: str) -> tuple[Head, ...]:
    """Every word of a text that can be denied, numbers left out, with what stands around it."""
    told = terms(text, code)
    negations = [
        c
        for c in cues(text, code)
        if ((c.concept == "negation" and c.key == "not") or c.key == "may/forbidden") and not _sets_apart(text, c)
    ]
    denied = {n for c in negations if (n := _behind(text, c, told)) is not None}
    # "no older than" is a bound, and denies all the same
    denied |= {n for n, t in enumerate(told) if _is_denied_bound(text, t)}
    return tuple(_head(text, told, n, denied=n in denied) for n, t in enumerate(told) if not t.digits)


def _is_denied_bound(text: str, term: Term) -> bool:
    """True if a negation stands right before a word, and does not only name another: "in Derby, not Burton"."""
    found = _RIGHT_BEFORE.search(text, max(0, term.start - 12), term.start)
    return found is not None and text[: found.start()].rstrip()[-1:] not in _APART


_APART = (",", "–", "—", "(", "-")
_RIGHT_BEFORE = re.compile(r"\b(?:no|not|never|nicht|nie|pas|non|não|niet)\s+$", re.IGNORECASE)


def _sets_apart(text: str, negation: Cue) -> bool:
    """True of what only names another: at Mill Lane, not at Fenwick."""
    return text[: negation.start].rstrip()[-1:] in _APART


def _behind(text: str, negation: Cue, told: Sequence[Term]) -> int | None:
    for n, term in enumerate(told):
        if term.start >= negation.end:
            between = text[negation.end : term.start]
            return None if len(between) > _NEXT or _STOP.search(between) or "," in between else n
    return None


def _head(text: str, told: Sequence[Term], n: int, *, denied: bool) -> Head:
    after = told[n + 1] if n + 1 < len(told) else None
    if after is not None and (after.word in _NO_OBJECT or re.search(r"[.;:!?,(—]", text[told[n].end : after.start])):
        after = None
    around = (*told[max(0, n - _AROUND) : n], *told[n + 1 : n + 1 + _AROUND])
    return Head(told[n], after or (told[n - 1] if n else None), around, denied)


_NO_OBJECT = frozenset(
    "either too also again already yet ever auch plus non plus tampoco neanche também ook też".split()
)
