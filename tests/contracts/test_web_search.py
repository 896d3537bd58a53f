"""What every WebSearch does, whichever provider is behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web as web_server

from grounding.ports import WebSearch
from grounding.records import WebResult
from grounding.remote import Remote
from grounding.web.filtered import FilteredSearch
from grounding.web.sample import SamplePages
from grounding.web.serpapi_search import SerpApiSearch
from grounding.web.sites import Sites
from tests.fakes.serpapi_server import SerpApiServer, found, nothing_found, organic, question

PAGES = [
    {
        "title": f"Coffee {n}",
        "url": f"https://coffee{n}.example/page",
        "snippet": f"Coffee number {n}.",
        "text": "A flat white has a ratio of 1:3. It is served small.",
    }
    for n in range(6)
]


def _pages(folder: Path) -> SamplePages:
    path = folder / "pages.jsonl"
    path.write_text("\n".join(json.dumps(p) for p in PAGES), encoding="utf-8")
    return SamplePages(path)


@pytest.fixture(params=["serpapi over loopback", "sample", "filtered"])
async def web(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WebSearch]:
    """A provider that finds at least five pages on coffee, and nothing on "zyzzyva"."""
    if request.param == "sample":
        yield _pages(tmp_path)
    elif request.param == "filtered":
        yield FilteredSearch(_pages(tmp_path), Sites(deny=["coffee3.example"]))
    else:
        async with AsyncExitStack() as stack:
            page = found(*(organic(n) for n in range(1, 6)), organic(1), related_questions=[question(1)])

            async def answer(server: SerpApiServer, asked: web_server.Request) -> web_server.StreamResponse:
                return await (nothing_found() if server.seen[-1]["q"] == "zyzzyva" else page)(server, asked)

            server = await stack.enter_async_context(SerpApiServer(otherwise=answer))
            provider = SerpApiSearch("key", Remote("web search"), base_domain=server.domain)
            stack.push_async_callback(provider.aclose)
            yield provider


async def test_it_has_a_name(web: WebSearch) -> None:
    assert web.name


@pytest.mark.row("3-17")
@pytest.mark.parametrize("k", [0, 1, 3, 5])
async def test_as_many_results_as_asked_for_and_no_more(web: WebSearch, k: int) -> None:
    assert len(await web.search("coffee flat white", k)) == k


async def test_each_result_can_be_cited_and_quoted(web: WebSearch) -> None:
    results = await web.search("coffee flat white", 10)
    assert results
    for result in results:
        assert isinstance(result, WebResult)
        assert urlsplit(result.url).scheme in ("http", "https")
        assert urlsplit(result.url).hostname
        assert result.title.strip()
        assert result.snippet.strip()
        assert result.published is None or result.published.tzinfo is not None


async def test_no_address_comes_twice(web: WebSearch) -> None:
    urls = [r.url for r in await web.search("coffee flat white", 10)]
    assert len(urls) == len(set(urls))


async def test_fewer_results_are_the_first_of_more(web: WebSearch) -> None:
    assert await web.search("coffee flat white", 2) == (await web.search("coffee flat white", 5))[:2]


@pytest.mark.parametrize("query", ["zyzzyva", "  "])
async def test_nothing_found_is_no_failure(web: WebSearch, query: str) -> None:
    assert await web.search(query, 3) == ()
