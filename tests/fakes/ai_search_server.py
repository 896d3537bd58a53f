"""A loopback server that speaks Azure AI Search's REST interface, api-version 2026-04-01, as far as the adapter uses it.

Indexes with ETags, documents with a status for each row, hybrid search with filters, the semantic ranker, aliases (`tests.fakes.ai_search_aliases`) and
knowledge bases (`tests.fakes.ai_search_knowledge`). What the real service refuses is refused: keys with other signs, unknown fields, filters over fields that are not filterable, more than 1,000
actions, changes of a field's type. Ranking is plain: BM25, cosines, reciprocal ranks, and shared words for the ranker.

As recordings of the real service show it (Azure/azure-sdk-assets, python and net, search, 2026): a count is text with a byte order mark before
its digits, a document that is missing is a 404 without a body, and whoever takes gzip gets it, in chunks. As its documents say it: a
ranker that is switched off is a 400 whose own code stands among the details, one whose free queries are used up a 402, one that is busy a 206.
"""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from aiohttp import web

from grounding.text import sentences, terms
from tests.fakes.ai_search_aliases import Aliases
from tests.fakes.ai_search_knowledge import KnowledgeBases, refusal, unranked
from tests.fakes.faults import Fault, FaultyServer
from tests.fakes.odata import BadFilterError, Test, compiled

KEY = "canary-search-key-0123456789"
_KEY_SIGNS = re.compile(r"[A-Za-z0-9_\-=]{1,1024}")
_NAMED_FIELD = re.compile(r"\b(\w+)(?:/any\(| (?:eq|ne|gt) )")
_AMONG = re.compile(r"search\.in\(chunk_id, '([^']*)', '\|'\)")
_BEYOND = re.compile(r"chunk_id gt '([^']*)'")
_INDEX = re.compile(r"/indexes\('([^']+)'\)(.*)")


class AiSearchServer(FaultyServer):
    """`async with AiSearchServer() as server`. `ranker`: "on", "busy" (206, unranked), "off" (400) or "spent" (402).

    `failing`: the share of rows that get a `passing` status of their own, in turn; `largest`: bytes that a batch may have; `page`: rows of one
    reply, after which it says how to go on. `writes` counts rows taken.
    """

    passing = (409, 422, 429, 503)

    def __init__(
        self,
        *script: Fault,
        otherwise: Fault | None = None,
        ranker: str = "on",
        failing: float = 0.0,
        largest: int = 16 * 2**20,
        page: int = 1000,
    ) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.ranker, self.failing, self.largest, self.page = ranker, failing, largest, page
        self.indexes: dict[str, dict[str, Any]] = {}
        self.documents: dict[str, dict[str, dict[str, Any]]] = {}
        self.vectors: dict[tuple[str, str], np.ndarray[Any, Any]] = {}
        self.refused: dict[str, int] = {}
        self.writes = 0
        self.knowledge = KnowledgeBases(self)
        self.aliases = Aliases(self)
        self.before_put: Callable[[], None] = lambda: None
        self._etag = 0
        self._dice = random.Random(5)

    @classmethod
    def like(cls, other: AiSearchServer) -> AiSearchServer:
        """A server that holds what `other` holds."""
        made = cls(ranker=other.ranker, page=other.page)
        made.indexes, made.documents, made.vectors = other.indexes, other.documents, other.vectors
        made.knowledge.held, made.aliases.held = other.knowledge.held, other.aliases.held
        return made

    def of(self, path: str) -> list[dict[str, Any]]:
        """Bodies of the requests whose path ends so."""
        return [body for at, body in self.bodies if at.endswith(path)]

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await self._answer(request, body)
        if "gzip" in request.headers.get("Accept-Encoding", "") and response.status < 400:
            response.enable_compression(web.ContentCoding.gzip)
            response.enable_chunked_encoding()
        return response

    async def _answer(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        if request.headers.get("api-key") != KEY and not request.headers.get("Authorization", "").startswith("Bearer "):
            return web.Response(status=403)
        match = _INDEX.fullmatch(request.path)
        known = request.query.get("api-version") == "2026-04-01"
        if known and request.path.startswith("/knowledge"):
            return await self.knowledge.answer(request, body)
        if known and (request.path.startswith("/aliases") or request.path in ("/indexes", "/servicestats")):
            return await self.aliases.answer(request)
        if match is None or not known:
            return refusal(404, "ResourceNotFound")
        name, rest = match.groups()
        if request.method == "DELETE":
            return self._deleted(name)
        name = self.aliases.resolved(name)
        if request.method == "PUT":
            return self._put(name, await request.json(), request)
        if name not in self.indexes:
            return refusal(404, "ResourceNotFound", f"No index with the name '{name}' was found")
        if rest == "":
            return web.json_response(self.indexes[name])
        if rest == "/search.stats":
            return web.json_response(self.aliases.sizes(name))
        return await self._documents_of(name, rest, request, body)

    async def _documents_of(self, name: str, rest: str, request: web.Request, body: dict[str, Any]) -> web.Response:
        if rest == "/docs/$count":
            counted = f"\ufeff{len(self.documents[name])}"
            return web.Response(body=counted.encode(), headers={"Content-Type": "text/plain; charset=utf-8"})
        if rest == "/docs/search.index":
            return self._write(name, body, len(await request.read()))
        if rest == "/docs/search.post.search":
            return self._search(name, body)
        key = rest.removeprefix("/docs('").removesuffix("')")
        found = self.documents[name].get(key)
        if found is None:
            return web.Response(status=404, headers={"Content-Language": "en"})
        return web.json_response(self._shown(name, found))

    def _shown(self, name: str, document: dict[str, Any]) -> dict[str, Any]:
        fields = [f["name"] for f in self.indexes[name]["fields"] if f.get("retrievable", True)]
        return {field: document.get(field) for field in fields}

    def _deleted(self, name: str) -> web.Response:
        if self.indexes.pop(name, None) is None:
            return refusal(404, "ResourceNotFound", f"No index with the name '{name}' was found")
        for key in self.documents.pop(name):
            self.vectors.pop((name, key), None)
        return web.Response(status=204)

    def _put(self, name: str, wanted: dict[str, Any], request: web.Request) -> web.Response:
        self.before_put()
        found = self.indexes.get(name)
        if found and (request.headers.get("If-None-Match") == "*"):
            return refusal(412, "ResourceNameAlreadyInUse")
        if (asked := request.headers.get("If-Match")) and (found is None or asked != found["@odata.etag"]):
            return refusal(412, "PreconditionFailed")
        new = {f["name"]: f for f in wanted["fields"]}
        for field in found["fields"] if found else []:
            other = new.get(field["name"])
            changed = [
                k for k in ("type", "dimensions", "searchable", "filterable") if other and other.get(k) != field.get(k)
            ]
            if other is None or changed:
                return refusal(400, "OperationNotAllowed", f"Existing field '{field['name']}' cannot be changed.")
        self._etag += 1
        self.indexes[name] = {**wanted, "@odata.etag": f'"0x{self._etag}"'}
        self.documents.setdefault(name, {})
        return web.json_response(self.indexes[name], status=200 if found else 201)

    # --- documents

    def _write(self, name: str, body: dict[str, Any], size: int) -> web.Response:
        actions = body["value"]
        if size > self.largest:
            return refusal(413, "RequestEntityTooLarge")
        if len(actions) > 1000:
            return refusal(400, "InvalidArgument", "The indexing batch holds more than 1000 actions.")
        fields = {f["name"]: f for f in self.indexes[name]["fields"]}
        for action in actions:
            unknown = set(action) - set(fields) - {"@search.action"}
            wide = len(action.get("vector") or []) not in (0, fields["vector"]["dimensions"])
            if unknown or wide or not _KEY_SIGNS.fullmatch(action["chunk_id"]):
                return refusal(
                    400, "InvalidArgument", f"a document is malformed: {sorted(unknown)} {action['chunk_id']}"
                )
        rows = [self.row(name, action) for action in actions]
        whole = all(row["status"] for row in rows)
        return web.json_response({"value": rows}, status=200 if whole else 207)

    def row(self, name: str, action: dict[str, Any]) -> dict[str, Any]:
        """Take one action of a batch; what the reply says of it."""
        key = action["chunk_id"]
        status = self.refused.get(key, self._dice.choice(self.passing) if self._dice.random() < self.failing else 0)
        if status:
            return {"key": key, "status": False, "errorMessage": f"words of {key}", "statusCode": status}
        self.writes += 1
        documents = self.documents[name]
        if action["@search.action"] == "delete":
            documents.pop(key, None)
            self.vectors.pop((name, key), None)
            return {"key": key, "status": True, "errorMessage": None, "statusCode": 200}
        if action["@search.action"] == "merge":
            return self._merged(name, key, action)
        vector = action.pop("vector", None)
        self.vectors.pop((name, key), None)
        if vector:
            self.vectors[name, key] = np.asarray(vector, np.float32)
        documents[key] = {k: v for k, v in action.items() if not k.startswith("@")}
        return {"key": key, "status": True, "errorMessage": None, "statusCode": 201}

    def _merged(self, name: str, key: str, action: dict[str, Any]) -> dict[str, Any]:
        """A document that is there keeps what is not named; a vector that the index does not store is lost, as the service's documents say it."""
        if key not in self.documents[name]:
            return {"key": key, "status": False, "errorMessage": "Document not found.", "statusCode": 404}
        vector = action.pop("vector", None)
        stored = next(f for f in self.indexes[name]["fields"] if f["name"] == "vector").get("stored", True)
        if vector:
            self.vectors[name, key] = np.asarray(vector, np.float32)
        elif stored is False:
            self.vectors.pop((name, key), None)
        self.documents[name][key] |= {k: v for k, v in action.items() if not k.startswith("@")}
        return {"key": key, "status": True, "errorMessage": None, "statusCode": 200}

    # --- search

    def test(self, name: str, clause: str | None) -> Test:
        """The filter `clause` over documents of the index. Raises BadFilterError, KeyError."""
        fields = {f["name"]: f for f in self.indexes[name]["fields"]}
        for field in _NAMED_FIELD.findall(clause or ""):
            if field not in fields or not fields[field].get("filterable"):
                raise BadFilterError(f"{field} is not filterable")
        return compiled(clause) if clause else lambda _: True

    def _search(self, name: str, body: dict[str, Any]) -> web.Response:
        fields = {f["name"]: f for f in self.indexes[name]["fields"]}
        ranked = body.get("queryType") == "semantic"
        try:
            test = self.test(name, body.get("filter"))
        except (BadFilterError, KeyError) as error:
            return refusal(400, "InvalidRequestParameter", f"Invalid expression: {error}")
        select = (
            (body.get("select") or "").split(",")
            if body.get("select")
            else [n for n, f in fields.items() if f.get("retrievable", True)]
        )
        if any(not fields.get(f, {"retrievable": False}).get("retrievable", True) for f in select):
            return refusal(400, "InvalidRequestParameter", "a selected field is not retrievable")
        if ranked and (bad := self._unrankable(name, body)):
            return bad
        if body.get("orderby"):
            return self._in_order(name, body, test, select)
        return self._ranked(name, body, test, select, ranked=ranked)

    def _unrankable(self, name: str, body: dict[str, Any]) -> web.Response | None:
        if refused := unranked(self.ranker):
            return refused
        semantic = self.indexes[name].get("semantic") or {}
        if body.get("semanticConfiguration") not in [c["name"] for c in semantic.get("configurations", [])]:
            unknown = "Unknown semantic configuration 'x'."
            return refusal(400, "InvalidRequestParameter", unknown, detail="UnknownSemanticConfiguration")
        return refusal(400, "InvalidRequestParameter", "no order with the ranker") if body.get("orderby") else None

    def _in_order(self, name: str, body: dict[str, Any], test: Any, select: list[str]) -> web.Response:
        among = _AMONG.search(body.get("filter") or "")
        wanted = set(among[1].split("|")) & self.documents[name].keys() if among else self.documents[name]
        keys = sorted(wanted)
        beyond = _BEYOND.search(body.get("filter") or "")
        rows: list[dict[str, Any]] = []
        for key in keys[bisect_right(keys, beyond[1]) if beyond else 0 :]:
            document = self.documents[name][key]
            if test(document):
                rows.append({"@search.score": 1.0, **{f: document.get(f) for f in select}})
            if len(rows) == min(body["top"], self.page):
                break
        return web.json_response({"value": rows})

    def _ranked(self, name: str, body: dict[str, Any], test: Any, select: list[str], *, ranked: bool) -> web.Response:
        documents = {key: d for key, d in self.documents[name].items() if test(d)}
        words = self.words(documents, body.get("search"))
        near = [self._near(name, documents, query, body, test) for query in body.get("vectorQueries") or []]
        lists = [*([words] if body.get("search") else []), *near]
        if len(lists) == 1:
            only = lists[0]
            scores = only if not near else {key: 1 / (2 - cosine) for key, cosine in only.items()}
        else:
            scores = {}
            for found in lists:
                for rank, key in enumerate(sorted(found, key=lambda k: (-found[k], k)), 1):
                    scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
        order = sorted(scores, key=lambda key: (-scores[key], key))
        reranked = self.reranked(documents, order[:50], body) if ranked and self.ranker == "on" else {}
        order.sort(key=lambda key: -reranked.get(key, 0.0))
        rows = []
        begin, top = int(body.get("skip", 0)), int(body.get("top", 50))
        end = begin + min(top, self.page)
        for key in order[begin:end]:
            row: dict[str, Any] = {"@search.score": scores[key]} | {f: documents[key].get(f) for f in select}
            if ranked and self.ranker == "on":
                row["@search.rerankerScore"] = reranked.get(key)
                first = next(iter(sentences(documents[key]["text"])), None)
                row["@search.captions"] = (
                    [{"text": first.text, "highlights": ""}] if key in reranked and first else None
                )
            if body.get("debug") == "vector":
                row["@search.documentDebugInfo"] = _debug(key, words, near)
            rows.append(row)
        partial = {
            "@search.semanticPartialResponseReason": "capacityOverloaded",
            "@search.semanticPartialResponseType": "baseResults",
        }
        busy = ranked and self.ranker == "busy"
        told: dict[str, Any] = {"value": rows, **(partial if busy else {})}
        if len(rows) < min(top, len(order) - begin):
            told["@search.nextPageParameters"] = {**body, "skip": end, "top": top - len(rows)}
            told["@odata.nextLink"] = f"{self.root}/indexes('{name}')/docs/search.post.search?api-version=2026-04-01"
        return web.json_response(told, status=206 if busy else 200)

    def words(self, documents: dict[str, dict[str, Any]], text: str | None) -> dict[str, float]:
        """BM25 with k1 1.2, b 0.75 over title and text. "*" and nothing match everything, as the service does it."""
        if text is None or text.strip() in ("", "*"):
            return dict.fromkeys(documents, 1.0)
        counted = {key: _counted(f"{d.get('title') or ''} {d.get('text') or ''}") for key, d in documents.items()}
        mean = sum(map(len, counted.values())) / max(1, len(counted))
        scores: dict[str, float] = {}
        for term in set(terms(text.replace("\\", ""))):
            holding = {key: counts[term] for key, counts in counted.items() if counts[term]}
            rarity = math.log(1 + (len(counted) - len(holding) + 0.5) / (len(holding) + 0.5))
            for key, often in holding.items():
                length = 1.2 * (0.25 + 0.75 * len(counted[key]) / mean)
                scores[key] = scores.get(key, 0.0) + rarity * often * 2.2 / (often + length)
        return scores

    def _near(
        self, name: str, documents: dict[str, Any], query: dict[str, Any], body: dict[str, Any], test: Any
    ) -> dict[str, float]:
        late = body.get("vectorFilterMode") == "postFilter"
        keys = [key for key in (self.documents[name] if late else documents) if (name, key) in self.vectors]
        vector = np.asarray(query["vector"], np.float32)
        cosines = {key: float(self.vectors[name, key] @ vector) for key in keys}
        best = sorted(keys, key=lambda key: (-cosines[key], key))[: query["k"]]
        return {key: cosines[key] for key in best if test(self.documents[name][key])}

    def reranked(self, documents: dict[str, Any], order: list[str], body: dict[str, Any]) -> dict[str, float]:
        asked = set(terms(body.get("semanticQuery") or body.get("search") or ""))
        shared = {key: len(asked & set(_counted(documents[key]["text"]))) for key in order}
        return {key: round(4 * count / max(1, len(asked)), 4) for key, count in shared.items()} if asked else {}


@lru_cache(maxsize=100_000)
def _counted(text: str) -> Counter[str]:
    return Counter(terms(text))


def _debug(key: str, words: dict[str, float], near: list[dict[str, float]]) -> dict[str, Any]:
    vectors = [
        {"vector": {"searchScore": 1 / (2 - found[key]), "vectorSimilarity": found[key]}}
        for found in near
        if key in found
    ]
    text = {"text": {"searchScore": words[key]}} if key in words else {}
    return {"vectors": {"subscores": {**text, "vectors": vectors, "documentBoost": 1.0}}}
