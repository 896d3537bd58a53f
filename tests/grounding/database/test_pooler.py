"""Through a pooler that gives each transaction another session: nothing is asked of a session, and nothing is left in one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from grounding.database.postgres import Postgres
from tests.eventually import eventually
from tests.postgres.pooler import Pooler, pooler


@pytest.fixture
def between(postgres: str) -> Iterator[Pooler]:
    with pooler(postgres) as found:
        yield found


def through(between: Pooler, database_url: str, **more: Any) -> Postgres:
    """The database of a test, of whose schema a pooler's sessions are: each way of starting one has sessions of its own."""
    return Postgres(f"{between.url}?options{database_url.rpartition('options')[2]}", **more)


def says(statement: str) -> Callable[[Connection], Any]:
    return lambda connection: connection.exec_driver_sql(statement)


def puts(n: int) -> Callable[[Connection], Any]:
    return says(f"INSERT INTO trial VALUES ({n})")


def count(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT count(*) FROM trial").scalar_one())


def test_what_is_written_by_one_transaction_the_next_finds_in_another_session(
    between: Pooler, database_url: str
) -> None:
    database = through(between, database_url)
    database.run(says("CREATE TABLE trial (n integer PRIMARY KEY)"))
    for n in range(0, 40, 4):
        database.run(puts(n))
        database.run(puts(n + 1), lock="trial")
        database.write(puts(n + 2))
        database.write(puts(n + 3), repeatable=True)
        assert database.ask(count) == n + 4
        with database.reading("trial") as connection:
            assert count(connection.execution_options(yield_per=2)) == n + 4
    assert (len(between.done), min(between.done.values()) > 10) == (between.size, True)
    database.close()
    assert between.left() == []


def test_a_lock_is_of_a_transaction_and_holds_against_others(between: Pooler, database_url: str) -> None:
    database, order = through(between, database_url), []

    def held(n: int) -> None:
        with database.writing("one") as connection:
            order.append(("in", n))
            connection.exec_driver_sql("SELECT pg_sleep(0.02)")
            order.append(("out", n))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(held, range(6)))
    assert [what for what, _ in order] == ["in", "out"] * 6
    assert all(one[1] == other[1] for one, other in zip(order[::2], order[1::2], strict=True))
    database.close()
    assert between.left() == []


def test_a_transaction_that_fails_or_is_left_is_nobody_elses(between: Pooler, database_url: str) -> None:
    database = through(between, database_url)

    hows: list[dict[str, Any]] = [{}, {"lock": "one"}, {"repeatable": True}]
    for how in hows:
        with pytest.raises(DBAPIError):
            database.write(says("SELECT 1/0"), **how)
    with database.reading() as connection:
        connection.invalidate()  # the client is gone in the middle
    until = time.monotonic() + 10
    while any(between.left()) and time.monotonic() < until:
        time.sleep(0.05)
    assert between.left() == []
    assert database.ask(lambda connection: connection.exec_driver_sql("SELECT 1").scalar()) == 1
    database.close()


def test_a_transaction_that_stands_still_is_ended_and_leaves_nothing_to_others(
    between: Pooler, database_url: str
) -> None:
    database, other = through(between, database_url, idle_s=0.3), through(between, database_url)
    database.run(says("CREATE TABLE trial (n integer PRIMARY KEY)"))
    tries = []

    def work(connection: Connection) -> None:
        tries.append(puts(1)(connection))
        if len(tries) == 1:
            other.write(puts(2), lock="trial")  # once the one before it has ended

    database.run(work, lock="trial")
    assert (len(tries), other.ask(count)) == (2, 2)
    for each in (database, other):
        each.close()
    assert between.left() == []


def test_the_pooler_would_show_what_is_left(between: Pooler, database_url: str) -> None:
    """The test of the test: what a session keeps is found, so that the others prove something."""
    database = through(between, database_url)
    for statement, left in (
        ("SELECT pg_advisory_lock(4711)", "a lock"),
        ("SET work_mem = '5MB'", "the setting work_mem"),
        ("LISTEN trial", "a channel"),
        ("PREPARE trial AS SELECT 1", "a prepared statement"),
        ("CREATE TEMPORARY TABLE trial (n integer)", "a temporary table"),
    ):
        database.run(says(statement))
        asyncio.run(eventually(partial(_is_left, between, left)))  # it is back a moment after the client's commit
    database.close()


def _is_left(between: Pooler, what: str) -> bool:
    return what in between.left()
