"""Gazetteer of a knowledge base's names, and their linking in what people type, whatever case, spelling or speech recognition made of them.

A name is a short title, the beginning that several titles share, or a product. It is linked where enough of its weight stands together:
every word weighs by how few names hold it (inverse document frequency, Spärck Jones 1972), so that "Belfry" is nearly all of "The Cambridge
Belfry" and "guest house" nearly nothing of "Acorn Guest House".
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from grounding.query.typos import FROM, SpellingIndex
from grounding.records import Linked
from grounding.text import STOP_WORDS, caseless

MAX_WORDS = 6
"""Words of a name at most; longer titles are sentences, of which the beginnings count."""
SHARED_BY, CONTINUED = 3, 3
"""A beginning is a name if this many titles share it and go on in this many ways."""
LINK_AT = 0.55
"""Share of a name's weight that has to stand in the text, its rarest word included: "city centre" is no "Nando's City Centre"."""
ALONE_AT = 0.8
"""Likeness that a word needs where no other stands by it: a slip of the hand is easily another word. "Loose" is no moose."""
STOP_SHARE = 0.3
GENERIC_AT = 0.6
"""A single word that weighs less than this share of the heaviest is no name: "restaurant", "returns"."""
MAX_POSTINGS = 2_000
"""A word that is the rarest of more names than this finds none of them."""
FUZZY_COST, JOIN_COST, GAP_COST, ORDER_COST = 0.05, 0.02, 0.05, 0.03
HEAVIER = 0.04
"""What each unit of a name's weight is worth in likeness, where two names overlap."""
MAX_TOKENS, MAX_CHARACTERS, MAX_LETTERS = 400, 20_000, 40
"""Words and characters of a text that are looked at, its last ones, and letters that a word of them may have."""
QUESTION_WORDS = frozenset(
    "what when where which who whom whose why how do does did is are was were can could will would should shall may must has have "
    "was wer wie wann wo warum welche welcher welches kann quand quel quelle comment pourquoi".split()
)
"""A title that goes on with one of these asks something; its name ends before."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
Key = tuple[str, ...]


class Token(NamedTuple):
    """A normalised word with its place in the text: lower case, without accents, apostrophes or the possessive s."""

    text: str
    start: int
    end: int


class _Hit(NamedTuple):
    at: int
    word: str
    similarity: float
    width: int


def tokens(text: str) -> list[Token]:
    """Normalised words of `text`; an ampersand reads "and"."""
    plain = caseless(text)
    found = [
        Token(m.group().removesuffix("'s").replace("'", ""), m.start(), m.end()) for m in _WORD.finditer(plain)
    ] + [Token("and", i, i + 1) for i, c in enumerate(plain) if c == "&"]
    return sorted(found, key=lambda t: t.start) if "&" in plain else found


def key_of(text: str) -> Key:
    """Key that different spellings of one name share: its normalised words."""
    return tuple(t.text for t in tokens(text))


def names_of(titles: Iterable[str], products: Iterable[str] = ()) -> dict[Key, str]:
    """Names that these titles and products give, by key, each as it is first spelt."""
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
        for n in range(1, _named_until(words) + 1):
            key = spelt_key(title, words[:n], spelt)
            shared[key] += 1
            grown[key].add(words[n].text if n < len(words) else "")
    for key, count in shared.items():
        if count >= SHARED_BY and len(grown[key]) >= CONTINUED:
            names.add(_without_stop_words_at_end(key))
    return {key: spelt[key] for key in names if any(_says_something(word) for word in key)}


def _named_until(words: Sequence[Token]) -> int:
    """Number of first words that may be a name: those before a question begins."""
    until = (n for n, word in enumerate(words[:MAX_WORDS]) if word.text in QUESTION_WORDS)
    return next(until, min(MAX_WORDS, len(words)))


def spelt_key(text: str, words: Sequence[Token], spelt: dict[Key, str]) -> Key:
    """Key of these first words of `text`; how it is spelt there is added to `spelt` if it is new."""
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
    """Index of names for linking. Immutable after it is built; safe for many threads."""

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
        self._told_by: dict[str, list[int]] = defaultdict(list)
        self._joined: dict[str, set[str]] = defaultdict(set)
        for number, name in enumerate(self._names):
            for word in self._rarest(name):
                self._told_by[word].append(number)
            for first, second in pairwise(name):
                if len(first) + len(second) >= FROM:
                    self._joined[first + second] |= {first, second}
        self._known = {word for name in self._names for word in name}
        self._slips = SpellingIndex(self._known)
        self._similar = lru_cache(maxsize=8192)(self._look_up)

    def __len__(self) -> int:
        return len(self._names)

    def link(self, text: str, may_see: Callable[[Key], bool] = lambda _: True) -> list[Linked]:
        """Names in `text` that may be seen, in the order in which they stand; no two overlap, the better one stays."""
        words = _last_tokens(text)
        there: dict[str, list[_Hit]] = defaultdict(list)
        for hit in self._hits(words):
            there[hit.word].append(hit)
        told = {n for word in there if len(by := self._told_by.get(word, ())) <= MAX_POSTINGS for n in by}
        found = [
            (linked, self._total[number])
            for number in sorted(told)
            if may_see(self._names[number]) and (linked := self._best(number, there, words)) and linked.score >= LINK_AT
        ]
        # of two that overlap the surer one, and of two nearly as sure the heavier: "Curry Garden" before "Curry" in "curry gardens"
        found.sort(key=lambda f: (-round(f[0].score, 2) - HEAVIER * min(f[1], 10.0), f[0].start))
        kept: list[Linked] = []
        for linked, _ in found:
            if all(linked.end <= k.start or linked.start >= k.end for k in kept):
                kept.append(linked)
        return sorted(kept, key=lambda k: k.start)

    def _hits(self, words: Sequence[Token]) -> Iterator[_Hit]:
        """Words of names found in the text: as they are, misspelt, written as one word or as two."""
        for at, token in enumerate(words):
            taken = self._taken(token.text)
            for word, similarity in self._similar(token.text, taken):
                yield _Hit(at, word, similarity, 1)
            for word in self._joined.get(token.text, ()):
                yield _Hit(at, word, 1 - JOIN_COST, 1)
            if at + 1 < len(words):
                following = words[at + 1].text
                for word, similarity in self._similar(token.text + following, taken and self._taken(following)):
                    yield _Hit(at, word, similarity - JOIN_COST, 2)

    def _taken(self, word: str) -> bool:
        """True for a word that needs no correction: names hold it, or every text does."""
        return word in self._known or word in STOP_WORDS

    def _rarest(self, name: Key) -> list[str]:
        """The rarest word of a name, or several as rare: what tells it from others. A letter may do so: "A and B Guest House"."""
        telling = {word: self._weight[word] for word in name if word not in STOP_WORDS}
        return [word for word, weight in telling.items() if weight >= max(telling.values()) - 1e-9]

    def _look_up(self, token: str, as_it_stands: bool) -> tuple[tuple[str, float], ...]:
        """Words of names like this one, with their similarity in (0, 1]."""
        if len(token) > MAX_LETTERS:
            return ()
        same = [(token, 1.0)] if token in self._known else []
        near = [] if as_it_stands else self._slips.near(token)
        return (*same, *((word, 1 - slips / max(len(token), len(word)) - FUZZY_COST) for word, slips in near))

    def _best(self, number: int, there: Mapping[str, Sequence[_Hit]], words: Sequence[Token]) -> Linked | None:
        """The stretch of the text that holds most of the name's weight, none longer than the name and two words."""
        name, total = self._names[number], self._total[number]
        if sum(self._weight[word] for word in name if word in there) < LINK_AT * total:
            return None
        hits = sorted((h for word in dict.fromkeys(name) for h in there.get(word, ())), key=lambda h: h.at)
        held, rarest = Counter(name), set(self._rarest(name))
        best: Linked | None = None
        end = 0
        for first, hit in enumerate(hits):
            while end < len(hits) and hits[end].at - hit.at < len(name) + 2:
                end += 1
            seen = _one_each(hits[first:end], held)
            if not _tells(seen, rarest) or _another_number(name, seen, words):
                continue
            low, high = min(h.at for h in seen), max(h.at + h.width for h in seen)
            gap = max(0, high - low - sum(h.width for h in seen))
            score = sum(self._weight[h.word] * h.similarity for h in seen) / total - GAP_COST * gap
            score -= 0.0 if _in_order(seen, name) else ORDER_COST
            if best is None or score > best.score:
                best = Linked(words[low].start, words[high - 1].end, self._spelt[name], name, round(min(score, 1.0), 4))
        return best


def _in_order(seen: Sequence[_Hit], name: Key) -> bool:
    places = [name.index(h.word) for h in sorted(seen, key=lambda h: h.at)]
    return places == sorted(places)


def _tells(seen: Sequence[_Hit], rarest: set[str]) -> bool:
    """True if these words tell the name from others, are not letters only, and one that stands alone is well spelt."""
    saying = [h for h in seen if h.word not in STOP_WORDS]
    if len(saying) == 1 and saying[0].similarity < ALONE_AT:
        return False
    return any(h.word in rarest for h in saying) and any(_says_something(h.word) for h in saying)


def _last_tokens(text: str) -> list[Token]:
    """Last words of `text`, at most as many as fit; a word that is cut off is left out."""
    cut = max(0, len(text) - MAX_CHARACTERS)
    found = [Token(t.text, t.start + cut, t.end + cut) for t in tokens(text[cut:])]
    halved = cut and found and found[0].start == cut and not text[cut - 1].isspace()
    return (found[1:] if halved else found)[-MAX_TOKENS:]


def _another_number(name: Key, seen: Sequence[_Hit], words: Sequence[Token]) -> bool:
    """True if the text has another number where the name has one: "Watch 6 Pro" is no "Watch 5 Pro"."""
    missing = {word for word in name if _has_digit(word)} - {h.word for h in seen}
    if not missing:
        return False
    taken = {at for h in seen for at in range(h.at, h.at + h.width)}
    return any(
        _has_digit(words[at].text) for at in range(min(taken), min(max(taken) + 2, len(words))) if at not in taken
    )


def _has_digit(word: str) -> bool:
    return any(c.isdigit() for c in word)


def _one_each(hits: Sequence[_Hit], held: Counter[str]) -> list[_Hit]:
    """The most similar hit for each word, as many as the name holds of it."""
    seen: list[_Hit] = []
    for word in dict.fromkeys(h.word for h in hits):
        there = sorted((h for h in hits if h.word == word), key=lambda h: (-h.similarity, h.at))
        seen += there[: held[word]]
    return seen
