"""Web search by DuckDuckGo's Instant Answer API: no key, and no search engine (requirement 3-16).

It knows what things are, from Wikipedia and the like, and answers nothing to a sentence: for simple queries only. Addresses of related
topics lead to DuckDuckGo's own pages, so a list of allowed sites has to name duckduckgo.com for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from grounding.errors import ServiceReplyInvalid
from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.json_client import JsonClient
from grounding.web.replies import objects
from grounding.web.results import first_of_each, shortened, web_result

ADDRESS = "https://api.duckduckgo.com/"
MAX_QUERY = 500
MAX_DEPTH = 3
"""Topics inside topics: the service nests them once."""
_LINKED = re.compile(r">\s*([^<>]{2,200})<")
_PARTS = frozenset({"AbstractText", "Results", "RelatedTopics"})


class DuckDuckGo:
    """WebSearch over DuckDuckGo's instant answers. `address` is for a server of one's own."""

    def __init__(self, remote: Remote, *, address: str = ADDRESS) -> None:
        self._client = JsonClient(address, remote, setting="ATTEST_WEB", example=ADDRESS)

    @property
    def name(self) -> str:
        """Name of the service: "duckduckgo"."""
        return "duckduckgo"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each address once: the abstract, official sites, then related topics. Raises ServiceError."""
        asked = shortened(query.replace("!", " "), MAX_QUERY)  # "!g" asks to be sent to another engine
        if k <= 0 or not asked:
            return ()
        params: dict[str, str | int] = {"q": asked, "format": "json", "no_html": 1, "skip_disambig": 1}
        return first_of_each(await self._client.get(params, read_reply), k)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def read_reply(service: str, data: dict[str, Any]) -> Iterator[WebResult]:
    """Web results from a reply: abstract, results and topics. Raises ServiceReplyInvalid."""
    if not data.keys() & _PARTS:
        raise ServiceReplyInvalid(service, "the reply holds no results")
    yield from web_result(data.get("Heading"), data.get("AbstractURL"), data.get("AbstractText"))
    for topic in chain(objects(data.get("Results")), _topics(data.get("RelatedTopics"), MAX_DEPTH)):
        yield from web_result(_title(topic), topic.get("FirstURL"), topic.get("Text"))


def _topics(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Topics, and those of groups of topics, in their order."""
    for item in objects(value):
        if depth and "Topics" in item:
            yield from _topics(item["Topics"], depth - 1)
        else:
            yield item


def _title(topic: dict[str, Any]) -> str | None:
    """The words of the topic's link: it has no title of its own."""
    linked = topic.get("Result")
    match = _LINKED.search(linked[:2000]) if isinstance(linked, str) else None
    return match[1] if match else None
