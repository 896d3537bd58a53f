"""A loopback server that speaks chat.completions and the Responses API, in one piece or streamed, as it is asked.

It refuses what the published contracts refuse (`openai_forms.wrong`), and misbehaves on request, one step of the script per
request, in ways that were seen of servers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from grounding.tokens import CHAT_OVERHEAD, count_tokens
from tests.fakes import faults
from tests.fakes.faults import Fault, LoopbackServer
from tests.fakes.openai_forms import Ending, Reasoner, body, completion, events, sse, usage_of, wrong

Step = Callable[["OpenAIServer", web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAIServer(LoopbackServer):
    """Use as `async with OpenAIServer(ok("Hello."), status(500)) as server`. Past the script every step is `otherwise`.

    `takes_schemas` false: a server without structured output, which refuses the parameter for it. `reasoner`: whose quirks it has; `key_in`:
    the only header in which it takes a key; `pages`: what it answers to GET, by path; `missing`: no deployment of any name is there.
    """

    def __init__(
        self,
        *script: Step,
        otherwise: Step | None = None,
        takes_schemas: bool = True,
        reasoner: Reasoner | None = None,
        key_in: str | None = None,
        pages: Mapping[str, Any] | None = None,
        missing: bool = False,
    ) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self._otherwise = otherwise or ok("Fine.")
        self._takes_schemas = takes_schemas
        self._key_in = key_in
        self._missing = missing
        self._pages = dict(pages or {})
        self.reasoner = reasoner
        app = web.Application()
        for path in ("/v1", "/openai/v1"):
            app.router.add_post(f"{path}/chat/completions", self._handle)
            app.router.add_post(f"{path}/responses", self._handle)
        app.router.add_get("/{path:.*}", self._page)
        super().__init__(app)

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.seen.append(Seen(request.path, dict(request.headers), asked))
        if self._key_in is not None and self._key_in not in request.headers:
            return web.json_response({"statusCode": 401, "message": "Access denied due to missing key."}, status=401)
        if self._missing:
            words = "The API deployment for this resource does not exist. Wait a moment and try again."
            return await error(404, code="DeploymentNotFound", message=words)(self, request)
        if refused := wrong(request.path, asked):
            return await error(400, code="invalid_request_error", param=refused[0], message=refused[1])(self, request)
        if not self._takes_schemas and ("response_format" in asked or "text" in asked):
            return await no_schemas()(self, request)
        if self.reasoner is not None and (refusal := self.reasoner.refusal(request.path, asked)):
            return web.json_response({"error": refusal}, status=400)
        step = self.script.pop(0) if self.script else self._otherwise
        return await step(self, request)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        if request.path in self._pages:
            return web.json_response(self._pages[request.path])
        return web.json_response({"error": {"message": "Not found", "code": None}}, status=404)


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Step:
    """Any JSON body."""
    return _of_any(faults.reply(body, status=status, headers=headers))


def raw(text: str, *, status: int = 200, content_type: str = "application/json") -> Step:
    """Any text as body."""
    return _of_any(faults.raw(text, status=status, content_type=content_type))


def ok(text: str, ending: Ending = "stop") -> Step:
    """A reply in the interface that it is asked for in, streamed if it is asked for so."""
    return saying(lambda _prompt: text, ending)


def saying(answer: Callable[[str], str], ending: Ending = "stop") -> Step:
    """A reply to the prompt, of a reasoner with its thinking: cut at the cap, and counted."""

    async def step(server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        prompt, end, usage = prompt_of(asked), ending, None
        text = answer(prompt)
        if server.reasoner is not None:
            text, whole, thought, written = server.reasoner.made(asked, text)
            end = ending if whole else "length"
            usage = usage_of(
                request.path,
                sum(map(count_tokens, texts_of(asked))) + CHAT_OVERHEAD,
                thought,
                written,
                details=server.reasoner.details,
            )
        if not asked.get("stream"):
            whole_body = body(request.path, text, end)
            return web.json_response({**whole_body, "usage": usage or whole_body["usage"]})
        done = () if request.path.endswith("/responses") else ("[DONE]",)
        return await streamed(sse(*events(request.path, text, end, asked, usage), *done))(server, request)

    return step


def prompt_of(asked: Mapping[str, Any]) -> str:
    """All text of a request, in either interface."""
    return "\n".join(texts_of(asked))


def texts_of(asked: Mapping[str, Any]) -> list[str]:
    """The messages of a request, in either interface: a service counts the tokens of each by itself."""
    if "messages" in asked:
        return [str(message["content"]) for message in asked["messages"]]
    return [str(asked.get("instructions", "")), str(asked.get("input", ""))]


def streamed(*parts: bytes, pause_s: float = 0.0, cut: bool = False) -> Step:
    """A stream of exactly these bytes, in small pieces that end anywhere; `pause_s` after each part, `cut`: then the socket closes."""

    async def step(_server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        for part in parts:
            for at in range(0, len(part), 37):
                await stream.write(part[at : at + 37])
            await asyncio.sleep(pause_s)
        if cut and request.transport is not None:
            request.transport.close()
        return stream

    return step


def cut_after(text: str, ending: Ending, *, left_out: int, cut: bool = False) -> Step:
    """The stream of a reply without its last events."""

    async def step(server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        made = events(request.path, text, ending, await request.json())
        return await streamed(sse(*made[: len(made) - left_out]), cut=cut)(server, request)

    return step


def fenced(text: str) -> Step:
    return ok(f"```json\n{text}\n```")


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
    return ok("Our phone number is +1 555", "length")


def filtered_output(partial: str = "") -> Step:
    return ok(partial, "content_filter")


def refusal() -> Step:
    return ok("I cannot help with that.", "refusal")


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


def no_schemas() -> Step:
    """A model or server that takes no JSON schema."""
    text = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    return error(400, code="invalid_request_error", param="response_format", message=text)


def slow() -> Step:
    """Never answers while the test runs."""

    async def step(server: OpenAIServer, _request: web.Request) -> web.StreamResponse:
        await server.released.wait()
        return web.Response(status=503)

    return step


def reset() -> Step:
    """Closes the connection without an answer."""
    return _of_any(faults.closed())


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
    """Another address."""
    return _of_any(faults.redirect(location))


def _of_any(fault: Fault) -> Step:
    """What any server may do, whichever it is."""
    return lambda _server, request: fault(request)
