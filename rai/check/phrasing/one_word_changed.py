"""Sentences that repeat a line of a source but for one word, where that word decides: its opposite, another of its kind, or more than was said.

Only near repetitions are decided here, because in them alone does one word stand for certain in the place of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from grounding.tables import both_ways, slashed
from rai.check.phrasing.antonyms import exclusive, opposite
from rai.check.phrasing.evidence import EvidenceLine, Word
from rai.check.phrasing.sense import GUARDS

LEFT_OUT = 0.34
"""Most of the line's content words, as a share, that a near repetition may leave out."""

_SURE = frozenset("will must shall always definitely".split())
_UNSURE = frozenset("may might could possibly perhaps sometimes".split())
_CARRIERS = frozenset("a an the is are was were be been do does did will to of".split())
_PLAIN_NEGATION = frozenset("not no never none nor neither cannot without unable nothing nobody".split())


_EXCLUDE = both_ways(
    slashed(
        "always/never all/no all/none every/no each/no everyone/nobody everybody/nobody everything/nothing everywhere/nowhere both/neither "
        "either/neither with/without before/after above/below over/under up/down on/off more/less more/fewer most/least inside/outside "
        "in/outside within/outside until/from until/after until/since until/before including/excluding including/except into/from "
        "immer/nie alle/keine mit/ohne vor/nach mehr/weniger ein/aus toujours/jamais avec/sans avant/après plus/moins sempre/mai con/senza "
        "prima/dopo più/meno siempre/nunca con/sin antes/después más/menos sempre/nunca com/sem antes/depois mais/menos"
    )
)
"""Small words that exclude one another in the same place."""
_OTHER_WAY = both_ways(slashed("to/from for/against by/to nach/aus"))
"""Small words that turn round who or whereto, without saying the opposite."""
_COUNTERPARTS = {w: _EXCLUDE.get(w, frozenset()) | _OTHER_WAY.get(w, frozenset()) for w in {*_EXCLUDE, *_OTHER_WAY}}
_EVERY = frozenset("all every each always everyone everything everywhere".split())
_PART = frozenset("some most many several few mostly usually sometimes often certain selected".split())
_MUTUAL = frozenset("meet marri equal resemble match differ face join visit".split())
_LISTED = frozenset("and or with plus versus than".split())


@dataclass(frozen=True, slots=True)
class WordingDecision:
    """What one changed word makes of a sentence: its status and the reason, a sentence for a person."""

    status: Literal["contradicted", "absent"]
    why: str


def decide_one_word(mine: Sequence[Word], line: EvidenceLine) -> WordingDecision | None:
    """What one changed word, or two names that have changed places, make of a near repetition of `line`.

    `mine`: the words of the repetition. None if it is none, or if its change decides nothing.
    """
    told = [w for w in line.words if w.content]
    steps = [s for s in _steps(mine, line.words) if s[0] != "equal"]
    left = sum(w.content for tag, a, b, _, _ in steps if tag == "delete" for w in line.words[a:b])
    if not told or left > LEFT_OUT * len(told):
        return None if _turned(mine, line.words) else _exchanged(mine, line)
    pairs = [
        (_only(mine[c:d]), _only(line.words[a:b])) for _, a, b, c, d in steps if _matters(mine[c:d], line.words[a:b])
    ]
    if len(pairs) == 1 and pairs[0][0] and pairs[0][1]:
        return _pair(pairs[0][0], pairs[0][1])
    return None if _turned(mine, line.words) else _exchanged(mine, line)


def _matters(mine: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """True if a change adds what tells something, touches a negation or a bound, or puts one small word for its counterpart."""
    if any(_tells(w) for w in mine) or any(w.negates or w.text in GUARDS for w in theirs):
        return True
    one, other = _only(mine), _only(theirs)
    return one is not None and other is not None and other.text in _COUNTERPARTS.get(one.text, ())


def _only(words: Sequence[Word]) -> Word | None:
    """The one word of a change, articles and forms of to be and to do left out."""
    told = [w for w in words if w.text not in _CARRIERS] or list(words)
    return told[0] if len(told) == 1 else None


def _steps(mine: Sequence[Word], theirs: Sequence[Word]) -> list[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, [w.key for w in theirs], [w.key for w in mine], autojunk=False).get_opcodes()  # type: ignore[return-value]  # typeshed's Literal tags


def _tells(word: Word) -> bool:
    return not word.stop or word.negates or word.text in _SURE | _EVERY | GUARDS


def _turned(mine: Sequence[Word], theirs: Sequence[Word]) -> bool:
    return sum(w.negates for w in mine) % 2 != sum(w.negates for w in theirs) % 2


def _pair(mine: Word, theirs: Word) -> WordingDecision | None:
    if theirs.text in _EXCLUDE.get(mine.text, ()):
        return WordingDecision("contradicted", f"“{mine.text}” stands where the source says “{theirs.text}”.")
    if theirs.text in _OTHER_WAY.get(mine.text, ()):
        return WordingDecision("absent", f"The source says “{theirs.text}” where this says “{mine.text}”.")
    if mine.text in _SURE and theirs.text in _UNSURE:
        return WordingDecision("absent", f"The source only says “{theirs.text}” where this says “{mine.text}”.")
    if mine.text in _EVERY and theirs.text in _PART:
        return WordingDecision("absent", f"The source speaks of “{theirs.text}” where this says “{mine.text}”.")
    if mine.text in _PART and theirs.text in _EVERY:
        return None
    if mine.digits or theirs.digits or mine.text in _PLAIN_NEGATION or theirs.text in _PLAIN_NEGATION:
        return None  # values and negations have their own rules
    if opposite(mine.key, theirs.key) or exclusive(mine.key, theirs.key):
        return WordingDecision("contradicted", f"“{mine.text}” stands where the source says “{theirs.text}”.")
    return None


def _exchanged(mine: Sequence[Word], line: EvidenceLine) -> WordingDecision | None:
    """`contradicted` if two names have changed places around the same words: who did it and to whom it was done; else None."""
    a, b = [w.key for w in mine], [w.key for w in line.words]
    if len(a) != len(b) or sorted(a) != sorted(b) or a == b:
        return None
    moved = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    runs = _runs(moved)
    if len(runs) != 2:
        return None
    (s, e), (t, u) = runs
    middle = mine[e:t]
    named = all(w.name or n == 0 for n in moved for w in (mine[n],))
    if a[s:e] != b[t:u] or not named or not any(w.content for w in middle):
        return None
    if any(w.text in _LISTED or w.key in _MUTUAL for w in mine):
        return None
    first, second = (" ".join(w.text for w in mine[p:q]) for p, q in runs)
    return WordingDecision("contradicted", f"“{first}” and “{second}” have changed places against the source.")


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers in stretches without gaps, each as (first, last + 1)."""
    cuts = [n + 1 for n, (x, y) in enumerate(pairwise(places)) if y != x + 1]
    parts = [places[i:j] for i, j in pairwise([0, *cuts, len(places)])]
    return [(p[0], p[-1] + 1) for p in parts if p]
