"""Sources read word by word, for statements to be weighed against: the words of every sentence, and the sentences of every word."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from grounding.records import Span
from grounding.text import STOP_WORDS, fold, sentences
from rai.check.phrasing.antonyms import key
from rai.records import EvidenceSpan, Source

LONGEST = 160
"""Most words of one sentence that are weighed; the rest of a longer one is not."""
NEAR = 4
"""Two content words within so many that follow each other are said together."""

_WORD = re.compile(r"[^\W_]*\d[^\W_]*(?:[.,:/]\d[^\W_]*)*|[^\W_]+(?:'[^\W_]+)*")
_PREFIXED = re.compile(r"\b(non|sub|un|anti|dis|mis|in)-(?=[a-z]{4})", re.IGNORECASE)
NEGATING = frozenset(
    "not no never none nor neither cannot without unable nothing nobody unavailable prohibited forbidden impossible".split()
)
_CLITICS = frozenset(
    "it's that's there's they're we're you're i'm he's she's what's let's here's who's they've we've you've i've they'll we'll "
    "you'll it'll i'd they'd you'd we'd upon among amid whose himself herself themselves ourselves us oh lol".split()
)
_APART = re.compile(r"(?<=\s[.!?])\s+(?=[A-Z0-9\"'`])")
_ITEM = re.compile(r"[-*•‣#>]|\d{1,3}[.)]\s")
_GO_ON = frozenset(
    "a an the of to in on at by for with from and or is are was were be not your our its their this der die das den dem und oder mit "
    "ist sind le la les des du et ou est de il lo gli e di è el los y con o os as da do".split()
)
_COSTS = frozenset(key(word) for word in "charge fee cost price".split())
_FILLERS = frozenset("additional extra a any".split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence. `text`: in lower case; `key`: the form it is compared by; `stop`: it carries no content; `negates`: it is a
    negation; `digits`: it has a digit; `name`: it has a capital and does not begin the sentence.
    """

    text: str
    key: str
    stop: bool
    negates: bool
    digits: bool
    name: bool

    @property
    def content(self) -> bool:
        """True if it says something by itself."""
        return not (self.stop or self.negates)


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A sentence or row of a source: its words, their keys, and the keys of its source's title."""

    span: EvidenceSpan
    words: tuple[Word, ...]
    keys: frozenset[str]
    title: frozenset[str]


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """All lines of the sources, indexed by word.

    `lines_of`: the numbers of the lines that have a key; `weight`: how telling a key is, log(1 + lines / those with it); `vocabulary`: all
    keys, of titles too; `by_beginning`: those of four letters and more by their first four; `together`: pairs of keys that are said near
    each other; `negates`: whether any line does.
    """

    lines: tuple[EvidenceLine, ...]
    lines_of: dict[str, tuple[int, ...]]
    weight: dict[str, float]
    vocabulary: frozenset[str]
    by_beginning: dict[str, tuple[str, ...]]
    together: frozenset[tuple[str, str]]
    negates: bool


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[Word, ...]:
    """The words of a sentence, at most `LONGEST`; "no charge", "free of charge" and "complimentary" are read as "free"."""
    found: list[Word] = []
    plain = _PREFIXED.sub(r"\1", fold(text[: LONGEST * 40]))
    for match in _WORD.finditer(plain):
        raw = match.group()
        low = raw.lower()
        found.append(
            Word(
                low,
                "free" if low == "complimentary" else key(low),
                low in STOP_WORDS or low in _CLITICS,
                low in NEGATING or low.endswith("n't"),
                any(c.isdigit() for c in raw),
                bool(found) and raw[0].isupper(),
            )
        )
        if len(found) == LONGEST:
            break
    return _without_cost(found)


def _without_cost(words: Sequence[Word]) -> tuple[Word, ...]:
    found: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        ahead = words[at + 1 : at + 4]
        paid = next((i for i, w in enumerate(ahead) if w.key in _COSTS), None)
        if word.text in ("no", "without") and paid is not None:
            found.append(Word("free", "free", stop=False, negates=False, digits=False, name=False))
            found += [w for w in ahead[:paid] if w.text not in _FILLERS]
            at += paid + 2
        elif word.text == "free" and len(ahead) > 1 and ahead[0].text in ("of", "from") and ahead[1].key in _COSTS:
            found.append(word)
            at += 3
        else:
            found.append(word)
            at += 1
    return tuple(found)


def whole_sentences(text: str) -> list[Span]:
    """The sentences of `text`, one that is broken over lines as one: its next line goes on in lower case or after a small word.

    A list item, a row and a line under a blank one begin anew.
    """
    whole: list[Span] = []
    for s in sentences(text):
        if whole and _runs_on(text, whole[-1], s):
            start = whole.pop().start
            whole.append(Span(start, s.end, text[start : s.end]))
        else:
            whole.append(s)
    return whole


def spaced(sentence: Span) -> list[Span]:
    """A sentence cut behind full stops that stand apart, as in text that was split into tokens ("It is old . It is big .")."""
    cuts = [m.start() for m in _APART.finditer(sentence.text)]
    if not cuts:
        return [sentence]
    parts = [(a, b) for a, b in pairwise([0, *cuts, len(sentence.text)]) if sentence.text[a:b].strip()]
    found = []
    for a, b in parts:
        told = sentence.text[a:b]
        start = sentence.start + a + len(told) - len(told.lstrip())
        found.append(Span(start, start + len(told.strip()), told.strip()))
    return found


def _runs_on(text: str, before: Span, after: Span) -> bool:
    if text[before.end : after.start].count("\n") != 1 or before.end - before.start > LONGEST * 40:
        return False
    if before.text[-1] in ".!?…:;|。！？" or _ITEM.match(after.text) or "|" in after.text or "\t" in after.text:
        return False
    last = before.text[-20:].split()[-1].lower()
    return last in _GO_ON or (after.text[0].islower() and len(before.text.split(None, 2)) > 2)


@lru_cache(maxsize=512)
def lines(source: Source) -> tuple[EvidenceLine, ...]:
    """The sentences and rows of one source with their words."""
    title = frozenset(w.key for w in read(source.title))
    found = []
    for s in whole_sentences(source.text):
        words = read(s.text)
        if words:
            span = EvidenceSpan(source.id, "text", s.start, s.end, s.text)
            found.append(EvidenceLine(span, words, frozenset(w.key for w in words), title))
    return tuple(found)


def inverted(sets: Sequence[frozenset[str]]) -> tuple[dict[str, tuple[int, ...]], dict[str, float]]:
    """By key the numbers of the `sets` that hold it, ascending, and how telling it is: log(1 + sets / those that hold it)."""
    places: dict[str, list[int]] = defaultdict(list)
    for n, keys in enumerate(sets):
        for k in keys:
            places[k].append(n)
    return {k: tuple(ns) for k, ns in places.items()}, {
        k: math.log(1 + len(sets) / len(ns)) for k, ns in places.items()
    }


@lru_cache(maxsize=128)
def gather(sources: tuple[Source, ...]) -> WordEvidence:
    """The lines of several sources with their index. Time and memory are linear in the text."""
    every = tuple(line for source in sources for line in lines(source))
    lines_of, weight = inverted([line.keys for line in every])
    together: set[tuple[str, str]] = set()
    for line in every:
        content = [w.key for w in line.words if not w.stop]
        together.update((a, b) for i, a in enumerate(content) for b in content[i + 1 : i + NEAR])
    titles = {w.key for source in sources for w in read(source.title)}
    vocabulary = frozenset(lines_of) | titles
    beginnings: dict[str, list[str]] = defaultdict(list)
    for k in sorted(vocabulary):
        if len(k) >= NEAR:
            beginnings[k[:4]].append(k)
    return WordEvidence(
        every,
        lines_of,
        weight,
        vocabulary,
        {k: tuple(v) for k, v in beginnings.items()},
        frozenset(together),
        any(w.negates for line in every for w in line.words),
    )
