"""What comes from the web, told apart from the company's own documents: in the same words on every surface."""

from __future__ import annotations

from collections.abc import Iterable

from grounding.evidence.web import site_of
from grounding.records import Tier

_KINDS: dict[Tier | None, str] = {"trusted": "trusted site", "unlisted": "unlisted site"}
_TRUST: dict[Tier | None, str] = {
    "trusted": " (on your list of trusted sites)",
    "unlisted": " (not on your list of trusted sites)",
}


def web_tag(tier: Tier | None) -> str:
    """A few words beside a source: where it is from, and whether its site is trusted. None: it was not recorded."""
    return f"web, {_KINDS[tier]}" if tier in _KINDS else "web"


def web_label(url: str | None, tier: Tier | None) -> str:
    """`web · example.com · unlisted site`, where there is room for the site."""
    return " · ".join(part for part in ("web", site_of(url), _KINDS.get(tier)) if part)


def web_place(url: str | None, tier: Tier | None) -> str:
    """`example.com (not on your list of trusted sites)`."""
    return (site_of(url) or "a page without an address") + _TRUST.get(tier, "")


def web_notice(cited: Iterable[tuple[int, str | None, Tier | None]]) -> str | None:
    """The line under an answer that rests on the web in part: numbers, sites and trust. None if `cited` is empty.

    `cited`: number, address and tier of each source that is a web page.
    """
    numbers: dict[str, list[int]] = {}
    for n, url, tier in cited:
        numbers.setdefault(web_place(url, tier), []).append(n)
    if not numbers:
        return None
    places = (f"{' '.join(f'[{n}]' for n in dict.fromkeys(ns))} {place}" for place, ns in numbers.items())
    return f"From the web, not from your knowledge base: {'; '.join(places)}"
