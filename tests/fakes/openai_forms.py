"""Bodies, streams and rules of chat.completions and of the Responses API, after the published contracts of OpenAI and Azure OpenAI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Ending = Literal["stop", "length", "content_filter", "refusal"]
_PIECE = 7
_CAPS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


@dataclass(frozen=True, slots=True)
class Reasoner:
    """A model of the GPT-5 class, as its service refuses and counts: it thinks `thinks` tokens of the cap before it writes the first word.

    `efforts`: the words for effort that it takes; `temperature`: whether it takes another than 1; `details`: whether the thinking is told apart.
    """

    thinks: int = 1200
    efforts: tuple[str, ...] = ("minimal", "low", "medium", "high")
    temperature: bool = False
    details: bool = True
    most: int = 128_000

    def refusal(self, path: str, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        """The error for what it does not take, or None."""
        responses = path.endswith("/responses")
        effort = (asked.get("reasoning") or {}).get("effort") if responses else asked.get("reasoning_effort")
        cap = next((asked[name] for name in _CAPS if name in asked), 0)
        if "max_tokens" in asked:
            words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return _unsupported("parameter", "max_tokens", words)
        if not self.temperature and asked.get("temperature", 1) != 1:
            words = f"Unsupported value: 'temperature' does not support {asked['temperature']:g} with this model. Only the default (1) value is supported."
            return _unsupported("value", "temperature", words)
        if effort is not None and effort not in self.efforts:
            named = ", ".join(f"'{word}'" for word in self.efforts)
            param = "reasoning.effort" if responses else "reasoning_effort"
            words = f"Unsupported value: '{param}' does not support '{effort}' with this model. Supported values are: {named}."
            return _unsupported("value", param, words)
        if cap > self.most:
            words = f"max_tokens is too large: {cap}. This model supports at most {self.most} completion tokens, whereas you provided {cap}."
            return {"message": words, "type": "invalid_request_error", "param": "max_tokens", "code": "invalid_value"}
        return None

    def made(self, asked: Mapping[str, Any], text: str) -> tuple[str, bool, int, int]:
        """What is left of `text` under the cap, whether all of it is, and the tokens thought and written."""
        cap = next((asked[name] for name in _CAPS if name in asked), self.most)
        thought = min(self.thinks, cap)
        written = min(tokens_of(text), cap - thought)
        whole = thought == self.thinks and written == tokens_of(text)
        return (text if whole else text[: 4 * written]), whole, thought, written


def _unsupported(kind: str, param: str, words: str) -> dict[str, Any]:
    return {"message": words, "type": "invalid_request_error", "param": param, "code": f"unsupported_{kind}"}


def tokens_of(text: str) -> int:
    """Tokens of a text, roughly."""
    return -(-len(text) // 4)


def usage_of(path: str, prompt: int, thought: int, written: int, *, details: bool = True) -> dict[str, Any]:
    """Usage in the names of the interface: thinking is a part of what was written."""
    asked, wrote = ("input", "output") if path.endswith("/responses") else ("prompt", "completion")
    told = {f"{asked}_tokens": prompt, f"{wrote}_tokens": thought + written, "total_tokens": prompt + thought + written}
    return told | ({f"{wrote}_tokens_details": {"reasoning_tokens": thought}} if details else {})


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


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


def response(
    text: str, *, status: str = "completed", kind: str = "output_text", reason: str | None = None, error: Any = None
) -> dict[str, Any]:
    """The body of a response with one message, after some reasoning."""
    part = (
        {"type": "refusal", "refusal": text} if kind == "refusal" else {"type": kind, "text": text, "annotations": []}
    )
    message = {"id": "msg-1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "resp-1",
        "object": "response",
        "created_at": 1_760_000_000,
        "status": status,
        "error": error,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": "loopback-1",
        "output": [
            {"id": "rs-1", "type": "reasoning", "summary": []},
            *([message] if text or status == "completed" else []),
        ],
        "usage": {
            "input_tokens": 11,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 18,
        },
    }


def body(path: str, text: str, ending: Ending) -> dict[str, Any]:
    """A whole reply of the interface at `path`."""
    if not path.endswith("/responses"):
        if ending == "refusal":
            return completion(None, refusal=text)
        return completion(text, finish=ending)
    if ending in ("stop", "refusal"):
        return response(text, kind="refusal" if ending == "refusal" else "output_text")
    return response(text, status="incomplete", reason="max_output_tokens" if ending == "length" else ending)


def events(
    path: str, text: str, ending: Ending, asked: Mapping[str, Any], usage: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The same reply as the events of a stream."""
    if path.endswith("/responses"):
        whole = body(path, text, ending)
        return list(_response_events({**whole, "usage": usage or whole["usage"]}))
    told = bool((asked.get("stream_options") or {}).get("include_usage"))
    return list(_chunks(text, ending, usage=(usage or completion(None)["usage"]) if told else None))


def sse(*sent: Mapping[str, Any] | str, ends: str = "\n") -> bytes:
    """Events on the wire; a text is sent as it is. Those of the Responses API have their type on a line of its own."""
    out = []
    for event in sent:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        name = [f"event: {event['type']}"] if isinstance(event, Mapping) and "type" in event else []
        out += [*name, f"data: {data}", ""]
    return "".join(f"{line}{ends}" for line in out).encode()


def wrong(path: str, asked: Mapping[str, Any]) -> tuple[str, str] | None:
    """Parameter and words of what the service refuses in a request, or None."""
    if path.endswith("/responses"):
        form, param = (asked.get("text") or {}).get("format"), "text.format.schema"
        known = {
            "model",
            "instructions",
            "input",
            "max_output_tokens",
            "store",
            "temperature",
            "text",
            "stream",
            "reasoning",
        }
        if asked.get("max_output_tokens", 16) < 16:
            return "max_output_tokens", "Invalid 'max_output_tokens': expected a value >= 16."
    else:
        given = asked.get("response_format")
        form, param = (given["json_schema"] if given else None), "response_format"
        known = {
            "model",
            "messages",
            "max_tokens",
            "max_completion_tokens",
            "temperature",
            "response_format",
            "stream",
            "stream_options",
            "reasoning_effort",
        }
        if "stream_options" in asked and not asked.get("stream"):
            return "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    if unknown := sorted(asked.keys() - known):
        return unknown[0], f"Unknown parameter: '{unknown[0]}'."
    if form is not None and not (form["strict"] and _NAME.fullmatch(form["name"]) and is_strict(form["schema"])):
        return param, "Invalid schema."
    return None


def is_strict(schema: Any) -> bool:
    """As strict mode wants it: objects are closed, and all their fields required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    closed = schema.get("additionalProperties") is False and schema.get("required") == list(
        schema.get("properties", {})
    )
    return (schema.get("type") != "object" or closed) and all(map(is_strict, schema.values()))


def _chunks(text: str, ending: Ending, *, usage: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Azure's first chunk has no choices; the usage comes in one of its own, after the finish reason."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "loopback-1"}
    yield {**head, "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        told = {"usage": None} if usage else {}
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **told}

    field = "refusal" if ending == "refusal" else "content"
    yield chunk({"role": "assistant", field: ""})
    yield from (chunk({field: text[at : at + _PIECE]}) for at in range(0, len(text), _PIECE))
    yield chunk({}, "stop" if ending == "refusal" else ending)
    if usage:
        yield {**head, "choices": [], "usage": usage}


def _response_events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    made: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *_message_events(whole["output"]),
        {"type": f"response.{whole['status']}", "response": whole},
    ]
    for number, event in enumerate(made):
        yield {**event, "sequence_number": number}


def _message_events(output: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those of the message, if the model came so far as to write one."""
    message = output[-1]
    if message["type"] != "message":
        yield {"type": "response.output_item.done", "output_index": 0, "item": message}
        return
    part = message["content"][0]
    kind = "refusal" if part["type"] == "refusal" else "output_text"
    text = part["refusal" if kind == "refusal" else "text"]
    at = {"item_id": message["id"], "output_index": 1, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": 1, "item": {**message, "content": []}}
    yield {"type": "response.content_part.added", **at, "part": {**part, part["type"].removeprefix("output_"): ""}}
    for n in range(0, len(text), _PIECE):
        yield {"type": f"response.{kind}.delta", **at, "delta": text[n : n + _PIECE]}
    yield {"type": f"response.{kind}.done", **at, part["type"].removeprefix("output_"): text}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 1, "item": message}
