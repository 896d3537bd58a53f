"""Who may come in. The deployment decides it, not the peer: to a reverse proxy on this machine the whole world comes from 127.0.0.1.

In local mode everything is open to this machine, and to nothing else: a page of a foreign site can make a browser send
requests here (CSRF) or point its own name at 127.0.0.1 (DNS rebinding), so peer, Host and Origin must be this machine's,
and what a proxy passed on is refused. Outside it whoever asks brings a key, a signed link or a reviewer's session.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import Handler, Refused
from bot.http.forwarding import left_by_proxy, origins, peer_of
from bot.settings.groups.serving import LOOPBACK

OPEN = ("/healthz", "/readyz", "/static/", "/source/", "/evidence/", "/review/")
"""Outside local mode: what needs no key, because it tells nothing, or asks for a signed link or a reviewer's session itself."""
CHANNEL = "/api/messages"
REVIEW = "/review"
_READS = ("GET", "HEAD")

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


async def secure(_request: web.Request, response: web.StreamResponse) -> None:
    """Security headers on everything; nothing that a person asked for stays in a shared cache."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")


def _loopback_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def foreign(request: web.Request) -> str | None:
    """Why a request from this machine is still not to be trusted as local, or None."""
    hosts = request.headers.getall("Host", [])
    if len(hosts) != 1 or _host_name(hosts[0]) not in LOOPBACK:
        return f"Host must be one of {', '.join(sorted(LOOPBACK))}"
    for origin in request.headers.getall("Origin", []):
        if origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}"):
            return "Origin must be this server itself"
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and not _opened(request):
        return "a request from another site is not served"
    return None


def _opened(request: web.Request) -> bool:
    # a link that a person follows from elsewhere: it can show a page, but not read it nor act
    headers = request.headers
    return (
        request.method == "GET"
        and headers.get("Sec-Fetch-Mode") == "navigate"
        and headers.get("Sec-Fetch-Dest") == "document"
    )


def bearer_key(request: web.Request) -> int | None:
    """Index of the settings' key that the request bears, or None. Every key is compared, in constant time."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        return None
    found = None
    for index, key in enumerate(request.app[SYSTEM].settings.serving.api_keys):
        if hmac.compare_digest(key.get_secret_value().encode(), given.strip().encode("utf-8", "surrogateescape")):
            found = index
    return found


def caller(request: web.Request) -> str:
    """A name for the caller that rate limits go by. It carries no key and no address."""
    key = bearer_key(request)
    return "local" if key is None else f"key-{key}"


def require_local(request: web.Request) -> None:
    """Raises Refused (403) with the reason unless the request is this machine's own, and the server in local mode."""
    if not request.app[SYSTEM].settings.local_mode:
        raise Refused(
            403, "local_mode_only", "this exists in local mode alone; the start of the server says what ends it"
        )
    if not _loopback_address(peer_of(request)):
        raise Refused(403, "loopback_only", "in local mode this server serves the machine it runs on, and no other")
    trace = left_by_proxy(request)
    if trace is not None:
        raise Refused(
            403,
            "forwarded",
            f"{trace}: a proxy passed this on, which local mode refuses; set ATTEST_PUBLIC_URL to serve others",
        )
    reason = None if request.path == CHANNEL else foreign(request)  # the channel's door has a rule of its own
    if reason is not None:
        raise Refused(403, "foreign_request", reason)


def _require_key(request: web.Request) -> None:
    if bearer_key(request) is None:
        message = "this needs the header Authorization: Bearer KEY, with a key of ATTEST_API_KEYS"
        if not request.app[SYSTEM].settings.serving.api_keys:
            message += "; none is set, so nobody can use it"
        raise Refused(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})


def _require_own_form(request: web.Request) -> None:
    """A form of a reviewer is sent by a page of this server alone."""
    sent_by = request.headers.getall("Origin", [])
    own = origins(request, request.app[SYSTEM].settings)
    if any(origin.lower() not in own for origin in sent_by):
        message = "Origin is not this server; behind a proxy set ATTEST_PUBLIC_URL to the address that people see"
        raise Refused(403, "foreign_request", message)


def _require_right(request: web.Request) -> None:
    path = request.path
    if path.startswith("/api/") or path == "/metrics":
        if path != CHANNEL:
            _require_key(request)
    elif path != REVIEW and not path.startswith(OPEN):
        require_local(request)
    elif request.method not in _READS:
        _require_own_form(request)


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let a request through to its handler, or raise Refused. What is not named here exists in local mode alone."""
    if request.app[SYSTEM].settings.local_mode:
        require_local(request)
    else:
        _require_right(request)
    return await handler(request)
