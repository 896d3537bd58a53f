"""Azure AI Search as retriever: words and meaning in one request, trimmed by a filter inside it, ranked anew where that is on.

Scores are told apart: `bm25` and the cosine are what the service gives for each side (its debug mode "vector"), `reranked` is the
semantic ranker's, and `score` is the order that was returned, in [0, 1]. Where the store of record is at hand it has the last
word: a passage is used only if the store lets this person read it now, and as the store has it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grounding.azure.search_filter import OURS, readable
from grounding.azure.search_index import CONFIGURATION
from grounding.azure.search_rows import STATE_KEY, State, sendable, state_of
from grounding.azure.search_service import PAGE, SERVICE, SearchService
from grounding.embedded.by_key import StoreKeys
from grounding.embedded.store import Row, Store
from grounding.errors import ServiceError, ServiceRejected, ServiceReplyInvalid
from grounding.meaning import BY_WORDS, meaning_of
from grounding.observe import without
from grounding.ports import Embedder, Vectors
from grounding.query import question_of
from grounding.records import Access, Passage, Query, Retrieval
from grounding.remote import Throttled

_DEPTH, _SPARE = 100, 20
_RRF = 60.0
"""Constant of the service's reciprocal rank fusion: each of the lists that are fused adds 1/60 at most."""
_TOP_RANK = 4.0
_STATE_SECONDS = 60.0
_MOST_WORDS, _MOST_CHARS = 64, 2000
NO_VECTORS = f"no vectors: {BY_WORDS}"
OTHER_VECTORS = f"the index holds vectors of another embedding model: {BY_WORDS}; run attest ingest"
UNRANKED = "the semantic ranker did not answer: results stand in the order of the search"
REFUSED = "the semantic ranker is not available: results stand in the order of the search"
_FIELDS = "chunk_id,doc_id,source,version,updated,url,locator,start,tokens,internal,title,text"
_OPERATOR = re.compile(r"""[+|"()'\\]""")
_LOOSE = re.compile(r"(?<!\S)-+|[*~]+(?!\S)")


@dataclass(frozen=True, slots=True)
class _Hit:
    """A result as the service gives it."""

    fields: dict[str, Any]
    raw: float
    bm25: float | None
    cosine: float | None
    reranked: float | None
    caption: str | None


class AzureSearchRetriever:
    """Retriever over one index. `store`: the store of record, None where it is not on this machine.

    `others`: passages that an indexer put into the index beside ours count too; they have no place in the store.
    """

    def __init__(
        self,
        service: SearchService,
        store: Store | None,
        embedder: Embedder | None,
        *,
        semantic: bool = False,
        others: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service, self._store, self._embedder = service, store, embedder
        self._keys = StoreKeys(store.path) if store is not None else None
        self._semantic, self._others, self._clock = semantic, others, clock
        self._state: State | None = None
        self._state_until = -1.0

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises ServiceError, StoreError.

        `mode` is "hybrid", "lexical" or "semantic", with "+hyde" where an imagined answer was searched for and "+ranked" where the
        semantic ranker had its say.
        """
        if k < 1:
            return Retrieval((), await self._version(), "lexical")
        vector, notes = await self._vector(query)
        text = "" if query.by == "meaning" and vector is not None else _words(query.text)
        if vector is None and not text:
            return Retrieval((), await self._version(), "lexical", notes)
        ranked = self._semantic and query.by == "hybrid" and bool(text)
        hits, note = await self._search(
            text, vector, access, min(PAGE, k + max(_SPARE, k // 4)), query if ranked else None
        )
        if note:
            without("ranker")
        mode = "lexical" if vector is None else "hybrid" if text or query.by == "hybrid" else "semantic"
        mode += "+hyde" if query.imagined and vector is not None else ""
        mode += "+ranked" if any(hit.reranked is not None for hit in hits) else ""
        kept = await self._passages(_scored(hits, lists=bool(text) + (vector is not None)), access)
        return Retrieval(tuple(kept[:k]), await self._version(), mode, (*notes, *((note,) if note else ())))

    # --- what is asked

    async def _vector(self, query: Query) -> tuple[Vectors | None, tuple[str, ...]]:
        """The meaning searched for, as the embedded engine has it where no name selects; None with a note where it goes by words."""
        if query.by == "words":
            return None, ()
        state = await self._known_state()
        if self._embedder is None or state is None or not state.embedder:
            return None, (NO_VECTORS,)
        if state.embedder != self._embedder.fingerprint:
            return None, (OTHER_VECTORS,)
        question = question_of(query)
        texts = [question, " ".join([*query.entities, question])] if query.entities else [question]
        vector, note = await meaning_of(self._embedder, texts, query.imagined)
        return vector, (note,) if note else ()

    async def _search(
        self, text: str, vector: Vectors | None, access: Access, top: int, ranked: Query | None
    ) -> tuple[list[_Hit], str | None]:
        """Results, and a note where the ranker was asked for in vain."""
        asked: dict[str, Any] = {
            "searchFields": "title,text", "searchMode": "any", "filter": readable(access, others=self._others),
            "select": _FIELDS if self._keys is None or self._others else "chunk_id,source", "top": top, **({"search": text} if text else {}),
        }  # fmt: skip
        if vector is not None:
            near = {"kind": "vector", "vector": vector.tolist(), "k": max(top, _DEPTH), "fields": "vector"}
            # filtered first: the nearest of what may be read, not what may be read of the nearest
            asked |= {"vectorQueries": [near], "vectorFilterMode": "preFilter", "debug": "vector"}
        alone = (bool(text), vector is not None)
        if ranked is None:
            return [_hit(d, alone) for d in await self._service.search(**asked)], None
        ranking = {
            "queryType": "semantic", "semanticConfiguration": CONFIGURATION, "captions": "extractive|highlight-false",
            "semanticQuery": sendable(ranked.text)[:_MOST_CHARS], "semanticErrorHandling": "partial",
        }  # fmt: skip
        try:
            hits = [_hit(d, alone) for d in await self._service.search(**asked, **ranking)]
        except Throttled:
            raise
        except ServiceRejected:  # the tier has no ranker, or its quota is used up; a bad key is refused again here
            return [_hit(d, alone) for d in await self._service.search(**asked)], REFUSED
        return hits, UNRANKED if hits and all(hit.reranked is None for hit in hits) else None

    # --- what is used of it

    async def _passages(self, scored: Sequence[tuple[float, _Hit]], access: Access) -> list[Passage]:
        """What may be read, without what repeats a better passage of the same title and the same rights."""
        rows: dict[str, Row] = {}
        if self._keys is not None:
            ours = [str(hit.fields["chunk_id"]) for _, hit in scored if hit.fields.get("source") == OURS]
            rows = await asyncio.to_thread(self._keys.rows, ours)
        kept: list[Passage] = []
        seen: set[tuple[object, ...]] = set()
        for score, hit in scored:
            key = str(hit.fields["chunk_id"])
            if self._keys is None or hit.fields.get("source") != OURS:
                kept.append(_told(hit, score))
                continue
            row = rows.get(key)
            if row is None or not access.may_read(row.groups) or not access.in_scope(row.product):
                continue
            same = (row.title, row.chunk.text, row.groups, row.product)
            if same not in seen:
                seen.add(same)
                kept.append(_stored(row, hit, score))
        return kept

    async def _known_state(self) -> State | None:
        """The state of the index, asked for once a minute."""
        if self._clock() >= self._state_until:
            self._state = state_of(await self._service.document(STATE_KEY))
            self._state_until = self._clock() + (_STATE_SECONDS if self._state else 0.0)
        return self._state

    async def _version(self) -> str:
        if self._store is not None:
            return await asyncio.to_thread(self._store.kb_version)
        state = await self._known_state()
        return state.kb_version if state else "kb-unknown"

    # --- how it stands

    async def ready(self) -> dict[str, str]:
        """What keeps the search from being whole, by part; empty if nothing does."""
        try:
            held = max(0, await self._service.count() - 1)  # the document that tells the state counts too
        except ServiceError as error:
            return {SERVICE: str(error)}
        if self._store is None or self._others:
            return {}
        wanted = (await asyncio.to_thread(self._store.counts))[1]
        if held < wanted:
            return {SERVICE: f"{held:,} of {wanted:,} passages are in the index; run `attest ingest` on a path again"}
        return {}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()


def _words(text: str) -> str:
    """`text` for the simple query syntax, none of its signs an operator; empty if it holds no word at all."""
    words = _LOOSE.sub(" ", sendable(text)).split()[:_MOST_WORDS]
    plain = _OPERATOR.sub(r"\\\g<0>", " ".join(words)[:_MOST_CHARS])
    return plain if any(c.isalnum() for c in plain) else ""


def _hit(document: dict[str, Any], alone: tuple[bool, bool]) -> _Hit:
    """A result; `alone`: whether it was searched for by words, and by meaning."""
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
    return _Hit(document, raw, bm25, cosine, reranked, caption)


def _subscores(debug: dict[str, Any]) -> tuple[float | None, float | None]:
    """BM25 and the cosine of a result, where the service told them."""
    found = (debug.get("vectors") or {}).get("subscores") or {}
    bm25 = (found.get("text") or {}).get("searchScore")
    fields = [field for each in found.get("vectors") or [] for field in each.values()]
    cosine = next((f["vectorSimilarity"] for f in fields if f.get("vectorSimilarity") is not None), None)
    return None if bm25 is None else float(bm25), None if cosine is None else float(cosine)


def _scored(hits: Sequence[_Hit], *, lists: int) -> list[tuple[float, _Hit]]:
    """Scores in [0, 1] that fall in the order of the service: of the ranker first, then of fusion, of words or of meaning."""
    best = max((hit.raw for hit in hits), default=1.0) or 1.0
    floor = 1.0
    scored: list[tuple[float, _Hit]] = []
    ranked = any(hit.reranked is not None for hit in hits)
    for hit in hits:
        if hit.reranked is not None:
            score = hit.reranked / _TOP_RANK
        elif ranked:
            score = floor * hit.raw / best
        elif lists > 1:
            score = hit.raw * _RRF / lists
        else:
            score = hit.raw / best if hit.cosine is None else hit.cosine
        floor = min(floor, max(0.0, min(1.0, score)))
        scored.append((round(floor, 6), hit))
    return sorted(scored, key=lambda item: (-item[0], -(item[1].raw), str(item[1].fields["chunk_id"])))


def _stored(row: Row, hit: _Hit, score: float) -> Passage:
    chunk = row.chunk
    return Passage(
        chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, title=row.title, text=chunk.text, start=chunk.start, url=row.url, locator=chunk.locator,
        internal=row.internal, updated=row.updated, version=row.version, tokens=chunk.tokens, score=score, bm25=hit.bm25,
        semantic=hit.cosine, reranked=hit.reranked, caption=hit.caption if hit.caption and hit.caption in chunk.text else None,
    )  # fmt: skip


def _told(hit: _Hit, score: float) -> Passage:
    """A passage of which this machine has no record: as the index tells it."""
    f = hit.fields
    bare = Passage(
        str(f["chunk_id"]), str(f.get("doc_id") or f["chunk_id"]), str(f.get("title") or ""), str(f.get("text") or "")
    )
    return replace(
        bare, start=int(f.get("start") or 0), url=f.get("url"), locator=f.get("locator"), internal=bool(f.get("internal")), updated=f.get("updated"),
        version=str(f.get("version") or ""), tokens=int(f.get("tokens") or 0), score=score, bm25=hit.bm25, semantic=hit.cosine,
        reranked=hit.reranked, caption=hit.caption if hit.caption and hit.caption in bare.text else None,
    )  # fmt: skip
