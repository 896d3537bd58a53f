"""DuckDuckGo's instant answers: abstract, official sites, topics, and topics inside topics."""

from __future__ import annotations

from typing import Any

import pytest

from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.duckduckgo import DuckDuckGo
from tests.fakes.search_servers import DuckDuckGoServer


async def search(server: DuckDuckGoServer, query: str = "flat white", k: int = 10) -> tuple[WebResult, ...]:
    provider = DuckDuckGo(Remote("duckduckgo", retries=0), address=f"{server.root}/")
    try:
        return await provider.search(query, k)
    finally:
        await provider.aclose()


@pytest.mark.row("3-16")
async def test_the_abstract_comes_first_then_sites_then_topics_in_order() -> None:
    async with DuckDuckGoServer() as server:
        found = await search(server)
    assert [(r.title, r.url) for r in found] == [
        ("Flat white", "https://en.wikipedia.org/wiki/Flat_white"),
        ("Official site", "https://coffee.example.com/"),
        *((f"Page {n}", f"https://duckduckgo.com/page_{n}") for n in (1, 2, 3, 4)),
    ]
    assert found[0].snippet == "A flat white is a coffee drink."
    assert server.bodies == [("/", {"q": "flat white", "format": "json", "no_html": "1", "skip_disambig": "1"})]


async def test_a_query_asks_for_no_other_engine() -> None:
    """DuckDuckGo answers "!g" with a redirect to Google."""
    async with DuckDuckGoServer() as server:
        await search(server, "!g flat white!")
        assert await search(server, "!") == ()
    assert [body["q"] for _, body in server.bodies] == ["g flat white"]


async def test_nothing_known_is_nothing_found() -> None:
    async with DuckDuckGoServer(fields={"Answer": "42", "AnswerType": "calc"}) as server:
        assert await search(server) == ()


def _nested(depth: int) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = [DuckDuckGoServer.topic(1)]
    for _ in range(depth):
        topics = [{"Name": "group", "Topics": topics}]
    return topics


@pytest.mark.parametrize(("depth", "found"), [(0, 1), (1, 1), (3, 1), (4, 0), (200, 0)])
async def test_groups_of_topics_are_read_to_a_bound(depth: int, found: int) -> None:
    async with DuckDuckGoServer(fields={"RelatedTopics": _nested(depth)}) as server:
        assert len(await search(server)) == found
