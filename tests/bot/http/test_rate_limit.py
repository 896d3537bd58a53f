"""Token buckets."""

from __future__ import annotations

import pytest

from bot.http.rate_limit import MAX_CALLERS, RateLimiter


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
