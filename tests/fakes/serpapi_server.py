"""A loopback server that answers like SerpAPI's Google engine, or fails like it, one step of the script per search."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer

Step = Callable[["SerpApiServer", web.Request], Awaitable[web.StreamResponse]]


class SerpApiServer:
    """Use as `async with SerpApiServer(found(...)) as server`. Past the script every step is `otherwise`."""

    def __init__(self, *script: Step, otherwise: Step | None = None) -> None:
        self._script = list(script)
        self._otherwise = otherwise or nothing_found()
        self.seen: list[dict[str, str]] = []
        self.domain = ""
        self.released = asyncio.Event()
        app = web.Application()
        app.router.add_get("/search", self._handle)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        self.domain = f"http://127.0.0.1:{self._server.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        await self._server.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(dict(request.query))
        step = self._script.pop(0) if self._script else self._otherwise
        return await step(self, request)


def organic(n: int, **more: Any) -> dict[str, Any]:
    """An organic result as SerpAPI gives it."""
    return {
        "position": n,
        "title": f"Page {n}",
        "link": f"https://site{n}.example.com/page",
        "displayed_link": f"site{n}.example.com",
        "snippet": f"What page {n} says.",
        **more,
    }


def question(n: int, **more: Any) -> dict[str, Any]:
    """A related question as SerpAPI gives it."""
    return {
        "question": f"Question {n}?",
        "title": f"Answer {n}",
        "link": f"https://answers.example.org/{n}",
        "snippet": f"The answer to question {n}.",
        **more,
    }


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Step:
    async def step(_server: SerpApiServer, _request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return step


def raw(text: str, *, status: int = 200, content_type: str = "application/json") -> Step:
    async def step(_server: SerpApiServer, _request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, content_type=content_type)

    return step


def found(*items: dict[str, Any], **more: Any) -> Step:
    """A page of organic results; other fields, such as `related_questions`, as given."""
    return reply({"search_metadata": {"status": "Success"}, "organic_results": list(items), **more})


def nothing_found() -> Step:
    return reply(
        {
            "search_metadata": {"status": "Success"},
            "search_information": {"organic_results_state": "Fully empty"},
            "error": "Google hasn't returned any results for this query.",
        }
    )


def error(status: int, message: str = "Something went wrong.", **headers: str) -> Step:
    return reply({"error": message}, status=status, headers=headers)


def slow() -> Step:
    """Never answers while the test runs."""

    async def step(server: SerpApiServer, _request: web.Request) -> web.StreamResponse:
        await server.released.wait()
        return web.Response(status=503)

    return step


def reset() -> Step:
    async def step(_server: SerpApiServer, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    return step


def cut() -> Step:
    """Half of a chunked body, then a closed connection."""

    async def step(_server: SerpApiServer, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b'{"organic_results": [')
        if request.transport is not None:
            request.transport.close()
        return response

    return step


def moved(location: str) -> Step:
    async def step(_server: SerpApiServer, _request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": location})

    return step
