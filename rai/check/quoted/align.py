"""Alignment: the sentence or row of a source that an answer's sentence quotes, token by token.

The units that share most tokens with the sentence are compared with it by longest common runs (`difflib`, after
Ratcliff and Obershelp). A sentence is a quotation if at least `QUOTED_AT` of its words stand in one unit in order;
what then differs between the runs is what was changed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from itertools import islice, pairwise
from typing import Literal

from grounding.text import caseless, fold, sentences, stem
from rai.check.phrasing.plain import told_start
from rai.records import Source

QUOTED_AT = 0.7
"""Least share of the words (`Token.is_word`) of a sentence that must stand in one unit in the same order."""
LEAST_WORDS = 2
"""Fewest words of a sentence that may be a quotation."""
LONGEST = 160
"""Most tokens of a sentence or unit that are compared; the rest of a longer one is not."""
CANDIDATES = 4
"""Most units that are compared with a sentence, those that share most tokens."""

_TOKEN = re.compile(r"[^\W_]*\d[^\W_]*(?:[.,:/]\d[^\W_]*)*|[^\W_]+(?:'[^\W_]+)*|[$€£¥₹%°]")
_SIGNS = frozenset("$€£¥₹%°")
_MARK = re.compile(r"\[[0-9]{1,3}(?:, ?[0-9]{1,3})*\]|【[0-9]{1,3}】")
_CELL = re.compile(r"\s\|\s|\|")
_CLAUSE = re.compile(r"[,;]\s")
_RUNS_ON = re.compile(r"[^.!?:|\n]*[^.!?:|\s]")
_NUMBERS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
    if word != "one"
}

Change = Literal["replace", "insert", "delete"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign: `text[start:end]` of the text it was read from. Tokens of equal keys are the same.

    `digits`: whether it holds a digit.
    """

    start: int
    end: int
    key: str
    text: str
    digits: bool

    @property
    def is_word(self) -> bool:
        """True of a word: neither a number nor a sign such as that of a currency."""
        return not self.digits and self.text not in _SIGNS


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or row of a source, or sentences that run on over a line break. Offsets into `source.text`."""

    source: Source
    start: int
    end: int
    tokens: tuple[Token, ...]

    @property
    def text(self) -> str:
        """The characters of the segment."""
        return self.source.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two texts: tokens of the answer (`mine`) and of the source (`theirs`) between two common runs.

    insert: the answer alone has tokens here; delete: the source alone has.
    """

    change: Change
    mine: tuple[Token, ...]
    theirs: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """A sentence of an answer and the unit that it quotes.

    `matched`: how many words, and how many tokens, they share in order. Words tell first which unit is quoted:
    it is the values that are changed.
    """

    tokens: tuple[Token, ...]
    segment: Segment
    matched: tuple[int, int]
    differences: tuple[Difference, ...]


def tokens_of(text: str, start: int, end: int) -> tuple[Token, ...]:
    """The tokens of `text[start:end]` without list marker, opening and citation marks; at most `LONGEST`."""
    begin = start + told_start(text[start:end])
    plain = _MARK.sub(lambda m: " " * len(m[0]), fold(text[begin:end]))
    return tuple(
        Token(begin + match.start(), begin + match.end(), *_read(match.group()))
        for match in islice(_TOKEN.finditer(plain), LONGEST)
    )


@lru_cache(maxsize=16384)
def _read(token: str) -> tuple[str, str, bool]:
    """Key, characters, and whether there is a digit."""
    word = caseless(token)
    return _NUMBERS.get(word, stem(word)), token, any(c.isdigit() for c in token)


@lru_cache(maxsize=512)
def segments(source: Source) -> tuple[tuple[Segment, frozenset[str]], ...]:
    """The units of a source with their keys; sentences broken over lines once more as a whole."""
    spans = [(s.start, s.end) for s in sentences(source.text)]
    joined = [
        (a, d)
        for (a, b), (c, d) in pairwise(spans)
        if _RUNS_ON.fullmatch(source.text[a:b]) and source.text[c].islower() and "|" not in source.text[c:d]
    ]
    units = [Segment(source, a, b, tokens_of(source.text, a, b)) for a, b in [*spans, *joined]]
    return tuple((unit, frozenset(t.key for t in unit.tokens)) for unit in units if unit.tokens)


def align(answer: str, start: int, end: int, sources: tuple[Source, ...]) -> tuple[Alignment, ...]:
    """The units that `answer[start:end]` quotes best, those with the most words and then tokens in common; empty if it quotes none."""
    mine = tokens_of(answer, start, end)
    units, places = _index(sources)
    shared = Counter(n for key in {t.key for t in mine} for n in places.get(key, ()))
    ranked = nlargest(CANDIDATES, ((common, -len(units[n][1]), n) for n, common in shared.items()))
    found = [a for _, _, n in ranked if (a := _aligned(mine, *units[n])) is not None]
    most = max((a.matched for a in found), default=(0, 0))
    return tuple(a for a in found if a.matched == most)


@lru_cache(maxsize=128)
def _index(sources: tuple[Source, ...]) -> tuple[list[tuple[Segment, frozenset[str]]], dict[str, list[int]]]:
    """All units, and for each key the places of those that have it."""
    units = [entry for source in sources for entry in segments(source)]
    places: dict[str, list[int]] = defaultdict(list)
    for n, (_, keys) in enumerate(units):
        for key in keys:
            places[key].append(n)
    return units, dict(places)


def _aligned(mine: tuple[Token, ...], unit: Segment, keys: frozenset[str]) -> Alignment | None:
    words = sum(t.is_word for t in mine)
    at_most = sum(t.is_word and t.key in keys for t in mine)
    if at_most < LEAST_WORDS or at_most < QUOTED_AT * words:
        return None
    matcher = SequenceMatcher(None, [t.key for t in unit.tokens], [t.key for t in mine], autojunk=False)
    differences: list[Difference] = []
    same: list[Token] = []
    for tag, c, d, a, b in matcher.get_opcodes():
        if tag == "equal":
            same.extend(mine[a:b])
        else:
            differences.append(Difference(tag, mine[a:b], unit.tokens[c:d]))
    shared = sum(t.is_word for t in same)
    if shared < LEAST_WORDS or shared < QUOTED_AT * words:
        return None
    return Alignment(mine, unit, (shared, len(same)), tuple(differences))


@lru_cache(maxsize=256)
def clauses(text: str) -> Counter[tuple[str, ...]]:
    """The cells or clauses of a sentence as their keys, each with how often it stands; at least two tokens each."""
    return Counter(keys for part in parts(text) if len(keys := part_keys(text, *part)) > 1)


def parts(text: str) -> list[tuple[int, int]]:
    """The cells of a row, or else the clauses of a sentence, as offsets."""
    cut = _CELL if "|" in text else _CLAUSE
    edges = [(0, 0), *(m.span() for m in cut.finditer(text)), (len(text), len(text))]
    return [(before[1], after[0]) for before, after in pairwise(edges)]


def part_keys(text: str, start: int, end: int) -> tuple[str, ...]:
    """Keys of a part of `text`."""
    return tuple(t.key for t in tokens_of(text, start, end))
