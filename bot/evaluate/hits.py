"""What a search found beside what should have been found, by documents: ranks, the best passage of each, titles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from bot.evaluate.questions import Hit, Sought
from bot.system import System
from grounding.records import Passage

K = 50
"""Passages that are searched for, and the deepest rank that counts."""
SHOWN_HITS = 10
SHOWN_TEXT = 420
"""Characters of a passage that are kept for reading."""
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})


def documents(passages: Sequence[Passage]) -> list[str]:
    """Distinct ids of documents, in the order of their best passage."""
    return list(dict.fromkeys(passage.doc_id for passage in passages))


def rank_of(doc: str, ranked: Sequence[str]) -> int | None:
    """Rank of a document, from 1; None beyond the first `K`."""
    return ranked.index(doc) + 1 if doc in ranked[:K] else None


async def titles_of(system: System) -> Mapping[str, str]:
    """Title of every document of the knowledge base."""
    return {info.doc_id: info.title for info in await system.library.documents()}


def sought_of(
    wanted: Iterable[str],
    ranked: Sequence[str],
    titles: Mapping[str, str],
    *,
    baseline: Sequence[str] = (),
    texts: Mapping[str, str] = _NO_TEXTS,
    cited: Collection[str] | None = None,
) -> tuple[Sought, ...]:
    """The documents that should be found, each with its rank in `ranked` and in the `baseline`.

    `titles` of all documents, `texts` of those to be read; `cited`: those that the answer rests on, None where there is no answer.
    """
    return tuple(
        Sought(
            doc_id=doc,
            title=titles.get(doc, ""),
            text=texts.get(doc, ""),
            rank=rank_of(doc, ranked),
            plain_rank=rank_of(doc, baseline),
            known=doc in titles,
            cited=None if cited is None else doc in cited,
        )
        for doc in wanted
    )


def hits_of(
    passages: Sequence[Passage],
    relevant: Collection[str],
    grades: Mapping[str, float],
    cited: Collection[str] = (),
    shown: Collection[str] = (),
) -> tuple[Hit, ...]:
    """The best passage of each of the first `SHOWN_HITS` documents.

    `grades` in [0, 1] by chunk; documents that were `cited`, and `shown` in the prompt.
    """
    best: dict[str, Passage] = {}
    for passage in passages:
        best.setdefault(passage.doc_id, passage)
    return tuple(
        Hit(
            rank=rank,
            doc_id=p.doc_id,
            title=p.title,
            text=p.text[:SHOWN_TEXT],
            relevant=p.doc_id in relevant,
            score=p.score,
            bm25=p.bm25,
            semantic=p.semantic,
            grade=grades.get(p.chunk_id),
            cited=p.doc_id in cited,
            shown=p.doc_id in shown,
        )
        for rank, p in enumerate(list(best.values())[:SHOWN_HITS], start=1)
    )
