"""Checks of search services' replies: size, status, JSON. No word of a reply enters a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grounding.errors import AttestError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.services.remote import Overloaded, Throttled, retry_after

MAX_BYTES = 2 * 2**20
"""Bytes of a reply that are read; a full page of results is 10 to 200 KB."""
_SPENT = frozenset({402, 432, 433})
"""432 and 433 are Tavily's for a plan, or a budget, that is used up."""
_REFUSALS = {
    401: "the key was refused",
    403: "the key may not do this, or its quota is used up",
    404: "nothing answers at that address",
    405: "nothing answers at that address",
    410: "the service was switched off",
}


def json_object(service: str, body: bytes) -> dict[str, Any]:
    """`body` as a JSON object. Raises ServiceReplyInvalid for all else: a page of HTML, a list, JSON that was cut."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ServiceReplyInvalid(service, "a web page came back, or JSON that was cut")
    return data


def too_long(service: str) -> ServiceReplyInvalid:
    """The error for a reply above MAX_BYTES."""
    return ServiceReplyInvalid(service, f"the reply is longer than {MAX_BYTES // 2**20} MB")


def status_fault(service: str, status: int, asked: str | None) -> AttestError:
    """The error of ours for a status that is no success. `asked`: the reply's Retry-After."""
    where, seconds = f" (status {status})", retry_after(asked)
    if status == 429:
        return Throttled(service, f"too many requests{where}", retry_after=seconds or 0.0)
    if status == 408 or status >= 500:
        if seconds is not None:
            return Overloaded(service, f"cannot serve now{where}", retry_after=seconds)
        return ServiceUnavailable(service, f"failed{where}")
    if status in _SPENT:
        return ServiceRejected(service, f"the searches of this key are used up{where}")
    if status < 400:
        return ServiceRejected(service, f"the address redirects elsewhere{where}")
    return ServiceRejected(service, f"{_REFUSALS.get(status, 'the request was refused')}{where}")


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in `value` if it is a list; nothing of anything else."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
