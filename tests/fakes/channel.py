"""A fake Teams channel over real HTTP: takes what the bot sends, keeps the raw JSON, answers as the connector does.

POST 201 with an id (202 for later parts of a stream), PUT 200, DELETE 200, members; faults on request, and no answer before `go_on` is set.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientResponse, ClientSession, web
from aiohttp.test_utils import TestServer

Json = dict[str, Any]


@dataclass
class Taken:
    """A request of the bot: `raw_path` as it stood on the wire, `body` as it was sent."""

    method: str
    raw_path: str
    conversation: str
    activity_id: str | None
    body: Json
    authorization: str | None


@dataclass
class Fault:
    """The next request that `applies` to is answered with `status` instead."""

    status: int
    code: str = "Fault"
    message: str = ""
    retry_after: str | None = None
    location: str | None = None
    applies: Callable[[Json], bool] = lambda _: True


@dataclass
class FakeChannel:
    """Used as an async context manager; `service_url` is what inbound activities must carry."""

    taken: list[Taken] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    pending: list[Json] = field(default_factory=list)
    _given: int = 0
    _server: TestServer | None = None
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go_on.set()

    async def __aenter__(self) -> FakeChannel:
        app = web.Application()
        base = "/{conversation_path:.*}v3/conversations/{conversation}"
        app.router.add_post(base + "/activities", self._post)
        app.router.add_post(base + "/activities/{activity}", self._post)
        app.router.add_put(base + "/activities/{activity}", self._put)
        app.router.add_delete(base + "/activities/{activity}", self._delete)
        app.router.add_get(base + "/members", self._members)
        app.router.add_route("*", "/{anything:.*}", self._elsewhere)
        self._server = TestServer(app)
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await self._server.close()

    @property
    def service_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.port}/_connector"

    @property
    def messages(self) -> list[Json]:
        """Bodies of the messages that were sent or put in place of others, in order."""
        return [t.body for t in self.taken if t.body.get("type") == "message"]

    @property
    def typings(self) -> list[Json]:
        return [t.body for t in self.taken if t.body.get("type") == "typing"]

    async def until(self, holds: Callable[[FakeChannel], bool], *, within_s: float = 60.0) -> None:
        """Wait for a condition on what was taken; raises TimeoutError after a generous time."""
        async with asyncio.timeout(within_s):
            while not holds(self):
                self._news.clear()
                await self._news.wait()

    async def until_messages(self, count: int) -> list[Json]:
        await self.until(lambda channel: len(channel.messages) >= count)
        return self.messages

    def inbound(self, text: str | None = "What is the return window?", /, **changes: Any) -> Json:
        """A message as Teams sends it; `changes` replace fields, None removes them."""
        self._given += 1
        activity: Json = {
            "type": "message",
            "id": f"in-{self._given}",
            "timestamp": "2026-11-03T10:00:00.1234567Z",
            "channelId": "msteams",
            "serviceUrl": self.service_url,
            "from": {"id": "29:user", "name": "Ada", "aadObjectId": "00000000-0000-0000-0000-00000000ada1"},
            "recipient": {"id": "28:bot", "name": "Attest"},
            "conversation": {"id": "a:chat-1", "conversationType": "personal", "tenantId": "tenant-1"},
            "channelData": {"tenant": {"id": "tenant-1"}},
            "textFormat": "plain",
            "text": text,
            "locale": "en-GB",
        }
        activity.update(changes)
        return {key: value for key, value in activity.items() if value is not None}

    async def _post(self, request: web.Request) -> web.Response:
        body = await self._take(request)
        number = len(self.taken)
        fault = await self._pause_or_fail(body)
        if fault is not None:
            return fault
        streamed = [e for e in body.get("entities", ()) if e.get("type") == "streaminfo"]
        if streamed and streamed[0].get("streamId"):
            return web.json_response({}, status=202)
        return web.json_response({"id": f"out-{number}"}, status=201)

    async def _put(self, request: web.Request) -> web.Response:
        body = await self._take(request)
        fault = await self._pause_or_fail(body)
        return fault if fault is not None else web.json_response({"id": request.match_info["activity"]})

    async def _delete(self, request: web.Request) -> web.Response:
        await self._take(request)
        return web.Response(status=200)

    async def _members(self, _: web.Request) -> web.Response:
        return web.json_response([{"id": "29:user", "name": "Ada"}])

    async def _elsewhere(self, request: web.Request) -> web.Response:
        await self._take(request)
        return web.Response(status=404)

    async def _take(self, request: web.Request) -> Json:
        body = await request.json() if request.can_read_body else {}
        self.taken.append(
            Taken(
                request.method,
                request.raw_path,
                request.match_info.get("conversation", ""),
                request.match_info.get("activity"),
                body,
                request.headers.get("Authorization"),
            )
        )
        self._news.set()
        return dict(body)

    async def _pause_or_fail(self, body: Json) -> web.Response | None:
        self.pending.append(body)
        try:
            self._news.set()
            await self.go_on.wait()
        finally:
            self.pending.remove(body)
        if not self.faults or not self.faults[0].applies(body):
            return None
        fault = self.faults.popleft()
        named = {"Retry-After": fault.retry_after, "Location": fault.location}
        headers = {name: value for name, value in named.items() if value}
        error = {"error": {"code": fault.code, "message": fault.message}}
        return web.json_response(error, status=fault.status, headers=headers)


async def post(session: ClientSession, url: str, activity: Json) -> ClientResponse:
    """Deliver an activity to the bot as the channel does."""
    return await session.post(url, json=activity)
