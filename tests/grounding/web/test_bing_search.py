"""The shape of Bing Web Search v7 at an address that is given."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grounding.errors import ServiceReplyInvalid, SettingsError
from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.bing_search import BingSearch
from tests.fakes.faults import status
from tests.fakes.search_servers import KEY, BingServer


async def search(server: BingServer, query: str = "flat white", k: int = 3) -> tuple[WebResult, ...]:
    provider = BingSearch(server.endpoint, KEY, Remote("bing", retries=0))
    try:
        return await provider.search(query, k)
    finally:
        await provider.aclose()


@pytest.mark.row("3-16")
async def test_three_pages_are_asked_for_with_the_key_in_its_header_alone() -> None:
    async with BingServer() as server:
        assert [r.title for r in await search(server)] == ["Page 1", "Page 2", "Page 3"]
    ((path, query),) = server.bodies
    assert path == "/v7.0/search"
    assert (query["q"], query["count"], query["responseFilter"]) == ("flat white", "3", "Webpages")
    assert KEY not in str(query)
    assert server.headers[0]["Ocp-Apim-Subscription-Key"] == KEY
    assert "Authorization" not in server.headers[0]


async def test_fields_become_a_result() -> None:
    item = BingServer.item(1, name="A <b>flat</b> white", datePublished="2024-03-05T00:00:00.0000000")
    async with BingServer(value=[item]) as server:
        (found,) = await search(server)
    assert found.title == "A flat white"
    assert found.published == datetime(2024, 3, 5, tzinfo=UTC)


async def test_the_day_of_the_last_crawl_is_not_the_day_of_the_page() -> None:
    async with BingServer() as server:
        assert {r.published for r in await search(server)} == {None}


@pytest.mark.parametrize(
    "body",
    [
        '{"webPages": []}',
        '{"webPages": {}}',
        '{"webPages": {"value": {}}}',
        '{"_type": "ErrorResponse", "errors": []}',
        '{"results": []}',
    ],
)
async def test_what_is_no_reply_of_this_shape_is_told_from_nothing_found(body: str) -> None:
    async with BingServer(otherwise=status(200, body)) as server:
        with pytest.raises(ServiceReplyInvalid, match="holds no results"):
            await search(server)


@pytest.mark.parametrize(
    "endpoint", ["", "search.example.com", "ftp://search.example.com/", "http://search.example.com/v7.0/search"]
)
async def test_an_endpoint_that_cannot_be_used_is_a_setting_to_mend(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_BING_ENDPOINT"):
        BingSearch(endpoint, KEY, Remote("bing"))
