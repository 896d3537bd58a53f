"""Names of an answer from the knowledge base's own list, and by the patterns of `rai.claims`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from grounding.text import caseless
from rai.claims import addresses, codes, names
from rai.claims.found import Found
from rai.records import EntityType

Tag = tuple[int, int, EntityType]
_WORD = re.compile(r"\w+(?:[&'’.-]\w+)*")
_LONGEST = 8  # words of a listed name


class GazetteerTagger:
    """EntityTagger over a list of names (name to type) and the patterns for addresses, codes and persons.

    A listed name is found whatever its case, as whole words, the longest first. Reads linearly in the text.
    """

    def __init__(self, listed: Mapping[str, EntityType] | None = None) -> None:
        self._listed = {_key(name): kind for name, kind in (listed or {}).items() if 0 < len(_key(name)) <= _LONGEST}

    async def tag(self, text: str) -> tuple[Tag, ...]:
        """Spans (start, end, type), ascending, not overlapping; listed names win over patterns."""
        return await asyncio.to_thread(self._tag, text)

    def _tag(self, text: str) -> tuple[Tag, ...]:
        tags = self._from_list(text)
        patterns: list[Found] = [*addresses.find(text), *codes.find(text), *names.find(text)]
        for found in patterns:
            if found.entity is not None:
                tags.append((found.start, found.end, found.entity))
        kept: list[Tag] = []
        taken: list[tuple[int, int]] = []
        for start, end, kind in tags:
            if all(end <= a or b <= start for a, b in taken):
                taken.append((start, end))
                kept.append((start, end, kind))
        return tuple(sorted(kept))

    def _from_list(self, text: str) -> list[Tag]:
        if not self._listed:
            return []
        spans = [m.span() for m in _WORD.finditer(caseless(text))]
        plain = caseless(text)
        tags: list[Tag] = []
        at = 0
        while at < len(spans):
            length = next(
                (n for n in range(min(_LONGEST, len(spans) - at), 0, -1) if self._kind(plain, spans[at : at + n])), 0
            )
            if length:
                kind = self._kind(plain, spans[at : at + length])
                assert kind is not None
                tags.append((spans[at][0], spans[at + length - 1][1], kind))
            at += max(1, length)
        return tags

    def _kind(self, plain: str, spans: list[tuple[int, int]]) -> EntityType | None:
        return self._listed.get(tuple(plain[a:b] for a, b in spans))


def _key(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(caseless(name)))
