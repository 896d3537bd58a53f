"""Web search by the API of Bing Web Search v7, which Microsoft retired on 2025-08-11 (requirement 3-16).

Kept for services and gateways that still speak it. There is no address to fall back to, so one must be given.
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

MAX_RESULTS = 50
MAX_QUERY = 1500
"""Characters that the interface takes."""
EXAMPLE = "https://search.example.com/v7.0/search"


class BingSearch:
    """WebSearch over a Bing v7 endpoint, its path included. Raises SettingsError for a key or address that cannot be used."""

    def __init__(self, endpoint: str, api_key: str, remote: Remote) -> None:
        key = HeaderKey("Ocp-Apim-Subscription-Key", api_key, "ATTEST_BING_KEY")
        self._client = JsonClient(endpoint, remote, setting="ATTEST_BING_ENDPOINT", example=EXAMPLE, key=key)

    @property
    def name(self) -> str:
        """Name of the service: "bing"."""
        return "bing"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each address once. Raises ServiceError."""
        asked = shortened(query, MAX_QUERY)
        if k <= 0 or not asked:
            return ()
        params: dict[str, str | int] = {
            "q": asked,
            "count": min(k, MAX_RESULTS),
            "responseFilter": "Webpages",
            "textDecorations": "false",
            "textFormat": "Raw",
        }
        return first_of_each(await self._client.get(params, read_reply), k)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def read_reply(service: str, data: dict[str, Any]) -> Iterable[WebResult]:
    """Web results from a reply; one without any has no `webPages`. Raises ServiceReplyInvalid."""
    pages = data.get("webPages")
    if pages is None and (data.get("_type") == "SearchResponse" or "queryContext" in data or "rankingResponse" in data):
        return ()
    if not isinstance(pages, dict) or not isinstance(pages.get("value"), list):
        raise ServiceReplyInvalid(service, "the reply holds no results")
    return (
        result
        for item in objects(pages["value"])
        for result in web_result(item.get("name"), item.get("url"), item.get("snippet"), item.get("datePublished"))
    )
