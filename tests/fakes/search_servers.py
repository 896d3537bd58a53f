"""Loopback servers of web searches, each as its interface is published: where the key goes, what is asked, what comes back."""

from __future__ import annotations

from typing import Any, ClassVar

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

KEY = "canary-key-0123456789"
UNKNOWN = "zyzzyva"
"""A query that finds nothing."""


def page(n: int) -> tuple[str, str, str]:
    """Title, address and text of page `n`."""
    return f"Page {n}", f"https://site{n}.example.com/page", f"What page {n} says of coffee."


class TavilyServer(FaultyServer):
    """`POST /search` with a bearer key; `results` to give back, five pages by default."""

    def __init__(self, *script: Fault, otherwise: Fault | None = None, results: Any = None) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.results = [self.item(n) for n in range(1, 6)] if results is None else results

    @staticmethod
    def item(n: int, **more: Any) -> dict[str, Any]:
        title, url, text = page(n)
        return {"title": title, "url": url, "content": text, "score": 1 - n / 10, "raw_content": None, **more}

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path != "/search" or request.method != "POST":
            return web.json_response({"detail": "Not Found"}, status=404)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401)
        if not 1 <= len(body["query"]) <= 400 or not 0 <= body["max_results"] <= 20:
            return web.json_response({"detail": {"error": "Query is too long. Max query length is 400."}}, status=400)
        found = [] if UNKNOWN in body["query"] else self.results
        found = found[: body["max_results"]] if isinstance(found, list) else found
        more: dict[str, Any] = {
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "response_time": 0.8,
            "request_id": "r-1",
        }
        return web.json_response({"query": body["query"], "results": found, **more})


class DuckDuckGoServer(FaultyServer):
    """`GET /?q=…&format=json`, as a script's content type and with empty strings for what there is not."""

    EMPTY: ClassVar[dict[str, Any]] = {
        **dict.fromkeys("Abstract AbstractText AbstractSource AbstractURL Heading Answer AnswerType".split(), ""),
        **dict.fromkeys("Definition DefinitionURL Image Redirect Type".split(), ""),
        "Results": [],
        "RelatedTopics": [],
    }

    def __init__(self, *script: Fault, otherwise: Fault | None = None, fields: dict[str, Any] | None = None) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.fields = self.flat_white() if fields is None else fields

    @staticmethod
    def topic(n: int) -> dict[str, Any]:
        title, _, text = page(n)
        url = f"https://duckduckgo.com/page_{n}"
        return {"FirstURL": url, "Icon": {}, "Result": f'<a href="{url}">{title}</a> {text}', "Text": f"{title} {text}"}

    @classmethod
    def flat_white(cls) -> dict[str, Any]:
        """An article: an abstract, its official site, topics, and a group of topics."""
        return {
            "Heading": "Flat white",
            "AbstractText": "A flat white is a coffee drink.",
            "AbstractSource": "Wikipedia",
            "AbstractURL": "https://en.wikipedia.org/wiki/Flat_white",
            "Results": [
                {
                    "FirstURL": "https://coffee.example.com/",
                    "Result": '<a href="https://coffee.example.com/"><b>Official site</b></a>',
                    "Text": "Official site",
                }
            ],
            "RelatedTopics": [cls.topic(1), {"Name": "Coffee", "Topics": [cls.topic(2), cls.topic(3)]}, cls.topic(4)],
            "Type": "A",
        }

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path != "/" or request.method != "GET" or body.get("format") != "json":
            return web.Response(text="<!doctype html><title>DuckDuckGo</title>", content_type="text/html")
        found = {} if UNKNOWN in body["q"] else self.fields
        return web.json_response({**self.EMPTY, **found}, content_type="application/x-javascript")


class BingServer(FaultyServer):
    """`GET /v7.0/search` with a subscription key; `value` are the pages to give back, five by default."""

    def __init__(self, *script: Fault, otherwise: Fault | None = None, value: Any = None) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.value = [self.item(n) for n in range(1, 6)] if value is None else value

    @property
    def endpoint(self) -> str:
        return f"{self.root}/v7.0/search"

    @staticmethod
    def item(n: int, **more: Any) -> dict[str, Any]:
        title, url, text = page(n)
        return {
            "id": f"https://api.bing.microsoft.com/api/v7/#WebPages.{n}",
            "name": title,
            "url": url,
            "snippet": text,
            "displayUrl": url,
            "dateLastCrawled": "2024-06-01T05:00:00.0000000Z",
            "isFamilyFriendly": True,
            **more,
        }

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.headers.get("Ocp-Apim-Subscription-Key") != KEY:
            fault = {"code": "InvalidAuthorization", "message": "Subscription key is not recognized."}
            return web.json_response({"_type": "ErrorResponse", "errors": [fault]}, status=401)
        if request.path != "/v7.0/search" or not 1 <= int(body["count"]) <= 50 or len(body["q"]) > 1500:
            return web.json_response({"_type": "ErrorResponse", "errors": []}, status=404)
        head: dict[str, Any] = {
            "_type": "SearchResponse",
            "queryContext": {"originalQuery": body["q"]},
            "rankingResponse": {},
        }
        if UNKNOWN in body["q"]:
            return web.json_response(head)
        found = self.value[: int(body["count"])] if isinstance(self.value, list) else self.value
        return web.json_response({**head, "webPages": {"totalEstimatedMatches": 5, "value": found}})
