"""Allow and deny lists of web sites by host name, read the way a browser reads an address, and a web search that keeps to them.

A list is worth nothing if an address can look like one host to the list and like another to the browser that opens it. So hosts are
compared in their ASCII form (UTS 46, as in the WHATWG URL standard), and an address that the two could read differently (backslash, control
or invisible character, user information, escaped host, unusual port) is never admitted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

import idna

from grounding.errors import SettingsError
from grounding.ports import WebSearch
from grounding.records import Tier, WebResult

MAX_URL = 2048
OVERFETCH = 10
"""Results asked of the provider before the lists are applied: one page of any provider, at no extra cost."""
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ufeff]")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
_PORTS = frozenset({None, 80, 443})


class Sites:
    """Allow and deny list of hosts, each with its subdomains. Deny wins; an empty allow list admits all but the denied.

    `trusted` hosts are so besides those of the allow list, and shut nobody out. `example.com`, `.example.com` and `*.example.com` say the
    same. Raises SettingsError for an entry that is not a host name.
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = (), trusted: Iterable[str] = ()) -> None:
        allowed = tuple(_entry(host, "ATTEST_WEB_ALLOW") for host in allow)
        self.deny = tuple(_entry(host, "ATTEST_WEB_DENY") for host in deny)
        self.trusted = (*allowed, *(_entry(host, "ATTEST_WEB_TRUSTED") for host in trusted))
        self.allow = self.trusted if allowed else ()

    def tier(self, url: str) -> Tier:
        """Trust in the site of `url`: "trusted" is on a list of ours, "unlisted" on none, "denied" may not be used."""
        host = host_of(url)
        if host is None or _within(host, self.deny):
            return "denied"
        if _within(host, self.trusted):
            return "trusted"
        return "denied" if self.allow else "unlisted"

    def admits(self, url: str) -> bool:
        """True if a result from `url` may be used."""
        return self.tier(url) != "denied"


class FilteredSearch:
    """WebSearch that filters the results of another by `sites`, whatever the provider was asked for and whatever it returned.

    Results of admitted sites only, each address once, those of trusted sites first.
    """

    def __init__(self, inner: WebSearch, sites: Sites) -> None:
        self._inner = inner
        self._sites = sites

    @property
    def name(self) -> str:
        """Name of the service behind the filter."""
        return self._inner.name

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each with its site's tier and with `query`. Raises ServiceError."""
        if k <= 0:
            return ()
        admitted: dict[str, WebResult] = {}
        for result in await self._inner.search(query, max(k, OVERFETCH)):
            tier = self._sites.tier(result.url)
            if tier != "denied":
                admitted.setdefault(result.url, replace(result, tier=tier, query=query))
        return tuple(sorted(admitted.values(), key=lambda r: r.tier != "trusted"))[:k]


def host_of(url: str) -> str | None:
    """Host of an http or https address: lower case, ASCII form, no trailing dot. None for anything else.

    Numeric addresses and names without a dot (a machine of the local network) are no sites.
    """
    if len(url) > MAX_URL or _AMBIGUOUS.search(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or port not in _PORTS:
        return None
    host = parts.netloc.rpartition(":")[0] if ":" in parts.netloc else parts.netloc
    return _ascii_host(host)  # user information stays in it, and "@" is in no label


def _ascii_host(host: str) -> str | None:
    if any(unicodedata.category(c) == "Cf" for c in host):
        return None
    try:
        ascii_host = host.lower() if host.isascii() else idna.encode(host, uts46=True, transitional=False).decode()
    except (idna.IDNAError, UnicodeError):
        return None
    labels = ascii_host.removesuffix(".").split(".")
    if len(ascii_host) > 254 or len(labels) < 2 or _NUMERIC.fullmatch(labels[-1]):
        return None
    return ".".join(labels) if all(_LABEL.fullmatch(label) for label in labels) else None


def _within(host: str, listed: tuple[str, ...]) -> bool:
    return any(host == entry or host.endswith(f".{entry}") for entry in listed)


def _entry(text: str, setting: str) -> str:
    name = text.strip().removeprefix("*").removeprefix(".")
    # A top-level domain is a fair entry ("gov"), though it is no host.
    host = _ascii_host(f"x.{name}")
    if host is None:
        raise SettingsError(
            f"{setting}: {text!r} is not a host name; allowed: such as example.com, without path or port"
        )
    return host.removeprefix("x.")
