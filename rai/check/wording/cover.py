"""Statements that one sentence of a source covers in whatever order: all that they tell stands there, one of the two is negated.

"They do not serve breakfast" of "Breakfast is served at the inn". Only if no sentence that covers it has the same sense, under the
same conditions, and if at least half of what the source's sentence tells is told by the statement too.
"""

from __future__ import annotations

from collections.abc import Sequence

from rai.check.wording.antonyms import alike, generic, key
from rai.check.wording.sense import CLAUSES, Sense, comparable, turned

Groups = tuple[frozenset[str], ...]
"""For each word that a statement tells, the keys that may stand for it."""

LEAST = 2
"""Words that have to stand in the sentence itself; others may stand in the title of its source."""
_LIGHT = frozenset(
    key(w)
    for w in "offer have provide available there exist place option options able feature unfortunately currently also here".split()
)


def groups(mine: Sense) -> Groups:
    """What a statement tells, words that only say that something exists or frame it left out."""
    told = dict.fromkeys(k for k in mine.content if k not in _LIGHT and not generic(k))
    return tuple(frozenset({k}) | alike(k) for k in told)


def covers(told: Groups, theirs: Sense, title: frozenset[str]) -> bool:
    """True if all of `told` stands in a sentence and the title above it."""
    inside = sum(not group.isdisjoint(theirs.keys) for group in told)
    if inside < LEAST:
        return False
    return inside == len(told) or all(not g.isdisjoint(theirs.keys) or not g.isdisjoint(title) for g in told)


def against(mine: Sense, covering: Sequence[Sense]) -> int | None:
    """Which of the sentences that cover `mine` says the opposite; None if none does, or one of them agrees."""
    if mine.language != "en" or not CLAUSES.isdisjoint(mine.words) or any(not turned(mine, s) for s in covering):
        return None
    told = groups(mine)
    return next((n for n, s in enumerate(covering) if _clear(mine, told, s)), None)


def _clear(mine: Sense, told: Groups, theirs: Sense) -> bool:
    if not CLAUSES.isdisjoint(theirs.words) or not comparable(mine, theirs):
        return False
    negated = mine if mine.negations else theirs
    if not negated.single or mine.negations + theirs.negations != 1:
        return False
    more = [k for k in theirs.content if k not in _LIGHT and not generic(k) and not any(k in g for g in told)]
    return 2 * len(more) <= len(theirs.content)
