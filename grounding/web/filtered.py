"""A web search whose results are filtered again here, whatever the provider was asked for and whatever it returned."""

from __future__ import annotations

from dataclasses import replace

from grounding.ports import WebSearch
from grounding.records import WebResult
from grounding.web.sites import Sites

OVERFETCH = 10
"""Results asked of the provider before the lists are applied: one page of any provider, at no extra cost."""


class FilteredSearch:
    """WebSearch that admits results of admitted sites only, each address once, those of trusted sites first."""

    def __init__(self, inner: WebSearch, sites: Sites) -> None:
        self._inner = inner
        self._sites = sites

    @property
    def name(self) -> str:
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
