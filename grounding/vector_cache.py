"""Cache of embeddings by text, shared by the embedders: a turn embeds the same question several times, and sentences recur between turns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from grounding.ports import Vectors


class VectorCache:
    """Vectors of at most `most` texts; beyond that the oldest is dropped.

    More than `most_at_once` new vectors are not kept at all: an ingest must not push out what the turns use.
    """

    def __init__(self, most: int, most_at_once: int) -> None:
        self._most, self._most_at_once = most, most_at_once
        self._held: OrderedDict[str, Vectors] = OrderedDict()

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of those of `texts` that are kept, by text."""
        return {text: self._held[text] for text in texts if text in self._held}

    def keep(self, fresh: Mapping[str, Vectors]) -> None:
        """Keep these vectors, unless they are too many at once."""
        if len(fresh) > self._most_at_once:
            return
        self._held.update(fresh)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
