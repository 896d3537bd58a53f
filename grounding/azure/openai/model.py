"""Base of the OpenAI-compatible chat models: how a call is made, adapted to what the model takes, and judged. Shared by chat.completions
and Responses.

A body is read here and not by the SDK, which hands out a page of HTML as `str` and a reply without choices as an object. A streamed reply
is collected into the body that the same call would have brought in one piece, and is read like it: no part of a draft is shown before the
whole is checked. The deadline of `Remote` bounds it all; the SDK's is per read.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol

import openai
from openai import AsyncAPIResponse, RequestOptions

from grounding.azure.openai.client import Auth, KeySource, make_client
from grounding.azure.openai.event_stream import EventLines
from grounding.azure.openai.faults import named_efforts, names_parameter, names_schema, names_size, translated
from grounding.azure.openai.learned import Learned, beginning
from grounding.azure.openai.replies import parsed
from grounding.errors import ContentFiltered, ReplyCut, ServiceReplyInvalid
from grounding.model_calls.reply_room import granted
from grounding.observe import reply_unused
from grounding.records import Completion
from grounding.services.remote import Remote

LOG = logging.getLogger("attest")
MOST_BYTES = 8_000_000
"""Of one reply; what sends more is no chat model."""
_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)  # local servers leave a model's musings in the reply
_MUSING = re.compile(r"\A\s*<think>")
_UNREAD: RequestOptions = {"headers": {"X-Stainless-Raw-Response": "stream"}}
"""A response whose body was not read yet, as `with_streaming_response` asks for it."""
Ending = Literal["complete", "length", "filtered", "refused"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request, independent of the API it is sent by. `room`: tokens for reasoning, beyond the `max_tokens` of what is written."""

    system: str
    user: str
    purpose: str
    max_tokens: int
    schema: Mapping[str, Any] | None
    room: int = 0

    @property
    def cap(self) -> int:
        """Most tokens of the reply, reasoning included."""
        return self.max_tokens + self.room


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A parsed reply with how it ended, before it is judged.

    `thought`: reasoning tokens that it reports, None if it does not; `mused`: it shows its reasoning.
    """

    text: str
    ending: Ending
    model: str | None
    usage: dict[str, int]
    thought: int | None = None
    mused: bool = False


class Gathering(Protocol):
    """Collector of the events of one streamed reply."""

    def take(self, event: dict[str, Any]) -> bool:
        """Take one event; True if the reply ends with it. Raises the error that it reports."""
        ...

    def body(self) -> object:
        """The body that the same call would have brought in one piece, as far as it has come."""
        ...


class OpenAIModel(ABC):
    """ChatModel over one API of an OpenAI-compatible server.

    `api_key`: a key, an async function that returns a bearer token (Microsoft Entra ID), or None for a local server. `model`: model or
    deployment name. `temperature`: None leaves it to the model. `stream`: whether the reply is asked for in pieces, which keeps a
    connection alive that a proxy would cut when silent. `effort`: reasoning effort, in the service's words; None leaves it to the model.
    What a server or model turns out not to take (a temperature, an effort, a JSON schema, streaming, the name of the cap) is left out or
    renamed from then on, by all that share `learned`, which is of this address and model. Raises SettingsError as `make_client` does.
    """

    path: ClassVar[str]
    """Of the interface, below the base URL."""

    def __init__(
        self,
        base_url: str | None,
        api_key: KeySource,
        model: str,
        remote: Remote,
        *,
        temperature: float | None = 0.0,
        stream: bool = False,
        effort: str | None = None,
        auth: Auth = "bearer",
        learned: Learned | None = None,
    ) -> None:
        self._client = make_client(base_url, api_key, remote, auth)
        self._model = model
        self._remote = remote
        self._temperature_asked = temperature
        self._stream_asked = stream
        self._effort_asked = effort
        self._learned = learned or beginning(base_url, effort=effort)

    @property
    def name(self) -> str:
        """Model or deployment name."""
        return self._model

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's complete reply. Raises ServiceError, or ContentFiltered if filter or model refuse.

        `purpose` names the call in messages and schema. `max_tokens` bounds what is written; a model that reasons gets extra tokens for it.
        A reply that is cut off all the same is asked for once more with more of them, if there are any and the turn can pay for it; cut
        again it is ReplyCut: in mid-number it would read like a whole one.
        """
        asked = ChatRequest(system, user, purpose, max_tokens, schema, granted(self._learned.room()) or 0)
        reply = await self._remote.call(lambda: self._attempt(asked))
        if reply.ending == "length" and (wider := self._wider(asked, reply)) is not None:
            reply_unused(reply.usage)
            asked = wider
            reply = await self._remote.call(lambda: self._attempt(wider))
        if reply.ending != "complete":
            reply_unused(reply.usage)
        return self._judged(asked, reply)

    def _wider(self, asked: ChatRequest, reply: ChatReply) -> ChatRequest | None:
        """The same request with more tokens for reasoning; None where there are none to be had."""
        wrote = bool(reply.text.strip()) and not (reply.thought or reply.mused)
        wanted = self._learned.wider(asked.room, wrote=wrote)
        given = granted(wanted, again=True) if wanted is not None else None
        return replace(asked, room=given) if given is not None and given > asked.room else None

    def _judged(self, asked: ChatRequest, reply: ChatReply) -> Completion:
        service = self._remote.service
        match reply.ending:
            case "filtered":
                raise ContentFiltered(f"{service}: the service's content filter cut the reply")
            case "refused":
                raise ContentFiltered(f"{service}: the model refused to answer")
            case "length":
                thought = f", {reply.thought} of them thought" if reply.thought else ""
                raise ReplyCut(service, f"the {asked.purpose} reply was cut off at {asked.cap} tokens{thought}")
            case "complete":
                return Completion(reply.text, reply.model or self._model, reply.usage, self._temperature)

    @property
    def _temperature(self) -> float | None:
        return None if "temperature" in self._learned.refused else self._temperature_asked

    @property
    def _effort(self) -> str | None:
        return None if "effort" in self._learned.refused else self._effort_asked

    @property
    def _stream(self) -> bool:
        return self._stream_asked and "stream" not in self._learned.refused

    @property
    def _schemas(self) -> bool:
        return "schema" not in self._learned.refused

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    @abstractmethod
    def _request(self, asked: ChatRequest) -> dict[str, Any]:
        """The JSON body to send, in the form that this server is known to take."""

    @abstractmethod
    def _read(self, body: object) -> ChatReply:
        """Parse a whole reply. Raises ServiceError or ContentFiltered if it is none."""

    @abstractmethod
    def _gathering(self) -> Gathering:
        """A new collector for the events of one stream."""

    def _adapt(self, error: openai.APIStatusError, sent: Mapping[str, Any], room: int) -> bool:
        """Learn from a refusal what is not taken, for one a cap with `room` extra tokens; True if the next request will differ from the one
        sent.
        """
        refused = self._learned.refused
        if names_size(error):
            self._learned.narrow(room)
            return room > 0
        if "temperature" in sent and names_parameter(error, "temperature"):
            refused.add("temperature")
            return True
        if any(name in sent and names_parameter(error, name) for name in ("reasoning_effort", "reasoning")):
            self._without_effort(error)
            return True
        if ("response_format" in sent or "text" in sent) and names_schema(error):
            refused.add("schema")
            return True
        if "stream" in sent and names_parameter(error, "stream"):
            refused.add("stream")
            return True
        return False

    def _without_effort(self, error: openai.APIStatusError) -> None:
        learned = self._learned
        if "effort" not in learned.refused:
            learned.efforts = named_efforts(error)
            named = f" (it names {', '.join(learned.efforts)})" if learned.efforts else ""
            LOG.warning(
                "%s: the model takes no ATTEST_OPENAI_EFFORT=%s%s; it is asked without",
                self._remote.service,
                self._effort_asked,
                named,
            )
        learned.refused.add("effort")

    async def _attempt(self, asked: ChatRequest) -> ChatReply:
        with translated(self._remote.service):
            while True:
                room = self._learned.fitting(asked.room)
                sent = self._request(replace(asked, room=room))
                try:
                    body = await self._exchange(sent)
                except openai.APIStatusError as error:
                    if not self._adapt(error, sent, room):
                        raise
                else:
                    reply = self._read(body)
                    self._learned.learn_from(reply.thought, mused=reply.mused)
                    return self._checked(reply)

    async def _exchange(self, sent: Mapping[str, Any]) -> object:
        """Send a request and return the body of the reply, or what its events add up to, whether or not a stream was asked for."""
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
        return parsed(self._remote.service, bytes(body))

    async def _gathered(self, chunks: Any) -> object:
        lines, gathering, size = EventLines(), self._gathering(), 0
        async for chunk in chunks:
            size += len(chunk)
            self._bound(size)
            for data in lines.feed(chunk):
                if data == "[DONE]":
                    return gathering.body()
                event = parsed(self._remote.service, data.encode())
                if not isinstance(event, dict):
                    raise self._invalid("a piece of the stream is not an object")
                if gathering.take(event):
                    return gathering.body()
        return gathering.body()

    def _checked(self, reply: ChatReply) -> ChatReply:
        text = _THINKING.sub("", reply.text)
        if reply.ending == "complete" and not text.strip():
            reply_unused(reply.usage)
            raise self._invalid("the reply is empty")
        return replace(reply, text=text)

    def _bound(self, size: int) -> None:
        if size > MOST_BYTES:
            raise self._invalid(f"the reply is longer than {MOST_BYTES // 1_000_000} MB")

    def _invalid(self, why: str) -> ServiceReplyInvalid:
        return ServiceReplyInvalid(self._remote.service, why)


def text_or_none(value: object) -> str | None:
    """`value` if it is a string that is not empty, otherwise None."""
    return value if isinstance(value, str) and value else None


def shows_thoughts(text: str, *fields: object) -> bool:
    """True if a reply begins with a model's visible reasoning, or has it in one of the `fields` that local servers put it into."""
    return bool(_MUSING.match(text)) or any(isinstance(value, str) and value.strip() for value in fields)
