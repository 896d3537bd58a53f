"""Tavily: what is asked, where the key goes, and how its fields become results."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grounding.errors import SettingsError
from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.sites import Sites
from grounding.web.tavily_search import TavilySearch
from tests.fakes.search_servers import KEY, TavilyServer


async def search(
    server: TavilyServer, query: str = "flat white", k: int = 3, sites: Sites | None = None
) -> tuple[WebResult, ...]:
    provider = TavilySearch(KEY, Remote("tavily", retries=0), sites=sites, base_url=server.root + "/")
    try:
        return await provider.search(query, k)
    finally:
        await provider.aclose()


@pytest.mark.row("2-15")
async def test_three_results_are_asked_for_with_the_key_in_the_header_alone() -> None:
    async with TavilyServer() as server:
        assert len(await search(server)) == 3
    ((path, body),) = server.bodies
    assert path == "/search"
    assert body["query"] == "flat white"
    assert body["max_results"] == 3
    assert (body["include_answer"], body["include_raw_content"], body["include_images"]) == (False, False, False)
    assert "include_domains" not in body
    assert KEY not in str(body)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_fields_become_a_result() -> None:
    item = TavilyServer.item(
        1,
        title="Ratios &amp; <b>foam</b>",
        content="1:3 &lt; 1:5<br>A line.",
        published_date="Tue, 05 Mar 2024 12:00:00 GMT",
    )
    async with TavilyServer(results=[item]) as server:
        (found,) = await search(server)
    day = datetime(2024, 3, 5, 12, tzinfo=UTC)
    assert found == WebResult("Ratios & foam", "https://site1.example.com/page", "1:3 < 1:5\nA line.", day)


async def test_items_that_cannot_be_cited_or_quoted_are_dropped() -> None:
    items = [
        TavilyServer.item(1, url=None),
        TavilyServer.item(2, url="javascript:alert(1)"),
        TavilyServer.item(3, content=" &nbsp; <b></b>"),
        TavilyServer.item(4, title=None),
        "text",
        None,
        TavilyServer.item(4, content="the same address again"),
    ]
    async with TavilyServer(results=items) as server:
        found = await search(server, k=10)
    assert [(r.title, r.url) for r in found] == [("https://site4.example.com/page",) * 2]


async def test_a_long_query_is_cut_between_words() -> None:
    async with TavilyServer() as server:
        await search(server, "flat white " * 60)
    sent = server.bodies[0][1]["query"]
    assert 380 < len(sent) <= 400
    assert set(sent.split()) == {"flat", "white"}


@pytest.mark.row("2-24")
@pytest.mark.parametrize(
    ("sites", "sent"),
    [
        (Sites(["a.example"], ["b.a.example"]), {"include_domains": ["a.example"], "exclude_domains": ["b.a.example"]}),
        (Sites(["gov", "a.example"], ["zip"]), {}),
        (Sites([f"s{n}.example" for n in range(400)]), {}),
        (Sites(), {}),
    ],
)
async def test_lists_go_along_as_far_as_the_service_takes_them(sites: Sites, sent: dict[str, list[str]]) -> None:
    async with TavilyServer() as server:
        await search(server, sites=sites)
    assert {name: value for name, value in server.bodies[0][1].items() if name.endswith("_domains")} == sent


@pytest.mark.parametrize("key", ["", "tvly key", "tvly\nkey", "tvly…"])
async def test_a_key_that_no_header_can_carry_is_a_setting_to_mend(key: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_TAVILY_KEY") as caught:
        TavilySearch(key, Remote("tavily"))
    assert not key or key not in str(caught.value)


async def test_a_key_never_travels_in_the_clear() -> None:
    with pytest.raises(SettingsError, match="ATTEST_TAVILY_BASE_URL: allowed is https"):
        TavilySearch(KEY, Remote("tavily"), base_url="http://api.tavily.com")
