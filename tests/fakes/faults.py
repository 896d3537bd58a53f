"""How a server on the way can fail, for the loopback servers of tests: each makes one answer to a request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LoopbackServer:
    """An application on a loopback port for the length of `async with`; `root`: its address.

    `released` is set when the block ends: who holds a request back waits for it.
    """

    def __init__(self, app: web.Application) -> None:
        self.root = ""
        self.released = asyncio.Event()
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        self.root = f"http://127.0.0.1:{self._server.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        await self._server.close()


class FaultyServer(LoopbackServer):
    """A loopback server: `script` is used up first, one fault to a request, then `otherwise` if there is one, then `answer`.

    `bodies` holds the path and the JSON of each request, of a GET its query.
    """

    def __init__(self, *script: Fault, otherwise: Fault | None = None) -> None:
        self.script = list(script)
        self.otherwise = otherwise
        self.bodies: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        super().__init__(app)

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        """What a healthy server says."""
        raise NotImplementedError

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else dict(request.query)
        self.bodies.append((request.path, body))
        self.headers.append(dict(request.headers))
        fault = self.script.pop(0) if self.script else self.otherwise
        return await (self.answer(request, body) if fault is None else fault(request))


def status(code: int, body: str = '{"error":{"code":"Failed","message":"x"}}', **headers: str) -> Fault:
    async def fault(_request: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=code, text=body, content_type="application/json", headers=named)

    return fault


def echoed(code: int) -> Fault:
    """An error that repeats what was sent, headers and all."""

    async def fault(request: web.Request) -> web.StreamResponse:
        words = f"{await request.text()} {dict(request.headers)}"
        return web.json_response({"error": {"code": "Bad", "message": words, "target": words}}, status=code)

    return fault


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Fault:
    """Any JSON body."""

    async def fault(_request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return fault


def raw(text: str, *, status: int = 200, content_type: str = "application/json") -> Fault:
    """Any text as body."""

    async def fault(_request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, content_type=content_type)

    return fault


def html(code: int) -> Fault:
    """The page of a network that wants a person to sign in."""
    return raw("<!doctype html><title>Sign in</title>", status=code, content_type="text/html")


def slow() -> Fault:
    """No answer for a minute, which no test waits for."""

    async def fault(_request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response(status=503)

    return fault


def closed() -> Fault:
    """The connection ends without an answer."""

    async def fault(request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    return fault


def truncated() -> Fault:
    """A body that stops in the middle, complete by its length."""
    return status(200, '{"categoriesAnalysis": [{"category": "Hate", "seve')


def redirect(location: str) -> Fault:
    """Another address, for now."""

    async def fault(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": location})

    return fault


def huge(megabytes: int) -> Fault:
    """JSON without an end in sight, in pieces: no length is announced."""

    async def fault(request: web.Request) -> web.StreamResponse:
        reply = await _begun(request)
        await reply.write(b'{"results": [{"title": "')
        for _ in range(megabytes * 16):
            await reply.write(b"x" * 2**16)
        await reply.write(b'"}]}')
        return reply

    return fault


def half(body: bytes) -> Fault:
    """The first part of a chunked body, then a closed connection."""

    async def fault(request: web.Request) -> web.StreamResponse:
        reply = await _begun(request)
        await reply.write(body)
        if request.transport is not None:
            request.transport.close()
        return reply

    return fault


async def _begun(request: web.Request) -> web.StreamResponse:
    """JSON in pieces, of which none is sent yet: no length is announced."""
    reply = web.StreamResponse(headers={"Content-Type": "application/json"})
    reply.enable_chunked_encoding()
    await reply.prepare(request)
    return reply
