"""Web search by Tavily: `POST /search` (requirement 2-15).

The key goes in the header alone. A key in the body, the older form, is still accepted there, wins over the header, and users
report that the lists of domains are then not heeded. The lists are applied again by `FilteredSearch` in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grounding.errors import ServiceReplyInvalid
from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.json_client import HeaderKey, JsonClient
from grounding.web.replies import objects
from grounding.web.results import first_of_each, shortened, web_result
from grounding.web.sites import Sites

BASE_URL = "https://api.tavily.com"
MAX_RESULTS = 20
MAX_QUERY = 400
"""Characters; the service refuses a longer query."""
MAX_INCLUDED = 300
MAX_EXCLUDED = 150


class TavilySearch:
    """WebSearch over Tavily with search depth "basic". Raises SettingsError for a key or address that cannot be used."""

    def __init__(
        self, api_key: str, remote: Remote, *, sites: Sites | None = None, base_url: str | None = None
    ) -> None:
        self._domains = _domains(sites) if sites else {}
        self._client = JsonClient(
            f"{(base_url or BASE_URL).rstrip('/')}/search",
            remote,
            setting="ATTEST_TAVILY_BASE_URL",
            example=BASE_URL,
            key=HeaderKey("Authorization", api_key, "ATTEST_TAVILY_KEY", scheme="Bearer"),
        )

    @property
    def name(self) -> str:
        """Name of the service: "tavily"."""
        return "tavily"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each address once. Raises ServiceError."""
        asked = shortened(query, MAX_QUERY)
        if k <= 0 or not asked:
            return ()
        body = {
            "query": asked,
            "max_results": min(k, MAX_RESULTS),
            "search_depth": "basic",
            "topic": "general",
            "include_answer": False,
            "include_raw_content": False,
            "include_images": False,
            **self._domains,
        }
        return first_of_each(await self._client.post(body, read_reply), k)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def read_reply(service: str, data: dict[str, Any]) -> Iterable[WebResult]:
    """Web results from a reply. Raises ServiceReplyInvalid."""
    if not isinstance(data.get("results"), list):
        raise ServiceReplyInvalid(service, "the reply holds no results")
    return (
        result
        for item in objects(data["results"])
        for result in web_result(item.get("title"), item.get("url"), item.get("content"), item.get("published_date"))
    )


def _domains(sites: Sites) -> dict[str, list[str]]:
    """The allow and deny lists as request fields, as far as the service can take them; a top-level domain is no domain to it."""
    included = list(sites.allow) if all("." in host for host in sites.allow) else []
    excluded = [host for host in sites.deny if "." in host]
    return {
        **({"include_domains": included} if 0 < len(included) <= MAX_INCLUDED else {}),
        **({"exclude_domains": excluded} if 0 < len(excluded) <= MAX_EXCLUDED else {}),
    }
