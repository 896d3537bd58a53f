"""Benchmark of the bot's door, over a fake channel and real HTTP: how soon and how fast activities are acknowledged, beside a bare bot of botbuilder; turns on a slow channel; memory; over each SDK.

What takes time is alone on the machine, and done in two minutes. Memory is a bench of its own: its turns are seven minutes of a processor, and both bots are looked at side
by side, for it grows no faster or slower for company.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psutil
from aiohttp import ClientSession, TCPConnector, web

from tests.bench.figures import Figure, spread
from tests.bench.place import Place
from tests.fakes.channel import FakeChannel

CONVERSATIONS, EACH, PACED, PACE_S, SLOW, SLOW_S = 50, 20, 10, 1.0, 48, 1.0
"""Conversations at once; messages in each, as fast as they are acknowledged; messages in each at a pace of so many seconds, which no person keeps up; turns on the slow
channel, and seconds that it takes for a send."""
WARM, MANY, AT_ONCE = 1_000, 10_000, 40
"""Turns before memory is looked at, turns after which it is looked at again, and how many are under way together."""
AGAIN_S = 0.5
WARM_EACH = 2
TOLD_EACH = 1_000
"""Turns after which the part that takes minutes says how far it is."""
SDKS = ("botbuilder", "agents")
MIB = 2**20


class Counting(FakeChannel):
    """A channel that keeps nothing but how many messages came, and takes its time for each send."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.came, self._seconds = 0, seconds
        self.more = asyncio.Event()

    async def _take(self, request: web.Request) -> dict[str, Any]:
        body = dict(await request.json()) if request.can_read_body else {}
        if self._seconds:
            await asyncio.sleep(self._seconds)
        self.came += body.get("type") == "message"
        self.more.set()
        return body

    async def until_came(self, count: int) -> None:
        while self.came < count:
            self.more.clear()
            await self.more.wait()


async def bench_channel(place: Place) -> list[Figure]:
    """All that takes time, over each SDK, each part on bots of its own."""
    told = _Progress()
    echo, _ = await _rate("echo", place.scratch)
    told.done("bare bot")
    n = CONVERSATIONS * EACH
    figures = [
        Figure("a bare botbuilder bot, which answers before it acknowledges, activities a second", echo, "/s", n)
    ]
    for sdk in SDKS:
        figures += await _acknowledged(sdk, place, echo)
        told.done(f"{sdk}: acknowledged")
        figures.append(await _slow(sdk, place))
        told.done(f"{sdk}: slow channel")
    return figures


async def bench_channel_memory(place: Place) -> list[Figure]:
    """What the door's memory grows by over many turns, over each SDK."""
    told = _Progress()
    return [figure for grown in await asyncio.gather(*(_memory(s, place, told) for s in SDKS)) for figure in grown]


class _Progress:
    """Says on stderr what is done, and how many seconds after the beginning."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def done(self, what: str) -> None:
        sys.stderr.write(f"bench: channel: {what}, {time.perf_counter() - self._began:.0f} s\n")


async def _rate(kind: str, scratch: Path) -> tuple[float, list[float]]:
    """Activities that a bot acknowledges in a second, and how long each took in ms."""
    async with _running(kind, scratch) as (post, channel, _):
        await _warmed(post, channel)
        began = time.perf_counter()
        taken = await _post_all(post, channel, kind, EACH)
        rate = len(taken) / (time.perf_counter() - began)
        await channel.until_came(CONVERSATIONS * WARM_EACH + len(taken))
        return rate, taken


async def _acknowledged(sdk: str, place: Place, echo: float) -> list[Figure]:
    rate, fast = await _rate(sdk, place.scratch)
    async with _running(sdk, place.scratch) as (post, channel, _):
        await _warmed(post, channel)
        paced = await _post_all(post, channel, "paced", PACED, PACE_S)
        await channel.until_came(CONVERSATIONS * (WARM_EACH + PACED))  # none is left to a channel that is gone
    n = CONVERSATIONS * EACH
    name = f"{sdk}: activity acknowledged, {CONVERSATIONS} conversations at once"
    return [
        *spread(f"{name}, one message each {PACE_S:g} s", paced, "ms", targets={99: "<= 100"}),
        *spread(f"{name}, as fast as they can", fast, "ms"),
        Figure(f"{sdk}: activities acknowledged, a second", rate, "/s", n),
        Figure(f"{sdk}: share of the bare bot", rate / echo, "", n, ">= 0.8"),
    ]


async def _warmed(post: Any, channel: Counting) -> None:
    """Every conversation has had its first messages, and their answers: a queue of theirs would be measured as one of what follows."""
    await _post_all(post, channel, "warm", WARM_EACH)
    await channel.until_came(CONVERSATIONS * WARM_EACH)


async def _post_all(post: Any, channel: Counting, name: str, each: int, pace_s: float = 0.0) -> list[float]:
    """Milliseconds until each message was acknowledged; every conversation sends one after the other, at its pace."""

    async def talk(number: int) -> list[float]:
        await asyncio.sleep(pace_s * number / CONVERSATIONS)
        taken = []
        for _ in range(each):
            taken.append(ms := await post(_message(channel, f"{name}-{number}")))
            await asyncio.sleep(max(0.0, pace_s - ms / 1000))
        return taken

    return [ms for talked in await asyncio.gather(*map(talk, range(CONVERSATIONS))) for ms in talked]


async def _slow(sdk: str, place: Place) -> Figure:
    async with _running(sdk, place.scratch, SLOW_S) as (post, channel, _):
        began = time.perf_counter()
        await asyncio.gather(*(post(_message(channel, f"slow-{n}", group=True)) for n in range(SLOW)))
        await channel.until_came(SLOW)
        seconds = time.perf_counter() - began
    name = f"{sdk}: {SLOW} turns in groups on a channel that takes {SLOW_S:g} s a send"
    return Figure(name, seconds, "s", SLOW, "<= 2")


async def _memory(sdk: str, place: Place, told: _Progress) -> list[Figure]:
    async with _running(sdk, place.scratch) as (post, channel, process):
        waiting = asyncio.Semaphore(AT_ONCE)

        async def turn(number: int) -> None:
            async with waiting:
                await post(_message(channel, f"memory-{number % 200}"))
                await channel.until_came(number - 2 * AT_ONCE)  # no queue grows, so what grows is no queue
                if number % TOLD_EACH == 0:
                    told.done(f"{sdk}: memory, turn {number:,} of {WARM + MANY:,}")

        await asyncio.gather(*(turn(n) for n in range(WARM)))
        before = process.memory_info().rss / MIB
        await asyncio.gather(*(turn(n) for n in range(WARM, WARM + MANY)))
        await channel.until_came(WARM + MANY)
        after = process.memory_info().rss / MIB
    return [
        Figure(f"{sdk}: resident memory of the door after {WARM:,} turns", before, "MiB", WARM),
        Figure(f"{sdk}: growth over {MANY:,} turns more", after - before, "MiB", MANY, "flat"),
    ]


def _message(channel: Counting, conversation: str, *, group: bool = False) -> dict[str, Any]:
    kind = "groupChat" if group else "personal"
    place = {"id": conversation, "conversationType": kind, "tenantId": "tenant-1"}
    return channel.inbound(conversation=place)


@asynccontextmanager
async def _running(
    kind: str, folder: Path, seconds: float = 0.0
) -> AsyncIterator[tuple[Any, Counting, psutil.Process]]:
    """A bot in a process of its own and a channel: what posts an activity and says how long that took, the channel, the process."""
    home = folder / f"{kind}-{time.monotonic_ns()}"
    home.mkdir()
    with _bot(kind, home) as process:
        assert process.stdout is not None
        url = (await asyncio.to_thread(process.stdout.readline)).strip()
        channel = Counting(seconds)
        async with channel, ClientSession(connector=TCPConnector(limit=0)) as session:

            async def post(activity: dict[str, Any]) -> float:
                began = time.perf_counter()
                while True:
                    async with session.post(url, json=activity) as response:
                        await response.read()
                    if response.status != 503:  # the queue is full: a channel tries again, and so does this
                        break
                    await asyncio.sleep(AGAIN_S)
                assert response.status in (200, 201, 202), response.status
                return (time.perf_counter() - began) * 1000

            yield post, channel, psutil.Process(process.pid)


@contextmanager
def _bot(kind: str, home: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.bench.channel_bot", kind, str(home)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)
