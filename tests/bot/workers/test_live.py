"""Who serves over one state: signs of life, and configurations that differ."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import update

from bot.state import State, workers
from bot.workers.live import GONE_S, LiveWorker, SignsOfLife, differences
from tests.postgres.state import Opener

ONE = LiveWorker("srv1-1", 10, {"policies": "a", "ATTEST_GRADER": "b"})
TWO = LiveWorker("srv2-1", 5, {"policies": "a", "ATTEST_GRADER": "c", "off_policy.yaml": "d"})


async def pass_by(state: State, name: str, seconds: float) -> None:
    """A process that is called so gave its last sign so much earlier."""
    older = update(workers).where(workers.c.name == name).values(seen=workers.c.seen - seconds)
    await state.run(lambda connection: connection.execute(older))


async def test_each_learns_of_the_others_until_they_end_or_are_gone(another: Opener) -> None:
    states = [await another() for _ in range(3)]
    first, second, third = (SignsOfLife(state) for state in states)
    assert await first.give(ONE) == []
    assert await second.give(TWO) == [ONE]
    assert await first.give(ONE) == [TWO]
    assert await third.give(ONE) == [ONE, TWO]  # two of one machine have one name
    await third.end()
    assert await first.give(ONE) == [TWO]
    await pass_by(states[0], TWO.name, GONE_S - 5)
    assert await first.give(ONE) == [TWO]
    await pass_by(states[0], TWO.name, 10)
    assert await first.give(ONE) == []
    assert await states[0].ask(lambda db: len(db.execute(workers.select()).all())) == 1  # it is struck
    assert await second.give(TWO) == [ONE]  # it was only slow


async def test_two_signs_of_one_process_at_once_are_one(another: Opener) -> None:
    states = [await another() for _ in range(2)]
    one, other = (SignsOfLife(state) for state in states)
    for _ in range(5):
        assert await asyncio.gather(*(one.give(ONE) for _ in range(8))) == [[]] * 8
    assert await other.give(TWO) == [ONE]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([], []),
        ([ONE], []),
        ([ONE, ONE], []),
        ([ONE, TWO], ["srv2-1 differs from srv1-1 in ATTEST_GRADER, off_policy.yaml"]),
        (
            [ONE, replace(TWO, name=ONE.name)],
            ["another srv1-1 differs from srv1-1 in ATTEST_GRADER, off_policy.yaml"],
        ),
        ([TWO, ONE, TWO], ["srv1-1 differs from srv2-1 in ATTEST_GRADER, off_policy.yaml"]),
    ],
)
def test_what_differs_is_told_by_its_part(found: list[LiveWorker], told: list[str]) -> None:
    assert list(differences(found)) == told


def test_of_many_parts_some_are_told() -> None:
    other = LiveWorker("srv9-1", 10, {f"ATTEST_{n}": "x" for n in range(9)})
    (line,) = differences([LiveWorker("srv1-1", 10, {}), other])
    assert line.endswith("ATTEST_4, ATTEST_5 and 3 more")
