"""Times by a clock that is wound by hand, and the percentiles that are told of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.bench.figures import spread
from tests.bench.timing import each_ms, rate, timed, warm


class Wound:
    """A clock that stands still until somebody waits on it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def wait(self, seconds: float) -> str:
        self.now += seconds
        return f"waited {seconds:g}"


async def test_each_call_is_timed_by_itself_with_what_it_came_to() -> None:
    clock = Wound()
    assert await timed(clock.wait(0.25), clock=clock) == (250.0, "waited 0.25")
    assert await each_ms(clock.wait, [1.0, 0.5], clock=clock) == [1000.0, 500.0]


@pytest.mark.parametrize("run", [warm, each_ms, rate])
async def test_every_item_is_called_once_in_order(run: Callable[..., Awaitable[object]]) -> None:
    seen: list[int] = []

    async def call(item: int) -> None:
        seen.append(item)

    await run(call, [3, 1, 2])
    assert seen == [3, 1, 2]


def test_percentiles_are_observations_and_name_themselves() -> None:
    told = spread("turn", [float(n) for n in range(1, 101)], "ms", at=(50, 99), targets={99: "<= 200"}, note="warm")
    assert [(f.name, f.value, f.n, f.target, f.note) for f in told] == [
        ("turn, p50", 50.0, 100, "", "warm"),
        ("turn, p99", 99.0, 100, "<= 200", "warm"),
    ]
