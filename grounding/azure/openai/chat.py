"""Chat model over the chat.completions API: OpenAI, Azure OpenAI's `/openai/v1/`, Ollama, llama.cpp, vLLM, LM Studio.

chat.completions is what all of them, and their older builds, understand. A reply is complete only with finish reason "stop", streamed or
not: a stream may end without one, and the SDK hands out the half that came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import openai

from grounding.azure.openai.faults import names_parameter, names_size, reported
from grounding.azure.openai.learned import LengthName
from grounding.azure.openai.model import (
    ChatReply,
    ChatRequest,
    Ending,
    Gathering,
    OpenAIModel,
    shows_thoughts,
    text_or_none,
)
from grounding.azure.openai.replies import counted, thought
from grounding.errors import ServiceReplyInvalid

_LENGTHS: tuple[LengthName, ...] = ("max_tokens", "max_completion_tokens")
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where local servers put what a model thought."""
_ENDINGS: dict[object, Ending] = {"stop": "complete", "length": "length", "content_filter": "filtered"}


class OpenAIChat(OpenAIModel):
    """ChatModel over `POST /chat/completions` of any OpenAI-compatible server."""

    path = "/chat/completions"

    def _request(self, asked: ChatRequest) -> dict[str, Any]:
        sent: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}],
            self._learned.length_name: asked.cap,
        }
        if self._temperature is not None:
            sent["temperature"] = self._temperature
        if self._effort is not None:
            sent["reasoning_effort"] = self._effort
        if asked.schema is not None and self._schemas:
            form = {"name": asked.purpose, "schema": asked.schema, "strict": True}
            sent["response_format"] = {"type": "json_schema", "json_schema": form}
        if self._stream:
            sent["stream"] = True
            if "stream_options" not in self._learned.refused:
                sent["stream_options"] = {"include_usage": True}
        return sent

    def _adapt(self, error: openai.APIStatusError, sent: Mapping[str, Any], room: int) -> bool:
        if not names_size(error):
            for name in _LENGTHS:
                if name in sent and names_parameter(error, name):
                    return self._learned.other_length(name)
            if "stream_options" in sent and names_parameter(error, "stream_options"):
                self._learned.refused.add("stream_options")
                return True
        return super()._adapt(error, sent, room)

    def _gathering(self) -> Gathering:
        return _Chunks(self._remote.service)

    def _read(self, body: object) -> ChatReply:
        choices = body.get("choices") if isinstance(body, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(body, dict) or not isinstance(choice, dict) or not isinstance(message, dict):
            raise self._invalid("the reply holds no choice")
        reason, text = choice.get("finish_reason"), message.get("content")
        ending = _ENDINGS.get(reason) if isinstance(reason, str) else None
        if ending is None:
            raise self._invalid("the reply does not say that it is complete")
        if message.get("refusal") and ending != "filtered":
            ending = "refused"
        written = text if isinstance(text, str) else ""
        usage = counted(body.get("usage"), "prompt_tokens", "completion_tokens")
        told = thought(body.get("usage"), "completion_tokens")
        mused = shows_thoughts(written, *(message.get(name) for name in _THOUGHTS))
        mused = mused or (ending == "length" and not written.strip() and told is None)
        return ChatReply(written, ending, text_or_none(body.get("model")), usage, told, mused)


class _Chunks:
    """Collects the chunks of a streamed chat completion into the body of a whole one.

    Azure's first chunk has no choices, nor has the one that tells the usage, which comes after the finish reason.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._thoughts: list[str] = []
        self._reason: object = None
        self._more: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> bool:
        """Take one chunk; never the last, for the usage comes after the finish reason. Raises the error that it reports."""
        if event.get("error"):
            raise reported(self._service, event["error"])
        self._more |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            self._add(choice)
        return False

    def _add(self, choice: object) -> None:
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(delta, dict | None) or choice.get("index", 0) != 0:
            raise ServiceReplyInvalid(self._service, "a piece of the stream holds no choice")
        self._thoughts += [piece for name in _THOUGHTS if isinstance(piece := (delta or {}).get(name), str)]
        for into, part in ((self._text, "content"), (self._refusal, "refusal")):
            piece = (delta or {}).get(part)
            if isinstance(piece, str) and piece:
                if self._reason is not None:
                    raise ServiceReplyInvalid(self._service, "the stream goes on after its end")
                into.append(piece)
        self._reason = choice.get("finish_reason") or self._reason

    def body(self) -> object:
        """The body of the whole completion, as far as it has come."""
        message = {
            "content": "".join(self._text),
            "refusal": "".join(self._refusal),
            "reasoning": "".join(self._thoughts),
        }
        return {**self._more, "choices": [{"message": message, "finish_reason": self._reason}]}
