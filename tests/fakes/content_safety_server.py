"""A loopback server that speaks Azure AI Content Safety: `text:analyze` of 2023-10-01 and `text:shieldPrompt` of 2024-09-01.

It decides by keywords, and refuses what the service refuses: a text or prompt above 10,000 characters, more than 5 documents, documents of
more than 10,000 characters together, an unknown blocklist, another version, a wrong key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

KEY = "canary-key-1234"
ORDERS = "ignore all previous instructions"
MOST = 10_000


class ContentSafetyServer(FaultyServer):
    """`words`: a word to its category and severity. `blocklists`: a name to its words. `key` None: any is taken."""

    def __init__(
        self,
        *script: Fault,
        otherwise: Fault | None = None,
        words: Mapping[str, tuple[str, int]] | None = None,
        blocklists: Mapping[str, tuple[str, ...]] | None = None,
        key: str | None = KEY,
    ) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.words = dict(words or {"hurt": ("Violence", 4), "annoying": ("Hate", 2)})
        self.blocklists = dict(blocklists or {})
        self.key = key

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.key is not None and request.headers.get("Ocp-Apim-Subscription-Key") != self.key:
            return _refused(401, "401", "Access denied due to invalid subscription key.")
        version = request.query.get("api-version")
        if request.path == "/contentsafety/text:analyze" and version == "2023-10-01":
            return self._analyze(body)
        if request.path == "/contentsafety/text:shieldPrompt" and version == "2024-09-01":
            return self._shield(body)
        if request.path == "/contentsafety/text/blocklists" and request.method == "GET":
            return web.json_response({"value": [{"blocklistName": name} for name in self.blocklists]})
        return _refused(404, "404", "Resource not found")

    def asked(self, operation: str) -> list[dict[str, Any]]:
        """The bodies that came to an operation: "analyze" or "shieldPrompt"."""
        return [body for path, body in self.bodies if path.endswith(f":{operation}")]

    def _analyze(self, body: dict[str, Any]) -> web.Response:
        text = body["text"]
        if not text or _units(text) > MOST:
            return _refused(400, "InvalidRequestBody", f"The length of text should be in 1..{MOST}: {text[:50]}")
        names = body.get("blocklistNames") or []
        if not set(names) <= self.blocklists.keys():
            return _refused(404, "NotFound", "Text blocklist is not found.")
        low = text.lower()
        hits = [
            {"blocklistName": name, "blocklistItemId": "1", "blocklistItemText": word}
            for name in names
            for word in self.blocklists[name]
            if word in low
        ]
        halted = bool(hits and body.get("haltOnBlocklistHit"))
        found = dict.fromkeys(("Hate", "SelfHarm", "Sexual", "Violence"), 0)
        for word, (category, severity) in self.words.items():
            if word in low:
                four = body.get("outputType", "FourSeverityLevels") == "FourSeverityLevels"
                found[category] = max(found[category], severity // 2 * 2 if four else severity)
        analysis = [{"category": category, "severity": severity} for category, severity in found.items()]
        return web.json_response({"blocklistsMatch": hits, "categoriesAnalysis": [] if halted else analysis})

    def _shield(self, body: dict[str, Any]) -> web.Response:
        prompt, documents = body.get("userPrompt", ""), body.get("documents", [])
        if _units(prompt) > MOST or len(documents) > 5 or sum(map(_units, documents)) > MOST:
            return _refused(400, "InvalidRequestBody", "The request exceeds the limits.")
        reply: dict[str, Any] = {"documentsAnalysis": [{"attackDetected": ORDERS in d.lower()} for d in documents]}
        reply["userPromptAnalysis"] = {"attackDetected": ORDERS in prompt.lower()}
        return web.json_response(reply)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _refused(code: int, name: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": name, "message": message}}, status=code)
