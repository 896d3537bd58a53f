"""A loopback server that speaks `POST /language/:analyze-text` of Azure AI Language, api-version 2023-04-01.

Names are found by a table given to it; offsets follow the `stringIndexType` that was asked for. A document above 5,120
text elements fails alone with InvalidDocument, more than 5 documents fail the request, as published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer

Category = tuple[str, str | None]


class LanguageServer:
    """Use as `async with LanguageServer({"Maria Lopez": ("Person", None)}) as server`. `script`: statuses to answer first."""

    def __init__(
        self,
        names: Mapping[str, Category] = {},
        *,
        script: tuple[int, ...] = (),
        headers: Mapping[str, str] | None = None,
        confidence: float = 0.9,
    ) -> None:
        self.names = dict(names)
        self.script = list(script)
        self.headers = dict(headers or {})
        self.confidence = confidence
        self.shift = 0
        self.body: str | None = None
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/language/:analyze-text", self._handle)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.seen.append(body)
        self.keys.append(request.headers.get("Ocp-Apim-Subscription-Key"))
        if self.script:
            status = self.script.pop(0)
            error = {
                "error": {"code": "Failed", "message": f"secret words: {body['analysisInput']['documents'][0]['text']}"}
            }
            return web.json_response(error, status=status, headers=self.headers)
        if self.body is not None:
            return web.Response(text=self.body, content_type="application/json")
        documents = body["analysisInput"]["documents"]
        if len(documents) > 5:
            refused: dict[str, Any] = {
                "error": {
                    "code": "InvalidRequest",
                    "innererror": {"code": "InvalidDocumentBatch"},
                    "message": "too many",
                }
            }
            return web.json_response(refused, status=400)
        good = [d for d in documents if len(d["text"]) <= 5120]
        bad = [d for d in documents if len(d["text"]) > 5120]
        points = body["parameters"]["stringIndexType"] == "UnicodeCodePoint"
        return web.json_response(
            {
                "kind": "EntityRecognitionResults",
                "results": {
                    "documents": [
                        {"id": d["id"], "entities": self._entities(d["text"], points=points), "warnings": []}
                        for d in good
                    ],
                    "errors": [
                        {
                            "id": d["id"],
                            "error": {
                                "code": "InvalidArgument",
                                "message": "x",
                                "innererror": {"code": "InvalidDocument", "message": "x"},
                            },
                        }
                        for d in bad
                    ],
                    "modelVersion": "2023-09-01",
                },
            }
        )

    def _entities(self, text: str, *, points: bool) -> list[dict[str, Any]]:
        found = []
        for name, (category, subcategory) in self.names.items():
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
