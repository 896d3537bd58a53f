"""What a reverse proxy leaves on a request: whether one passed it on, and what a listed one tells of the address that people see."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from aiohttp import HttpVersion11, web

from bot.settings.settings import Settings

NAMES = frozenset(
    {
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "client-ip",
        "true-client-ip",
        "cdn-loop",
        "x-scheme",
        "x-host",
        "x-cloud-trace-context",
        "x-proxyuser-ip",
        "forwarded-for",
        "proxy-client-ip",
    }
)
PREFIXES = (
    "x-forwarded",
    "x-original-",
    "x-envoy-",
    "x-arr-",
    "x-azure-",
    "x-amzn-",
    "x-amz-cf-",
    "x-appengine-",
    "x-vercel-",
    "x-nf-",
    "cf-",
    "fastly-",
    "fly-",
    "ngrok-",
    "tailscale-",
    "wl-proxy-",
)
"""Headers of proxies, load balancers, tunnels and CDNs, in lower case. No browser and no tool of this machine sends one."""


def left_by_proxy(request: web.BaseRequest) -> str | None:
    """What on `request` shows that a proxy passed it on, or None. A proxy that leaves no trace cannot be told from a person.

    HTTP/1.0 is such a trace: nginx up to 1.28 speaks it to what stands behind it unless told otherwise, and no browser does.
    """
    named = (name for name in request.headers if name.lower() in NAMES or name.lower().startswith(PREFIXES))
    return next(named, None) or ("HTTP/1.0" if request.version < HttpVersion11 else None)


def peer_of(request: web.BaseRequest) -> str:
    """The address that the connection itself comes from; empty where it has none."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    return str(peer[0]) if isinstance(peer, tuple) else ""


def origins(request: web.BaseRequest, settings: Settings) -> frozenset[str]:
    """The origins under which a browser may see this server: the public URL's, and what Host, or a listed proxy, tells."""
    scheme, host = told(request, settings)
    host = host or request.headers.get("Host", "")
    seen = [f"{s}://{host}" for s in ((scheme,) if scheme else ("http", "https")) if host]
    return frozenset(
        o.lower() for o in (*seen, *([_origin(settings.serving.public_url)] if settings.serving.public_url else []))
    )


def is_encrypted(request: web.BaseRequest, settings: Settings) -> bool:
    """True if people reach this server by https, as the public URL or a listed proxy says."""
    return told(request, settings)[0] == "https" or (settings.serving.public_url or "").lower().startswith("https://")


def told(request: web.BaseRequest, settings: Settings) -> tuple[str, str]:
    """Scheme and host as the nearest proxy forwarded them, empty where it did not. Nothing counts that comes from elsewhere than a listed proxy."""
    if not _listed(peer_of(request), settings):
        return "", ""
    standard = request.forwarded[-1] if request.forwarded else {}
    scheme = standard.get("proto") or _last(request, "X-Forwarded-Proto")
    return scheme.lower(), standard.get("host") or _last(request, "X-Forwarded-Host")


def _origin(url: str) -> str:
    """As a browser names it: without path, user and a port that goes without saying."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _listed(peer: str, settings: Settings) -> bool:
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in settings.serving.proxy_networks)


def _last(request: web.BaseRequest, name: str) -> str:
    """The value that the nearest proxy set: a header may come in several lines and hold several values, the nearest last."""
    values = request.headers.getall(name, [])
    return values[-1].rpartition(",")[2].strip() if values else ""
