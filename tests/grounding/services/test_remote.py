"""The wrapper around remote calls: what is tried again, when, how often, and when the service is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import (
    ContentFiltered,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.services.breaker import Breaker
from grounding.services.remote import BACKOFF_CAP_S, CircuitOpen, Overloaded, Remote, Throttled, retry_after
from tests.fakes.clock import AMPLE_S, time_passes


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Service:
    """Does in turn what the script says; its last step repeats."""

    def __init__(self, *script: str | Exception) -> None:
        self._script = list(script)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(step, Exception):
            raise step
        return step


def remote(
    time: Time,
    *,
    retries: int = 2,
    deadline_s: float = 20.0,
    limit: int = 16,
    jitter: Callable[[], float] = lambda: 1.0,
    breaker: Breaker | None = None,
) -> Remote:
    return Remote(
        "svc",
        deadline_s=deadline_s,
        retries=retries,
        limit=limit,
        breaker=breaker or Breaker(clock=time.clock),
        clock=time.clock,
        sleep=time.sleep,
        jitter=jitter,
    )


def state(breaker: Breaker) -> str:
    return breaker.state


DOWN = ServiceUnavailable("svc", "refused")
BAD = ServiceReplyInvalid("svc", "a web page came back")


@pytest.mark.parametrize(
    ("script", "calls", "result"),
    [
        ((DOWN, "fine"), 2, "fine"),
        ((DOWN, DOWN, "fine"), 3, "fine"),
        ((DOWN,), 3, ServiceUnavailable),
        ((BAD, "fine"), 2, "fine"),
        ((BAD,), 2, ServiceReplyInvalid),
        ((BAD, DOWN, "fine"), 3, "fine"),
        ((ServiceRejected("svc", "bad key"), "fine"), 1, ServiceRejected),
        ((Throttled("svc", "slow down", retry_after=1), "fine"), 2, "fine"),
        ((Throttled("svc", "slow down"), "fine"), 2, "fine"),
        ((ServiceTimeout("svc", "late"), "fine"), 1, ServiceTimeout),
        ((ContentFiltered("no"), "fine"), 1, ContentFiltered),
        ((KeyError("a mistake of ours"), "fine"), 1, KeyError),
    ],
)
async def test_what_is_tried_again(
    script: tuple[str | Exception, ...], calls: int, result: str | type[Exception]
) -> None:
    service = Service(*script)
    call = remote(Time()).call(service)
    if isinstance(result, str):
        assert await call == result
    else:
        with pytest.raises(result):
            await call
    assert service.calls == calls


async def test_no_retries_means_one_attempt_even_for_a_bad_reply() -> None:
    for error in (DOWN, BAD, Throttled("svc", "slow down", retry_after=1)):
        service = Service(error)
        with pytest.raises(ServiceError):
            await remote(Time(), retries=0).call(service)
        assert service.calls == 1


async def test_backoff_doubles_up_to_its_cap() -> None:
    time = Time()
    with pytest.raises(ServiceUnavailable):
        await remote(time, retries=6, deadline_s=100, breaker=Breaker(99, clock=time.clock)).call(Service(DOWN))
    assert time.slept == [0.5, 1.0, 2.0, 4.0, BACKOFF_CAP_S, BACKOFF_CAP_S]


async def test_jitter_spreads_the_backoff_from_zero() -> None:
    time = Time()
    with pytest.raises(ServiceUnavailable):
        await remote(time, jitter=lambda: 0.25).call(Service(DOWN))
    assert time.slept == [0.125, 0.25]


@pytest.mark.parametrize("error", [Throttled("svc", "", retry_after=7), Overloaded("svc", "", retry_after=7)])
async def test_retry_after_comes_before_the_backoff(error: ServiceError) -> None:
    time = Time()
    assert await remote(time).call(Service(error, "fine")) == "fine"
    assert time.slept == [7.5]


async def test_retry_after_beyond_the_deadline_is_not_waited_for() -> None:
    time = Time()
    service = Service(Throttled("svc", "slow down", retry_after=600))
    with pytest.raises(Throttled):
        await remote(time).call(service)
    assert (time.slept, service.calls) == ([], 1)


async def test_pauses_add_up_against_the_deadline() -> None:
    time = Time()
    service = Service(Throttled("svc", "slow down", retry_after=9))
    with pytest.raises(Throttled):
        await remote(time, retries=5, jitter=lambda: 0.0).call(service)
    assert (time.slept, service.calls) == ([9.0, 9.0], 3)


async def test_deadline_ends_an_attempt_that_never_answers() -> None:
    ended = asyncio.Event()

    async def never() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    with pytest.raises(ServiceTimeout, match=r"^svc: no answer within 0\.01 s$") as caught:
        await Remote("svc", deadline_s=0.01).call(never)
    assert ended.is_set(), "the attempt is cancelled, not abandoned"
    assert caught.value.code == "deadline"


async def test_deadline_names_the_last_failure_as_its_cause() -> None:
    script = iter([True, False])

    async def fails_then_hangs() -> str:
        if next(script):
            raise DOWN
        time_passes()
        await asyncio.sleep(60)
        return ""

    with pytest.raises(ServiceTimeout) as caught:
        await Remote("svc", deadline_s=AMPLE_S, jitter=lambda: 0.0).call(fails_then_hangs)
    assert caught.value.__cause__ is DOWN


async def test_a_shorter_deadline_of_the_caller_stays_the_callers() -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        return ""

    svc = Remote("svc", deadline_s=60, breaker=Breaker(1))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await svc.call(never)
    assert svc.breaker.state == "closed"


async def test_cancellation_passes_through() -> None:
    started = asyncio.Event()

    async def never() -> str:
        started.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.create_task(Remote("svc").call(never))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_timeout_error_of_the_attempt_is_not_taken_for_ours() -> None:
    with pytest.raises(TimeoutError) as caught:
        await remote(Time()).call(Service(TimeoutError("from below")))
    assert str(caught.value) == "from below"


async def test_bulkhead_bounds_what_is_under_way() -> None:
    under_way = most = 0

    async def attempt() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(3):
            await asyncio.sleep(0)
        under_way -= 1

    svc = Remote("svc", limit=3)
    await asyncio.gather(*(svc.call(attempt) for _ in range(20)))
    assert most == 3


async def test_waiting_for_a_place_counts_against_the_deadline_and_not_against_the_service() -> None:
    release = asyncio.Event()

    async def hold() -> str:
        await release.wait()
        return "held"

    svc = Remote("svc", limit=1, deadline_s=30, breaker=Breaker(1))
    holder = asyncio.create_task(svc.call(hold))
    await asyncio.sleep(0)
    svc.deadline_s = 0.01
    with pytest.raises(ServiceTimeout):
        await svc.call(Service("never asked"))
    assert svc.breaker.state == "closed"
    release.set()
    assert await holder == "held"


async def test_a_pausing_call_holds_no_place() -> None:
    time = Time()
    svc = remote(time, limit=1)
    other = Service("other")

    async def first_fails() -> str:
        first_fails_calls.append(1)
        if len(first_fails_calls) == 1:
            raise DOWN
        assert other.calls == 1
        return "fine"

    first_fails_calls: list[int] = []
    assert list(await asyncio.gather(svc.call(first_fails), svc.call(other))) == ["fine", "other"]


async def test_breaker_opens_after_failures_in_a_row_and_then_nothing_is_called() -> None:
    time = Time()
    svc = remote(time, retries=0, breaker=Breaker(3, clock=time.clock))
    service = Service(DOWN)
    for _ in range(3):
        with pytest.raises(ServiceUnavailable, match="refused"):
            await svc.call(service)
    with pytest.raises(CircuitOpen, match="left alone"):
        await svc.call(service)
    assert service.calls == 3


async def test_the_error_that_opens_the_breaker_is_the_one_that_is_raised() -> None:
    time = Time()
    service = Service(DOWN)
    with pytest.raises(ServiceUnavailable, match="refused"):
        await remote(time, retries=5, breaker=Breaker(2, clock=time.clock)).call(service)
    assert service.calls == 2


async def test_a_success_in_between_keeps_the_breaker_closed() -> None:
    time = Time()
    svc = remote(time, retries=0, breaker=Breaker(2, clock=time.clock))
    for _ in range(4):
        with pytest.raises(ServiceUnavailable):
            await svc.call(Service(DOWN))
        assert await svc.call(Service("fine")) == "fine"
    assert svc.breaker.state == "closed"


async def test_being_refused_is_no_failure_of_the_service() -> None:
    time = Time()
    svc = remote(time, retries=0, breaker=Breaker(1, clock=time.clock))
    for error in (ServiceRejected("svc", "bad key"), Throttled("svc", "slow down"), ContentFiltered("no")):
        with pytest.raises(type(error)):
            await svc.call(Service(error))
    assert svc.breaker.state == "closed"


async def test_our_deadline_is_a_failure_of_the_service() -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        return ""

    svc = Remote("svc", deadline_s=0.01, breaker=Breaker(1))
    with pytest.raises(ServiceTimeout):
        await svc.call(never)
    assert svc.breaker.state == "open"


@pytest.mark.parametrize(("ok", "ends"), [(True, "closed"), (False, "open"), (None, "half-open")])
def test_breaker_half_open_admits_one_trial_whose_end_decides(ok: bool | None, ends: str) -> None:
    time = Time()
    breaker = Breaker(1, cooldown_s=30, clock=time.clock)
    first = breaker.admit()
    assert first is not None
    breaker.report(first, ok=False)
    time.now += 29.9
    assert (state(breaker), breaker.admit()) == ("open", None)
    time.now += 0.1
    assert state(breaker) == "half-open"
    trial = breaker.admit()
    assert trial is not None
    assert breaker.admit() is None, "only one trial"
    breaker.report(trial, ok=ok)
    assert state(breaker) == ends
    assert (breaker.admit() is None) == (ends == "open")


def test_breaker_ignores_attempts_from_before_its_last_change() -> None:
    time = Time()
    breaker = Breaker(1, cooldown_s=30, clock=time.clock)
    early, late = breaker.admit(), breaker.admit()
    assert early is not None
    assert late is not None
    breaker.report(early, ok=False)
    breaker.report(late, ok=True)
    assert state(breaker) == "open"
    time.now += 30
    assert breaker.admit() is not None
    breaker.report(late, ok=False)
    assert state(breaker) == "half-open"


@given(st.lists(st.tuples(st.sampled_from(["admit", "ok", "failed", "off", "wait"]), st.integers(0, 5))))
def test_breaker_never_admits_while_open_and_never_locks_for_good(steps: list[tuple[str, int]]) -> None:
    time = Time()
    breaker = Breaker(2, cooldown_s=10, clock=time.clock)
    out: list[int] = []
    ends: dict[str, bool | None] = {"ok": True, "failed": False, "off": None}
    for step, n in steps:
        if step == "wait":
            time.now += n * 3
        elif step == "admit":
            was_open = state(breaker) == "open"
            ticket = breaker.admit()
            assert not (was_open and ticket is not None)
            if ticket is not None:
                out.append(ticket)
        elif out:
            breaker.report(out.pop(n % len(out)), ok=ends[step])
    for ticket in out:
        breaker.report(ticket, ok=None)
    time.now += 10
    assert breaker.admit() is not None


NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "milliseconds", "seconds"),
    [
        ("3", None, 3.0),
        ("0", None, 0.0),
        ("1.5", None, 1.5),
        ("3", "250", 0.25),
        ("3", "soon", 3.0),
        (format_datetime(NOW.replace(minute=2), usegmt=True), None, 120.0),
        (format_datetime(NOW.replace(hour=11), usegmt=True), None, 0.0),
        (None, None, None),
        ("", None, None),
        ("-3", None, None),
        ("nan", None, None),
        ("inf", None, None),
        ("tomorrow", None, None),
    ],
)
def test_retry_after_header(value: str | None, milliseconds: str | None, seconds: float | None) -> None:
    assert retry_after(value, milliseconds=milliseconds, now=NOW.timestamp()) == seconds


@given(st.text(), st.text())
def test_retry_after_reads_any_header_without_failing(value: str, milliseconds: str) -> None:
    seconds = retry_after(value, milliseconds=milliseconds, now=0.0)
    assert seconds is None or seconds >= 0


def test_attempts_may_be_any_awaitable() -> None:
    def attempt() -> Awaitable[int]:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        future.set_result(3)
        return future

    async def main() -> int:
        return await Remote("svc").call(attempt)

    assert asyncio.run(main()) == 3
