"""Reciprocal rank fusion of two rankings by hand, and which question the baseline asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.evaluate.suites.retrieval.hybrid_baseline import fused, plain_hybrid
from bot.settings.load import load_settings
from grounding.records import Access, Passage, Query, Retrieval, Turn
from tests.bot.commands.fakes import world


def passage(name: str, bm25: float | None, semantic: float | None, doc: str | None = None) -> Passage:
    return Passage(name, doc or name, name, "", bm25=bm25, semantic=semantic)


def test_reciprocal_rank_fusion_by_hand() -> None:
    """a: 1/61 + 1/63, b: 1/62 + 1/61, c: 1/62 alone by meaning, d: 1/63 alone by words; b leads, then a."""
    given_passages = [
        passage("a", 9.0, 0.1),
        passage("b", 8.0, 0.9),
        passage("c", None, 0.5),
        passage("d", 1.0, None),
    ]
    assert fused(given_passages) == ["b", "a", "c", "d"]


def test_fusion_keeps_the_order_of_ties_counts_documents_once_and_needs_no_vectors() -> None:
    assert fused([passage("a", 1.0, None), passage("b", 1.0, None)]) == ["a", "b"]
    assert fused([passage("1", 2.0, None, "a"), passage("2", 1.0, None, "b"), passage("3", 0.5, None, "a")]) == [
        "a",
        "b",
    ]
    assert fused([]) == []


class Finds:
    """The same passages for every query."""

    def __init__(self, *passages: Passage) -> None:
        self._passages = passages
        self.asked: list[str] = []

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        self.asked.append(query.text)
        return Retrieval(self._passages, "kb")


@pytest.mark.parametrize(
    ("passages", "expected"),
    [((), []), ((passage("a", None, 0.5),), ["a"])],
)
async def test_the_baseline_asks_the_last_question(passages: tuple[Passage, ...], expected: list[str]) -> None:
    finds = Finds(*passages)
    small = replace(await world().compose(load_settings()), retriever=finds)
    turns = [Turn("customer", "My Wren X1 is slow."), Turn("customer", "And the fee?"), Turn("agent", "One moment.")]
    assert await plain_hybrid(small, turns, Access()) == expected
    assert finds.asked == ["And the fee?"]
