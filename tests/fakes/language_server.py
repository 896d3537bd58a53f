"""A loopback server that speaks Azure AI Language, api-version 2023-04-01, as far as the adapters use it.

Names and personal data (`POST /language/:analyze-text`) are found by tables given to it, sentences are chosen by jobs
(`/language/analyze-text/jobs`) that are pending as often as asked. Offsets follow the `stringIndexType` that was asked for. A document
above 5,120 text elements fails alone with InvalidDocument, more than 5 documents fail the request; a job of more than 125,000
characters or 25 documents is refused whole, as published.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

Category = tuple[str, str | None]
Jobs = Literal["succeeded", "document", "task", "failed", "cancelled", "empty"]
_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*")
_AT = "2026-11-20T10:00:00Z"


class LanguageServer(FaultyServer):
    """Use as `async with LanguageServer({"Maria Lopez": ("Person", None)}) as server`. `script`: statuses or faults to answer first.

    `personal`: what personal data it finds. `pending`: looks at a job before it is done; `jobs`: how it ends; `telling`: a word that
    makes a sentence come first in a summary; `retry_after`: of a pending job; `elsewhere`: where the state of a job is said to be.
    """

    def __init__(
        self,
        names: Mapping[str, Category] = {},
        *,
        script: tuple[int | Fault, ...] = (),
        otherwise: Fault | None = None,
        headers: Mapping[str, str] | None = None,
        confidence: float = 0.9,
        personal: Mapping[str, Category] = {},
        pending: int = 0,
        jobs: Jobs = "succeeded",
        telling: str = "",
        retry_after: str | None = None,
        elsewhere: str | None = None,
    ) -> None:
        extra = dict(headers or {})
        super().__init__(*(_failed(s, extra) if isinstance(s, int) else s for s in script), otherwise=otherwise)
        self.names, self.personal = dict(names), dict(personal)
        self.confidence = confidence
        self.pending, self.jobs, self.telling = pending, jobs, telling
        self.retry_after, self.elsewhere = retry_after, elsewhere
        self.shift = 0
        self.limit = 5120
        self.body: str | None = None
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.polls, self.looked = 0, asyncio.Event()
        self.looks: list[float] = []
        """When each look came, in seconds."""
        self.cancelled: list[str] = []
        self.look_fault: Fault | None = None
        self.cancel_fault: Fault | None = None
        self._jobs: dict[str, list[Any]] = {}

    @property
    def endpoint(self) -> str:
        return self.root

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.keys.append(request.headers.get("Ocp-Apim-Subscription-Key"))
        if request.path.endswith(":cancel"):
            self.cancelled.append(request.path.split("/")[-1].removesuffix(":cancel"))
            return web.Response(status=202) if self.cancel_fault is None else await self.cancel_fault(request)
        if request.method == "GET" and self.look_fault is not None:
            return await self.look_fault(request)
        if request.method == "POST":
            self.seen.append(await request.json())
        return await super()._handle(request)

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.body is not None:
            return web.Response(text=self.body, content_type="application/json")
        if request.query.get("api-version") != "2023-04-01":
            return _refused("InvalidApiVersion")
        if request.method == "GET":
            job = request.path.split("/")[-1]
            return (
                self._look(job) if job in self._jobs else web.json_response({"error": {"code": "NotFound"}}, status=404)
            )
        if request.path.endswith("/jobs"):
            return self._submit(body)
        return self._analyze(body)

    # --- names and personal data

    def _analyze(self, body: dict[str, Any]) -> web.Response:
        documents = body["analysisInput"]["documents"]
        if len(documents) > 5:
            return _refused("InvalidDocumentBatch")
        points = body["parameters"]["stringIndexType"] == "UnicodeCodePoint"
        kind, table = body["kind"], self.names if body["kind"] == "EntityRecognition" else self.personal
        found = [
            {
                "id": d["id"],
                "entities": self._entities(d["text"], table, points=points),
                "warnings": [],
                **({"redactedText": ""} if kind == "PiiEntityRecognition" else {}),
            }
            for d in documents
            if len(d["text"]) <= self.limit
        ]
        errors = [_document_error(d["id"]) for d in documents if len(d["text"]) > self.limit]
        results = {"documents": found, "errors": errors, "modelVersion": "2023-09-01"}
        return web.json_response({"kind": f"{kind}Results", "results": results})

    def _entities(self, text: str, table: Mapping[str, Category], *, points: bool) -> list[dict[str, Any]]:
        found = []
        for name, (category, subcategory) in table.items():
            for match in re.finditer(re.escape(name), text):
                before = text[: match.start()]
                offset = len(before) if points else len(before.encode("utf-16-le")) // 2
                entity = {
                    "text": name,
                    "category": category,
                    "offset": offset + self.shift,
                    "length": len(name),
                    "confidenceScore": self.confidence,
                }
                found.append(entity | ({"subcategory": subcategory} if subcategory else {}))
        return found

    # --- jobs

    def _submit(self, body: dict[str, Any]) -> web.Response:
        documents, (task,) = body["analysisInput"]["documents"], body["tasks"]
        wanted = task["parameters"]
        if len(documents) > 25 or sum(len(d["text"]) for d in documents) > 125_000:
            return _refused("InvalidDocumentBatch")
        if not 1 <= wanted.get("sentenceCount", 3) <= 20:
            return _refused("InvalidParameterValue")
        job = f"job-{len(self._jobs) + 1}"
        self._jobs[job] = [self.pending, documents, task]
        at = self.elsewhere or f"{self.root}/language/analyze-text/jobs/{job}?api-version=2023-04-01"
        return web.Response(status=202, headers={"operation-location": at})

    def _look(self, job: str) -> web.Response:
        self.polls += 1
        self.looks.append(time.monotonic())
        self.looked.set()
        left, documents, task = self._jobs[job]
        self._jobs[job][0] -= 1
        state: dict[str, Any] = {
            "jobId": job,
            "createdDateTime": _AT,
            "lastUpdateDateTime": _AT,
            "expirationDateTime": _AT,
            "errors": [],
        }
        counts = {"completed": 0, "failed": 0, "inProgress": 0, "total": 1, "items": []}
        if left > 0:
            headers = {} if self.retry_after is None else {"Retry-After": self.retry_after}
            return web.json_response(state | {"status": "running", "tasks": counts}, headers=headers)
        error = {"code": "InternalServerError", "message": f"secret words: {documents[0]['text']}"}
        if self.jobs == "failed":
            return web.json_response(state | {"status": "failed", "errors": [error], "tasks": counts})
        item: dict[str, Any] = {
            "kind": "ExtractiveSummarizationLROResults",
            "taskName": task["taskName"],
            "lastUpdateDateTime": _AT,
            "status": "succeeded",
        }
        if self.jobs == "task":
            errors = [error | {"target": "#/tasks/items/0"}]
            item["status"] = "failed"
            return web.json_response(
                state | {"status": "partiallyCompleted", "errors": errors, "tasks": counts | {"items": [item]}}
            )
        item["results"] = {"documents": [], "errors": [], "modelVersion": "2023-04-01"}
        if self.jobs == "document":
            item["results"]["errors"] = [_document_error(d["id"]) for d in documents]
        elif self.jobs != "cancelled":
            item["results"]["documents"] = [
                {"id": d["id"], "sentences": self._summary(d["text"], task["parameters"]), "warnings": []}
                for d in documents
            ]
        ended = "cancelled" if self.jobs == "cancelled" else "succeeded"
        return web.json_response(state | {"status": ended, "tasks": counts | {"completed": 1, "items": [item]}})

    def _summary(self, text: str, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Sentences that hold the telling word, then long ones; ranks fall from 1."""
        if self.jobs == "empty":
            return []
        spans = [m for m in _SENTENCE.finditer(text) if m.group().strip()]
        best = sorted(spans, key=lambda m: (self.telling not in m.group(), -len(m.group())))
        chosen = [
            {
                "text": m.group(),
                "rankScore": round(1 - i / len(best), 3),
                "offset": m.start() + self.shift,
                "length": len(m.group()),
            }
            for i, m in enumerate(best[: wanted.get("sentenceCount", 3)])
        ]
        return chosen if wanted.get("sortBy") == "Rank" else sorted(chosen, key=lambda s: s["offset"])


def _refused(code: str) -> web.Response:
    error = {"code": "InvalidRequest", "innererror": {"code": code}, "message": "x"}
    return web.json_response({"error": error}, status=400)


def _document_error(document: str) -> dict[str, Any]:
    inner = {"code": "InvalidDocument", "message": "x"}
    return {"id": document, "error": {"code": "InvalidArgument", "message": "x", "innererror": inner}}


def _failed(status: int, headers: Mapping[str, str]) -> Fault:
    """A refusal that repeats the text that was sent."""

    async def fault(request: web.Request) -> web.StreamResponse:
        words = f"secret words: {await request.text()}"
        return web.json_response({"error": {"code": "Failed", "message": words}}, status=status, headers=headers)

    return fault
