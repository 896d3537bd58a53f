"""SerpApiSearch with the real SDK over a loopback server: every form of reply, and the key in none of ours."""

from __future__ import annotations

import asyncio
import logging
import traceback
from datetime import UTC, datetime

import pytest
from aiohttp import web

from grounding.errors import (
    AttestError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.records import WebResult
from grounding.services.remote import Overloaded, Remote, Throttled
from grounding.web.serpapi_search import SerpApiSearch
from grounding.web.sites import Sites
from tests.fakes import faults
from tests.fakes import serpapi_server as fake
from tests.fakes.clock import at_once
from tests.fakes.faults import Fault
from tests.fakes.serpapi_server import SerpApiServer, organic, question

KEY = "serp-secret-0123456789"
QUERY = "where is parcel 4711"


async def search(
    server: SerpApiServer,
    query: str = "flat white",
    k: int = 5,
    *,
    retries: int = 1,
    deadline_s: float = 10.0,
    sites: Sites | None = None,
) -> tuple[WebResult, ...]:
    remote = Remote("web search", deadline_s=deadline_s, retries=retries, sleep=at_once)
    provider = SerpApiSearch(KEY, remote, sites=sites, base_domain=server.root)
    try:
        return await provider.search(query, k)
    finally:
        await provider.aclose()


@pytest.mark.row("0-17")
async def test_organic_results_become_web_results() -> None:
    async with SerpApiServer(fake.found(organic(1, date="Mar 3, 2024"), organic(2))) as server:
        results = await search(server)
    assert results == (
        WebResult("Page 1", "https://site1.example.com/page", "What page 1 says.", datetime(2024, 3, 3, tzinfo=UTC)),
        WebResult("Page 2", "https://site2.example.com/page", "What page 2 says."),
    )
    assert server.seen == [{"engine": "google", "q": "flat white", "api_key": KEY}]


@pytest.mark.row("0-18")
@pytest.mark.parametrize("spelling", ["related_questions", "related_question"])
async def test_related_questions_of_either_spelling_stand_among_the_organic_results(spelling: str) -> None:
    page = fake.found(*(organic(n) for n in range(1, 5)), **{spelling: [question(1), question(2), question(3)]})
    async with SerpApiServer(page) as server:
        titles = [r.title for r in await search(server, k=10)]
    assert titles == ["Page 1", "Page 2", "Answer 1", "Page 3", "Page 4", "Answer 2", "Answer 3"]


@pytest.mark.row("2-15")
async def test_three_results_hold_both_kinds() -> None:
    page = fake.found(*(organic(n) for n in range(1, 9)), related_questions=[question(1)])
    async with SerpApiServer(page) as server:
        titles = [r.title for r in await search(server, k=3)]
    assert titles == ["Page 1", "Page 2", "Answer 1"]


async def test_related_questions_alone_are_results() -> None:
    async with SerpApiServer(faults.reply({"related_questions": [question(1)]})) as server:
        assert [r.snippet for r in await search(server)] == ["The answer to question 1."]


async def test_items_that_cannot_be_cited_or_quoted_are_left_out() -> None:
    page = fake.found(
        organic(1, snippet=None),
        organic(2, link=None),
        organic(3, snippet="  "),
        organic(4, title=None),
        organic(5, link="https://site4.example.com/page"),
        "not an item",  # type: ignore[arg-type]
        related_questions=[
            {"question": "AI?", "type": "ai_overview", "text_blocks": [{"snippet": "Made up."}]},
            question(1, snippet=None, list=["first", "second"], title=None),
        ],
    )
    async with SerpApiServer(page) as server:
        results = await search(server)
    assert [(r.title, r.snippet) for r in results] == [
        ("https://site4.example.com/page", "What page 4 says."),
        ("Question 1?", "first\nsecond"),
    ]


@pytest.mark.parametrize(
    ("date", "published"),
    [
        ("Mar 3, 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("3 Mar 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("March 3, 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-03", datetime(2024, 3, 3, tzinfo=UTC)),
        ("3 days ago", None),
        ("Feb 30, 2024", None),
        (20240303, None),
        (None, None),
    ],
)
async def test_only_a_date_that_names_a_day_is_taken(date: object, published: datetime | None) -> None:
    async with SerpApiServer(fake.found(organic(1, date=date))) as server:
        assert [r.published for r in await search(server)] == [published]


@pytest.mark.parametrize(
    "step", [fake.nothing_found(), fake.found(), faults.reply({"error": "Google hasn't returned any results for it."})]
)
async def test_nothing_found_is_no_failure(step: Fault) -> None:
    async with SerpApiServer(step) as server:
        assert await search(server) == ()


@pytest.mark.parametrize(("query", "k"), [("flat white", 0), ("  ", 3)])
async def test_nothing_asked_is_not_sent(query: str, k: int) -> None:
    async with SerpApiServer() as server:
        assert await search(server, query, k) == ()
    assert server.seen == []


@pytest.mark.parametrize(
    ("step", "fault", "attempts"),
    [
        (fake.error(401, "Invalid API key."), ServiceRejected, 1),
        (fake.error(400, "Missing query `q` parameter."), ServiceRejected, 1),
        (fake.error(429, "Your account has run out of searches."), ServiceRejected, 1),
        (fake.error(429, **{"Retry-After": "1"}), Throttled, 3),
        (fake.error(503), ServiceUnavailable, 3),
        (fake.error(503, **{"Retry-After": "1"}), Overloaded, 3),
        (fake.error(500), ServiceUnavailable, 3),
        (faults.reply([], status=500), ServiceUnavailable, 3),
        (faults.raw("down", status=502, content_type="text/plain"), ServiceUnavailable, 3),
        (faults.closed(), ServiceUnavailable, 3),
        (faults.half(b'{"organic_results": ['), ServiceUnavailable, 3),
        (faults.raw("<html>Sign in", content_type="text/html"), ServiceReplyInvalid, 2),
        (faults.raw('{"organic_results": ['), ServiceReplyInvalid, 2),
        (faults.raw("null"), ServiceReplyInvalid, 2),
        (faults.raw("5"), ServiceReplyInvalid, 2),
        (faults.raw("[]"), ServiceReplyInvalid, 2),
        (faults.reply({"search_metadata": {"status": "Success"}}), ServiceReplyInvalid, 2),
        (faults.reply({"error": "Something broke on our side."}), ServiceUnavailable, 3),
        (fake.moved("http://127.0.0.1:9/search"), ServiceRejected, 1),
    ],
)
async def test_failures_are_ours_and_hold_no_key(
    step: Fault, fault: type[AttestError], attempts: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with SerpApiServer(otherwise=step) as server:
        with pytest.raises(fault) as caught:
            await search(server, QUERY, retries=2)
    ours = "".join(traceback.format_exception(caught.value))
    logged = "".join(r.getMessage() for r in caplog.records if r.name != "aiohttp.access")
    assert type(caught.value) is fault
    assert len(server.seen) == attempts
    assert caught.value.__context__ is None
    for secret in (KEY, "4711"):
        assert secret not in ours
        assert secret not in logged


async def test_nothing_listening_is_unavailable_and_holds_no_key() -> None:
    async with SerpApiServer() as server:
        pass
    with pytest.raises(ServiceUnavailable, match="cannot be reached") as caught:
        await search(server)
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_server_that_never_answers_meets_our_deadline() -> None:
    async with SerpApiServer(otherwise=faults.slow()) as server:
        with pytest.raises((ServiceTimeout, ServiceUnavailable)):
            await search(server, deadline_s=0.2, retries=0)


async def test_an_allow_list_narrows_the_query_itself() -> None:
    async with SerpApiServer() as server:
        await search(server, sites=Sites(["a.example", "b.example"], ["bad.a.example"]))
        await search(server, sites=Sites([f"s{n}.example" for n in range(20)]))
        await search(server, sites=Sites())
    assert [seen["q"] for seen in server.seen] == [
        "flat white (site:a.example OR site:b.example) -site:bad.a.example",
        "flat white",
        "flat white",
    ]


async def test_searches_run_side_by_side_on_one_client() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return await fake.found(organic(1, title=request.query["q"]))(request)

    async with SerpApiServer(otherwise=echo) as server:
        provider = SerpApiSearch(KEY, Remote("web search"), base_domain=server.root)
        found = await asyncio.gather(*(provider.search(f"query {n}", 1) for n in range(8)))
        await provider.aclose()
    assert [results[0].title for results in found] == [f"query {n}" for n in range(8)]
