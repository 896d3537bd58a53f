"""Embedded summarizer: search query from a conversation by sentence centrality over embeddings (after LexRank, Erkan & Radev 2004),
anchored on the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grounding.ports import Embedder
from grounding.query.conversation import (
    MAX_LAST,
    assemble,
    last_asked,
    last_turn_query,
    missing_names,
    said_before,
    turn_sentences,
)
from grounding.records import Query, Sentence, Turn


class CentralitySummarizer:
    """Summarizer (conversation to query) over an embedder; without one the last turn is the query and the note says so."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        """The query: sentences of `turns`, verbatim. Raises InputError for a conversation without text."""
        asked = last_asked(turns)
        last = turn_sentences(turns, asked)
        if not last:
            return _after_what_was_said(turns, asked)
        entities = missing_names(turns, asked)
        if self._embedder is None:
            whole = [replace(s, rank_score=1.0) for s in last[-MAX_LAST:]]
            return assemble(whole, entities, "no embedding model: last turn only")
        if len(last) <= MAX_LAST:
            return assemble([replace(s, rank_score=1.0) for s in last], entities)
        return assemble(await self._ranked(last), entities)

    async def _ranked(self, last: list[Sentence]) -> list[Sentence]:
        """The sentences of a long turn that are nearest to all of it, questions before others."""
        assert self._embedder is not None
        vectors = await self._embedder.embed([" ".join(s.text for s in last), *(s.text for s in last)])
        near = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        scored = [replace(s, rank_score=_rank_score(float(c), s.text)) for s, c in zip(last, near, strict=True)]
        return sorted(scored, key=lambda s: -s.rank_score)[:MAX_LAST]


def _rank_score(cosine: float, text: str) -> float:
    return round(min(1.0, cosine + (0.2 if text.rstrip().endswith("?") else 0.0)), 4)


def _after_what_was_said(turns: Sequence[Turn], asked: int) -> Query:
    """Query for a last turn without any term ("And why?"): it follows the asker's newest sentence that has one."""
    before = said_before(turns, asked)[-1:]
    alone = last_turn_query(turns, "the last turn holds no term to rank")
    return assemble([*(replace(s, rank_score=1.0) for s in before), *alone.sentences], ()) if before else alone
