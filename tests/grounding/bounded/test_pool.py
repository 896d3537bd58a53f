"""Work in children: what it gives comes back, what overruns or dies costs one child, and this process goes on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from grounding.bounded.limits import Limits
from grounding.bounded.pool import Pool, shared_pool
from grounding.errors import InputError, WorkFailed, WorkOverran
from tests.grounding.bounded import work

ROOT = Path(__file__).parents[3]
BRIEF = Limits(seconds=0.5, seconds_per_byte=0.0, patience=200.0)
"""Of processor time, which is the same on a machine that is busy."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(BRIEF, size=2)
    yield made
    made.close()


async def both_at_work(pool: Pool, folder: Path) -> None:
    """Returns when both children of a pool of two are there: it starts the second when the first is found busy."""
    met = asyncio.gather(*(pool.run(work.meets, str(folder), 2) for _ in range(2)))
    while len(list(folder.iterdir())) < 2 and not met.done():
        pool.begin(work.pid)  # the pool looks whether there is work for another child when work comes
        await asyncio.sleep(0.1)
    await met


async def there(file: Path) -> None:
    """Returns when the file is there; raises TimeoutError if it does not come."""
    async with asyncio.timeout(60):
        while not file.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)


async def test_a_call_gives_what_the_function_gives(pool: Pool) -> None:
    assert await pool.run(work.doubled, "né\ud800", times=3) == "né\ud800" * 3


async def test_a_pattern_that_backtracks_is_ended_and_this_process_goes_on(pool: Pool, tmp_path: Path) -> None:
    """The loop turns, and other calls are answered, while a child is held by a pattern."""
    await both_at_work(pool, tmp_path)
    held = asyncio.create_task(pool.run(work.backtracks, "a" * 60))
    turns = 0
    while not held.done():
        assert await pool.run(work.doubled, "b") == "bb"
        turns += 1
    with pytest.raises(WorkOverran, match=r"work\.backtracks took longer than"):
        await held
    assert turns > 1
    assert await pool.run(work.backtracks, "aab")


async def test_the_clock_ends_what_no_processor_time_does() -> None:
    pool = Pool(Limits(seconds=60.0, seconds_per_byte=0.0, patience=0.01), size=1)
    with pytest.raises(WorkOverran):
        await pool.run(work.sleeps, 60.0)
    pool.close()


async def test_the_first_call_of_a_child_may_take_longer() -> None:
    """It reads the tables of what it runs, for which no text is to blame."""
    pool = Pool(Limits(seconds=0.5, seconds_per_byte=0.0, patience=1.0, first=60.0), size=1)
    child = await pool.run(work.sleeps, 0.9)
    with pytest.raises(WorkOverran):
        await pool.run(work.sleeps, 30.0)
    assert await pool.run(work.pid) != child
    pool.close()


async def test_an_error_of_ours_comes_back_as_it_is(pool: Pool) -> None:
    with pytest.raises(InputError, match="x: not allowed") as raised:
        await pool.run(work.refuses, "x")
    assert raised.value.code == "odd"


async def test_any_other_error_tells_its_place_and_none_of_its_words(pool: Pool) -> None:
    with pytest.raises(WorkFailed, match=r"ValueError at grounding/bounded/worker\.py:\d+$") as raised:
        await pool.run(work.raises, "secret words")
    assert "secret" not in str(raised.value)


async def test_what_cannot_be_sent_back_is_an_error_and_no_hang(pool: Pool) -> None:
    with pytest.raises(WorkFailed):
        await pool.run(work.cannot_be_sent)
    with pytest.raises(WorkFailed, match="ServiceUnavailable"):
        await pool.run(work.fails_as_a_service_does)


async def test_what_cannot_be_read_here_costs_its_child_and_leaves_none_at_work() -> None:
    pool = Pool(BRIEF, size=1)
    first = await pool.run(work.pid)
    with pytest.raises(WorkFailed, match=r"work\.cannot_be_read: its reply cannot be read: ValueError at ") as raised:
        await pool.run(work.cannot_be_read)
    assert "secret" not in str(raised.value)
    assert not psutil.pid_exists(first)
    assert await pool.run(work.doubled, "e") == "ee"
    pool.close()


async def test_a_process_that_dies_is_replaced() -> None:
    """Once for what may have been there before, and no second time for what kills a new one too."""
    pool = Pool(BRIEF, size=1)
    assert await pool.run(work.dies_once, "a") == "a"
    assert await pool.run(work.dies_once, "b") == "b"
    with pytest.raises(WorkFailed, match="ended by itself"):
        await pool.run(work.dies)
    assert await pool.run(work.doubled, "c") == "cc"
    pool.close()


async def test_as_many_children_as_there_is_work_for_and_the_last_one_first(tmp_path: Path) -> None:
    pool = Pool(BRIEF, size=2)
    first = await pool.run(work.pid)
    assert {await pool.run(work.pid) for _ in range(5)} == {first}
    both = await asyncio.gather(*(pool.run(work.meets, str(tmp_path), 2) for _ in range(4)))
    assert len(set(both)) == 2
    pool.close()
    assert not psutil.pid_exists(first)


async def test_a_call_that_nobody_waits_for_any_more_is_not_begun() -> None:
    pool = Pool(BRIEF, size=1)
    first = asyncio.create_task(pool.run(work.sleeps, 0.5))
    second = asyncio.create_task(pool.run(work.dies))
    await asyncio.sleep(0)
    second.cancel()
    worker = await first
    assert await pool.run(work.pid) == worker
    pool.close()


async def test_closing_ends_what_is_going_on_and_work_may_follow(tmp_path: Path) -> None:
    pool = Pool(Limits(seconds=60.0, seconds_per_byte=0.0), size=1)
    await pool.run(work.pid)
    held = asyncio.create_task(pool.run(work.held, str(tmp_path / "begun")))
    await there(tmp_path / "begun")
    pool.close()
    with pytest.raises(WorkFailed):
        await held
    assert await pool.run(work.doubled, "d") == "dd"
    pool.close()


async def test_what_is_logged_in_a_child_is_logged_here(pool: Pool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "attest"):
        await pool.run(work.warns, "this")
    assert "seen: this" in caplog.text
    assert await pool.run(work.prints) == "quiet"


def test_nothing_is_left_when_the_program_ends_in_the_middle() -> None:
    """A child that is held by a pattern does not outlive whoever asked, and holds nobody up."""
    code = (
        "import asyncio, sys\n"
        "from grounding.bounded.pool import shared_pool\n"
        "from tests.grounding.bounded import work\n"
        "async def main():\n"
        "    print(await shared_pool().run(work.pid), flush=True)\n"
        "    asyncio.create_task(shared_pool().run(work.backtracks, 'a' * 60))\n"
        "    await asyncio.sleep(0.3)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert _works_no_more(int(done.stdout))


def _works_no_more(pid: int) -> bool:
    """Gone, or dead and only not yet looked after by whoever inherited it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_process_has_one_pool() -> None:
    assert shared_pool() is shared_pool()
