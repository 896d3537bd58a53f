"""The embedded summarizer: sentence centrality over embeddings (after LexRank, Erkan & Radev 2004), anchored on the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grounding.ports import Embedder
from grounding.query import (
    MAX_EARLIER,
    MAX_LAST,
    RECENT_TURNS,
    assemble,
    is_fragment,
    last_asked,
    last_turn_query,
    missing_names,
    turn_sentences,
)
from grounding.records import Query, Sentence, Turn

_FADE = 0.85
"""What a sentence keeps of its weight for every turn between it and the question."""
_NEAR = 0.35
"""Cosine to the question below which an earlier sentence is another topic."""


class CentralitySummarizer:
    """Summarizer over an embedder; without one the last turn is the query and the note says so."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        """Sentences of `turns` verbatim. Raises InputError for a conversation without text."""
        asked = last_asked(turns)
        last = turn_sentences(turns, asked)
        if not last:
            return last_turn_query(turns, "the last turn holds no term to rank")
        entities = missing_names(turns, asked)
        earlier = [] if entities or not is_fragment(turns[asked].text) else _earlier(turns, asked)
        if self._embedder is None:
            whole = [replace(s, rank_score=1.0) for s in last[-MAX_LAST:]]
            return assemble(whole, entities, "no embedding model: last turn only")
        if len(last) <= MAX_LAST and not earlier:
            return assemble([replace(s, rank_score=1.0) for s in last], entities)
        ranked_last, ranked_earlier = await self._rank(asked, last, earlier)
        return assemble([*ranked_last, *ranked_earlier], entities)

    async def _rank(
        self, asked: int, last: list[Sentence], earlier: list[Sentence]
    ) -> tuple[list[Sentence], list[Sentence]]:
        assert self._embedder is not None
        question = " ".join(s.text for s in last)
        vectors = await self._embedder.embed([question, *(s.text for s in last), *(s.text for s in earlier)])
        near = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        scored_last = [replace(s, rank_score=_rank_score(float(c), s.text)) for s, c in zip(last, near, strict=False)]
        scored_last.sort(key=lambda s: -s.rank_score)
        back = near[len(last) :]
        scored_earlier = [
            replace(s, rank_score=round(float(c) * _FADE ** (asked - s.turn - 1), 4))
            for s, c in zip(earlier, back, strict=True)
            if c >= _NEAR
        ]
        scored_earlier.sort(key=lambda s: -s.rank_score)
        return scored_last[:MAX_LAST], scored_earlier[:MAX_EARLIER]


def _rank_score(cosine: float, text: str) -> float:
    return round(min(1.0, cosine + (0.2 if text.rstrip().endswith("?") else 0.0)), 4)


def _earlier(turns: Sequence[Turn], asked: int) -> list[Sentence]:
    recent = range(max(0, asked - RECENT_TURNS), asked)
    return [s for i in recent if turns[i].role != "assistant" for s in turn_sentences(turns, i)][-24:]
