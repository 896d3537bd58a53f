"""Services that answer from the embedded engine, behind the interfaces that Azure publishes.

So a turn over the Azure adapters can be held against the same turn on this machine: what differs then is the adapters' doing.
What a service of its own could know and the wire does not carry (which passages it found just now) the stand-ins share in `Engine`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import web

from grounding.corrective.find import OF_PARTS
from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.grader import EmbeddedGrader
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.store_names import StoreNames
from grounding.errors import ServiceUnavailable
from grounding.evidence.fuse import reciprocal_ranks
from grounding.ports import BlockReader, Embedder, Vectors
from grounding.records import Access, Evidence, Passage, Prompt, Query, Retrieval
from grounding.text import terms
from rai.screening.by_model import REQUEST
from tests.fakes.ai_search_server import AiSearchServer
from tests.fakes.embeddings_server import EmbeddingsServer
from tests.fakes.faults import FaultyServer

_IN = re.compile(r"search\.in\(g, '((?:[^']|'')*)', '\|'\)")
_PRODUCT = re.compile(r"product eq '((?:[^']|'')*)'")
_ESCAPE = re.compile(r"\\(.)")
_CODED = re.compile(r"%([0-9A-F]{2})")
_EVIDENCE = re.compile(r"^\[(\d+)\] [^\n]*\n<<<(\w{16})\n[^\n]*\n(.*?)\n\2>>>", re.DOTALL | re.MULTILINE)
_GRADED = re.compile(r"^(?:(\d+):\n|Retrieved Document:\n)<<<(\w{16})\n(.*?)\n\2>>>", re.DOTALL | re.MULTILINE)
_SCREENED = re.compile(r"^\d+\. (?:request|document)\n<<<", re.MULTILINE)
_ASKED = re.compile(r"^Query: (.*)$", re.MULTILINE)


class Given:
    """An embedder in the place of `other`: every text means `vector`; None: it cannot say."""

    def __init__(self, other: Embedder) -> None:
        self.fingerprint, self.width = other.fingerprint, other.width
        self.vector: Vectors | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.vector is None:
            raise ServiceUnavailable("embedding", "nobody asked for a meaning")
        return np.stack([self.vector] * len(texts))


class Engine:
    """Store, words, vectors and what they found last. `home`: a folder with an index; it is only read. One turn at a time."""

    def __init__(self, home: Path, embedder: Embedder, reader: BlockReader | None = None) -> None:
        self.embedder = embedder
        self.index = EmbeddedIndex(home / "index", embedder)
        vectors = VectorIndex(self.index.store, embedder.fingerprint, embedder.width)
        self._meaning, self._one_search = Given(embedder), asyncio.Lock()
        names = StoreNames(self.index.store, self.index.words)
        self._retriever = EmbeddedRetriever(self.index.store, self.index.words, vectors, self._meaning, names)
        self.grader = EmbeddedGrader(embedder)
        self.composer = ExtractiveComposer(reader)
        self.query = ""
        self.found: tuple[Passage, ...] = ()
        self.lists: dict[str, tuple[Passage, ...]] = {}
        self.whole: tuple[Passage, ...] = ()
        self._graded = True
        self.graded: dict[str, float] = {}

    async def search(self, text: str, vector: Vectors | None, access: Access, k: int) -> Retrieval:
        """The embedded search for `text`, its meaning given; None: there is none."""
        async with self._one_search:
            self._meaning.vector = vector
            found = await self._retriever.retrieve(Query(text), access, k)
        if self._graded or text in self.lists:
            self.lists, self._graded = {}, False  # another turn
        self.lists[text] = found.passages
        # the parts of a question are searched for beside the whole, and may come before it; what has nothing to do with it is of a turn whose
        # grades were kept ones that nobody asked for again
        self.query = max((asked for asked in self.lists if _part(asked, text)), key=len)
        self.whole = whole = self.lists[self.query]
        others = sorted(self.lists, key=lambda asked: (self.query.find(asked), asked))
        rest = [self.lists[asked] for asked in others if asked != self.query and _part(asked, self.query)]
        self.found = reciprocal_ranks([whole, *rest]) if rest else whole
        return found

    async def grades(self, question: str, texts: Sequence[str]) -> list[float]:
        """The embedded grader's score of each quoted text, seen among the best of what was found last, as a turn grades them."""
        best = [p.chunk_id for p in self.whole[:20]]
        parts = sum(_part(asked, self.query) for asked in self.lists) > 1
        best += [p.chunk_id for p in self.found if p.chunk_id not in best][: OF_PARTS if parts else 0]
        seen = [p for p in self.found if p.chunk_id in best]
        self.query, self._graded = question, True
        grading = await self.grader.grade(question, seen)
        self.graded = {g.chunk_id: g.score for g in grading.grades}
        by_text = {_shown(p): self.graded[p.chunk_id] for p in seen}
        return [by_text.get(_plain(text), 0.0) for text in texts]

    async def draft(self, question: str, evidence: Sequence[tuple[int, str]]) -> str:
        """What the extractive composer makes of this numbered evidence."""
        known = {_plain(p.text): p for p in self.found}
        passages = [known.get(_plain(text), Passage(f"e{n}", f"e{n}", "", text)) for n, text in evidence]
        items = [Evidence(n, p, self.graded.get(p.chunk_id, 1.0)) for (n, _), p in zip(evidence, passages, strict=True)]
        prompt = Prompt((), question, tuple(items), query=self.query)
        return (await self.composer.compose(prompt)).text

    def close(self) -> None:
        self.index.close()


class EngineSearch(AiSearchServer):
    """Azure AI Search whose order, scores and cosines are those of the embedded engine."""

    def __init__(self, engine: Engine, **options: Any) -> None:
        super().__init__(**options)
        self.engine = engine

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        ordered = await super().answer(request, body)  # refuses what the service refuses, trims as the filter says
        if not request.path.endswith("/docs/search.post.search") or ordered.status != 200 or body.get("orderby"):
            return ordered
        assert isinstance(ordered, web.Response)
        assert isinstance(ordered.body, bytes)
        fields = {row["chunk_id"]: row for row in json.loads(ordered.body)["value"]}
        near = [np.asarray(q["vector"], np.float32) for q in body.get("vectorQueries") or []]
        text = _ESCAPE.sub(r"\1", body.get("search") or "")
        found = await self.engine.search(text, near[0] if near else None, _access(body["filter"]), body["top"])
        rows = [
            {
                **self._known(fields, body, p.chunk_id),
                "@search.score": p.score / 30,
                "@search.documentDebugInfo": _told(p),
            }
            for p in found.passages
        ]
        return web.json_response({"value": rows})

    def _known(self, fields: dict[str, Any], body: dict[str, Any], key: str) -> dict[str, Any]:
        """A document as selected; a document that was never uploaded cannot be found."""
        if key in fields:
            return dict(fields[key])
        document = self.documents["attest"][key]
        return {field: document.get(field) for field in body["select"].split(",")}


class EngineEmbeddings(EmbeddingsServer):
    """Embeddings of the model on this machine."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(width=engine.embedder.width)
        self.engine = engine

    async def vectors(self, texts: list[str], width: int) -> Vectors:
        assert width == self.width
        return await self.engine.embedder.embed(texts)


class EngineChat(FaultyServer):
    """chat.completions whose grades and drafts are those of the embedded engine, and which blocks nothing where it screens; read from and written into the published form."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response({"object": "list", "data": [{"id": "engine-1", "object": "model"}]})
        if not request.path.endswith("/chat/completions"):
            return web.json_response({"error": {"message": "Not found", "code": None}}, status=404)
        system, user = (message["content"] for message in body["messages"])
        text = await (self._graded(user) if _GRADED.search(user) else self._drafted(system, user))
        usage = {"prompt_tokens": len(system + user) // 4, "completion_tokens": len(text) // 4}
        return web.json_response(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_760_000_000,
                "model": body["model"],
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {**usage, "total_tokens": sum(usage.values())},
            }
        )

    async def _graded(self, user: str) -> str:
        asked = _ASKED.search(user)
        documents = _GRADED.findall(user)
        scores = await self.engine.grades(asked[1] if asked else "", [text for _, _, text in documents])
        if len(scores) == 1:
            return f"- Relevance Score: {scores[0]}"
        return json.dumps(
            {"grades": [{"id": int(n), "score": s} for (n, _, _), s in zip(documents, scores, strict=True)]}
        )

    async def _drafted(self, system: str, user: str) -> str:
        if '{"status": "ok"}' in user:  # whether anybody is there
            return '{"status": "ok"}'
        if user == REQUEST:
            texts = range(1, len(_SCREENED.findall(system)) + 1)
            return json.dumps({"findings": [{"text": n, "verdict": "allow", "category": None} for n in texts]})
        return await self.engine.draft(user, [(int(n), text) for n, _, text in _EVIDENCE.findall(system)])


def _told(passage: Passage) -> dict[str, Any]:
    text = {} if passage.bm25 is None else {"text": {"searchScore": passage.bm25}}
    near = [] if passage.semantic is None else [{"vector": {"searchScore": 0.5, "vectorSimilarity": passage.semantic}}]
    return {"vectors": {"subscores": {**text, "vectors": near, "documentBoost": 1.0}}}


def _access(clause: str) -> Access:
    """Who asks, as the filter says it."""
    listed = _IN.search(clause)
    assert listed is not None
    names = [_CODED.sub(lambda m: chr(int(m[1], 16)), n) for n in listed[1].replace("''", "'").split("|")]
    product = _PRODUCT.search(clause)
    groups = frozenset(name.removeprefix("g:") for name in names if name.startswith("g:"))
    return Access("somebody", groups, product[1].replace("''", "'") if product else None)


def _shown(passage: Passage) -> str:
    """A passage as the grader's prompt shows it."""
    return _plain(f"{passage.title}{f' · {passage.locator}' if passage.locator else ''}\n{passage.text}")


def _part(one: str, other: str) -> bool:
    """Whether one of the two asks a part of what the other asks."""
    less, more = sorted((set(terms(one)), set(terms(other))), key=len)
    return less <= more


def _plain(text: str) -> str:
    return " ".join(text.replace("‹", "<").replace("›", ">").split())
