"""The ceiling of an ingest: what a run and a day may have embedded by a service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import ConnectionLost, Postgres
from grounding.embedded.vectors.rationed import KEPT_DAYS, PART, RationedEmbedder, Spending
from grounding.errors import StoreError
from grounding.services.ceiling import Ceiling, CeilingReached
from grounding.tokens import count_tokens
from tests.fakes.embedder import HashEmbedder
from tests.postgres.faults import LosesAnAnswer, ended, run
from tests.postgres.side import Places, made, places

TEXT = "How long do refunds take?"
TOKENS = count_tokens(TEXT)


class Day:
    now = "2026-11-29"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def day() -> Day:
    return Day()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with places(request, tmp_path / "spent.db", PART) as of:
        yield of


@pytest.fixture
def spending(place: Places, day: Day) -> Spending:
    return Spending(place(), day)


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


def test_runs_at_the_same_time_share_the_day(place: Places, day: Day) -> None:
    """Each has connections of its own, as processes have."""
    runs = [Spending(place(), day) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: runs[n % 4].reserve(7, 100), range(40)))
    assert sum(taken) == 14
    assert runs[0].today() == 98


def test_days_long_past_are_forgotten(spending: Spending, day: Day, place: Places) -> None:
    spending.reserve(1, None)
    day.now = "2027-11-29"
    spending.reserve(2, None)
    old = Day()
    assert KEPT_DAYS < 365
    assert Spending(place(), old).today() == 0


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


async def test_processes_of_one_run_share_its_ceiling_and_another_run_has_its_own(place: Places, day: Day) -> None:
    ceiling = Ceiling(run=3 * TOKENS, day=5 * TOKENS, run_set_by="ATTEST_INGEST_RUN_COST", day_set_by="D")
    first, second, other = (RationedEmbedder(HashEmbedder(), ceiling, Spending(place(), day)) for _ in range(3))
    first.share("a")
    second.share("a")
    other.share("b")
    await asyncio.gather(first.embed([TEXT]), second.embed([TEXT]), first.embed([TEXT]))
    with pytest.raises(CeilingReached, match=rf"this run may take {3 * TOKENS} tokens \(ATTEST_INGEST_RUN_COST\)"):
        await second.embed([TEXT])
    await other.embed([TEXT, TEXT])
    with pytest.raises(CeilingReached, match=r"a day may take"):
        await other.embed([TEXT])
    spending = Spending(place(), day)
    assert (spending.of_run("a"), spending.of_run("b"), spending.of_run("c")) == (3 * TOKENS, 2 * TOKENS, 0)
    day.now = "2027-11-29"
    spending.reserve(1, None, "d")
    assert (spending.of_run("a"), spending.of_run("d")) == (0, 1)


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


def test_the_last_day_that_is_kept_is_the_same_everywhere(spending: Spending, day: Day) -> None:
    spending.reserve(1, None)
    for later, kept in ((KEPT_DAYS, 1), (KEPT_DAYS + 1, 0)):
        day.now = (date(2026, 11, 29) + timedelta(days=later)).isoformat()
        spending.reserve(1, None)
        day.now = "2026-11-29"
        assert spending.today() == kept


def test_a_worker_counts_and_can_do_nothing_else(database_url: str, worker_url: str, day: Day) -> None:
    made(database_url, PART, make_url(worker_url).username).close()
    spending = Spending(Postgres(worker_url), day)
    assert spending.reserve(3_000_000_000, None)
    assert (spending.reserve(1, 1), spending.today()) == (False, 3_000_000_000)
    for statement in (
        "TRUNCATE embedded_tokens",
        "DROP TABLE embedded_tokens",
        "ALTER TABLE embedded_tokens ADD COLUMN x integer",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)


async def test_where_nothing_can_be_counted_nothing_is_sent(database_url: str, day: Day) -> None:
    spending = Spending(Postgres(database_url), day)
    embedder = RationedEmbedder(HashEmbedder(), Ceiling(day=1000), spending)
    missing = "^the database has no tables for the spending yet; its owner makes them: attest database upgrade$"
    with pytest.raises(StoreError, match=missing):
        await embedder.embed([TEXT])
    with pytest.raises(StoreError, match=missing):
        spending.today()


def test_a_connection_that_was_lost_is_made_anew_and_nothing_is_counted_twice(
    database_url: str, day: Day, tmp_path: Path
) -> None:
    name = f"lost_{tmp_path.name}"
    made(database_url, PART).close()
    spending = Spending(Postgres(f"{database_url}&application_name={name}"), day)
    for n in range(1, 4):
        assert spending.reserve(7, 100)
        ended(database_url, name)
        assert spending.today() == 7 * n
        ended(database_url, name)


@pytest.mark.parametrize("stored", [True, False])
def test_a_commit_without_an_answer_counts_no_token_too_few(database_url: str, day: Day, stored: bool) -> None:
    """The run ends by it; what was not counted was not sent."""
    made(database_url, PART).close()
    database = LosesAnAnswer(database_url, stored=stored)
    database.armed = True
    with pytest.raises(ConnectionLost):
        Spending(database, day).reserve(7, 100)
    assert Spending(database, day).today() == 7 * stored
