"""Chat model over the Responses API: OpenAI, Azure OpenAI's `/openai/v1/`, and newer local servers.

Each call stands alone and the service is told to keep nothing of it (`store` false). A reply is complete only with status "completed"; a
stream of one only with the event `response.completed`, which carries the whole of it once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grounding.azure.openai.faults import reported
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

LEAST_TOKENS = 16
"""The service refuses a smaller `max_output_tokens`."""
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_INCOMPLETE: dict[object, Ending] = {"max_output_tokens": "length", "content_filter": "filtered"}


class OpenAIResponses(OpenAIModel):
    """ChatModel over `POST /responses`."""

    path = "/responses"

    def _request(self, asked: ChatRequest) -> dict[str, Any]:
        sent: dict[str, Any] = {
            "model": self._model,
            "instructions": asked.system,
            "input": asked.user,
            "max_output_tokens": max(asked.cap, LEAST_TOKENS),
            "store": False,
        }
        if self._temperature is not None:
            sent["temperature"] = self._temperature
        if self._effort is not None:
            sent["reasoning"] = {"effort": self._effort}
        if asked.schema is not None and self._schemas:
            form = {"type": "json_schema", "name": asked.purpose, "schema": asked.schema, "strict": True}
            sent["text"] = {"format": form}
        if self._stream:
            sent["stream"] = True
        return sent

    def _gathering(self) -> Gathering:
        return _Events(self._remote.service)

    def _read(self, body: object) -> ChatReply:
        if not isinstance(body, dict):
            raise self._invalid("the reply is not an object")
        status = body.get("status")
        if status == "failed":
            raise reported(self._remote.service, body.get("error"))
        parts = list(_parts(body.get("output")))
        ending = _ending(status, body.get("incomplete_details"))
        if ending is None:
            raise self._invalid("the reply does not say that it is complete")
        if ending != "filtered" and any(part.get("type") == "refusal" for part in parts):
            ending = "refused"
        texts = [part.get("text") for part in parts if part.get("type") == "output_text"]
        usage = counted(body.get("usage"), "input_tokens", "output_tokens")
        text = "".join(text for text in texts if isinstance(text, str))
        told = thought(body.get("usage"), "output_tokens")
        mused = shows_thoughts(text) or (ending == "length" and not text.strip() and told is None)
        return ChatReply(text, ending, text_or_none(body.get("model")), usage, told, mused)


def _ending(status: object, details: object) -> Ending | None:
    if status == "completed":
        return "complete"
    reason = details.get("reason") if status == "incomplete" and isinstance(details, dict) else None
    return _INCOMPLETE.get(reason) if isinstance(reason, str) else None


def _parts(output: object) -> Iterator[dict[str, Any]]:
    """Content parts of the output messages that are the answer: neither reasoning nor commentary on the way to it."""
    for item in output if isinstance(output, list) else ():
        if not isinstance(item, dict) or item.get("type") != "message" or item.get("phase") == "commentary":
            continue
        content = item.get("content")
        yield from (part for part in (content if isinstance(content, list) else ()) if isinstance(part, dict))


class _Events:
    """Collects the events of a streamed response, of which only the last counts."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._last: object = {}

    def take(self, event: dict[str, Any]) -> bool:
        """Take one event; True if it is the last. Raises the error that it reports."""
        if event.get("type") == "error" or event.get("error"):
            raise reported(self._service, event.get("error") or event)
        if event.get("type") not in _LAST:
            return False
        self._last = event.get("response")
        return True

    def body(self) -> object:
        """The response of the last event; an empty one if none came."""
        return self._last
