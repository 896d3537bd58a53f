"""Checks on an inbound request before any SDK sees it. Pure functions: bytes in, a checked activity or a `RefusedRequest` out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

from bot.settings.groups.serving import LOOPBACK
from bot.teams.ports import Json

MAX_BYTES = 1024**2
MAX_DEPTH = 64
MAX_ID = 512

# An id becomes part of the path that replies are posted to.
_BAD_ID = re.compile(r"[\x00-\x20\x7f/\\?#]|\.\.")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_URL_CHARS = re.compile(r"[!-\[\]-~]+")  # printable ASCII without the backslash, which parsers disagree on


class RefusedRequest(Exception):
    """The request is turned away with `status`; `reason` names the field or the rule, never its value."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def read_activity(raw: bytes, charset: str | None) -> Json:
    """The activity in a request body, its shape checked. Raises RefusedRequest(400)."""
    try:
        body = json.loads(raw.decode(charset or "utf-8"), parse_constant=_no_constant)
    except (ValueError, LookupError, RecursionError):
        raise RefusedRequest(400, "json") from None
    _check_depth_and_text(body)
    if not isinstance(body, dict):
        raise RefusedRequest(400, "json object")
    for name, test in _SHAPE.items():
        if not test(body.get(name)):
            raise RefusedRequest(400, name)
    body.setdefault("recipient", None)
    body["recipient"] = body["recipient"] or {"id": "bot"}  # offline Direct Line leaves it out
    return body


def check_service_url(url: str, hosts: Iterable[str], *, loopback: bool) -> None:
    """Refuse an address that replies must not go to.

    `hosts` are exact names, or suffixes with a leading dot. http is for loopback only, and only if `loopback`.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise RefusedRequest(400, "serviceUrl") from None
    if not _URL_CHARS.fullmatch(url) or parts.username is not None or parts.query or parts.fragment:
        raise RefusedRequest(400, "serviceUrl")
    if host in LOOPBACK:
        if loopback and parts.scheme in ("http", "https"):
            return
        raise RefusedRequest(400, "serviceUrl")
    if parts.scheme != "https" or not _HOST.fullmatch(host) or not _listed(host, hosts):
        raise RefusedRequest(400, "serviceUrl")


def check_tenant(activity: Json, tenants: Iterable[str]) -> None:
    """Refuse an activity whose tenant is not on the list; every place that names a tenant must agree."""
    named = [activity["conversation"].get("tenantId"), _tenant_of(activity.get("channelData"))]
    given = {str(tenant).lower() for tenant in named if tenant}
    if not given or not given <= {tenant.lower() for tenant in tenants}:
        raise RefusedRequest(403, "tenant")


def check_local_request(host: str | None, origin: str | None) -> None:
    """Refuse an anonymous request that a foreign web page could have sent to this machine (DNS rebinding)."""
    if not _is_local(f"http://{host or ''}") or (origin is not None and not _is_local(origin)):
        raise RefusedRequest(403, "host")


def _is_local(url: str) -> bool:
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def _listed(host: str, hosts: Iterable[str]) -> bool:
    return any(host.endswith(h.lower()) if h.startswith(".") else host == h.lower() for h in hosts)


def _tenant_of(channel_data: Any) -> Any:
    tenant = channel_data.get("tenant") if isinstance(channel_data, dict) else None
    return tenant.get("id") if isinstance(tenant, dict) else None


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and infinities are not JSON")


def _check_depth_and_text(body: Any) -> None:
    level = [body]
    for _ in range(MAX_DEPTH):
        for value in level:
            if isinstance(value, str) and not _storable(value):
                raise RefusedRequest(400, "text")
        level = [child for value in level for child in _children(value)]
        if not level:
            return
    raise RefusedRequest(400, "json depth")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def _id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and not _BAD_ID.search(value)


def _maybe(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 64


def _account(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    who = value.get("id")
    return isinstance(who, str) and 0 < len(who) <= MAX_ID and _maybe(_text)(value.get("aadObjectId"))


def _conversation(value: Any) -> bool:
    return isinstance(value, dict) and _id(value.get("id")) and _maybe(_text)(value.get("conversationType"))


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _time(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True


_SHAPE: dict[str, Callable[[Any], bool]] = {
    "type": _name,
    "channelId": _name,
    "serviceUrl": _text,
    "conversation": _conversation,
    "from": _account,
    "recipient": _maybe(_account),
    "id": _maybe(_id),
    "replyToId": _maybe(_text),
    "text": _maybe(_text),
    "name": _maybe(_text),
    "action": _maybe(_text),
    "locale": _maybe(_text),
    "deliveryMode": _maybe(_text),
    "timestamp": _maybe(_time),
    "localTimestamp": _maybe(_time),
    "channelData": _maybe(lambda value: isinstance(value, dict)),
    "entities": _maybe(_objects),
    "attachments": _maybe(_objects),
    "membersAdded": _maybe(_objects),
    "membersRemoved": _maybe(_objects),
}
