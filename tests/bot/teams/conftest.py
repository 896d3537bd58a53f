"""A running bot behind real HTTP, a fake channel, a ledger and an answer that tests can steer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import ClientResponse, ClientSession, web
from aiohttp.test_utils import TestServer

from bot.records import Ask, Citation, OnStage, Reply, Stage
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.teams.endpoint import add_routes
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.ports import Transport
from grounding.bounded.pool import Run
from grounding.errors import StoreError
from grounding.records import OnProgress
from rai.records import Entry, Outcome, Verification
from tests.fakes.channel import FakeChannel
from tests.fakes.ledger import exported

Json = dict[str, Any]
T = TypeVar("T")
SDKS = ("botbuilder", "agents")

REPLY = Reply(
    outcome=Outcome.ANSWERED,
    answer="Items may be returned within 30 days [1]. Refunds take 5 business days [2].",
    citations=(
        Citation(1, "Returns policy", "https://example.com/returns", "returns", "c1", "page 3", "within 30 days"),
        Citation(2, "Refunds", None, "refunds", "c2", None, "5 business days"),
        Citation(3, "Not cited", None, "other", "c3", None, "nothing"),
    ),
    entry_id="entry-1",
)


@dataclass
class FakeLedger:
    """Keeps what is appended; `broken` makes it refuse as a locked store does."""

    ledger_id: str | None = None

    appended: list[tuple[str, Json]] = field(default_factory=list)
    broken: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, kind: str) -> list[Json]:
        """The bodies of one kind."""
        return [body for each, body in self.appended if each == kind]

    async def delivery(self) -> Json:
        """The first entry that says what became of a reply, once it is there."""
        async with asyncio.timeout(60):
            while not self.of("delivery"):
                self._news.clear()
                await self._news.wait()
        return self.of("delivery")[0]

    async def append(self, kind: str, body: Json) -> Entry:
        if self.broken:
            raise StoreError("the ledger is locked")
        self.appended.append((kind, body))
        self._news.set()
        seq = len(self.appended)
        return Entry(f"e{seq}", seq, "2026-11-03T10:00:00Z", kind, body, "", "")

    async def get(self, entry_id: str) -> Entry | None:
        found = [entry async for entry in self.entries() if entry.entry_id == entry_id]
        return found[0] if found else None

    async def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        for seq, (kind, body) in enumerate(self.appended, start=1):
            if seq > after and (kinds is None or kind in kinds):
                yield Entry(f"e{seq}", seq, "2026-11-03T10:00:00Z", kind, body, "", "")

    async def each(
        self, make: Callable[[Entry], T], *, after: int = 0, limit: int, run: Run = asyncio.to_thread, at_once: int = 1
    ) -> list[T]:
        return [await run(make, entry) async for entry in self.entries(after=after, limit=limit)]

    async def export(self) -> AsyncIterator[str]:
        for line in exported([entry async for entry in self.entries()]):
            yield line

    async def holds(self, entry_id: str) -> bool:
        return await self.get(entry_id) is not None

    async def verify(self, on_progress: OnProgress | None = None) -> Verification:
        return Verification(True, len(self.appended), "")


@dataclass
class FakeAnswer:
    """Answers every ask with `reply`, after `then` (which may wait or raise)."""

    reply: Reply = REPLY
    stages: tuple[str, ...] = ()
    asked: list[Ask] = field(default_factory=list)
    then: Callable[[Ask], Awaitable[None]] | None = None

    async def __call__(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        self.asked.append(ask)
        for label in self.stages:
            if on_stage is not None:
                await on_stage(Stage(label, label))
        if self.then is not None:
            await self.then(ask)
        return self.reply


@dataclass
class RunningBot:
    """A bot that serves: `url` is its door."""

    url: str
    session: ClientSession
    settings: Settings
    answer: FakeAnswer
    ledger: FakeLedger

    async def post(self, activity: Json, **options: Any) -> ClientResponse:
        return await self.session.post(self.url, json=activity, **options)


class Bots:
    """Starts bots on one SDK, and stops them all at the end of the test."""

    def __init__(self, home: Path, sdk: str) -> None:
        self._home = home
        self._sdk = sdk
        self._open: list[tuple[TestServer, ClientSession]] = []

    async def start(
        self,
        *,
        answer: FakeAnswer | None = None,
        ledger: FakeLedger | None = None,
        transport: Callable[[Settings], Transport] | None = None,
        lease_s: float = 30.0,
        knowledge: PersonsKnowledge | None = None,
        **settings: Any,
    ) -> RunningBot:
        made = load_settings(home=self._home, **{"bot_sdk": self._sdk, **settings})
        answer, ledger = answer or FakeAnswer(), ledger or FakeLedger()
        app = web.Application()
        add_routes(
            app,
            made,
            answer,
            ledger,
            transport=transport(made) if transport else None,
            lease_s=lease_s,
            knowledge=knowledge,
        )
        server = TestServer(app)
        await server.start_server()
        session = ClientSession()
        self._open.append((server, session))
        return RunningBot(f"http://127.0.0.1:{server.port}/api/messages", session, made, answer, ledger)

    async def stop(self) -> None:
        for server, session in reversed(self._open):
            await session.close()
            await server.close()
        self._open.clear()


@pytest.fixture
async def channel() -> AsyncIterator[FakeChannel]:
    async with FakeChannel() as running:
        yield running


@pytest.fixture(params=SDKS)
def sdk(request: pytest.FixtureRequest) -> str:
    """Every test of a running bot is made with each SDK that can carry its activities."""
    return str(request.param)


@pytest.fixture
async def bots(tmp_path: Path, sdk: str) -> AsyncIterator[Bots]:
    made = Bots(tmp_path / "home", sdk)
    yield made
    await made.stop()
