"""Web results as text for a prompt, and as previews for an operator (requirements 3-17 and 3-18)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import idna

from grounding.records import Evidence, Tier, WebResult

PREVIEW = 100
"""Characters of a snippet in its preview."""


@dataclass(frozen=True, slots=True)
class WebPreview:
    """Preview of a web result that became evidence, for an operator. `query`: what was sent, without personal data; `n`: its number as
    evidence.
    """

    n: int
    url: str
    site: str
    tier: Tier
    query: str
    snippet: str
    line: str


def web_text(results: Iterable[WebResult]) -> str:
    """`results` as one text, in the form of requirement 3-17."""
    return "\n".join(f"## web page: {r.url}\n# Content\n{r.snippet}" for r in results)


def web_previews(found: Sequence[WebResult], evidence: Iterable[Evidence]) -> tuple[WebPreview, ...]:
    """A preview of each piece of `evidence` that is one of the web results that were `found`, in the order of the evidence."""
    by_url = {r.url: r for r in reversed(found)}  # of a page that was found twice, the first
    used = (
        (item.n, by_url[url])
        for item in evidence
        if item.passage.origin == "web" and (url := item.passage.url) in by_url
    )
    return tuple(_preview(n, result) for n, result in used)


def _preview(n: int, result: WebResult) -> WebPreview:
    return WebPreview(
        n=n,
        url=result.url,
        site=site_of(result.url),
        tier=result.tier,
        query=result.query,
        snippet=f"{result.snippet[:PREVIEW]}....",
        line=f"Corrective step using data from :{result.url}",
    )


def site_of(url: str | None) -> str:
    """The host of an address in its ASCII form, in which no letter can pass for another; empty if it has none."""
    try:
        host = urlsplit(url or "").hostname or ""
        return host if host.isascii() else idna.encode(host, uts46=True).decode()
    except (ValueError, idna.IDNAError):
        return ""
