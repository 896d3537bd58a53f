"""What every WebSearch does, whichever provider is behind it: in health, in every failure, and with its key."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from grounding.errors import AttestError, ServiceError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.ports import WebSearch
from grounding.records import WebResult
from grounding.services.remote import Overloaded, Throttled
from grounding.web.sample import SamplePages
from grounding.web.sites import FilteredSearch, Sites
from tests.fakes import faults
from tests.fakes.faults import Fault
from tests.fakes.search_providers import KEYED, NAMES, running
from tests.fakes.search_servers import KEY, UNKNOWN

PAGES = [
    {
        "title": f"Coffee {n}",
        "url": f"https://coffee{n}.example/page",
        "snippet": f"Coffee number {n}.",
        "text": "A flat white has a ratio of 1:3. It is served small.",
    }
    for n in range(6)
]
SECRETS = (KEY, "4711")
QUERY = "where is parcel 4711"


def _pages(folder: Path) -> SamplePages:
    path = folder / "pages.jsonl"
    path.write_text("\n".join(json.dumps(p) for p in PAGES), encoding="utf-8")
    return SamplePages(path)


@pytest.fixture(params=[*NAMES, "sample", "filtered"])
async def web(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WebSearch]:
    """A provider that finds at least five pages on coffee, and nothing on "zyzzyva"."""
    if request.param == "sample":
        yield _pages(tmp_path)
    elif request.param == "filtered":
        yield FilteredSearch(_pages(tmp_path), Sites(deny=["coffee3.example"]))
    else:
        async with running(request.param) as provider:
            yield provider.search


async def test_it_has_a_name(web: WebSearch) -> None:
    assert web.name


@pytest.mark.row("2-15")
@pytest.mark.row("3-17")
@pytest.mark.parametrize("k", [0, 1, 3, 5])
async def test_as_many_results_as_asked_for_and_no_more(web: WebSearch, k: int) -> None:
    assert len(await web.search("coffee flat white", k)) == k


@pytest.mark.row("3-16")
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


@pytest.mark.parametrize("query", [UNKNOWN, "  ", "\ud800 \x00"])
async def test_nothing_found_is_no_failure(web: WebSearch, query: str) -> None:
    assert await web.search(query, 3) == ()


@pytest.mark.parametrize("query", ["coffee " * 500, "coffee" + "x" * 5000, "coffee\ud83d \x00 !g & ? # \n %"])
async def test_no_query_is_too_long_or_too_strange(web: WebSearch, query: str) -> None:
    assert len(await web.search(query, 3)) <= 3


async def test_a_thousand_results_are_bounded_by_the_service(web: WebSearch) -> None:
    assert 5 <= len(await web.search("coffee flat white", 1000)) <= 1000


FAULTS: dict[str, tuple[Fault, type[AttestError], int]] = {
    "400": (faults.echoed(400), ServiceRejected, 1),
    "401": (faults.echoed(401), ServiceRejected, 1),
    "403": (faults.status(403), ServiceRejected, 1),
    "404 in HTML": (faults.html(404), ServiceRejected, 1),
    "410": (faults.status(410), ServiceRejected, 1),
    "429 with Retry-After": (faults.status(429, Retry_After="1"), Throttled, 3),
    "432": (faults.status(432), ServiceRejected, 1),
    "500": (faults.echoed(500), ServiceUnavailable, 3),
    "502 in HTML": (faults.html(502), ServiceUnavailable, 3),
    "503 with Retry-After": (faults.status(503, Retry_After="1"), Overloaded, 3),
    "HTML with 200": (faults.html(200), ServiceReplyInvalid, 2),
    "cut JSON": (faults.truncated(), ServiceReplyInvalid, 2),
    "cut connection": (faults.half(b'{"results": ['), ServiceUnavailable, 3),
    "no reply": (faults.closed(), ServiceUnavailable, 3),
    "redirect": (faults.redirect("http://127.0.0.1:9/search"), ServiceRejected, 1),
    "redirect to itself": (faults.redirect("/search"), ServiceRejected, 1),
    "null": (faults.status(200, "null"), ServiceReplyInvalid, 2),
    "a number": (faults.status(200, "5"), ServiceReplyInvalid, 2),
    "a list": (faults.status(200, "[]"), ServiceReplyInvalid, 2),
    "a deep list": (faults.status(200, "[" * 100_000), ServiceReplyInvalid, 2),
    "an empty object": (faults.status(200, "{}"), ServiceReplyInvalid, 2),
    "an empty body": (faults.status(200, ""), ServiceReplyInvalid, 2),
    "no encoding": (faults.status(200, "{}", Content_Encoding="gzip"), ServiceError, 0),
    "10 MB": (faults.huge(10), ServiceReplyInvalid, 2),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_failure_is_ours_and_holds_neither_key_nor_question(
    name: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of what the server repeated, and nothing of the library's error, stands in message, chain or log."""
    caplog.set_level(logging.DEBUG)
    step, kind, attempts = FAULTS[fault]
    async with running(name, step, retries=2) as provider:
        with pytest.raises(kind) as caught:
            await provider.search.search(QUERY, 3)
        assert not attempts or provider.requests() == attempts
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    ours = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    logged = "".join(r.getMessage() for r in caplog.records if r.name != "aiohttp.access")
    assert not [secret for secret in SECRETS if secret in ours or secret in logged]


@pytest.mark.parametrize(
    ("name", "kind", "attempts"),
    [("serpapi", ServiceRejected, 1), ("tavily", Throttled, 3), ("duckduckgo", Throttled, 3), ("bing", Throttled, 3)],
)
async def test_429_without_retry_after(name: str, kind: type[AttestError], attempts: int) -> None:
    """SerpAPI says so that the searches of the month are used up, the others that they come too fast."""
    async with running(name, faults.status(429), retries=2) as provider:
        with pytest.raises(kind) as caught:
            await provider.search.search("coffee", 3)
        assert type(caught.value) is kind
        assert provider.requests() == attempts


@pytest.mark.parametrize("name", NAMES)
async def test_a_server_that_never_answers_meets_our_deadline(name: str) -> None:
    async with running(name, faults.slow(), retries=0, deadline_s=0.2) as provider:
        with pytest.raises(ServiceError) as caught:
            await provider.search.search(QUERY, 3)
    assert not [secret for secret in SECRETS if secret in "".join(traceback.format_exception(caught.value))]


@pytest.mark.row("3-16")
@pytest.mark.parametrize("name", NAMES)
async def test_a_healthy_search_leaves_no_key_and_no_question_behind(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with running(name) as provider:
        found = await provider.search.search(QUERY, 3)
        assert found
        assert KEY not in repr(provider.search) + repr(vars(provider.search)) + repr(found)
        client = vars(provider.search).get("_client")
        assert name not in KEYED or client is not None
        inner = vars(client).get("_client") if client is not None else None
        assert KEY not in repr(vars(inner)) if inner is not None else True
        if inner is not None:
            assert KEY not in repr(dict(inner.headers)) + repr(inner.params)
    logged = "".join(r.getMessage() for r in caplog.records if r.name != "aiohttp.access")
    assert not [secret for secret in SECRETS if secret in logged]


@pytest.mark.parametrize("name", NAMES)
async def test_searches_run_side_by_side_on_one_client(name: str) -> None:
    async with running(name) as provider:
        found = await asyncio.gather(*(provider.search.search(f"coffee {n}", 2) for n in range(8)))
    assert all(len(results) == 2 for results in found)
