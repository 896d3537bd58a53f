"""Questions made by hand, for what is computed from them and drawn of them."""

from __future__ import annotations

from typing import Any

from bot.evaluate.questions import Hit, Question, Sought, Where
from grounding.records import Query, Sentence, Turn

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e\"'&"


def question(
    identifier: str = "q1",
    ranks: tuple[int | None, ...] = (1,),
    *,
    plain: tuple[int | None, ...] | None = None,
    said: str = "Is there a fee?",
    **more: Any,
) -> Question:
    """A question whose documents d0, d1, … stand at `ranks`, and at `plain` by the baseline. nDCG@10 is given as 1 / first rank."""
    others = plain or tuple(None for _ in ranks)
    sought = tuple(
        Sought(f"d{i}", f"Title {i}", "text", rank, other)
        for i, (rank, other) in enumerate(zip(ranks, others, strict=True))
    )
    first = min((rank for rank in ranks if rank), default=None)
    before = min((rank for rank in others if rank), default=None)
    found = {
        "metrics": {"ndcg_10": 1 / first if first else 0.0} if ranks else {},
        "plain": {"ndcg_10": 1 / before if before else 0.0} if plain else {},
        "turns": (Turn("customer", said),),
        "query": Query(said, (Sentence(0, 0, len(said), said, 1.0),), ("Wren X1",), "a note"),
        "sought": sought,
        "hits": (Hit(1, "d9", "Another", "Something else.", relevant=False, score=0.9, bm25=3.2, semantic=0.5),),
    }
    return Question(**{"id": identifier, **found, **more})


def decided(identifier: str, where: Where | None, action: str, *, answered: bool, kind: str | None = None) -> Question:
    """A question of which only the corrective decision matters."""
    return question(identifier, (), where=where, action=action, answered=answered, kind=kind)
