"""A loopback server that speaks OpenAI's `POST /v1/moderations`, deciding by keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

NAMES = (
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/intent",
    "self-harm/instructions",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
)


class ModerationServer(FaultyServer):
    """`words`: a word to its category and score. From `flags_at` on a category is flagged."""

    def __init__(
        self,
        *script: Fault,
        otherwise: Fault | None = None,
        words: Mapping[str, tuple[str, float]] | None = None,
        flags_at: float = 0.4,
    ) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.words = dict(words or {"hurt": ("violence", 0.9), "annoying": ("harassment", 0.2)})
        self.flags_at = flags_at

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path != "/v1/moderations":
            return web.json_response({"error": {"message": "unknown", "code": None}}, status=404)
        inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
        results = [self._judge(text) for text in inputs]
        return web.json_response({"id": "modr-1", "model": body["model"], "results": results})

    def _judge(self, text: str) -> dict[str, Any]:
        scores = dict.fromkeys(NAMES, 0.0001)
        for word, (category, score) in self.words.items():
            if word in text.lower():
                scores[category] = score
        flags = {name: score >= self.flags_at for name, score in scores.items()}
        return {
            "flagged": any(flags.values()),
            "categories": flags,
            "category_scores": scores,
            "category_applied_input_types": {name: ["text"] for name in NAMES},
        }
