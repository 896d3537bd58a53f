"""Token buckets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bot.events.digests import Digests
from bot.http.rate_limit import MAX_CALLERS, RateLimiter, SharedRateLimiter
from bot.state import State, rates
from tests.postgres.state import Opener, opener, shared
from tests.postgres.trips import trips


def test_a_full_bucket_lets_a_burst_through_and_then_refills_evenly() -> None:
    now = [0.0]
    limiter = RateLimiter(6, clock=lambda: now[0])
    assert [limiter.take("a") for _ in range(6)] == [0.0] * 6
    assert limiter.take("a") == 10.0
    now[0] = 9.0
    assert limiter.take("a") == pytest.approx(1.0)
    now[0] = 10.0
    assert limiter.take("a") == 0.0
    assert limiter.take("b") == 0.0


def test_a_refused_request_costs_nothing() -> None:
    now = [0.0]
    limiter = RateLimiter(1, clock=lambda: now[0])
    limiter.take("a")
    for _ in range(50):
        limiter.take("a")
    now[0] = 60.0
    assert limiter.take("a") == 0.0


def test_a_long_pause_fills_the_bucket_no_more_than_full() -> None:
    now = [0.0]
    limiter = RateLimiter(2, clock=lambda: now[0])
    limiter.take("a")
    now[0] = 1e6
    assert [limiter.take("a") == 0.0 for _ in range(3)] == [True, True, False]


def test_the_table_of_callers_is_bounded() -> None:
    limiter = RateLimiter(1, clock=lambda: 0.0)
    for i in range(MAX_CALLERS + 10):
        limiter.take(str(i))
    assert limiter.take(str(MAX_CALLERS + 9)) > 0
    assert limiter.take("10") > 0
    assert limiter.take("9") == 0, "the one before should be forgotten"


@pytest.fixture(params=["sqlite", "postgres"])
async def another(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens the same state once more, as another process does."""
    place = tmp_path / "state.db" if request.param == "sqlite" else shared(request.getfixturevalue("database_url"))
    async with opener(place) as open_one:
        yield open_one


async def at(state: State, seconds_later: float) -> None:
    """So much time passes for every caller."""
    await state.run(lambda db: db.execute(update(rates).values(full_at=rates.c.full_at - seconds_later)))


async def test_shared_buckets_are_as_those_of_one_process(another: Opener, tmp_path: Path) -> None:
    states = [await another() for _ in range(2)]
    one, two = [SharedRateLimiter(6, state, Digests(tmp_path / "key")) for state in states]
    took = await asyncio.gather(*(limiter.take("a") for limiter in (one, two) * 5))
    assert took.count(0.0) == 6
    assert await one.take("a") == pytest.approx(10.0, abs=1.0)
    assert await two.take("b") == 0.0
    await at(states[0], 9.0)
    wait = await two.take("a")
    assert 0 < wait <= 1.0
    await at(states[0], wait)
    assert await one.take("a") == 0.0
    assert await one.take("a") > 8.0
    assert await one.take("a", 0.1) > 0.0
    await at(states[0], 1.0)
    assert await two.take("a", 0.1) == 0.0
    assert await one.take("new", 7.0) == pytest.approx(10.0)  # more than a bucket holds
    await at(states[0], 600.0)
    assert [await one.take("a") == 0.0 for _ in range(7)] == [True] * 6 + [False]


async def test_full_shared_buckets_are_forgotten(another: Opener, tmp_path: Path) -> None:
    state = await another()
    limiter = SharedRateLimiter(6, state, Digests(tmp_path / "key"))
    for caller in "abc":
        await limiter.take(caller)
    await limiter.tidy()
    assert await state.ask(lambda db: len(db.execute(select(rates)).all())) == 3
    await at(state, 10.1)
    await limiter.tidy()
    assert await state.ask(lambda db: len(db.execute(select(rates)).all())) == 0


async def test_a_request_that_is_allowed_takes_one_round_trip(database_url: str, tmp_path: Path) -> None:
    async with opener(shared(database_url)) as another:
        limiter = SharedRateLimiter(6, await another(), Digests(tmp_path / "key"))
        await limiter.take("a")
        with trips() as made:
            await limiter.take("a")
    assert len(made) == 1, made
