"""Choice among backends: who is asked first, who takes over after what, what a failed one costs, and when it is tried again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import pytest

from grounding.errors import (
    AttestError,
    ContentFiltered,
    ReplyCut,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.services.backends import Backend, Backends
from grounding.services.breaker import LONGEST_PAUSE_S, Breaker
from grounding.services.remote import CircuitOpen, Overloaded, Remote, Throttled
from tests.fakes.clock import AMPLE_S, at_once, time_passes

COOLDOWN_S = 30.0
DOWN = ServiceUnavailable("svc", "failed (status 500)")


class Now:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Server:
    """Says its name, or does what the script says: an error, or `hang`."""

    def __init__(self, name: str, *script: AttestError | str) -> None:
        self.name, self.script, self.calls = name, list(script), 0

    async def __call__(self) -> str:
        self.calls += 1
        step = self.script.pop(0) if self.script else None
        if step == "hang":
            asyncio.get_running_loop().call_soon(time_passes)
            await asyncio.Event().wait()
        if isinstance(step, AttestError):
            raise step
        return self.name


Ask = Callable[[Callable[[], Awaitable[str]]], Awaitable[str]]


class Client:
    """A client of a server, each call of which goes through its wrapper."""

    def __init__(self, server: Server, remote: Remote) -> None:
        self.server, self.remote = server, remote

    async def ask(self) -> str:
        return await self.remote.call(self.server)


def several(
    *servers: Server,
    now: Now,
    orders: Callable[[int], int] = lambda place: place,
    weights: Callable[[int], float] = lambda _place: 1.0,
    draw: Callable[[], float] = lambda: 0.5,
    retries: int = 2,
) -> Backends[Client]:
    made = []
    for place, server in enumerate(servers):
        breaker = Breaker(5, COOLDOWN_S, clock=now)
        remote = Remote(
            f"svc {server.name}", deadline_s=AMPLE_S / 2, retries=retries, breaker=breaker, clock=now, sleep=at_once
        )
        made.append(Backend(server.name, "m", Client(server, remote), remote, orders(place), weights(place)))
    return Backends("svc", made, draw=draw)


async def answer(backends: Backends[Client]) -> str:
    return (await backends.call(lambda client: client.ask())).result


@pytest.mark.parametrize(
    "fault",
    [
        DOWN,
        Overloaded("svc", "cannot serve now (status 503)", retry_after=1.0),
        Throttled("svc", "too many requests (status 429)"),
        ServiceRejected("svc", "the quota of this key is used up (status 429)", here_alone=True),
        ServiceRejected("svc", "the key was refused (status 401)", here_alone=True),
        ServiceReplyInvalid("svc", "a web page came back"),
        "hang",
    ],
    ids=["5xx", "503 with a pause", "429", "quota", "key", "web page", "timeout"],
)
async def test_the_next_takes_over_at_once(fault: AttestError | str) -> None:
    first, second = Server("a", fault), Server("b")
    answered = await several(first, second, now=Now()).call(lambda client: client.ask())
    assert (answered.result, answered.backend.name, first.calls) == ("b", "b", 1)
    assert answered.failed is not None


@pytest.mark.parametrize(
    "fault",
    [
        ServiceRejected("svc", "the prompt is longer than the model can take (status 400)"),
        ReplyCut("svc", "the reply was cut"),
        ContentFiltered("svc: the filter refused the prompt"),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_what_is_said_of_the_request_is_not_asked_elsewhere(fault: AttestError) -> None:
    second = Server("b")
    with pytest.raises(type(fault)):
        await answer(several(Server("a", fault), second, now=Now(), retries=0))
    assert second.calls == 0


@pytest.mark.parametrize("fault", [DOWN, "hang"], ids=["5xx", "timeout"])
async def test_a_failed_one_is_left_alone_until_its_breaker_tries_again(fault: AttestError | str) -> None:
    """It costs one call, then nothing; after the cooldown one call tries it, and if that fails, as long again."""
    now, first, second = Now(), Server("a", fault, fault), Server("b")
    backends = several(first, second, now=now)
    asked = []
    for seconds in (0.0, 1.0, COOLDOWN_S - 0.1, COOLDOWN_S, COOLDOWN_S + 1, 2 * COOLDOWN_S - 0.1, 2 * COOLDOWN_S):
        now.seconds = seconds
        await answer(backends)
        asked.append(first.calls)
    assert asked == [1, 1, 1, 2, 2, 2, 3]
    assert await answer(backends) == "a", "it is well again"


async def test_a_pause_that_it_asks_for_counts_in_place_of_the_cooldown() -> None:
    now, first = Now(), Server("a", Throttled("svc", "429", retry_after=90.0), Throttled("svc", "429", retry_after=1e6))
    backends = several(first, Server("b"), now=now)
    for seconds, calls in ((0.0, 1), (89.0, 1), (90.0, 2), (90.0 + LONGEST_PAUSE_S, 3)):
        now.seconds = seconds
        await answer(backends)
        assert first.calls == calls


async def test_without_a_stand_in_a_pause_that_is_asked_for_does_not_shorten_the_cooldown() -> None:
    now, server = Now(), Server("a", *[Overloaded("svc", "503", retry_after=1.0)] * 5)
    alone = several(server, now=now, retries=0)
    for _ in range(5):
        with pytest.raises(Overloaded):
            await answer(alone)
    now.seconds = COOLDOWN_S - 1
    with pytest.raises(CircuitOpen):
        await answer(alone)
    now.seconds = COOLDOWN_S
    assert await answer(alone) == "a"


async def test_nobody_waits_for_a_trial_while_another_answers() -> None:
    now, first, second = Now(), Server("a", DOWN), Server("b")
    backends = several(first, second, now=now)
    await answer(backends)
    now.seconds = COOLDOWN_S
    gate = asyncio.Event()

    async def trial() -> str:
        await gate.wait()
        return "a"

    tried = asyncio.ensure_future(backends.backends[0].remote.call(trial))
    await asyncio.sleep(0)
    async with asyncio.timeout(30):  # of this machine: who waits for the trial waits for ever
        assert await answer(backends) == "b"
    gate.set()
    assert await tried == "a"


async def test_the_last_that_is_left_is_tried_again_and_not_left_alone_at_once() -> None:
    now = Now()
    first, second = Server("a", DOWN), Server("b", DOWN, DOWN)
    backends = several(first, second, now=now)
    assert await answer(backends) == "b", "its third try"
    assert (first.calls, second.calls) == (1, 3)
    assert backends.trouble is None


async def test_with_all_of_them_down_a_reason_is_told_and_then_nobody_is_called() -> None:
    now, servers = Now(), (Server("a", *[DOWN] * 9), Server("b", *[DOWN] * 9))
    backends = several(*servers, now=now, retries=0)
    with pytest.raises(ServiceUnavailable, match="failed"):
        await answer(backends)
    for _ in range(4):
        with pytest.raises(ServiceUnavailable):
            await answer(backends)
    assert backends.trouble is not None
    before = [server.calls for server in servers]
    with pytest.raises(CircuitOpen):
        await answer(backends)
    assert [server.calls for server in servers] == before == [1, 5]


async def test_two_that_fail_side_by_side_are_not_both_left_alone() -> None:
    now = Now()
    backends = several(Server("a", DOWN), Server("b", DOWN), now=now, orders=lambda _: 1, retries=0)
    one, other = (backend.client for backend in backends.backends)
    await asyncio.gather(one.ask(), other.ask(), return_exceptions=True)
    assert sorted(backend.remote.breaker.state for backend in backends.backends) == ["closed", "open"]


async def test_a_caller_who_gives_up_on_one_that_hangs_finds_it_left_alone() -> None:
    """Whoever waits for less than the call's deadline, but for most of it, has found out all the same."""
    now, first, second = Now(), Server("a"), Server("b")
    backends = several(first, second, now=now)

    async def hang() -> str:
        now.seconds += AMPLE_S * 0.4
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await backends.backends[0].remote.call(hang)
    assert await answer(backends) == "b"


def draws(*numbers: float) -> Callable[[], float]:
    left: Iterator[float] = iter(numbers)
    return lambda: next(left)


@pytest.mark.parametrize(("drawn", "first"), [((0.9, 0.5), "a"), ((0.5, 0.9), "b")])
async def test_of_one_order_chance_decides(drawn: tuple[float, float], first: str) -> None:
    backends = several(Server("a"), Server("b"), now=Now(), orders=lambda _: 1, draw=draws(*drawn))
    assert await answer(backends) == first


async def test_each_gets_the_share_of_its_weight() -> None:
    """Three quarters and one, over a grid of draws that stands for chance without being any."""
    grid = [(i + 0.5) / 40 for i in range(40)]
    found: Counter[str] = Counter()
    for x in grid:
        for y in grid:
            weights = (3.0, 1.0)
            several_of = several(
                Server("a"), Server("b"), now=Now(), orders=lambda _: 1, weights=weights.__getitem__, draw=draws(x, y)
            )
            found[await answer(several_of)] += 1
    assert found["a"] / found.total() == pytest.approx(0.75, abs=0.02)


async def test_a_timeout_of_the_last_is_a_timeout() -> None:
    with pytest.raises(ServiceTimeout):
        await answer(several(Server("a", "hang"), now=Now()))
