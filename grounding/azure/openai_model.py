"""What chat.completions and the Responses API have in common: how a call is made, adapted to the model, and judged.

A body is read here and not by the SDK, which hands out a page of HTML as `str` and a reply without choices as an object.
A streamed reply is collected into the body that the same call would have brought in one piece, and is read like it: no
part of a draft is shown before the whole is checked. The deadline of `Remote` bounds it all; the SDK's is per read.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import openai
from openai import AsyncAPIResponse, RequestOptions

from grounding.azure.faults import names_parameter, names_schema, translated
from grounding.azure.openai_client import TokenProvider, make_client
from grounding.azure.openai_events import EventLines
from grounding.errors import ContentFiltered, ServiceReplyInvalid
from grounding.observe import reply_unused
from grounding.records import Completion
from grounding.remote import Remote

MOST_BYTES = 8_000_000
"""Of one reply; what sends more is no chat model."""
_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)  # local servers leave a model's musings in the reply
_UNREAD: RequestOptions = {"headers": {"X-Stainless-Raw-Response": "stream"}}
"""A response whose body was not read yet, as `with_streaming_response` asks for it."""
Ending = Literal["complete", "length", "filtered", "refused"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, before it takes the form of an interface."""

    system: str
    user: str
    purpose: str
    max_tokens: int
    schema: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that says how it ended, read but not yet judged."""

    text: str
    ending: Ending
    model: str | None
    usage: dict[str, int]


class Gathering(Protocol):
    """Collects the events of one stream."""

    def take(self, event: dict[str, Any]) -> bool:
        """True if the reply ends with this event. Raises the error that it reports."""
        ...

    def body(self) -> object:
        """What the call would have brought in one piece, as far as it has come."""
        ...


class OpenAIModel(ABC):
    """ChatModel over one interface of an OpenAI-compatible server.

    `api_key`: a key, an async function that returns a bearer token (Microsoft Entra ID), or None for a local server.
    `model`: model or deployment name. `stream`: whether the reply is asked for in pieces, which keeps a connection alive
    that a proxy would cut when silent. What a server or model turns out not to take (a temperature, a JSON schema,
    streaming) is left out or renamed from then on. Raises SettingsError as `make_client` does.
    """

    path: ClassVar[str]
    """Of the interface, below the base URL."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | TokenProvider | None,
        model: str,
        remote: Remote,
        *,
        temperature: float | None = 0.0,
        stream: bool = False,
    ) -> None:
        self._client = make_client(base_url, api_key, remote)
        self._model = model
        self._remote = remote
        self._temperature = temperature
        self._stream = stream
        self._schemas = True

    @property
    def name(self) -> str:
        return self._model

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The complete reply. Raises ServiceError, or ContentFiltered if filter or model refuse.

        A reply that was cut off at its length is ServiceReplyInvalid, and not asked for again: at temperature 0 the next
        one would be cut at the same place. Cut in mid-number it would read like a whole number.
        """
        asked = Asked(system, user, purpose, max_tokens, schema)
        reply = await self._remote.call(lambda: self._attempt(asked))
        service = self._remote.service
        if reply.ending != "complete":
            reply_unused(reply.usage)
        match reply.ending:
            case "filtered":
                raise ContentFiltered(f"{service}: the service's content filter cut the reply")
            case "refused":
                raise ContentFiltered(f"{service}: the model refused to answer")
            case "length":
                raise ServiceReplyInvalid(service, f"the {purpose} reply was cut off at {max_tokens} tokens")
            case "complete":
                return Completion(reply.text, reply.model or self._model, reply.usage, self._temperature)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    @abstractmethod
    def _request(self, asked: Asked) -> dict[str, Any]:
        """The body to send, in the form that this server is known to take."""

    @abstractmethod
    def _read(self, body: object) -> Reply:
        """A whole reply. Raises ServiceError or ContentFiltered if it is none."""

    @abstractmethod
    def _gathering(self) -> Gathering:
        """For the events of one stream."""

    def _adapt(self, error: openai.APIStatusError, sent: Mapping[str, Any]) -> bool:
        """Leave out or rename what is not taken; True if the next request will differ from the one sent."""
        if "temperature" in sent and names_parameter(error, "temperature"):
            self._temperature = None
            return True
        if ("response_format" in sent or "text" in sent) and names_schema(error):
            self._schemas = False
            return True
        if "stream" in sent and names_parameter(error, "stream"):
            self._stream = False
            return True
        return False

    async def _attempt(self, asked: Asked) -> Reply:
        with translated(self._remote.service):
            while True:
                sent = self._request(asked)
                try:
                    body = await self._exchange(sent)
                except openai.APIStatusError as error:
                    if not self._adapt(error, sent):
                        raise
                else:
                    return self._checked(self._read(body))

    async def _exchange(self, sent: Mapping[str, Any]) -> object:
        """The body of the reply; of one that comes in events, what they add up to, also when a server streams unasked or does not."""
        # Past the SDK's typed calls, which spend milliseconds on walking through a request that is in its form already.
        response = await self._client.post(self.path, cast_to=AsyncAPIResponse[object], body=sent, options=_UNREAD)
        try:
            in_events = response.headers.get("content-type", "").partition(";")[0].strip() == "text/event-stream"
            pieces: Any = response.iter_bytes()  # a generator, whatever its type says
            async with aclosing(pieces) as chunks:
                return await (self._gathered(chunks) if in_events else self._whole(chunks))
        finally:
            await response.close()

    async def _whole(self, chunks: Any) -> object:
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            self._bound(len(body))
        return self._json(bytes(body))

    async def _gathered(self, chunks: Any) -> object:
        lines, gathering, size = EventLines(), self._gathering(), 0
        async for chunk in chunks:
            size += len(chunk)
            self._bound(size)
            for data in lines.feed(chunk):
                if data == "[DONE]":
                    return gathering.body()
                event = self._json(data.encode())
                if not isinstance(event, dict):
                    raise self._invalid("a piece of the stream is not an object")
                if gathering.take(event):
                    return gathering.body()
        return gathering.body()

    def _json(self, body: bytes) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            page = body.lstrip()[:1] == b"<"
            hint = (
                "a web page came back; does the base URL end in /v1?" if page else "the reply is not JSON, or was cut"
            )
            raise self._invalid(hint) from None

    def _checked(self, reply: Reply) -> Reply:
        text = _THINKING.sub("", reply.text)
        if reply.ending == "complete" and not text.strip():
            reply_unused(reply.usage)
            raise self._invalid("the reply is empty")
        return Reply(text, reply.ending, reply.model, reply.usage)

    def _bound(self, size: int) -> None:
        if size > MOST_BYTES:
            raise self._invalid(f"the reply is longer than {MOST_BYTES // 1_000_000} MB")

    def _invalid(self, why: str) -> ServiceReplyInvalid:
        return ServiceReplyInvalid(self._remote.service, why)


def text_or_none(value: object) -> str | None:
    """`value` if it is a text that says something."""
    return value if isinstance(value, str) and value else None


def counted(usage: object, asked: str, written: str) -> dict[str, int]:
    """Token counts by the names of chat.completions, as far as the server gives them. `asked`, `written`: its names of the two."""
    if not isinstance(usage, dict):
        return {}
    details = usage.get(f"{asked}_details")
    counts = {
        "prompt_tokens": usage.get(asked),
        "completion_tokens": usage.get(written),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, dict) else None,
    }
    return {name: count for name, count in counts.items() if type(count) is int and count >= 0}
