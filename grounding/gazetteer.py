"""The names that a knowledge base goes by, found in what people type: whatever case, spelling or speech recognition made of them.

A name is a short title, the beginning that several titles share, or a product. It is linked where enough of its weight
stands together: every word weighs by how few names hold it (inverse document frequency, Spärck Jones 1972), so that
"Belfry" is nearly all of "The Cambridge Belfry" and "guest house" nearly nothing of "Acorn Guest House".
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from grounding.records import Linked
from grounding.text import STOP_WORDS, caseless

MAX_WORDS = 6
"""Words of a name at most; longer titles are sentences, of which the beginnings count."""
SHARED_BY, CONTINUED = 3, 3
"""A beginning is a name if this many titles share it and go on in this many ways."""
LINK_AT = 0.55
"""Share of a name's weight that has to stand in the text, its rarest word included: "city centre" is no "Nando's City Centre"."""
ALONE_AT = 0.8
"""The same for a name of one word, where a slip of the hand is easily another word: "loose" is no moose."""
STOP_SHARE = 0.3
GENERIC_AT = 0.6
"""A single word that weighs less than this share of the heaviest is no name: "restaurant", "returns"."""
MAX_POSTINGS = 2_000
"""A word in more names than this finds none of them by itself."""
FUZZY_FROM = 5
"""Letters that a word needs to be found misspelt; two slips are allowed from eight letters on."""
FUZZY_COST, JOIN_COST, GAP_COST = 0.05, 0.02, 0.05
MAX_TOKENS = 400
"""Words of a text that are looked at, its last ones."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A normalised word with its place in the text: lower case, without accents, apostrophes or the possessive s."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Hit:
    at: int
    word: str
    similarity: float
    width: int


def tokens(text: str) -> list[Token]:
    """Words of `text`; an ampersand reads "and"."""
    plain = caseless(text)
    found = [
        Token(m.group().removesuffix("'s").replace("'", ""), m.start(), m.end()) for m in _WORD.finditer(plain)
    ] + [Token("and", i, i + 1) for i, c in enumerate(plain) if c == "&"]
    return sorted(found, key=lambda t: t.start) if "&" in plain else found


def key_of(text: str) -> Key:
    """What two spellings of one name have in common."""
    return tuple(t.text for t in tokens(text))


def names_of(titles: Iterable[str], products: Iterable[str] = ()) -> dict[Key, str]:
    """The names that these titles and products give, each as it is first spelt."""
    grown: dict[Key, set[str]] = defaultdict(set)
    shared: Counter[Key] = Counter()
    spelt: dict[Key, str] = {}
    names: set[Key] = set()
    for product in products:
        names.add(spelt_key(product, tokens(product)[:MAX_WORDS], spelt))
    for title in titles:
        words = tokens(title)
        if len(words) <= MAX_WORDS and not title.rstrip().endswith("?"):
            names.add(spelt_key(title, words, spelt))
        for n in range(1, min(MAX_WORDS, len(words)) + 1):
            key = spelt_key(title, words[:n], spelt)
            shared[key] += 1
            grown[key].add(words[n].text if n < len(words) else "")
    for key, count in shared.items():
        if count >= SHARED_BY and len(grown[key]) >= CONTINUED:
            names.add(_without_stop_words_at_end(key))
    return {key: spelt[key] for key in names if any(_says_something(word) for word in key)}


def spelt_key(text: str, words: Sequence[Token], spelt: dict[Key, str]) -> Key:
    """The key of these first words of `text`; how it is spelt there is remembered if it is new."""
    key = tuple(w.text for w in words)
    if key and key not in spelt:
        spelt[key] = text[words[0].start : words[-1].end]
    return key


def _without_stop_words_at_end(key: Key) -> Key:
    end = len(key)
    while end and key[end - 1] in STOP_WORDS:
        end -= 1
    return key[:end]


def _says_something(word: str) -> bool:
    return len(word) > 1 and word not in STOP_WORDS


class Gazetteer:
    """Names, ready to be linked. Immutable after it is built; safe for many threads."""

    def __init__(self, names: Mapping[Key, str]) -> None:
        every = sorted(names)
        self._spelt = dict(names)
        held = Counter(word for name in every for word in set(name))
        heaviest = math.log(1 + len(every))
        self._weight = {
            word: math.log(1 + len(every) / count) * (STOP_SHARE if word in STOP_WORDS else 1.0)
            for word, count in held.items()
        }
        self._names = [n for n in every if len(n) > 1 or self._weight[n[0]] >= GENERIC_AT * heaviest]
        self._total = [sum(self._weight[word] for word in name) for name in self._names]
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._joined: dict[str, set[str]] = defaultdict(set)
        for number, name in enumerate(self._names):
            for word in set(name):
                self._by_word[word].append(number)
            for first, second in pairwise(name):
                if len(first) + len(second) >= FUZZY_FROM:
                    self._joined[first + second] |= {first, second}
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in self._by_word:
            if len(word) >= FUZZY_FROM - 1:
                self._by_length[len(word)].append(word)
        self._similar = lru_cache(maxsize=8192)(self._look_up)

    def __len__(self) -> int:
        return len(self._names)

    def link(self, text: str, may_see: Callable[[Key], bool] = lambda _: True) -> list[Linked]:
        """Names that `text` speaks of and that may be seen, in the order in which they stand; no two overlap, the better one stays."""
        words = tokens(text)[-MAX_TOKENS:]
        hits: dict[int, list[_Hit]] = defaultdict(list)
        for hit in self._hits(words):
            numbers = self._by_word[hit.word]
            if len(numbers) <= MAX_POSTINGS:
                for number in numbers:
                    hits[number].append(hit)
        found = [
            (linked, self._total[number])
            for number, there in hits.items()
            if may_see(self._names[number])
            and (linked := self._best(number, there, words))
            and linked.score >= (LINK_AT if len(linked.key) > 1 else ALONE_AT)
        ]
        # of two that overlap the surer one, and of two as sure the heavier: "Hotel du Vin" before "Vin"
        found.sort(key=lambda f: (-round(f[0].score, 2) - 0.02 * min(f[1], 10.0), f[0].start))
        kept: list[Linked] = []
        for linked, _ in found:
            if all(linked.end <= k.start or linked.start >= k.end for k in kept):
                kept.append(linked)
        return sorted(kept, key=lambda k: k.start)

    def _hits(self, words: Sequence[Token]) -> Iterator[_Hit]:
        """Words of names that stand in the text: as they are, misspelt, written as one word or as two."""
        for at, token in enumerate(words):
            for word, similarity in self._similar(token.text):
                yield _Hit(at, word, similarity, 1)
            for word in self._joined.get(token.text, ()):
                yield _Hit(at, word, 1 - JOIN_COST, 1)
            if at + 1 < len(words):
                for word, similarity in self._similar(token.text + words[at + 1].text):
                    yield _Hit(at, word, similarity - JOIN_COST, 2)

    def _look_up(self, token: str) -> tuple[tuple[str, float], ...]:
        """Words of names like this one, with their similarity in (0, 1]."""
        found = [(token, 1.0)] if token in self._by_word else []
        if len(token) < FUZZY_FROM or token.isdigit():
            return tuple(found)
        for length in range(len(token) - 2, len(token) + 3):
            slips = 1 if max(len(token), length) < 8 else 2
            near = process.extract_iter(token, self._by_length.get(length, ()), scorer=OSA.distance, score_cutoff=slips)
            found += [
                (word, 1 - distance / max(len(token), length) - FUZZY_COST) for word, distance, _ in near if distance
            ]
        return tuple(found)

    def _best(self, number: int, hits: Sequence[_Hit], words: Sequence[Token]) -> Linked | None:
        """The stretch that holds most of the name's weight, none longer than the name and two words."""
        name, total = self._names[number], self._total[number]
        held = Counter(name)
        rarest = max(self._weight[word] for word in name if _says_something(word)) - 1e-9
        if sum(self._weight[word] * held[word] for word in {h.word for h in hits}) < LINK_AT * total:
            return None
        best: Linked | None = None
        for first in range(len(hits)):
            near = [h for h in hits[first:] if h.at - hits[first].at < len(name) + 2]
            seen = _one_each(near, held)
            if not any(_says_something(h.word) and self._weight[h.word] >= rarest for h in seen):
                continue
            low, high = min(h.at for h in seen), max(h.at + h.width for h in seen)
            gap = max(0, high - low - sum(h.width for h in seen))
            score = sum(self._weight[h.word] * h.similarity for h in seen) / total - GAP_COST * gap
            if best is None or score > best.score:
                best = Linked(words[low].start, words[high - 1].end, self._spelt[name], name, round(min(score, 1.0), 4))
        return best


def _one_each(hits: Sequence[_Hit], held: Counter[str]) -> list[_Hit]:
    """The most similar hit for each word, as many as the name holds of it."""
    seen: list[_Hit] = []
    for word in {h.word for h in hits}:
        there = sorted((h for h in hits if h.word == word), key=lambda h: (-h.similarity, h.at))
        seen += there[: held[word]]
    return seen
