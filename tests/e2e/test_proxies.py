"""Companies reach the outside through a proxy: every remote client goes through the environment's, and none does to this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from grounding.azure.graph_directory import GraphDirectory
from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.embedder import OpenAIEmbedder
from grounding.azure.search.service import SearchService
from grounding.errors import AttestError
from grounding.services.remote import Remote
from grounding.web.bing_search import BingSearch
from grounding.web.serpapi_search import SerpApiSearch
from grounding.web.tavily_search import TavilySearch
from rai.azure.content_safety import ContentSafetyScreen
from rai.azure.language import LanguageRecognizer, LanguageTagger
from rai.azure.moderation import ModerationScreen
from rai.embedded.tagger import GazetteerTagger
from tests.fakes.tokens import Token


class Door:
    """Takes connections, keeps the first line of each, and answers 502. As a proxy it sees whom it is to connect to."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def __aenter__(self) -> Door:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines.append((await reader.readline()).decode("latin-1").strip())
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    async with Door() as door:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{door.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield door


def remote() -> Remote:
    return Remote("service", deadline_s=5, retries=0)


def _tagger(url: str) -> LanguageTagger:
    return LanguageTagger(GazetteerTagger(), LanguageRecognizer(url, "key"), remote())


Call = Callable[[Any], Awaitable[object]]
CLIENTS: dict[str, tuple[str, Callable[[str], Any], Call]] = {
    "search": ("n.search.windows.net", lambda u: SearchService(u, "key", "attest", remote()), lambda c: c.count()),
    "openai": (
        "n.openai.azure.com",
        lambda u: OpenAIChat(f"{u}/v1", "key", "m", remote()),
        lambda c: c.complete("s", "u", purpose="compose"),
    ),
    "embeddings": (
        "n.openai.azure.com",
        lambda u: OpenAIEmbedder(f"{u}/v1", "key", "m", 3, remote()),
        lambda c: c.embed(["hours"]),
    ),
    "content safety": (
        "n.cognitiveservices.azure.com",
        lambda u: ContentSafetyScreen(u, "key", remote()),
        lambda c: c.screen("When?"),
    ),
    "moderation": (
        "api.openai.com",
        lambda u: ModerationScreen(f"{u}/v1", "key", remote(), model="m", block_at=0.5),
        lambda c: c.screen("When?"),
    ),
    "language": ("n.cognitiveservices.azure.com", _tagger, lambda c: c.tag("Ask Maria.")),
    "graph": (
        "graph.microsoft.com",
        lambda u: GraphDirectory(u, Token(), remote()),
        lambda c: c.groups("lea@contoso.example"),
    ),
    "tavily": ("api.tavily.com", lambda u: TavilySearch("key", remote(), base_url=u), lambda c: c.search("hours", 3)),
    "bing": (
        "n.example.com",
        lambda u: BingSearch(f"{u}/v7.0/search", "key", remote()),
        lambda c: c.search("hours", 3),
    ),
    "serpapi": (
        "serpapi.com",
        lambda u: SerpApiSearch("key", remote(), base_domain=u),
        lambda c: c.search("hours", 3),
    ),
}


async def _used(client: str, url: str) -> None:
    _, make, call = CLIENTS[client]
    made = make(url)
    try:
        await call(made)
    except AttestError:
        pass  # nothing but a 502 is there
    finally:
        await made.aclose()


@pytest.mark.parametrize("client", CLIENTS)
async def test_another_host_is_reached_through_the_proxy(proxy: Door, client: str) -> None:
    host = CLIENTS[client][0]
    await _used(client, f"https://{host}")
    assert proxy.lines
    assert {line.split(" HTTP")[0] for line in proxy.lines} == {f"CONNECT {host}:443"}


@pytest.mark.parametrize("client", [c for c in CLIENTS if c != "serpapi"])  # whose address is no setting
async def test_this_machine_is_reached_past_the_proxy(proxy: Door, client: str) -> None:
    async with Door() as service:
        await _used(client, f"http://127.0.0.1:{service.port}")
        assert service.lines
    assert proxy.lines == []


@pytest.mark.parametrize("client", ["search", "content safety", "language", "tavily", "bing"])
async def test_a_host_that_the_environment_excepts_is_reached_directly(
    proxy: Door, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.2")
    await _used(client, f"https://127.0.0.2:{proxy.port}")
    assert not any(line.startswith("CONNECT") for line in proxy.lines)
