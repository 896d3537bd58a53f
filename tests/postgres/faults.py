"""A PostgreSQL that ends sessions, and what is said to it past the program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection

from grounding.database.postgres import Postgres


def run(url: str, *statements: str) -> list[Any]:
    """What the last of some statements gives, by whoever `url` says."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def ended(url: str, name: str) -> None:
    """Ends the sessions of a program of that name, as a server that is stopped does."""
    run(url, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '{name}'")


class LosesAnAnswer(Postgres):
    """A database whose server ends the session of the next writer: behind its commit if `stored`, else in front of it."""

    def __init__(self, url: str, *, stored: bool) -> None:
        super().__init__(url)
        self.armed = False
        self._url, self._stored = url, stored

    @contextmanager
    def writing(self, lock: str, *, wait_s: float | None = None) -> Iterator[Connection]:
        with super().writing(lock, wait_s=wait_s) as connection:
            yield connection
            if self.armed:
                self.armed = False
                (pid,) = connection.exec_driver_sql("SELECT pg_backend_pid()").one()
                if self._stored:
                    connection.exec_driver_sql("COMMIT")
                run(self._url, f"SELECT pg_terminate_backend({pid}, 5000)")
                connection.exec_driver_sql("SELECT 1")  # psycopg asks nobody where nothing is to be committed
