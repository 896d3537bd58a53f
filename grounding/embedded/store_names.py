"""Linker over a store: the titles and products of its documents are found in what people type, each reader seeing only names of documents
they may read.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from grounding.embedded.indexes.word_index import WordIndex
from grounding.embedded.vectors.vocabulary import SHORTEST, Vocabulary
from grounding.query.conversation import FILLERS
from grounding.query.gazetteer import MAX_WORDS, Gazetteer, Key, key_of, names_of
from grounding.query.typos import typos_between
from grounding.quoting.countries import country_codes
from grounding.quoting.ranges import CALENDAR
from grounding.records import Access, DocumentInfo, Linked, Span
from grounding.store.store import Store
from grounding.text import STOP_WORDS, caseless, words

_Rights = tuple[tuple[str, ...] | None, str | None]
MANY = 20_000
"""Documents from which names are collected again at most once in `PATIENCE` seconds."""
PATIENCE = 60.0
LONGEST_ASKED = 400
"""Characters of a text in which pairs of words are looked up."""
MOSTLY = 0.8
"""The share of its places in which passages write a pair of words as a name for it to be one."""
SLIP_FROM = 4
"""Letters that a word needs to be taken for a slip of another."""
MOST_SLIPS, LOOKED_THROUGH = 6, 12
"""Words of a question that are looked up, and passages that are looked through for what one of them may mean."""

_SHORT = re.compile(r"[A-Za-z]{1,2}\d{1,4}")
"""A model or a code as people type it."""


def _may_name(text: str, one: Span, other: Span) -> bool:
    """Whether two words that follow each other may be a name: neither is said everywhere, and nothing but a space parts them."""
    plain = (one.text.lower(), other.text.lower())
    return (
        text[one.end : other.start] == " "
        and plain[0] not in STOP_WORDS | FILLERS
        and plain[1] not in STOP_WORDS | FILLERS
        and len(plain[0]) >= SLIP_FROM - 1
        and plain[0].isalpha()
        and not CALENDAR & {caseless(word) for word in plain}  # "October 2024" is when something was
        and not country_codes(text[one.start : other.end])  # where something holds, not what is asked about
    )


_WRITTEN_TOGETHER = frozenset(
    "whos whats wheres whens hows whys thats theres heres lets im ive id ill youre youve youll hes shes its were theyre theyve didnt doesnt dont isnt arent wasnt werent cant couldnt"
    " wont wouldnt shouldnt hasnt havent hadnt mustnt".split()
)
"""What people write without its apostrophe: no slip of another word."""


def _may_slip(typed: str, other: str) -> bool:
    """Whether `typed` may be a misspelling of `other`. Of a word of four letters only that two changed places: any other change makes a
    word that may well be meant ("bake", "bike").
    """
    return len(typed) > SLIP_FROM or sorted(typed) == sorted(other)


class StoreNames:
    """Linker (names in a text) and Speller over a store; follows the store's generation."""

    def __init__(self, store: Store, words: WordIndex, vocabulary: Vocabulary | None = None) -> None:
        """`vocabulary`: words of the language, which are never taken for misspellings and may be meant by one; without it only rare
        distance protects them.
        """
        self._store, self._words, self._vocabulary = store, words, vocabulary or Vocabulary(())
        self._lock = threading.Lock()
        self._seen, self._reloaded, self._at = -1, -1, 0.0
        self._documents = 0
        self._gazetteer = Gazetteer({})
        self._rights: dict[Key, frozenset[_Rights]] = {}
        self._proper = lru_cache(maxsize=8192)(self._written)
        self._whole = lru_cache(maxsize=8192)(self._whole_of)

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        """For each text the names it speaks of, only of documents that `access` may read. Raises StoreError."""
        return await asyncio.to_thread(self._link, texts, access)

    async def knows(self, name: str, access: Access) -> bool:
        """True if a passage that `access` may read holds these words, one after the other."""
        return await asyncio.to_thread(self._knows, name, access)

    async def whole(self, name: str, access: Access) -> str:
        """How passages write the whole of what "x2" or "C421" stands for; empty where several or none do. Raises StoreError."""
        if not _SHORT.fullmatch(name):
            return ""
        return await asyncio.to_thread(self._stands_for, name.lower(), access)

    def _stands_for(self, name: str, access: Access) -> str:
        self._follow()
        return self._whole(name, access, self._reloaded)

    def _whole_of(self, name: str, access: Access, _generation: int) -> str:
        """Kept as `_whole` for a generation."""
        letters, digits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz")
        known = any(self._words.named(name, access))
        asked = name if known else f"{letters} {digits}"
        rows = self._store.rows(self._words.holding(asked, access, LOOKED_THROUGH)).values()
        texts = [f"{row.title}\n{row.chunk.text}" for row in rows if access.may_read(row.groups)]
        core = re.escape(name) if known else rf"{letters}[- ]{digits}"
        form = re.compile(rf"(?<![^\W_])(?:([A-Z][^\W\d_]{{2,}}) )?((?i:{core}))(?![^\W_])")
        said = [m for text in texts for m in islice(form.finditer(text), 8)]
        named = Counter(m.group() if known else m[2] for m in said if m[1] or not known)
        [(best, count)] = named.most_common(1) or [("", 0)]
        enough = 2 if known else 1  # a capital before "X2" may begin a sentence; "C-421" for "c421" is spelled out
        return best if count >= max(enough, MOSTLY * len(said)) else ""

    async def spelled(self, text: str, access: Access) -> dict[str, str]:
        """Misspelt words of `text`: those that no passage holds and that are near to one that `access` may read, or else to one of the
        language, each with that one. Raises StoreError.
        """
        return await asyncio.to_thread(self._spelled, text, access)

    def _spelled(self, text: str, access: Access) -> dict[str, str]:
        self._follow()
        typed = dict.fromkeys(
            w.text for w in words(text) if len(w.text) >= SHORTEST and w.text.isalpha() and w.text.islower()
        )
        strange = [
            w
            for w in typed
            if w not in self._vocabulary and w not in _WRITTEN_TOGETHER and not any(self._words.named(w, access))
        ][:MOST_SLIPS]
        return {word: meant for word in strange if (meant := self._meant(word, access) or self._vocabulary.meant(word))}

    def _meant(self, word: str, access: Access) -> str | None:
        """The word of the passages with the smallest edit distance, the most frequent among equals."""
        if len(word) < SLIP_FROM:
            return None
        rows = self._store.rows(self._words.like(word, access, LOOKED_THROUGH)).values()
        held = Counter(
            w.text.lower()
            for row in rows
            if access.may_read(row.groups)
            for w in words(f"{row.title} {row.chunk.text}")
            if w.text.isalpha()
        )
        lower = word.lower()
        near = [
            (slips, -n, other)
            for other, n in held.items()
            if len(other) >= SLIP_FROM and _may_slip(lower, other) and (slips := typos_between(lower, other))
        ]
        return min(near)[2] if near else None

    def _knows(self, name: str, access: Access) -> bool:
        self._follow()
        return any(self._words.named(name, access))

    def _link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        gazetteer, rights = self._follow()
        may_see = _sight(rights, access)
        return [self._with_proper(text, gazetteer.link(text, may_see), access) for text in texts]

    def _with_proper(self, text: str, linked: list[Linked], access: Access) -> list[Linked]:
        """The names in a text, and pairs of words that passages write as one: "watch pro" of a question where a table has "Watch Pro"."""
        if len(text) > LONGEST_ASKED:
            return linked
        found = list(linked)
        for one, other in pairwise(words(text)):
            if any(n.start < other.end and one.start < n.end for n in found) or not _may_name(text, one, other):
                continue
            name = self._proper(one.text.lower(), other.text.lower(), access, self._reloaded)
            if name:
                found.append(Linked(one.start, other.end, name, key_of(name), 1.0))
        return sorted(found, key=lambda n: n.start)

    def _written(self, one: str, other: str, access: Access, _generation: int) -> str:
        """How passages write two words where they write them as a name, both with a capital or a digit; empty where most do not. Kept as `_proper` for a generation:
        each turn of a talk asks for the pairs of all turns before it.
        """
        rows = self._store.rows(self._words.holding(f"{one} {other}", access, LOOKED_THROUGH)).values()
        form = re.compile(rf"(?<![^\W_]){re.escape(one)} {re.escape(other)}(?![^\W_])", re.IGNORECASE)
        said = [
            m.group() for row in rows if access.may_read(row.groups) for m in islice(form.finditer(row.chunk.text), 8)
        ]
        proper = [s for s in said if all(not part[0].islower() for part in s.split())]
        return proper[0] if proper and len(proper) >= MOSTLY * len(said) else ""

    def _follow(self) -> tuple[Gazetteer, dict[Key, frozenset[_Rights]]]:
        with self._lock:
            generation = self._store.generation()
            if generation != self._reloaded:
                self._words.reload()
                self._reloaded = generation
            waits = self._documents > MANY and time.monotonic() - self._at < PATIENCE
            if generation != self._seen and not waits:
                documents = self._store.documents()
                self._gazetteer, self._rights = _collected(documents)
                self._seen, self._at, self._documents = generation, time.monotonic(), len(documents)
            return self._gazetteer, self._rights


def _collected(documents: Sequence[DocumentInfo]) -> tuple[Gazetteer, dict[Key, frozenset[_Rights]]]:
    names = names_of((d.title for d in documents), (d.product for d in documents if d.product))
    rights: dict[Key, set[_Rights]] = defaultdict(set)
    for document in documents:
        words = key_of(document.title)
        keys = [words[:n] for n in range(1, min(MAX_WORDS, len(words)) + 1)]
        if document.product:
            keys.append(key_of(document.product)[:MAX_WORDS])
        for key in keys:
            if key in names:
                rights[key].add((document.groups, document.product))
    return Gazetteer(names), {key: frozenset(found) for key, found in rights.items()}


def _sight(rights: dict[Key, frozenset[_Rights]], access: Access) -> Callable[[Key], bool]:
    """A function that tells whether a reader may see a document that goes by a name; it remembers, for few kinds of rights recur."""
    seen: dict[_Rights, bool] = {}

    def may_read(right: _Rights) -> bool:
        if right not in seen:
            groups, product = right
            seen[right] = access.in_scope(product) and access.may_read(groups)
        return seen[right]

    return lambda key: any(may_read(right) for right in rights.get(key, ()))
