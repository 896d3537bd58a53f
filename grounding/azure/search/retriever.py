"""Retriever over Azure AI Search: BM25 and vectors in one request, with the access filter inside it, and the semantic ranker where that is
on.

Scores are told apart: `bm25` and the cosine are what the service gives for each side (its debug mode "vector"), `reranked` is the semantic
ranker's, and `score` follows the order that was returned, in [0, 1]. Where the store of record is at hand it has the last word: a passage
is used only if the store lets this person read it now, and as the store has it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grounding.azure.core.faults import NotFound
from grounding.azure.search.filter import among, readable
from grounding.azure.search.hits import Hit, by_place, hit_of, passages, scored
from grounding.azure.search.index import CONFIGURATION
from grounding.azure.search.ranker import RANKER, LastRefusal, RankerRefused
from grounding.azure.search.rows import STATE_KEY, State, state_of
from grounding.azure.search.service import PAGE, SERVICE, SearchService
from grounding.errors import ServiceError, ServiceRejected
from grounding.observe import record_degraded
from grounding.ports import Embedder, Vectors
from grounding.query.conversation import question_of
from grounding.query.query_vector import BY_WORDS, query_vector, question_texts
from grounding.records import Access, Passage, Query, Retrieval
from grounding.services.remote import Throttled
from grounding.store.store import Store
from grounding.store.store_reader import StoreReader
from grounding.text import sendable

_DEPTH, _SPARE = 100, 20
_STATE_SECONDS = 60.0
_READY_S = 4.0
"""Whoever asks whether all is ready waits five seconds, and is to hear which part it was."""
_MOST_WORDS, _MOST_CHARS = 64, 2000
NO_VECTORS = f"no vectors: {BY_WORDS}"
OTHER_VECTORS = f"the index holds vectors of another embedding model: {BY_WORDS}; run attest ingest"
UNRANKED = "the semantic ranker did not answer: results stand in the order of the search"
REFUSED = "the semantic ranker refused the query: results stand in the order of the search"
NO_RANKER = "the semantic ranker is not available ({why}): results stand in the order of the search"
_FIELDS = "chunk_id,doc_id,source,version,updated,url,locator,start,tokens,internal,trust,title,text"
_OPERATOR = re.compile(r"""[+|"()'\\]""")
_LOOSE = re.compile(r"(?<!\S)-+|(?<![*~])[*~]+(?!\S)")


class AzureSearchRetriever:
    """Retriever over one index, or over an alias: then `own` is the index of this embedding model behind it, and is searched where the alias names one of another
    model: of two versions of a program that run beside each other each finds its own vectors. `store`: the store of record, None where it is not on this machine. `embedder`: None searches by words
    only.

    `semantic`: use the semantic ranker. `others`: passages that an indexer put into the index beside ours count too; they have no place in
    the store.
    """

    def __init__(
        self,
        service: SearchService,
        store: Store | None,
        embedder: Embedder | None,
        *,
        semantic: bool = False,
        others: bool = False,
        own: SearchService | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._named, self._own, self._store, self._embedder = service, own, store, embedder
        self._service = service  # that is searched
        self._keys = StoreReader(store.place) if store is not None else None
        self._semantic, self._others, self._clock = semantic, others, clock
        self._ranker = LastRefusal(clock)
        self._state: State | None = None
        self._state_until = -1.0

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises ServiceError, StoreError.

        `mode` is "hybrid", "lexical" or "semantic", with "+hyde" where an imagined answer was searched for and "+ranked" where the
        semantic ranker had its say.
        """
        if k < 1:
            return Retrieval((), await self.version(), "lexical")
        vector, notes = await self._vector(query)
        text = "" if query.by == "meaning" and vector is not None else _words(query.text)
        if vector is None and not text:
            return Retrieval((), await self.version(), "lexical", notes)
        ranked = self._semantic and query.by == "hybrid" and bool(text)
        hits, note = await self._search(
            text, vector, access, min(PAGE, k + max(_SPARE, k // 4)), query if ranked else None
        )
        if note:
            record_degraded("ranker")
        mode = "lexical" if vector is None else "hybrid" if text or query.by == "hybrid" else "semantic"
        mode += "+hyde" if query.imagined and vector is not None else ""
        mode += "+ranked" if any(hit.reranked is not None for hit in hits) else ""
        ordered = scored(hits, lists=bool(text) + (vector is not None))
        kept = await passages(ordered, access, self._keys, others=self._others)
        return Retrieval(tuple(kept[:k]), await self.version(), mode, (*notes, *((note,) if note else ())))

    # --- what is asked

    async def _vector(self, query: Query) -> tuple[Vectors | None, tuple[str, ...]]:
        """The vector to search for, made as the embedded engine makes it where no name selects; None with a note where the search goes by
        words.
        """
        if query.by == "words":
            return None, ()
        state = await self._known_state()
        if self._embedder is None or state is None or not state.embedder:
            return None, (NO_VECTORS,)
        if state.embedder != self._embedder.fingerprint:
            return None, (OTHER_VECTORS,)
        texts = question_texts(question_of(query), query.entities)
        vector, note = await query_vector(self._embedder, texts, query.imagined)
        return vector, (note,) if note else ()

    async def _search(
        self, text: str, vector: Vectors | None, access: Access, top: int, ranked: Query | None
    ) -> tuple[list[Hit], str | None]:
        """The results, and a note where the ranker was asked for in vain."""
        asked: dict[str, Any] = {
            "searchFields": "title,text",
            "searchMode": "any",
            "filter": readable(access, others=self._others),
            "select": _FIELDS if self._keys is None or self._others else "chunk_id,source",
            "top": top,
            **({"search": text} if text else {}),
        }
        if vector is not None:
            near = {"kind": "vector", "vector": vector.tolist(), "k": max(top, _DEPTH), "fields": "vector"}
            # filtered first: the nearest of what may be read, not what may be read of the nearest
            asked |= {"vectorQueries": [near], "vectorFilterMode": "preFilter", "debug": "vector"}
        alone = (bool(text), vector is not None)
        found, note = await self._ranked_anew(asked, ranked) if ranked is not None else (None, None)
        if found is None:
            found = await self._service.search(**asked)
        return [hit_of(d, alone) for d in found], note

    async def _ranked_anew(
        self, asked: Mapping[str, Any], query: Query
    ) -> tuple[list[dict[str, Any]] | None, str | None]:
        """Results in the ranker's order, None where it refuses, with a note where the ranker did not rank."""
        if self._ranker.refused is not None:
            return None, NO_RANKER.format(why=self._ranker.refused.why)
        try:
            found = await self._service.search(**asked, **ranking(query.text))
        except Throttled:
            raise
        except RankerRefused as refused:
            self._ranker.learn(refused)
            return None, NO_RANKER.format(why=refused.why)
        except ServiceRejected:  # of this query alone; a bad key is refused again without the ranker
            return None, REFUSED
        self._ranker.unlearn()
        return found, UNRANKED if found and not any(d.get("@search.rerankerScore") is not None for d in found) else None

    @property
    def refused(self) -> dict[str, str]:
        """Parts of the service that refused and are not asked for now, each with the reason and the remedy."""
        return self._ranker.told(RANKER)

    # --- what another ranked

    def clause(self, access: Access) -> str:
        """Filter expression for what `access` may find in the index."""
        return readable(access, others=self._others)

    async def ranked(self, scores: Mapping[str, float | None], access: Access) -> list[Passage]:
        """Passages for documents that another ranked: `scores` maps their keys, best first, to the semantic ranker's score in [0, 4].

        A score of None means that the place alone is known: then `score` falls with the place, and `reranked` stays None. The words come
        from the store; of what the store does not hold, from the index under the filter of this person, whoever named the keys. Raises
        ServiceError, StoreError.
        """
        documents: Iterable[dict[str, Any]] = ({"chunk_id": key} for key in scores)
        if (self._keys is None or self._others) and scores:
            clause = f"{self.clause(access)} and {among('chunk_id', scores)}"
            documents = await self._service.search(search="*", filter=clause, select=_FIELDS, top=len(scores))
        told = {d["chunk_id"]: d for d in documents}
        places = {key: place for place, key in enumerate(scores, 1)}
        hits = [Hit(told[key], by_place(places[key]), reranked=score) for key, score in scores.items() if key in told]
        return await passages(scored(hits, lists=1), access, self._keys, others=self._others)

    # --- how the index stands

    async def _known_state(self) -> State | None:
        """The state document of the index, asked for once a minute."""
        if self._clock() >= self._state_until:
            self._service, self._state = await self._fitting()
            self._state_until = self._clock() + (_STATE_SECONDS if self._state else 0.0)
        return self._state

    async def _fitting(self) -> tuple[SearchService, State | None]:
        """The index to search and its state: the one that is named, unless only our own has vectors of this model."""
        named = state_of(await self._named.document(STATE_KEY))
        if self._own is None or self._embedder is None or (named and named.embedder == self._embedder.fingerprint):
            return self._named, named
        try:
            own = state_of(await self._own.document(STATE_KEY))
        except NotFound:
            own = None
        return (self._own, own) if own and own.embedder == self._embedder.fingerprint else (self._named, named)

    async def version(self) -> str:
        """Version of the knowledge base that is searched, "kb-unknown" where the index does not tell."""
        if self._store is not None:
            return await asyncio.to_thread(self._store.kb_version)
        state = await self._known_state()
        return state.kb_version if state else "kb-unknown"

    async def ready(self) -> dict[str, str]:
        """Health of the search: what does not work fully, by part, with the reason; empty if all does."""
        try:
            async with asyncio.timeout(_READY_S):
                held = max(0, await self._service.count() - 1)  # the document that tells the state counts too
        except ServiceError as error:
            return {SERVICE: str(error)}
        except TimeoutError:
            return {SERVICE: f"no answer within {_READY_S:g} s"}
        if self._store is None or self._others:
            return {}
        wanted = (await asyncio.to_thread(self._store.counts))[1]
        if held < wanted:
            return {SERVICE: f"{held:,} of {wanted:,} passages are in the index; run `attest ingest` on a path again"}
        return {}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._named.aclose()
        if self._own is not None:
            await self._own.aclose()


def ranking(text: str) -> dict[str, str]:
    """Request fields that ask for semantic ranking of the results for `text`."""
    return {
        "queryType": "semantic",
        "semanticConfiguration": CONFIGURATION,
        "captions": "extractive|highlight-false",
        "semanticQuery": sendable(text)[:_MOST_CHARS],
        "semanticErrorHandling": "partial",
    }


def _words(text: str) -> str:
    """`text` for the simple query syntax with all operators escaped or removed; empty if it holds no word at all."""
    words = _LOOSE.sub(" ", sendable(text)).split()[:_MOST_WORDS]
    plain = _OPERATOR.sub(r"\\\g<0>", " ".join(words)[:_MOST_CHARS])
    return plain if any(c.isalnum() for c in plain) else ""
