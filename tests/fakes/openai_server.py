"""A loopback server that speaks chat.completions and misbehaves on request, one step of the script per request.

The shapes follow the published contract of OpenAI and Azure OpenAI and what was seen of servers that break it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer

Step = Callable[["OpenAIServer", web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAIServer:
    """Use as `async with OpenAIServer(ok("Hello."), status(500)) as server`. Past the script every step is `otherwise`."""

    def __init__(self, *script: Step, otherwise: Step | None = None) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self.root = ""
        self.released = asyncio.Event()
        self._otherwise = otherwise or ok("Fine.")
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/openai/v1/chat/completions", self._handle)
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

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(Seen(request.path, dict(request.headers), await request.json()))
        step = self.script.pop(0) if self.script else self._otherwise
        return await step(self, request)


def completion(text: str | None, *, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """The body of a chat completion with one choice."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "loopback-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 3},
        },
    }


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Step:
    """Any JSON body."""

    async def step(_server: OpenAIServer, _request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return step


def raw(text: str, *, status: int = 200, content_type: str = "application/json") -> Step:
    """Any text as body."""

    async def step(_server: OpenAIServer, _request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, content_type=content_type)

    return step


def ok(text: str) -> Step:
    return reply(completion(text))


def fenced(text: str) -> Step:
    return reply(completion(f"```json\n{text}\n```"))


def html200() -> Step:
    return raw("<!doctype html><title>Sign in</title><p>Sign in to the network", content_type="text/html")


def choices_null() -> Step:
    return reply({**completion("lost"), "choices": None})


def choices_empty() -> Step:
    return reply({**completion("lost"), "choices": []})


def unfinished() -> Step:
    """A reply without a finish reason: what is left of a stream that ended early."""
    return reply(completion("Our phone number is +1 555", finish=None))


def cut_at_length() -> Step:
    return reply(completion("Our phone number is +1 555", finish="length"))


def filtered_output(partial: str = "") -> Step:
    return reply(completion(partial, finish="content_filter"))


def refusal() -> Step:
    return reply(completion(None, refusal="I cannot help with that."))


def truncated_json() -> Step:
    return raw(json.dumps(completion("Open until 18:00."))[:120])


def error(
    status: int,
    *,
    code: str | None = None,
    param: str | None = None,
    message: str = "Something went wrong.",
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Step:
    """An error in OpenAI's form."""
    body = {"error": {"message": message, "type": "error", "param": param, "code": code, **more}}
    return reply(body, status=status, headers=headers)


def throttled(after: str | None = None, *, code: str | None = "rate_limit_exceeded", **headers: str) -> Step:
    return error(429, code=code, headers={**({"Retry-After": after} if after else {}), **headers})


def filtered_prompt() -> Step:
    """Azure OpenAI's answer to a prompt that its filter blocks."""
    return error(
        400,
        code="content_filter",
        param="prompt",
        message="The response was filtered due to the prompt triggering the content management policy.",
        innererror={
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
        },
    )


def unsupported(param: str, message: str = "", *, named: bool = True) -> Step:
    """A model that does not take a parameter; `named` false: it says so in words only."""
    text = message or f"Unsupported parameter: '{param}' is not supported with this model."
    return error(400, code="unsupported_parameter", param=param if named else None, message=text)


def slow() -> Step:
    """Never answers while the test runs."""

    async def step(server: OpenAIServer, _request: web.Request) -> web.StreamResponse:
        await server.released.wait()
        return web.Response(status=503)

    return step


def reset() -> Step:
    """Closes the connection without an answer."""

    async def step(_server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    return step


def cut_stream() -> Step:
    """Promises a body, sends half of it and closes the connection."""

    async def step(_server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        body = json.dumps(completion("Open until 18:00.")).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if request.transport is not None:
            request.transport.close()
        return response

    return step


def moved(location: str) -> Step:
    async def step(_server: OpenAIServer, _request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": location})

    return step
