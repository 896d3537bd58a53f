"""Knowledge sources, knowledge bases and their retrieve action, api-version 2026-04-01, as far as the adapter uses them.

What the published contract does not know is refused with status 400: messages, reasoning efforts, other kinds of intents, sources that a
knowledge base does not list, filters over fields that are not filterable. Vectors are ignored, as in an index without a vectorizer.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fakes.odata import BadFilterError

if TYPE_CHECKING:
    from tests.fakes.ai_search_server import AiSearchServer

_PATH = re.compile(r"/(knowledgesources|knowledgebases)\('([a-z0-9][a-z0-9\-]{0,126}[a-z0-9])'\)(/retrieve)?")
_REQUEST = {"intents", "maxRuntimeInSeconds", "maxOutputSizeInTokens", "includeActivity", "knowledgeSourceParams"}
_PARAMS = {
    "kind",
    "knowledgeSourceName",
    "filterAddOn",
    "includeReferences",
    "includeReferenceSourceData",
    "rerankerThreshold",
}
_SOURCE = {"name", "kind", "description", "encryptionKey", "searchIndexParameters"}
_BASE = {"name", "description", "encryptionKey", "knowledgeSources", "models"}
_RANKED, _RETURNED, _TOKENS, _THRESHOLD = 50, 200, 5000, 2.5
"""Documents ranked for an intent, documents of a reply, tokens of a reply and the least score where the request names none."""


class KnowledgeBases:
    """Of one server. `held`: definitions by kind and name. `careless`: filters of a request are checked, and then not applied. `scoring`: whether
    references tell the ranker's score, which the published contract leaves open: True, False (the order alone), or None (a null).
    """

    def __init__(self, server: AiSearchServer) -> None:
        self.server = server
        self.held: dict[str, dict[str, dict[str, Any]]] = {"knowledgesources": {}, "knowledgebases": {}}
        self.careless = False
        self.scoring: bool | None = True
        self._etag = 0

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        match = _PATH.fullmatch(request.path)
        if match is None:
            return refusal(404, "ResourceNotFound")
        kind, name, retrieving = match.groups()
        if request.method == "PUT":
            return self._put(kind, name, await request.json(), request)
        found = self.held[kind].get(name)
        if found is None:
            return refusal(404, "ResourceNotFound", f"No {kind} with the name '{name}' was found")
        if retrieving and kind == "knowledgebases" and request.method == "POST":
            return self._retrieve(found, body)
        return web.json_response(found)

    # --- definitions

    def _put(self, kind: str, name: str, wanted: dict[str, Any], request: web.Request) -> web.Response:
        self.server.before_put()
        found = self.held[kind].get(name)
        if found and request.headers.get("If-None-Match") == "*":
            return refusal(412, "ResourceNameAlreadyInUse")
        if (asked := request.headers.get("If-Match")) and (found is None or asked != found["@odata.etag"]):
            return refusal(412, "PreconditionFailed")
        wrong = self._wrong_source(wanted) if kind == "knowledgesources" else self._wrong_base(wanted)
        if wrong or wanted.get("name") != name:
            return refusal(400, "InvalidRequestParameter", wrong or "another name")
        self._etag += 1
        self.held[kind][name] = {**wanted, "@odata.etag": f'"0xk{self._etag}"'}
        return web.json_response(self.held[kind][name], status=200 if found else 201)

    def _wrong_source(self, wanted: dict[str, Any]) -> str:
        parameters = wanted.get("searchIndexParameters") or {}
        index = self.server.indexes.get(str(parameters.get("searchIndexName")))
        if set(wanted) - _SOURCE - {"@odata.etag"} or wanted.get("kind") != "searchIndex" or index is None:
            return "not a knowledge source over an index that is there"
        named = [c["name"] for c in (index.get("semantic") or {}).get("configurations", [])]
        if not named or parameters.get("semanticConfigurationName", named[0]) not in named:
            return "the index has no such semantic configuration"
        searchable = {f["name"] for f in index["fields"] if f.get("searchable")}
        fields = {f["name"] for f in parameters.get("searchFields") or []}
        return "" if fields <= searchable else "a field is not searchable"

    def _wrong_base(self, wanted: dict[str, Any]) -> str:
        names = [source.get("name") for source in wanted.get("knowledgeSources") or []]
        if set(wanted) - _BASE - {"@odata.etag"}:
            return "unknown properties"
        return "" if names and all(n in self.held["knowledgesources"] for n in names) else "no such knowledge source"

    # --- retrieving

    def _retrieve(self, base: dict[str, Any], body: dict[str, Any]) -> web.Response:
        intents = body.get("intents") or []
        if set(body) - _REQUEST or not intents:
            return refusal(400, "InvalidRequestParameter", f"not as published: {sorted(body)}")
        if any(set(i) != {"type", "search"} or i["type"] != "semantic" or not i["search"] for i in intents):
            return refusal(400, "InvalidRequestParameter", "an intent is not semantic, or empty")
        if refused := unranked(self.server.ranker):
            return refused
        params = {p.get("knowledgeSourceName"): p for p in body.get("knowledgeSourceParams") or []}
        names = [source["name"] for source in base["knowledgeSources"]]
        if set(params) - set(names) or any(set(p) - _PARAMS or p.get("kind") != "searchIndex" for p in params.values()):
            return refusal(400, "InvalidRequestParameter", "parameters of another knowledge source")
        if self.server.ranker == "busy":
            failed = {"type": "searchIndex", "id": 0, "error": {"code": "503", "message": "capacityOverloaded"}}
            return web.json_response({"response": [], "activity": [failed], "references": []}, status=206)
        references: list[dict[str, Any]] = []
        for name in names:
            try:
                references += self._found(self.held["knowledgesources"][name], params.get(name, {}), intents)
            except (BadFilterError, KeyError) as error:
                return refusal(400, "InvalidRequestParameter", f"Invalid expression: {error}")
        references = self._within(references, body.get("maxOutputSizeInTokens", _TOKENS))
        numbered = [{**self._scored(r), "id": str(n)} for n, r in enumerate(references)]
        text = json.dumps([{"ref_id": r["id"]} for r in numbered])
        told = {"response": [{"content": [{"type": "text", "text": text}]}], "references": numbered}
        return web.json_response({**told, **({"activity": []} if body.get("includeActivity") else {})})

    def _found(
        self, source: dict[str, Any], params: dict[str, Any], intents: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        server, index = self.server, source["searchIndexParameters"]["searchIndexName"]
        test = server.test(index, params.get("filterAddOn"))
        documents = {k: d for k, d in server.documents[index].items() if d.get("text") and (self.careless or test(d))}
        best: dict[str, float] = {}
        for intent in intents:
            words = server.words(documents, intent["search"])
            order = sorted(words, key=lambda key: (-words[key], key))[:_RANKED]
            for key, score in server.reranked(documents, order, {"search": intent["search"]}).items():
                if score >= params.get("rerankerThreshold", _THRESHOLD):
                    best[key] = max(score, best.get(key, 0.0))
        if not params.get("includeReferences"):
            return []
        told = params.get("includeReferenceSourceData")
        return [
            {
                "type": "searchIndex",
                "activitySource": 0,
                "docKey": key,
                "rerankerScore": best[key],
                "sourceData": {"title": documents[key].get("title"), "text": documents[key]["text"]} if told else None,
            }
            for key in sorted(best, key=lambda key: (-best[key], key))[:_RETURNED]
        ]

    def _scored(self, reference: dict[str, Any]) -> dict[str, Any]:
        told = {
            name: value for name, value in reference.items() if name != "rerankerScore" or self.scoring is not False
        }
        return told if self.scoring is not None else {**told, "rerankerScore": None}

    def _within(self, references: list[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
        """What does not fit is left out without a word, as the service does it."""
        kept = []
        for reference in references:
            tokens -= len(self._text(reference["docKey"])) // 4
            if tokens >= 0:
                kept.append(reference)
        return kept

    def _text(self, key: str) -> str:
        return next(str(held[key]["text"]) for held in self.server.documents.values() if key in held)


def refusal(status: int, code: str, message: str = "x", *, detail: str = "") -> web.Response:
    """An error as the service words it. `detail`: the code that says more, which stands below the one that says little."""
    error: dict[str, Any] = {"code": code, "message": message}
    if detail:
        error["details"] = [{"code": detail, "message": message}]
    return web.Response(status=status, text=json.dumps({"error": error}), content_type="application/json")


def unranked(ranker: str) -> web.Response | None:
    """How a service refuses to rank by meaning, None if it does not."""
    if ranker == "off":
        words = "Semantic search is not enabled for this service.\r\nParameter name: queryType"
        return refusal(400, "FeatureNotSupportedInService", words, detail="SemanticQueriesNotAvailable")
    if ranker == "spent":
        return refusal(402, "", "Free Query Semantic Usage's exceeded for the month. Please enable Semantic Billing.")
    return None
