"""Who may come in: the machine itself by loopback, everyone else with a bearer key, pages from this machine only.

Loopback is more than the peer's address. A page of a foreign site can make a browser on this machine send
requests here (CSRF), or point its own name at 127.0.0.1 (DNS rebinding), and a reverse proxy on this machine
makes the whole world look local. So a request counts as local only if its peer is a loopback address, no
proxy forwarded it, its Host is a loopback name, and it comes from this very site or from no site at all.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

from bot.http.errors import Handler, Refused
from bot.http.keys import SYSTEM
from bot.setting_groups import LOOPBACK

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
OPEN = ("/healthz", "/readyz", "/static/", "/source/")
CHANNEL = "/api/messages"

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


def from_this_machine(request: web.Request) -> bool:
    """True if the connection itself comes from this machine and nobody forwarded it."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    local = isinstance(peer, tuple) and _loopback_address(str(peer[0]))
    return local and not any(name in request.headers for name in FORWARDED)


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


def is_local(request: web.Request) -> bool:
    """True if the request is this machine's own, in the sense of this module."""
    return from_this_machine(request) and foreign(request) is None


def bearer_key(request: web.Request) -> int | None:
    """Index of the settings' key that the request bears, or None. Every key is compared, in constant time."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        return None
    found = None
    for index, key in enumerate(request.app[SYSTEM].settings.api_keys):
        if hmac.compare_digest(key.get_secret_value().encode(), given.strip().encode("utf-8", "surrogateescape")):
            found = index
    return found


def caller(request: web.Request) -> str:
    """A name for the caller that rate limits go by. It carries no key and no address."""
    key = bearer_key(request)
    return "local" if key is None else f"key-{key}"


def require_local(request: web.Request) -> None:
    """Raises Refused (403) with the reason unless the request is this machine's own."""
    if not from_this_machine(request):
        raise Refused(403, "loopback_only", "this page is served to the machine it runs on, and to no other")
    reason = foreign(request)
    if reason is not None:
        raise Refused(403, "foreign_request", reason)


def _require_caller(request: web.Request) -> None:
    if bearer_key(request) is not None:
        return
    if from_this_machine(request):
        require_local(request)
        return
    message = "off loopback this needs the header Authorization: Bearer KEY, with a key of ATTEST_API_KEYS"
    raise Refused(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let a request through to its handler, or raise Refused. What is not named here is for this machine only."""
    path = request.path
    if path == CHANNEL or path.startswith(OPEN):
        return await handler(request)
    if path.startswith("/api/") or path == "/metrics":
        _require_caller(request)
    else:
        require_local(request)
    return await handler(request)
