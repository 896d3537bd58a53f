"""What comes from the web, told apart from the company's own documents: in the same words on every surface, in the language of the question."""

from __future__ import annotations

from collections.abc import Iterable

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from grounding.evidence.web import site_of
from grounding.records import Tier

_TRUST: dict[Tier | None, str] = {"trusted": "on_list", "unlisted": "off_list"}
"""The words that say whether a site is trusted. None: it was not recorded."""


def web_tag(tier: Tier | None, language: str = FALLBACK) -> str:
    """A few words beside a source: where it is from, and whether its site is trusted."""
    w = EvidenceWords(language)
    return ", ".join([w("web"), *_kind(tier, w)])


def web_label(url: str | None, tier: Tier | None, language: str = FALLBACK) -> str:
    """`web · example.com · unlisted site`, where there is room for the site."""
    w = EvidenceWords(language)
    return " · ".join(part for part in (w("web"), site_of(url), *_kind(tier, w)) if part)


def web_place(url: str | None, tier: Tier | None, language: str = FALLBACK) -> str:
    """`example.com (not on your list of trusted sites)`."""
    w = EvidenceWords(language)
    return (site_of(url) or w("no_address")) + (f" ({w(_TRUST[tier])})" if tier in _TRUST else "")


def web_notice(cited: Iterable[tuple[int, str | None, Tier | None]], language: str = FALLBACK) -> str | None:
    """The line under an answer that rests on the web in part: numbers, sites and trust. None if `cited` is empty.

    `cited`: number, address and tier of each source that is a web page.
    """
    numbers: dict[str, list[int]] = {}
    for n, url, tier in cited:
        numbers.setdefault(web_place(url, tier, language), []).append(n)
    if not numbers:
        return None
    places = (f"{' '.join(f'[{n}]' for n in dict.fromkeys(ns))} {place}" for place, ns in numbers.items())
    return f"{EvidenceWords(language)('from_web')}: {'; '.join(places)}"


def _kind(tier: Tier | None, w: EvidenceWords) -> list[str]:
    return [w(tier)] if tier and tier in _TRUST else []
