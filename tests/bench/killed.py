"""Benchmark of servers that are killed: two of them with homes of their own over one PostgreSQL, behind nginx, and one killed with SIGKILL again and again while many converse.

Of each question it is counted how many answers the channel shows, and in which order; then the chain is verified.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from bot.compose.record import open_record
from bot.settings.settings import Settings
from tests.bench.figures import Figure, percentile
from tests.bench.place import Place
from tests.e2e.nginx import found as nginx
from tests.e2e.nginx import free_port
from tests.e2e.nginx import running as in_front
from tests.e2e.processes import ROOT
from tests.eventually import eventually
from tests.fakes.channel import FakeChannel, Json
from tests.knowledge_base import PAGE, take_in_page
from tests.postgres.server import SETTINGS, VERSION, own_schema, running
from tests.postgres.shared import made, server_over

QUESTION, ANSWER = "What does Watch Plus cost a month?", "9.99"
AHEAD = 2
"""Questions that a conversation asks at once, so that their order could be lost."""
AGAIN_S, AWAY_S, STILL_S, START_S = 0.5, 1.0, 90.0, 120.0
"""Seconds until a channel tries again, until a killed server is started again, without a further answer until the rest counts as lost, and in which a server starts."""
TOLD_S = 60.0
"""Seconds between two lines of progress."""
_DURABLE = {**SETTINGS, "fsync": "on", "full_page_writes": "on"}


@dataclass(frozen=True, slots=True)
class Talks:
    """Conversations at once, how often each asks, seconds from when it asks to when it asks again if it was answered, and seconds between two kills."""

    conversations: int
    bursts: int
    pace_s: float
    every_s: float


USUAL = Talks(24, 13, 15.0, 20.0)
"""No more than a machine of two cores can do beside all else."""
MANY = Talks(500, 10, 300.0, 20.0)
"""10,000 questions."""
_SITE = """
  upstream servers {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://servers; proxy_set_header Host 127.0.0.1; proxy_http_version 1.1;
      proxy_connect_timeout 5s; proxy_next_upstream error timeout non_idempotent;
    }}
  }}"""
"""A request whose server was killed goes to the other one: who of them stored it is told by what they share."""


@dataclass(frozen=True, slots=True)
class Kills:
    """What came of it. `replies`: of each question how many messages the channel showed; `apologies`: questions that got a notice in place of an answer: that its servers died again and again;
    `in_order`: conversations whose replies came as they were asked; `turns`: entries of the record; `waits`: seconds from question to reply.
    """

    kills: int
    seconds: float
    replies: dict[str, int]
    apologies: int
    in_order: int
    turns: int
    whole: bool
    waits: list[float]

    @property
    def repeats(self) -> int:
        """Messages beyond one a question."""
        return sum(max(0, count - 1) for count in self.replies.values())


async def bench_killed(place: Place) -> list[Figure]:
    """As many conversations as `USUAL` says."""
    return await _measured(place, USUAL)


async def bench_killed_many(place: Place) -> list[Figure]:
    """As many conversations as `MANY` says: it takes more than an hour."""
    return await _measured(place, MANY)


async def _measured(place: Place, talks: Talks) -> list[Figure]:
    with running(settings=_DURABLE) as server, own_schema(server) as url:
        found = await killed(url, place.scratch / "killed", talks)
    n = len(found.replies)
    before = "nginx" if nginx() else "a balancer of ours for TCP"
    note = f"PostgreSQL {VERSION} with fsync, search by words, {before}; {found.kills} kills in {found.seconds:.0f} s"
    name = f"two servers, one killed every {talks.every_s:g} s, {talks.conversations} conversations"
    return [
        Figure(f"{name}: questions without a reply", sum(not c for c in found.replies.values()), "", n, "0", note),
        Figure(f"{name}: questions with an apology in place of an answer", found.apologies, "", n),
        Figure(f"{name}: replies shown twice", found.repeats, "", n, "<= 1 a kill"),
        Figure(f"{name}: conversations answered in order", found.in_order, "", talks.conversations, "all"),
        Figure(f"{name}: the chain holds (1) or not (0)", found.whole, "", found.turns, "1"),
        Figure(f"{name}: turns a second", n / found.seconds, "1/s", n),
        Figure(f"{name}: from question to reply, p50", percentile(found.waits, 0.5), "s", n),
        Figure(f"{name}: from question to reply, p99", percentile(found.waits, 0.99), "s", n),
    ]


async def killed(url: str, folder: Path, talks: Talks) -> Kills:
    """So many conversations with two servers over the schema `url`, of which one after the other is killed until all is answered."""
    folder.mkdir()
    made(url, folder)
    first, second = (server_over(url, folder / name, folder) for name in ("one", "two"))
    await take_in_page(first, folder / "kb", PAGE, lexical_only=True)
    with _server(first, url, folder) as one, _server(second, url, folder) as other:
        async with FakeChannel() as channel, _balancer([one.port, other.port]) as address:
            await asyncio.gather(one.up(), other.up())
            talk = _Talk(channel, f"http://127.0.0.1:{address}/api/messages")
            began = time.monotonic()
            killing = asyncio.create_task(_kill([one, other], talks.every_s))
            await talk.all(talks)
            killing.cancel()
            with suppress(asyncio.CancelledError):
                await killing
            seconds = time.monotonic() - began
            kills = one.kills + other.kills
    async with open_record(first) as record:
        verified = await record.verify()
        turns = len([entry async for entry in record.entries(kinds=("turn",))])
    replies = {question: talk.shown[question] for asked in talk.asked.values() for question in asked}
    in_order = sum(talk.came[name] == asked for name, asked in talk.asked.items())
    apologies = len(replies.keys() - talk.answered)
    return Kills(kills, seconds, replies, apologies, in_order, turns, verified.ok, list(talk.waits.values()))


class _Talk:
    """Conversations with whoever listens at `address`, as the channel sees them."""

    def __init__(self, channel: FakeChannel, address: str) -> None:
        self._channel, self._address = channel, address
        self.asked: dict[str, list[str]] = defaultdict(list)
        self.came: dict[str, list[str]] = defaultdict(list)
        self.shown: Counter[str] = Counter()
        self.answered: set[str] = set()
        self.waits: dict[str, float] = {}
        self._at: dict[str, float] = {}
        self._read = 0

    async def all(self, talks: Talks) -> None:
        """Every conversation asks its questions, until all are answered or nothing has come for a while."""
        timeout, fresh = ClientTimeout(total=30), TCPConnector(limit=0, force_close=True)
        async with ClientSession(connector=fresh, timeout=timeout) as session:
            talking = [asyncio.create_task(self._one(session, f"a:{n}", talks)) for n in range(talks.conversations)]
            last, since = 0, time.monotonic()
            said, due = since, talks.conversations * talks.bursts * AHEAD
            while not all(task.done() for task in talking):
                self._look()
                if time.monotonic() - said > TOLD_S:
                    said = time.monotonic()
                    sys.stderr.write(f"  {len(self.waits):,} of {due:,} answered\n")
                if len(self.waits) != last:
                    last, since = len(self.waits), time.monotonic()
                if time.monotonic() - since > STILL_S:
                    break
                await asyncio.sleep(0.05)
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)
        await asyncio.sleep(5)  # what would come a second time
        self._look()

    async def _one(self, session: ClientSession, name: str, talks: Talks) -> None:
        """Ask, and again once that is answered and a while has passed."""
        place = {"id": name, "conversationType": "personal", "tenantId": "tenant-1"}
        await asyncio.sleep(talks.pace_s * random.random())
        for _ in range(talks.bursts):
            again = asyncio.create_task(asyncio.sleep(talks.pace_s))
            for _ in range(AHEAD):
                activity = self._channel.inbound(QUESTION, conversation=place)
                self.asked[name].append(activity["id"])
                self._at[activity["id"]] = time.monotonic()
                await self._posted(session, activity)
            await eventually(lambda: self.shown.keys() >= set(self.asked[name]), within_s=10 * STILL_S)
            await again

    async def _posted(self, session: ClientSession, activity: Json) -> None:
        """Until somebody takes it: a channel tries again."""
        while True:
            with suppress(ClientError, TimeoutError, OSError):
                async with session.post(self._address, json=activity) as response:
                    await response.read()
                    if response.status < 300:
                        return
            await asyncio.sleep(AGAIN_S)

    def _look(self) -> None:
        """What the channel has taken since."""
        for taken in self._channel.taken[self._read :]:
            question = taken.body.get("replyToId")
            if taken.body.get("type") != "message" or question is None:
                continue
            if ANSWER in str(taken.body):
                self.answered.add(question)
            if taken.method != "POST":
                continue
            self.shown[question] += 1
            if self.shown[question] == 1:
                self.came[taken.conversation].append(question)
                self.waits[question] = time.monotonic() - self._at[question]
        self._read = len(self._channel.taken)


@dataclass
class _Server:
    """A process that serves at one port, which is killed and started again."""

    command: list[str]
    env: dict[str, str]
    folder: Path
    port: int
    kills: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        with (self.folder / f"{self.port}.log").open("ab") as log:
            self.process = subprocess.Popen(self.command, env=self.env, cwd=self.folder, stdout=log, stderr=log)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    async def up(self) -> None:
        """Until it answers."""
        async with asyncio.timeout(START_S), ClientSession() as session:
            while True:
                with suppress(ClientError, OSError):
                    async with session.get(f"http://127.0.0.1:{self.port}/healthz") as reply:
                        if reply.status == 200:
                            return
                await asyncio.sleep(0.1)


@contextmanager
def _server(settings: Settings, url: str, folder: Path) -> Iterator[_Server]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    keys = folder / f"{settings.files.home.name}-keys"
    shutil.copytree(settings.files.ledger_key.parent, keys)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATTEST_")}
    env = {
        **kept,
        "PYTHONPATH": str(ROOT),
        "ATTEST_HOME": str(settings.files.home),
        "ATTEST_LEDGER_KEY_FILE": str(keys / "ledger.key"),
        "ATTEST_MODEL_FILE": str(settings.files.model_path),
        "ATTEST_DATABASE_URL": url,
        "ATTEST_RATE_PER_MINUTE": "1000000",  # all conversations are one person's
    }
    server = _Server([sys.executable, "-m", "bot", "serve", "--port", str(port), "--json"], env, folder, port)
    server.start()
    try:
        yield server
    finally:
        assert server.process is not None
        server.process.kill()
        server.process.wait()


async def _kill(servers: list[_Server], every_s: float) -> None:
    """One after the other, for as long as it is let; each is started again, and the next waits until it is up."""
    for server in cycle(servers):
        await asyncio.sleep(every_s)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(AWAY_S)
        server.start()
        await server.up()


@asynccontextmanager
async def _balancer(ports: list[int]) -> AsyncIterator[int]:
    """The port of nginx before the servers, or where none is installed of a balancer of ours that gives each connection to the next that takes it."""
    if nginx():
        port, servers = free_port(), " ".join(f"server 127.0.0.1:{n} max_fails=1 fail_timeout=1s;" for n in ports)
        with in_front(_SITE.format(servers=servers, port=port), port):
            yield port
        return
    turn = cycle(range(len(ports)))

    async def passed(came: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        begin = next(turn)
        for at in range(len(ports)):
            with suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", ports[(begin + at) % len(ports)])
                await asyncio.gather(_copy(came, there[1]), _copy(there[0], back))
                return
        back.close()

    async with await asyncio.start_server(passed, "127.0.0.1", 0) as listening:
        yield int(listening.sockets[0].getsockname()[1])


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    with suppress(OSError, RuntimeError):
        target.close()
