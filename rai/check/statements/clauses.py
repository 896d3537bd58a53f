"""Sentences cut into clauses: stretches that say one thing, each with its words and cues.

A cue is a word or phrase that turns or bounds what is said: not, at least, only if (`rai.check.lexicon`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from grounding.tables import table
from rai.check.lexicon.load import Cue, cues
from rai.check.statements.terms import Term, terms

SAME_START = 6
"""Letters that two longer words share at the beginning where they are one: approve, approval."""
FEWEST = 2
"""Fewest words that tell something in a clause of its own; a shorter stretch belongs to the clause before it."""
_TABLE = table(__file__)
_JOINTS: dict[str, str] = {code: "|".join(words) for code, words in _TABLE["joints"].items()}


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence that says one thing. `start`: its offset in the sentence, in characters; `code`: the language it is read in; `keys`: of its words; `starts`: the
    first `SAME_START` letters of each, by which words made of one another are found.
    """

    text: str
    start: int
    terms: tuple[Term, ...]
    cues: tuple[Cue, ...]
    code: str
    keys: frozenset[str]
    starts: frozenset[str]


@lru_cache(maxsize=4096)
def clauses(sentence: str, code: str) -> tuple[Clause, ...]:
    """The clauses of a sentence in the language `code`, in order; together they are the whole of it but for white space."""
    found = [m.start() for m in _cut(code).finditer(sentence)]
    told = cues(sentence, code)
    apart = [at for at in found if not any(_is_within(at, c) for c in told)]
    cuts = sorted({0, len(sentence), *apart})
    parts = [(a, b) for a, b in pairwise(cuts) if sentence[a:b].strip()]
    whole: list[tuple[int, int]] = []
    for start, end in parts:
        if whole and (_told(sentence[start:end], code) < FEWEST or _told(sentence[slice(*whole[-1])], code) < FEWEST):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    quoted = [(m.start(), m.end()) for m in _QUOTED.finditer(sentence)]
    return tuple(_clause(sentence, a, b, quoted, code) for a, b in whole)


def _is_within(at: int, cue: Cue) -> bool:
    """True of a cut that would part words which say one thing: 10 | or more, with | or without, not | before."""
    if cue.concept == "bounds_behind" and cue.key in ("least", "most"):
        return cue.start - 1 <= at < cue.end
    if cue.concept == "bounds":
        return cue.start < at < cue.end
    return cue.concept == "conditions" and cue.key == "regardless" and cue.start <= at < cue.end


def _clause(sentence: str, start: int, end: int, quoted: list[tuple[int, int]], code: str) -> Clause:
    """The clause at `sentence[start:end]`. What stands in quotation marks is a name and has no cues: "Loading does not work" denies nothing."""
    text = sentence[start:end]
    told = tuple(c for c in cues(text, code) if not any(a <= start + c.start < b for a, b in quoted))
    said = terms(text, code)
    return Clause(
        text, start, said, told, code, frozenset(t.key for t in said), frozenset(t.word[:SAME_START] for t in said)
    )


_QUOTED = re.compile(r"[“„«][^“”„«»]{1,60}[”“»]|(?<!\w)['‘\"][^'‘’\"]{1,60}['’\"](?!\w)")


def _told(text: str, code: str) -> int:
    return len(terms(text, code))


@lru_cache(maxsize=8)
def _cut(code: str) -> re.Pattern[str]:
    joints = _JOINTS.get(code, _JOINTS["en"])
    whole = "".join(rf"(?<!\b{word})" for word in _LEADING.get(code, _LEADING["en"]))
    concessive = _CONCESSIVE.get(code, _CONCESSIVE["en"])
    return re.compile(rf"[;:()–—](?=\s|\w)|,(?=\s)|{whole} (?=(?:{joints}|{concessive})\s)", re.IGNORECASE)


_LEADING: dict[str, tuple[str, ...]] = {code: tuple(words) for code, words in _TABLE["leading"].items()}
"""Words that belong to the joint behind them: even if, only when, whether or not."""
_CONCESSIVE: dict[str, str] = {code: "|".join(words) for code, words in _TABLE["concessive"].items()}
