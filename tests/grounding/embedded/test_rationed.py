"""The ceiling of an ingest: what a run and a day may have embedded by a service."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grounding.embedded.rationed import KEPT_DAYS, RationedEmbedder, Spending
from grounding.services.ceiling import Ceiling, CeilingReached
from grounding.tokens import count_tokens
from tests.fakes.embedder import HashEmbedder

TEXT = "How long do refunds take?"
TOKENS = count_tokens(TEXT)


class Day:
    now = "2026-11-29"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def day() -> Day:
    return Day()


@pytest.fixture
def spending(tmp_path: Path, day: Day) -> Spending:
    return Spending(tmp_path / "spent.db", day)


def test_what_fits_a_day_is_counted_and_what_does_not_is_not(spending: Spending, day: Day) -> None:
    assert spending.today() == 0
    assert spending.reserve(60, 100)
    assert not spending.reserve(41, 100)
    assert spending.reserve(40, 100)
    assert spending.today() == 100
    assert spending.reserve(5, None), "without a limit it is counted all the same"
    day.now = "2026-11-30"
    assert spending.today() == 0
    assert spending.reserve(100, 100)


def test_runs_at_the_same_time_share_the_day(tmp_path: Path, day: Day) -> None:
    """Each has a connection of its own, as processes have."""
    runs = [Spending(tmp_path / "spent.db", day) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: runs[n % 4].reserve(7, 100), range(40)))
    assert sum(taken) == 14
    assert runs[0].today() == 98


def test_days_long_past_are_forgotten(spending: Spending, day: Day, tmp_path: Path) -> None:
    spending.reserve(1, None)
    day.now = "2027-11-29"
    spending.reserve(2, None)
    old = Day()
    assert KEPT_DAYS < 365
    assert Spending(tmp_path / "spent.db", old).today() == 0


async def test_a_run_ends_at_its_ceiling_before_anything_is_sent(spending: Spending) -> None:
    inner = HashEmbedder()
    ceiling = Ceiling(run=2 * TOKENS, run_set_by="ATTEST_INGEST_RUN_TOKENS")
    embedder = RationedEmbedder(inner, ceiling, spending)
    assert (embedder.fingerprint, embedder.width) == (inner.fingerprint, inner.width)
    vectors = await embedder.embed([TEXT, TEXT])
    assert vectors.shape == (2, inner.width)
    with pytest.raises(CeilingReached, match=rf"{2 * TOKENS} tokens \(ATTEST_INGEST_RUN_TOKENS\)"):
        await embedder.embed(["One more."])
    assert spending.today() == 2 * TOKENS
    again = RationedEmbedder(inner, ceiling, spending)
    assert (await again.embed([TEXT])).shape == (1, inner.width), "another run has a ceiling of its own"


async def test_all_runs_of_a_day_end_at_its_ceiling_and_the_next_day_goes_on(spending: Spending, day: Day) -> None:
    ceiling = Ceiling(day=3 * TOKENS, day_set_by="ATTEST_INGEST_DAY_COST")
    first, second = (RationedEmbedder(HashEmbedder(), ceiling, spending) for _ in range(2))
    await asyncio.gather(first.embed([TEXT]), second.embed([TEXT]), first.embed([TEXT]))
    with pytest.raises(CeilingReached, match=r"ATTEST_INGEST_DAY_COST\); the next begins at 00:00 UTC"):
        await second.embed([TEXT])
    day.now = "2026-11-30"
    await second.embed([TEXT])


@pytest.mark.parametrize(
    ("ceiling", "spent", "waits"),
    [
        (Ceiling(), 5, 0),
        (Ceiling(run=60), 90, 40),
        (Ceiling(day=120), 90, 70),
        (Ceiling(run=60, day=120), 90, 70),
        (Ceiling(run=60, day=50), 90, 100),
        (Ceiling(run=100, day=190), 90, 0),
    ],
)
def test_what_would_wait(ceiling: Ceiling, spent: int, waits: int) -> None:
    assert ceiling.waiting(100, spent) == waits
