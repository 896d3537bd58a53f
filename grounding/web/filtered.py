"""A web search whose results are filtered again here, whatever the provider was asked for and whatever it returned."""

from __future__ import annotations

from grounding.ports import WebSearch
from grounding.records import WebResult
from grounding.web.sites import Sites

OVERFETCH = 10
"""Results asked of the provider before the lists are applied: one page of any provider, at no extra cost."""


class FilteredSearch:
    """WebSearch that admits results of admitted sites only, each address once."""

    def __init__(self, inner: WebSearch, sites: Sites) -> None:
        self._inner = inner
        self._sites = sites

    @property
    def name(self) -> str:
        return self._inner.name

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results. Raises ServiceError."""
        if k <= 0:
            return ()
        admitted: dict[str, WebResult] = {}
        for result in await self._inner.search(query, max(k, OVERFETCH)):
            if self._sites.admits(result.url):
                admitted.setdefault(result.url, result)
        return tuple(admitted.values())[:k]
