"""Parallel sentences of a source, the same but for a name and what it is said of: each name belongs to its own subject.

"Leeds is led by Dr Abara. York is led by Dr Novak.": whoever names York and Dr Abara has taken another's name. In any other
running text a name is more often what is spoken of than what is said of it, and nothing is bound.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from grounding.text import STOP_WORDS, caseless
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import Place

Words = frozenset[str]
LONGEST_SUBJECT = 6
"""Most words of a subject."""
LONGEST = 400
"""Most characters of a sentence that is compared."""
_TOKEN = re.compile(r"\w+(?:[.'’-]\w+)*")
_SLOT = "\0"


def siblings(place: Place, others: Sequence[Place]) -> list[tuple[Place, Words, Words]]:
    """Those of `others` that stand in a sentence parallel to that of `place`, each with the subject of `place` and its own.

    A subject is the words that the other sentence lacks.
    """
    found = []
    for other in others:
        if other.source != place.source or other.unit is place.unit or other.unit.row != place.unit.row:
            continue
        subjects = _subjects(_pattern(place), _pattern(other))
        if subjects:
            mine, theirs = (role_terms(s) | numbered(s) for s in subjects)
            if mine - theirs and theirs - mine:
                found.append((other, mine - theirs, theirs - mine))
    return found


def another_subject(found: Sequence[tuple[Place, Words, Words]], layers: Sequence[Words]) -> Place | None:
    """The sibling whose subject the first telling one of `layers` names, none of them naming that of the place itself."""
    for words in layers:
        if any(words & mine for _, mine, _ in found):
            return None
        named = [
            (len(words & theirs) / len(theirs), o) for o, _, theirs in found if 2 * len(words & theirs) >= len(theirs)
        ]
        if named:
            return max(named, key=lambda n: n[0])[1]
    return None


def _pattern(place: Place) -> tuple[str, ...]:
    text, unit = place.text(), place.unit
    if unit.field != "text" or unit.end - unit.start > LONGEST:
        return ()
    return (*_tokens(text[unit.start : place.found.start]), _SLOT, *_tokens(text[place.found.end : unit.end]))


@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(caseless(text)))


def _subjects(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, str] | None:
    """The one stretch of words in which two sentences differ, their names set aside; None if they differ otherwise."""
    least = min(len(mine), len(theirs))
    head = next((i for i in range(least) if mine[i] != theirs[i]), least)
    tail = next((i for i in range(least - head) if mine[-1 - i] != theirs[-1 - i]), least - head)
    here, there = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    shared = {*mine[:head], *mine[len(mine) - tail :]} - {_SLOT}
    if not here or not there or max(len(here), len(there)) > LONGEST_SUBJECT or _SLOT in here + there:
        return None
    return (" ".join(here), " ".join(there)) if any(w not in STOP_WORDS for w in shared) else None
