"""What is said of a PostgreSQL that cannot be used, and how its schema grows."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import DBAPIError, IntegrityError

from grounding.database import schema
from grounding.database.postgres import ConnectionLost, Postgres, Unreached, refuse_unfit, retried, told
from grounding.database.schema import SchemaPart, Step
from grounding.errors import SettingsError, StoreError
from tests.postgres.door import Certificate, door
from tests.postgres.faults import ended, run
from tests.postgres.trips import trips

PART = SchemaPart(
    "trial",
    (Step(("CREATE TABLE trial (n integer)",), oldest=1), Step(("ALTER TABLE trial ADD COLUMN m integer",), oldest=1)),
    rights=(),
)


def said(url: URL) -> str:
    """What is said of a database that is connected to."""
    database = Postgres(url.render_as_string(hide_password=False))
    with pytest.raises(StoreError) as found, told("the ledger"), database.reading():
        pass
    database.close()
    words = str(found.value)
    assert "\n" not in words
    assert str(url.password) not in words
    assert words.startswith("the ledger cannot be used: ")
    return words.removeprefix("the ledger cannot be used: ")


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda url: url.set(password="wrong-secret"), "it refuses the user or the password"),
        (lambda url: url.set(username="nobody_here"), "it refuses the user or the password"),
        (
            lambda url: url.update_query_dict({"no_such": "1"}),
            "its address has a parameter that PostgreSQL does not know",
        ),
        (lambda url: url.set(database="not_there"), "there is no such database or user"),
        (lambda url: url.update_query_dict({"host": "/not/there"}), "nobody listens at its address"),
        (lambda url: tcp(url, unused_port()), "nobody listens at its address"),
        (lambda url: tcp(url, 1).set(host="host.invalid"), "its host has no address"),
        (
            lambda url: url.update_query_dict({"options": "-c default_transaction_read_only=on"}),
            "it is read-only",
        ),
    ],
    ids=["password", "user", "parameter", "database", "socket", "port", "host", "read-only"],
)
def test_what_is_wrong_is_one_line_without_the_password(
    postgres: str, change: Callable[[URL], URL], expected: str
) -> None:
    assert said(change(make_url(postgres))) == expected


def tcp(url: URL, port: int) -> URL:
    return url.difference_update_query(["host"]).set(host="localhost", port=port)


def test_tls_is_what_libpq_makes_of_it(postgres: str, tmp_path: Path) -> None:
    """Over a door that has TLS, or none: who asks for an authority is not content with another's."""
    url = make_url(postgres)
    if "host" not in url.query:
        pytest.skip("the server is not one of a socket")
    behind = Path(str(url.query["host"])) / ".s.PGSQL.5432"
    right, wrong = (Certificate.made(tmp_path, name) for name in ("right", "wrong"))
    with door(behind, right) as port, door(behind) as plain:
        asked = tcp(url, port).update_query_dict({"sslmode": "verify-full", "sslrootcert": str(right.cert)})
        with Postgres(asked.render_as_string(hide_password=False)).reading() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar() == 1
        for query, expected in (
            ({"sslrootcert": str(wrong.cert)}, "its certificate is not of an authority that is trusted"),
            ({"sslrootcert": str(tmp_path / "gone.crt")}, "the file of trusted authorities (sslrootcert) is not there"),
        ):
            assert said(asked.update_query_dict(query)) == expected
        assert said(asked.set(host="127.0.0.1")) == "its certificate is of another host"
        assert said(asked.set(port=plain)) == "it does not speak TLS"


@pytest.mark.parametrize(
    "url", ["", "no address", "mysql://u:secret@h/d", "sqlite:///x", "postgresql+asyncpg://u:secret@h/d"]
)
def test_an_address_that_is_none_is_told_without_its_secret(url: str) -> None:
    with pytest.raises(SettingsError, match=r"postgresql://user@host/database") as found:
        Postgres(url)
    assert "secret" not in str(found.value)


def test_a_message_has_no_value_of_a_row(database_url: str) -> None:
    database = Postgres(database_url)
    twice = "CREATE TABLE t (x text PRIMARY KEY); INSERT INTO t VALUES ('canary-4711'), ('canary-4711')"
    with pytest.raises(StoreError) as found, told("the ledger"), database.writing("any") as connection:
        connection.exec_driver_sql(twice)
    assert "23505" in str(found.value)
    assert "canary" not in str(found.value)
    database.close()


def test_a_server_that_is_fit_is_one_that_writes_and_is_new_enough(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Postgres(database_url)
    with database.writing("any") as connection:
        refuse_unfit(connection)
    monkeypatch.setattr("grounding.database.postgres.OLDEST", 99)
    old = Postgres(database_url)
    with pytest.raises(StoreError, match="this program needs 99 or newer"), old.reading():
        pass
    old.close()
    monkeypatch.undo()
    with database.reading() as connection, pytest.raises(StoreError, match="read-only"):
        refuse_unfit(connection)
    database.close()


def test_a_schema_is_brought_up_step_by_step_by_one_at_a_time(database_url: str) -> None:
    older = SchemaPart("trial", PART.steps[:1], ())
    database = Postgres(database_url)

    def upgrade(part: SchemaPart) -> dict[str, tuple[int, int]]:
        with database.writing(schema.LOCK) as connection:
            return schema.upgrade(connection, [part])

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(upgrade, [older] * 4))
    assert sorted(map(str, done)) == ["{'trial': (0, 1)}", "{}", "{}", "{}"]
    with database.reading() as connection, pytest.raises(StoreError, match="of schema 1, this program needs 2"):
        schema.refuse_other(connection, PART)
    assert upgrade(PART) == {"trial": (1, 2)}
    with database.reading() as connection:
        schema.refuse_other(connection, PART)
        schema.refuse_other(connection, older)  # step 2 says that it may go on
    with pytest.raises(StoreError, match="newer than this program knows"):
        upgrade(older)
    database.close()


def test_a_step_that_fails_leaves_the_schema_as_it_was(database_url: str) -> None:
    broken = SchemaPart("trial", (*PART.steps, Step(("ALTER TABLE nothing ADD COLUMN x integer",), oldest=1)), ())
    database = Postgres(database_url)
    with pytest.raises(DBAPIError), database.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [broken])
    with pytest.raises(StoreError, match="no tables for the trial yet"), database.reading() as connection:
        schema.refuse_other(connection, PART)
    database.close()


def test_work_is_done_again_only_in_front_of_its_commit(database_url: str) -> None:
    database, begun = Postgres(database_url), []

    def work(connection: Connection) -> int:
        begun.append(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar())
        if len(begun) == 1:
            connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
        return len(begun)

    assert database.run(work, (0.0,)) == 2
    assert begun[0] != begun[1]
    database.close()


@pytest.fixture
def trial(database_url: str) -> Iterator[Postgres]:
    """A database with a table of a number that stands once."""
    database = Postgres(database_url)
    database.run(lambda db: db.exec_driver_sql("CREATE TABLE trial (n integer PRIMARY KEY)"))
    yield database
    database.close()


def numbers(database: Postgres) -> list[int]:
    return database.ask(lambda db: list(db.exec_driver_sql("SELECT n FROM trial ORDER BY n").scalars()))


HOWS: list[dict[str, Any]] = [{}, {"lock": "trial"}, {"repeatable": True}, {"lock": "trial", "repeatable": True}]


def puts(*given: int) -> Callable[[Connection], None]:
    def say(db: Connection) -> None:
        for n in given:
            db.exec_driver_sql(f"INSERT INTO trial VALUES ({n})")

    return say


@pytest.mark.parametrize(
    ("how", "at_most"),
    [
        ({}, 2),
        ({"lock": "it's \\ 100 %; COMMIT"}, 2),
        ({"repeatable": True}, 1),
        ({"repeatable": True, "lock": "it's \\ 100 %; COMMIT"}, 1),
    ],
    ids=["plain", "lock", "repeatable", "both"],
)
def test_what_is_written_takes_two_round_trips_or_one_however_many_statements_it_is(
    trial: Postgres, how: dict[str, Any], at_most: int
) -> None:
    trial.write(puts(1), **how)
    with trips() as made:
        trial.write(puts(2, 3, 4), **how)
    assert len(made) == at_most, made
    with trips() as made:
        assert numbers(trial) == [1, 2, 3, 4]
    assert len(made) == 1, made


@pytest.mark.parametrize("given", [(2, 1), (1, 2), (2, 1, 3)], ids=["last", "first", "between"])
@pytest.mark.parametrize("how", HOWS, ids=["plain", "lock", "repeatable", "both"])
def test_of_what_is_refused_nothing_is_written(trial: Postgres, given: tuple[int, ...], how: dict[str, Any]) -> None:
    trial.write(puts(1))
    for _ in range(3):  # the connection is whole afterwards
        with pytest.raises(IntegrityError):
            trial.write(puts(*given), **how)
    assert numbers(trial) == [1]
    trial.write(puts(5), **how)
    assert numbers(trial) == [1, 5]


@pytest.mark.parametrize("how", HOWS, ids=["plain", "lock", "repeatable", "both"])
def test_on_a_connection_that_was_ended_before_it_is_written_and_asked_on_another(
    database_url: str, trial: Postgres, how: dict[str, Any]
) -> None:
    database = Postgres(f"{database_url}&application_name=trial_{database_url[-16:]}")
    assert numbers(database) == []
    ended(database_url, f"trial_{database_url[-16:]}")
    database.write(puts(1), **how)
    ended(database_url, f"trial_{database_url[-16:]}")
    assert numbers(database) == numbers(trial) == [1]
    database.close()


@pytest.mark.parametrize("repeatable", [False, True])
def test_what_was_sent_on_a_connection_that_is_lost_then_is_sent_again_only_if_it_may_be_repeated(
    trial: Postgres, repeatable: bool
) -> None:
    sent = []

    def say(db: Connection) -> None:
        sent.append(1)
        db.exec_driver_sql("INSERT INTO trial VALUES (1) ON CONFLICT DO NOTHING")
        if len(sent) == 1:
            db.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    if repeatable:
        trial.write(say, repeatable=True)
        assert numbers(trial) == [1]
        return
    with pytest.raises(DBAPIError) as found:
        trial.write(say)
    assert found.value.connection_invalidated
    assert (numbers(trial), sent) == ([], [1])


def test_a_process_holds_no_more_connections_than_it_is_told(database_url: str) -> None:
    name = f"few_{database_url[-16:]}"
    database = Postgres(f"{database_url}&application_name={name}", pool=2)

    def held(_n: int) -> int:
        with database.reading() as connection:
            counted = f"SELECT count(*) FROM pg_stat_activity, pg_sleep(0.05) WHERE application_name = '{name}'"
            return int(connection.exec_driver_sql(counted).scalar_one())

    with ThreadPoolExecutor(8) as threads:
        assert max(threads.map(held, range(16))) == 2
    database.close()


def test_it_is_told_how_many_connections_a_server_allows(database_url: str, worker_url: str) -> None:
    database, role = Postgres(worker_url), make_url(worker_url).username
    allowed = database.allowed()
    limits = "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
    assert [(allowed,)] == run(database_url, limits)
    run(database_url, f"ALTER ROLE {role} CONNECTION LIMIT 7")
    assert database.allowed() == 7
    database.close()


@pytest.mark.parametrize(
    ("options", "expected"), [("", "on"), ("%20-csynchronous_commit%3Dremote_apply", "remote_apply")]
)
def test_what_is_committed_is_on_the_disk_unless_the_address_says_otherwise(
    database_url: str, worker_url: str, options: str, expected: str
) -> None:
    role = make_url(worker_url).username
    run(database_url, f"ALTER ROLE {role} SET synchronous_commit = off")
    database = Postgres(worker_url + options)
    shown = "SELECT current_setting('synchronous_commit')"
    assert database.run(lambda db: db.exec_driver_sql(shown).scalar()) == expected
    with database.writing("any") as connection:
        assert connection.exec_driver_sql(shown).scalar() == expected
    run(database_url, "CREATE TABLE said (how text)", f"GRANT ALL ON said TO {role}")
    for repeatable in (False, True):
        database.write(lambda db: db.exec_driver_sql(f"INSERT INTO said {shown}"), repeatable=repeatable)
    assert run(database_url, "SELECT how FROM said") == [(expected,)] * 2
    database.close()


def test_a_server_that_takes_no_writes_is_connected_to_only_if_the_address_says_so(
    database_url: str, worker_url: str
) -> None:
    role = make_url(worker_url).username
    run(database_url, f"ALTER ROLE {role} SET default_transaction_read_only = on")
    with pytest.raises(StoreError, match="it is read-only"), told("the ledger"), Postgres(worker_url).reading():
        pass
    database = Postgres(f"{worker_url}&target_session_attrs=any")
    assert database.ask(lambda db: db.exec_driver_sql("SELECT 1").scalar()) == 1
    database.close()


def test_a_server_that_is_away_for_a_moment_is_waited_for_behind_a_connection_that_was_lost(
    database_url: str, worker_url: str
) -> None:
    """As one that fails over: its sessions end, and it takes no new ones for a while. Who never was connected is told at once."""
    role = make_url(worker_url).username
    database = Postgres(worker_url)
    one = "SELECT 1"

    def away_for(seconds: float) -> threading.Timer:
        run(database_url, f"ALTER ROLE {role} NOLOGIN")
        run(database_url, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{role}'")
        back = threading.Timer(seconds, run, (database_url, f"ALTER ROLE {role} LOGIN"))
        back.start()
        return back

    ways: list[Callable[[], object]] = [
        lambda: database.ask(lambda db: db.exec_driver_sql(one).scalar()),
        lambda: database.run(lambda db: db.exec_driver_sql(one).scalar()),
        lambda: database.write(lambda db: db.exec_driver_sql(one), repeatable=True),
        lambda: retried(lambda: looked(database)),
    ]
    for done in ways:
        assert looked(database) == 1  # a connection is there
        back = away_for(0.5)
        done()
        back.join()
    back = away_for(0.5)
    fresh = Postgres(worker_url)
    began = time.monotonic()
    with pytest.raises(Unreached, match="it refuses the user"):
        retried(lambda: looked(fresh))
    assert time.monotonic() - began < 0.4
    back.join()
    for each in (database, fresh):
        each.close()


def looked(database: Postgres) -> object:
    with told("the ledger"), database.reading() as connection:
        return connection.exec_driver_sql("SELECT 1").scalar()


def test_a_transaction_that_the_server_gives_up_for_another_is_done_again(database_url: str) -> None:
    """Each holds what the other waits for: one of them is undone, and both come to an end."""
    run(
        database_url,
        "CREATE TABLE two (n integer PRIMARY KEY, m integer NOT NULL)",
        "INSERT INTO two VALUES (1, 0), (2, 0)",
    )
    met, tries = threading.Barrier(2), list[int]()

    def crossed(first: int, second: int) -> Callable[[Connection], None]:
        begun = False

        def work(connection: Connection) -> None:
            nonlocal begun
            tries.append(first)
            connection.exec_driver_sql(f"UPDATE two SET m = m + 1 WHERE n = {first}")
            if not begun:
                begun = True
                met.wait(30)
            connection.exec_driver_sql(f"UPDATE two SET m = m + 1 WHERE n = {second}")

        return work

    database = Postgres(database_url)
    with ThreadPoolExecutor(2) as threads:
        for done in (threads.submit(database.run, crossed(1, 2)), threads.submit(database.run, crossed(2, 1))):
            done.result(60)
    assert run(database_url, "SELECT m FROM two") == [(2,), (2,)]
    assert len(tries) == 3
    database.close()


@pytest.mark.parametrize("how", HOWS[:2], ids=["plain", "lock"])
def test_a_transaction_that_writes_and_stands_still_is_ended_and_done_again(
    trial: Postgres, database_url: str, how: dict[str, Any]
) -> None:
    frozen, tries = Postgres(database_url, idle_s=0.2), list[int]()

    def work(db: Connection) -> None:
        tries.append(1)
        db.exec_driver_sql("INSERT INTO trial VALUES (1)")
        if len(tries) == 1:
            time.sleep(1.0)

    frozen.run(work, **how)
    assert (tries, numbers(trial)) == ([1, 1], [1])
    with pytest.raises(ConnectionLost, match="this process stood still in the middle of a transaction") as found:
        stood_still(frozen, lambda: time.sleep(1.0))
    assert "\n" not in str(found.value)
    frozen.close()


def stood_still(frozen: Postgres, meanwhile: Callable[[], object]) -> None:
    with told("the ledger"), frozen.writing("trial"):
        meanwhile()


def test_others_get_the_lock_of_a_transaction_that_stands_still(trial: Postgres, database_url: str) -> None:
    frozen, began = Postgres(database_url, idle_s=0.5), time.monotonic()
    with pytest.raises(ConnectionLost):
        stood_still(frozen, lambda: trial.write(puts(1), lock="trial"))
    assert time.monotonic() - began < 5
    assert numbers(trial) == [1]
    frozen.close()


def test_who_reads_may_pause_and_so_may_who_writes_if_the_address_says_so(database_url: str) -> None:
    one = "SELECT 1"
    database = Postgres(database_url, idle_s=0.2)
    with database.reading() as connection:
        time.sleep(0.6)
        assert connection.exec_driver_sql(one).scalar() == 1
    patient = Postgres(f"{database_url}%20-cidle_in_transaction_session_timeout%3D0", idle_s=0.2)
    with patient.writing("any") as connection:
        time.sleep(0.6)
        assert connection.exec_driver_sql(one).scalar() == 1
    for each in (database, patient):
        each.close()


@pytest.mark.skipif(sys.platform != "linux", reason="what a socket is told is called otherwise")
def test_a_server_that_is_cut_off_is_noticed_within_seconds_unless_the_address_says_otherwise(postgres: str) -> None:
    url = make_url(postgres)
    if "host" not in url.query:
        pytest.skip("the server is not one of a socket")

    def told_socket(asked: URL) -> list[int]:
        with Postgres(asked.render_as_string(hide_password=False)).reading() as connection:
            driver: Any = connection.connection.driver_connection
            with socket.socket(fileno=os.dup(driver.fileno())) as there:
                names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
                return [there.getsockopt(socket.IPPROTO_TCP, name) for name in names]

    with door(Path(str(url.query["host"])) / ".s.PGSQL.5432") as port:
        idle, interval, count, sent_ms = told_socket(tcp(url, port))
        assert idle + interval * count <= 12
        assert sent_ms <= 10_000
        other = tcp(url, port).update_query_dict({"keepalives_idle": "77", "tcp_user_timeout": "88000"})
        assert told_socket(other) == [77, interval, count, 88_000]
