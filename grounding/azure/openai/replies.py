"""Parsing that all replies of an OpenAI-compatible server share: the JSON body and its token counts."""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from grounding.errors import ServiceReplyInvalid


def parsed(service: str, body: str | bytes) -> object:
    """`body` as JSON. Raises ServiceReplyInvalid, with a hint at the base URL where a web page came instead."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        page = body.lstrip()[:1] == ("<" if isinstance(body, str) else b"<")
        hint = "a web page came back; does the base URL end in /v1?" if page else "the reply is not JSON, or was cut"
        raise ServiceReplyInvalid(service, hint) from None


def counted(usage: object, asked: str, written: str) -> dict[str, int]:
    """Token counts of `usage` under the names of chat.completions, as far as the server gives them. `asked`, `written`: its names of prompt
    and reply tokens.
    """
    if not isinstance(usage, dict):
        return {}
    counts = {
        "prompt_tokens": usage.get(asked),
        "completion_tokens": usage.get(written),
        "cached_tokens": _detail(usage, asked, "cached_tokens"),
        "reasoning_tokens": thought(usage, written) or None,
    }
    return {name: count for name, count in counts.items() if _is_count(count)}


def thought(usage: object, written: str) -> int | None:
    """Number of reasoning tokens, a part of those written; None if the server does not tell."""
    found = _detail(usage, written, "reasoning_tokens")
    return found if _is_count(found) else None


def _detail(usage: object, name: str, part: str) -> Any:
    details = usage.get(f"{name}_details") if isinstance(usage, dict) else None
    return details.get(part) if isinstance(details, dict) else None


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0
