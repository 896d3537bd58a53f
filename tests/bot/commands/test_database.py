"""`attest database`: makes the tables, says what the database is like, and tells what is wrong in one line without a secret."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from sqlalchemy import URL, make_url

from tests.bot.commands.conftest import Attest
from tests.postgres.faults import run


@pytest.fixture
def over(
    attest: Attest,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], None]:
    """Sets the address of the database for the runs that follow."""
    return lambda url: monkeypatch.setenv("ATTEST_DATABASE_URL", url)


def test_without_a_database_nothing_is_to_be_made(attest: Attest) -> None:
    ran = attest("database", "status")
    assert (ran.code, ran.out) == (0, "")
    assert "no database: everything is kept in files of" in ran.err
    assert attest("database", "status", "--json").document == {"database": None}
    ran = attest("database", "upgrade")
    assert (ran.code, ran.err.startswith("attest: ATTEST_DATABASE_URL is not set")) == (2, True)


def test_it_is_made_and_brought_up_and_says_so(
    attest: Attest, over: Callable[[str], None], database_url: str, worker_url: str
) -> None:
    over(database_url)
    ran = attest("database", "status")
    assert ran.code == 3
    assert "the database has no tables for the ledger yet" in ran.out
    role = str(make_url(worker_url).username)
    ran = attest("database", "upgrade", "--worker", role)
    assert ran.code == 0
    assert "state: made, schema 2\n" in ran.err
    assert ran.err.endswith(f"role {role} has the rights of a server\n")
    assert attest("database", "upgrade").err == "every table is as this program needs it\n"
    over(worker_url)
    ran = attest("database", "status")
    assert (ran.code, ran.out.count("as needed")) == (0, 9)
    document = attest("database", "status", "--json").document
    assert (document["usable"], document["database"]["user"]) == (True, role)
    assert document["database"]["version"].split(".")[0].isdigit()
    ran = attest("database", "upgrade", "--json")
    assert (ran.code, ran.err) == (3, "attest: the database cannot be used: its user lacks a right\n")
    over(database_url)
    run(
        database_url,
        "UPDATE attest_schema SET number = 1 WHERE part = 'state'",
        "DROP TABLE review_passes, review_sessions",
    )
    assert attest("database", "upgrade", "--json").document == {"upgraded": {"state": {"from": 1, "to": 2}}}


def port_of_nobody() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda url: url.set(password="wrong-secret"),
            (3, "the database cannot be used: it refuses the user or the password"),
        ),
        (
            lambda url: url.difference_update_query(["host"]).set(host="127.0.0.1", port=port_of_nobody()),
            (3, "the database cannot be used: nobody listens at its address"),
        ),
        (lambda url: url.set(database="gone"), (3, "the database cannot be used: there is no such database or user")),
        (
            lambda url: url.update_query_dict({"options": "-c default_transaction_read_only=on"}),
            (3, "the database cannot be used: it is read-only"),
        ),
        (
            lambda url: url.update_query_dict({"options": "-csearch_path=nowhere"}),
            (3, "the database cannot be used: there is no such schema"),
        ),
        (
            lambda url: url.set(drivername="mysql"),
            (2, "ATTEST_DATABASE_URL (environment): allowed is postgresql://user@host/database, with"),
        ),
        (
            lambda url: URL.create("postgresql", password=url.password, username="u", host="db"),
            (2, "ATTEST_DATABASE_URL (environment): allowed is postgresql://user@host/database, with"),
        ),
    ],
    ids=["password", "nobody", "database", "read-only", "schema", "another kind", "no database"],
)
def test_what_is_wrong_is_one_line_without_a_secret(
    attest: Attest, over: Callable[[str], None], database_url: str, change: Callable[[URL], URL], said: tuple[int, str]
) -> None:
    code, line = said
    url = change(make_url(database_url))
    over(url.render_as_string(hide_password=False))
    ran = attest("database", "upgrade")
    assert (ran.code, ran.err.count("\n"), ran.out) == (code, 1, "")
    assert ran.err.startswith(f"attest: {line}")
    assert str(url.password) not in ran.err


def test_a_server_that_is_too_old_and_a_driver_that_is_missing_are_told(
    attest: Attest, over: Callable[[str], None], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(f"{database_url}&application_name=old")
    monkeypatch.setattr("grounding.database.postgres.OLDEST", 99)
    ran = attest("database", "status")
    assert (ran.code, ran.err.endswith("; this program needs 99 or newer\n")) == (3, True)
    monkeypatch.setattr("grounding.database.postgres.DRIVER", "postgresql+pg8000")  # a driver that nobody installed
    over(f"{database_url}&application_name=bare")
    ran = attest("database", "status")
    assert (ran.code, ran.err) == (2, "attest: PostgreSQL needs its driver: pip install 'attest-copilot[postgres]'\n")


def test_a_password_file_needs_an_address(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_DATABASE_PASSWORD_FILE", "secret")
    ran = attest("database", "status")
    assert (ran.code, ran.err) == (
        2,
        "attest: ATTEST_DATABASE_PASSWORD_FILE needs ATTEST_DATABASE_URL; without it there is no database\n",
    )


def test_the_address_is_shown_nowhere(attest: Attest, over: Callable[[str], None]) -> None:
    over("postgresql://ada:canary-4711@db/attest")
    ran = attest("settings", "database", "--json")
    assert "canary" not in ran.out + ran.err
    assert {row["env"] for row in ran.document["settings"]} >= {"ATTEST_DATABASE_URL"}
