"""Every web search over loopback, as one list for the suites that hold all of them to the same rules."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from grounding.ports import WebSearch
from grounding.services.remote import Remote
from grounding.web.bing_search import BingSearch
from grounding.web.duckduckgo import DuckDuckGo
from grounding.web.serpapi_search import SerpApiSearch
from grounding.web.tavily_search import TavilySearch
from tests.fakes.clock import at_once
from tests.fakes.faults import Fault, FaultyServer
from tests.fakes.search_servers import KEY, UNKNOWN, BingServer, DuckDuckGoServer, TavilyServer, page
from tests.fakes.serpapi_server import SerpApiServer, found, nothing_found, question

Provider = SerpApiSearch | TavilySearch | DuckDuckGo | BingSearch
SERVED: dict[str, tuple[type[FaultyServer], Callable[[Any, Remote], Provider]]] = {
    "tavily": (TavilyServer, lambda server, remote: TavilySearch(KEY, remote, base_url=server.root)),
    "duckduckgo": (DuckDuckGoServer, lambda server, remote: DuckDuckGo(remote, address=f"{server.root}/")),
    "bing": (BingServer, lambda server, remote: BingSearch(server.endpoint, KEY, remote)),
}
"""The server of each search, and the search before it; SerpAPI's speaks through a package of its own."""
NAMES = ("serpapi", *SERVED)
KEYED = tuple(name for name in NAMES if name != "duckduckgo")


@dataclass
class Running:
    """A provider, and how many requests its server has seen."""

    search: WebSearch
    requests: Callable[[], int]


@asynccontextmanager
async def running(
    name: str, fault: Fault | None = None, *, retries: int = 1, deadline_s: float = 10.0
) -> AsyncIterator[Running]:
    """The provider of that name before its server; with `fault` every request ends so."""
    remote = Remote(name, deadline_s=deadline_s, retries=retries, sleep=at_once)
    provider: Provider
    if name == "serpapi":
        async with SerpApiServer(otherwise=_serpapi(fault)) as serp:
            provider = SerpApiSearch(KEY, remote, base_domain=serp.root)
            yield Running(provider, lambda: len(serp.seen))
            await provider.aclose()
            return
    kind, before = SERVED[name]
    async with kind(otherwise=fault) as server:
        provider = before(server, remote)
        yield Running(provider, lambda: len(server.bodies))
        await provider.aclose()


def _serpapi(fault: Fault | None) -> Fault:
    pages = [{"title": t, "link": u, "snippet": s} for t, u, s in map(page, range(1, 6))]
    healthy = found(*pages, pages[0], related_questions=[question(1)])

    async def step(request: web.Request) -> web.StreamResponse:
        return await (nothing_found() if UNKNOWN in request.query["q"] else healthy)(request)

    return fault or step
