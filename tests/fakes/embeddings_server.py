"""A loopback server that speaks OpenAI's `POST /v1/embeddings`: vectors of the terms of each text, so that texts which share terms are near.

The shapes follow the published interface of OpenAI and Azure OpenAI, its ways to fail what is said of Ollama, llama.cpp and vLLM.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
from aiohttp import web

from grounding.ports import Vectors
from tests.fakes.embedder import HashEmbedder
from tests.fakes.faults import Fault, FaultyServer

KEY = "canary-embedding-key"
Items = list[dict[str, Any]]
Twist = Callable[[Items], Items]


class EmbeddingsServer(FaultyServer):
    """`width`: of its vectors, where no dimensions are asked for. `takes_base64`, `takes_dimensions`: else they are refused with 400.
    `longest`: characters that it reads at once; `scale`: length of its vectors; `twist` spoils the items of a reply.
    """

    def __init__(
        self,
        *script: Fault,
        otherwise: Fault | None = None,
        width: int = 256,
        takes_base64: bool = False,
        takes_dimensions: bool = True,
        longest: int = 30_000,
        scale: float = 1.0,
        twist: Twist = lambda items: items,
    ) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.width, self.scale, self.longest, self.twist = width, scale, longest, twist
        self.takes_base64, self.takes_dimensions = takes_base64, takes_dimensions
        self.poison = "\x01"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that it was sent, in order."""
        return [text for _, body in self.bodies for text in body["input"]]

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path not in ("/v1/embeddings", "/openai/v1/embeddings"):
            return web.json_response({"error": {"message": "unknown", "code": None}}, status=404)
        if request.headers.get("Authorization") not in (f"Bearer {KEY}", "Bearer none"):
            return _refused(401, "Incorrect API key provided", "invalid_api_key")
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if refusal := self._refusal(body, texts):
            return refusal
        rows = self.scale * await self.vectors(texts, body.get("dimensions", self.width))
        items = [
            {"object": "embedding", "index": i, "embedding": self._written(row, body)} for i, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": sum(map(len, texts)) // 4, "total_tokens": sum(map(len, texts)) // 4}
        return web.json_response({"object": "list", "data": self.twist(items), "model": body["model"], "usage": usage})

    async def vectors(self, texts: list[str], width: int) -> Vectors:
        """Unit vectors."""
        return await HashEmbedder(width=width).embed(texts)

    def _refusal(self, body: dict[str, Any], texts: list[str]) -> web.Response | None:
        if body.get("encoding_format", "float") != "float" and not self.takes_base64:
            return _refused(400, "encoding_format: only float is supported")
        if "dimensions" in body and not self.takes_dimensions:
            return _refused(400, "This model does not support specifying dimensions.")
        if any(not text or self.poison in text for text in texts):
            return _refused(400, "'$.input' is invalid.", "invalid_request_error")
        if len(texts) > 2048 or max(map(len, texts)) > self.longest:
            return _refused(400, f"This model's maximum context length is {self.longest // 4} tokens")
        return None

    @staticmethod
    def _written(row: Any, body: dict[str, Any]) -> Any:
        if body.get("encoding_format") == "base64":
            return base64.b64encode(row.astype(np.float32).tobytes()).decode()
        return [float(value) for value in row]


def _refused(status: int, message: str, code: str | None = None) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status)
