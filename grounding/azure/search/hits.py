"""Search results of the index, their scores on one scale, and the passages that they become.

The store has the last word where it is at hand: a passage is used only if the store lets this person read it now, and as the store has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from grounding.azure.search.filter import OURS
from grounding.azure.search.service import SERVICE
from grounding.errors import ServiceReplyInvalid
from grounding.records import Access, Passage, Trust
from grounding.store.chunks import ChunkRow
from grounding.store.store_reader import StoreReader

_RRF = 60.0
"""Constant of the service's reciprocal rank fusion: each of the lists that are fused adds 1/60 at most."""
TOP_RANK = 4.0
"""The highest score of the semantic ranker."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result with its scores as the service gives them. `fields` holds "chunk_id" at least.

    `raw`: the service's score of the order, unbounded; `cosine` in [-1, 1]; `reranked` in [0, 4]; `caption`: words that the ranker found to
    the point.
    """

    fields: dict[str, Any]
    raw: float
    bm25: float | None = None
    cosine: float | None = None
    reranked: float | None = None
    caption: str | None = None


def hit_of(document: dict[str, Any], alone: tuple[bool, bool]) -> Hit:
    """A result of the service as Hit. `alone`: whether words, and whether a vector, were searched for. Raises ServiceReplyInvalid."""
    if not isinstance(document.get("chunk_id"), str) or not isinstance(document.get("text", ""), str):
        raise ServiceReplyInvalid(SERVICE, "a result lacks its key or its text")
    raw = float(document["@search.score"])
    words, meaning = alone
    try:
        reranked = document.get("@search.rerankerScore")
        reranked = None if reranked is None else float(reranked)
        bm25, cosine = _subscores(document.get("@search.documentDebugInfo") or {})
        caption = next((str(c["text"]) for c in document.get("@search.captions") or [] if c.get("text")), None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ServiceReplyInvalid(SERVICE, f"a result cannot be read ({type(error).__name__})") from None
    if words and not meaning:
        bm25 = raw
    if meaning and not words and cosine is None and raw > 0:
        cosine = 2 - 1 / raw  # the service's score of a cosine is 1 / (1 + distance), distance 1 - cosine
    return Hit(document, raw, bm25, cosine, reranked, caption)


def _subscores(debug: dict[str, Any]) -> tuple[float | None, float | None]:
    """BM25 score and cosine of a result, where the service tells them (debug mode "vector")."""
    found = (debug.get("vectors") or {}).get("subscores") or {}
    bm25 = (found.get("text") or {}).get("searchScore")
    fields = [field for each in found.get("vectors") or [] for field in each.values()]
    cosine = next((f["vectorSimilarity"] for f in fields if f.get("vectorSimilarity") is not None), None)
    return None if bm25 is None else float(bm25), None if cosine is None else float(cosine)


def by_place(place: int) -> float:
    """A raw score for a result of which only the place is known, counted from 1: its reciprocal rank, 1 / (60 + place)."""
    return 1 / (_RRF + place)


def scored(hits: Sequence[Hit], *, lists: int) -> list[tuple[float, Hit]]:
    """Hits with scores in [0, 1] that never rise along the service's order: by the ranker first, then by fusion, BM25 or cosine.

    `lists`: how many result lists the service fused.
    """
    best = max((hit.raw for hit in hits), default=1.0) or 1.0
    floor = 1.0
    found: list[tuple[float, Hit]] = []
    ranked = any(hit.reranked is not None for hit in hits)
    for hit in hits:
        if hit.reranked is not None:
            score = hit.reranked / TOP_RANK
        elif ranked:
            score = floor * hit.raw / best
        elif lists > 1:
            score = hit.raw * _RRF / lists
        else:
            score = hit.raw / best if hit.cosine is None else hit.cosine
        floor = min(floor, max(0.0, min(1.0, score)))
        found.append((round(floor, 6), hit))
    return sorted(found, key=lambda item: (-item[0], -(item[1].raw), str(item[1].fields["chunk_id"])))


async def passages(
    ordered: Sequence[tuple[float, Hit]], access: Access, keys: StoreReader | None, *, others: bool
) -> list[Passage]:
    """The passages that `access` may read, in order, without those that repeat a better passage of the same title and the same rights.

    `keys`: the store, None where it is not on this machine. `others`: documents that are not ours count too, as the index tells them;
    without it whatever the store does not know is left out, whoever put it into the index.
    """

    def foreign(hit: Hit) -> bool:
        return keys is None or (others and hit.fields.get("source") != OURS)

    rows: dict[str, ChunkRow] = {}
    if keys is not None:
        ours = [str(hit.fields["chunk_id"]) for _, hit in ordered if not foreign(hit)]
        rows = await asyncio.to_thread(keys.rows, ours)
    kept: list[Passage] = []
    seen: set[tuple[object, ...]] = set()
    for score, hit in ordered:
        if foreign(hit):
            kept.append(_told(hit, score))
            continue
        row = rows.get(str(hit.fields["chunk_id"]))
        if row is not None and row.readable_by(access) and row.repetition_key not in seen:
            seen.add(row.repetition_key)
            kept.append(_stored(row, hit, score))
    return kept


def _stored(row: ChunkRow, hit: Hit, score: float) -> Passage:
    """A passage as the store has it, with the scores of its hit."""
    caption = hit.caption if hit.caption and hit.caption in row.chunk.text else None
    return row.as_passage(score, bm25=hit.bm25, semantic=hit.cosine, reranked=hit.reranked, caption=caption)


def _told(hit: Hit, score: float) -> Passage:
    """A passage of which this machine has no record, as the index tells it."""
    f = hit.fields
    bare = Passage(
        str(f["chunk_id"]), str(f.get("doc_id") or f["chunk_id"]), str(f.get("title") or ""), str(f.get("text") or "")
    )
    return replace(
        bare,
        start=int(f.get("start") or 0),
        url=f.get("url"),
        locator=f.get("locator"),
        internal=bool(f.get("internal")),
        updated=f.get("updated"),
        trust=next((t for t in get_args(Trust) if t == f.get("trust")), "ordinary"),
        version=str(f.get("version") or ""),
        tokens=int(f.get("tokens") or 0),
        score=score,
        bm25=hit.bm25,
        semantic=hit.cosine,
        reranked=hit.reranked,
        caption=hit.caption if hit.caption and hit.caption in bare.text else None,
    )
