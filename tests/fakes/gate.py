"""A loopback address in front of a stand-in of a service: passes everything on, until it is told to fail."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import ClientSession, web
from yarl import URL

from tests.fakes.faults import Fault

_HOP = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-encoding"})
Wanted = Callable[[str, bytes], bool]


class Gate:
    """`async with Gate(stub.root) as gate`. `fault`: what requests get for which `wanted` (path, body) is true; None: they pass.

    `down()` stops listening, as a service that is gone; `up()` listens again at the same address. A gate of a part of a service
    (`wanted` given) cannot: others go through it. `passed` counts requests.
    """

    def __init__(self, target: str, wanted: Wanted | None = None) -> None:
        self._target, self._wanted = target, wanted
        self.of_a_part = wanted is not None
        self.fault: Fault | None = None
        self.passed = 0
        self.root = ""
        self._port = 0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        self._session = ClientSession(auto_decompress=True)
        await self.up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.down()
        await self._session.close()

    async def up(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.root = f"http://127.0.0.1:{self._port}"

    async def down(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self.fault is not None and (self._wanted is None or self._wanted(request.path, await request.read())):
            return await self.fault(request)
        self.passed += 1
        return await self.forwarded(request)

    async def forwarded(self, request: web.Request) -> web.Response:
        """What the stand-in itself says."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        url, body = URL(f"{self._target}{request.raw_path}", encoded=True), await request.read()
        async with self._session.request(
            request.method, url, data=body, headers=headers, allow_redirects=False
        ) as reply:
            told = {name: value for name, value in reply.headers.items() if name.lower() not in _HOP}
            kept = {name: value.replace(self._target, self.root) for name, value in told.items()}
            return web.Response(status=reply.status, body=await reply.read(), headers=kept)
