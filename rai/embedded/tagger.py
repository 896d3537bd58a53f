"""Names in a text, found by the knowledge base's own list and by the patterns of `rai.claims`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping

from grounding.text import caseless
from rai.claims.contacts import addresses
from rai.claims.found import Found
from rai.claims.names import codes, names
from rai.claims.names.gazetteer import MAX_WORDS
from rai.records import EntityType

Tag = tuple[int, int, EntityType]
"""Start, end (code points, half open) and type of a name."""
Listed = Mapping[str, EntityType]
"""The type of each name by its normal form."""
_WORD = re.compile(r"[^\W_]+(?:[&'’.][^\W_]+)*")


class GazetteerTagger:
    """A `rai.ports.EntityTagger` by a list of names and by patterns for addresses, codes and persons.

    `listed`: a list that a person made, or a function that gives the current learnt one. A listed name is found whatever
    its case, as whole words, the longest first; a learnt one of a single word only with a capital inside a sentence:
    Swift is a product, a swift reply is none. Tells of no name that is not in the text. Reads linearly in the text.
    """

    def __init__(self, listed: Listed | Callable[[], Listed] | None = None) -> None:
        self._learnt = callable(listed)
        self._current = listed if callable(listed) else _always(_normal_keys(listed or {}))
        self._begun: tuple[Listed, frozenset[str]] = ({}, frozenset())

    async def tag(self, text: str) -> tuple[Tag, ...]:
        """The names of `text` as (start, end, type), ascending, not overlapping; listed names win over patterns."""
        return await asyncio.to_thread(self._tag, text)

    def _tag(self, text: str) -> tuple[Tag, ...]:
        listed = self._current()
        if listed is not self._begun[0]:
            self._begun = (listed, frozenset(_WORD.findall(caseless(name))[0] for name in listed if _WORD.search(name)))
        tags = _from_list(text, *self._begun, learnt=self._learnt)
        patterns: list[Found] = [*addresses.find(text), *codes.find(text), *names.find(text)]
        tags += [(f.start, f.end, f.entity) for f in patterns if f.entity is not None]
        kept: list[Tag] = []
        taken = bytearray(len(text))
        for start, end, kind in tags:
            if not any(taken[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                kept.append((start, end, kind))
        return tuple(sorted(kept))


def _always(listed: Listed) -> Callable[[], Listed]:
    return lambda: listed


def _normal_keys(listed: Listed) -> Listed:
    return {names.normal(name): kind for name, kind in listed.items()}


def _from_list(text: str, listed: Listed, firsts: frozenset[str], *, learnt: bool) -> list[Tag]:
    if not listed:
        return []
    spans = [m.span() for m in _WORD.finditer(text)]
    tags: list[Tag] = []
    at = 0
    while at < len(spans):
        word = _WORD.match(caseless(text[slice(*spans[at])]))
        if word is None or word.group().removesuffix("'s") not in firsts:
            at += 1
            continue
        length = next(
            (
                n
                for n in range(min(MAX_WORDS, len(spans) - at), 0, -1)
                if _is_listed(text, spans[at : at + n], listed, learnt=learnt)
            ),
            0,
        )
        if length:
            start, end = spans[at][0], _name_end(text, spans[at + length - 1])
            tags.append((start, end, listed[names.normal(text[start:end])]))
        at += max(1, length)
    return tags


def _is_listed(text: str, spans: list[tuple[int, int]], listed: Listed, *, learnt: bool) -> bool:
    start, end = spans[0][0], _name_end(text, spans[-1])
    if names.normal(text[start:end]) not in listed:
        return False
    return len(spans) > 1 or not learnt or names.is_inside(text, start)


def _name_end(text: str, last: tuple[int, int]) -> int:
    """Where a name ends whose last word has the span `last`: before a possessive 's."""
    return last[1] - 2 if text[last[1] - 2 : last[1]] in ("'s", "’s") else last[1]
