"""A PostgreSQL database: connections, transactions, locks, and what is said of a database that cannot be used.

Everything that is set is set for one transaction, and locks are those of a transaction, so that a pooler may stand in between which gives each transaction
another session. A transaction is begun by us and not by the driver: what begins it, sets what holds in it and takes its lock is said at once, which is one round trip
and not three. No message holds a password, a statement or a value of a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Double,
    Engine,
    cast,
    create_engine,
    event,
    func,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from grounding.database.text import storable
from grounding.errors import SettingsError, StoreError

T = TypeVar("T")
OLDEST = 16
"""The oldest version that is supported: what the suite runs over."""
WAIT_S = 15.0
"""Seconds to wait for a lock that another holds."""
IDLE_S = 10.0
"""Seconds after which the server ends a transaction that writes and says nothing, with its locks: less than others wait for them, so that one process that stands still, or is
cut off, keeps nobody from writing. One that reads may pause.
"""
RETRIES_S = (0.2, 2.0)
"""Seconds to wait before each further try, after a connection was lost: a database that fails over is back within some seconds, or is not."""
POOL = 10
"""Connections at most."""
_KEPT = 5
"""Connections of these that stay open while nobody uses them."""
_CONNECT_S = 5
_SILENCE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
"""How a server that is cut off is noticed, within some 10 s: libpq's words, in seconds and milliseconds."""
DRIVER = "postgresql+psycopg"
_BEGIN = "BEGIN"
_BEGINS = "attest_begins"
"""The option of a connection that says what begins its transactions."""
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_SELF = text(
    "SELECT split_part(current_setting('server_version'), ' ', 1), current_database(), coalesce(current_schema(), ''), "
    "CAST(current_user AS text)"
)

FULL = "53100"
"""The SQLSTATE of a disk without room."""
_ALLOWED = text(
    "SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int "
    "- current_setting('reserved_connections')::int, (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user), "
    "(SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))"
)

_NO_MORE = "it takes no more connections; attest doctor says how many it allows, and how many the servers want (ATTEST_DATABASE_POOL)"
_BY_STATE = {
    "08": "the connection was lost",
    "25006": "it is read-only",
    "25P03": "this process stood still in the middle of a transaction, which was ended",
    "28": "it refuses the user or the password",
    "3D000": "there is no such database",
    "3F000": "there is no such schema",
    "40P01": "another process holds it locked",
    "42501": "its user lacks a right that the owner has",
    "42P01": "a table or column is gone",
    "42703": "a table or column is gone",
    "42883": "a function is gone",
    FULL: "the disk is full",
    "53300": _NO_MORE,
    "53": "it is short of memory, disk or connections",
    "55P03": "another process holds it locked",
    "57P": "it was stopped",
    "XX001": "it is damaged",
    "XX002": "it is damaged",
}
"""What an SQLSTATE, or the class that it begins with, comes to."""
LOCKED = "55P03"
"""The SQLSTATE of a lock that was waited for in vain."""
NOW: ColumnElement[float] = cast(func.extract("epoch", func.clock_timestamp()), Double())
"""The database's clock, in seconds since the epoch: those of machines differ."""
CLOCK = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
"""The same, for a statement that is a text."""
_NO_TABLE = "42P01"
_UNDONE = ("40P01", "40001", "25P03")
"""The SQLSTATE of a transaction that the server gave up for another: an upgrade and a worker may each hold what the other waits for, or it stood still. Nothing of it is stored."""
_UNREACHED = ("", "57P03")
"""The SQLSTATE of a connection that is refused: none where nobody listens, or the server is starting."""
_OUR_OWN = "P0001"
"""The SQLSTATE of what a trigger of ours raises, whose words are ours too."""
_BY_WORDS = {  # an error before there is a session has words alone
    "password authentication failed": "it refuses the user or the password",
    "not permitted to log in": "it refuses the user or the password",
    "no password supplied": "it wants a password",
    "no pg_hba.conf entry": "it refuses this user from this machine",
    "certificate verify failed": "its certificate is not of an authority that is trusted",
    "does not match host name": "its certificate is of another host",
    "does not support SSL": "it does not speak TLS",
    "root certificate file": "the file of trusted authorities (sslrootcert) is not there",
    "session is read-only": "it is read-only",
    "starting up": "it is starting",
    "too many clients": _NO_MORE,
    "too many connections": _NO_MORE,
    "remaining connection slots": _NO_MORE,
    "does not exist": "there is no such database or user",
    "not currently accepting connections": "the database takes no connections",
    "invalid URI query parameter": "its address has a parameter that PostgreSQL does not know",
    "invalid connection option": "its address has a parameter that PostgreSQL does not know",
    "expected authentication request": "what answers at its address is no PostgreSQL",
    "received invalid response": "what answers at its address is no PostgreSQL",
    "could not translate host name": "its host has no address",
    "failed to resolve host": "its host has no address",
    "timeout expired": "it does not answer",
    "refused": "nobody listens at its address",
    "No such file": "nobody listens at its address",
}


class ConnectionLost(StoreError):
    """The connection ended in between. What was not committed was not stored; of what was, the answer may not have come."""


class Unreached(StoreError):
    """No connection could be made."""


@dataclass(frozen=True, slots=True)
class Server:
    """What a database says of itself: version of the program as it is written ("16.4"), name of the database, its schema ("" where the one that is looked into is not
    there), the user.
    """

    version: str
    database: str
    schema: str
    user: str


class Postgres:
    """A PostgreSQL database, connected to when it is first used. `url`: `postgresql://user@host/database`, with libpq's parameters. `wait_s`: seconds to wait for a lock.
    `idle_s`: seconds that a transaction that writes may say nothing. `pool`: connections at most. `password`: asked for at each new connection, in the place of one in the address; it may raise SettingsError.

    What is committed is on the server's disk, and a server that takes no writes is not connected to, unless the address says otherwise (`synchronous_commit` in its `options`,
    `target_session_attrs`).

    Raises SettingsError for an address that is none, or where the driver is not installed; whoever connects StoreError for a server that is too old. Safe for use
    by threads; `close` ends the connections that nobody uses, and whoever comes later gets new ones.
    """

    def __init__(
        self,
        url: str,
        *,
        wait_s: float = WAIT_S,
        idle_s: float = IDLE_S,
        pool: int = POOL,
        password: Callable[[], str] | None = None,
    ) -> None:
        self.wait_s, self.pool = wait_s, pool
        self._engine = _engine(url, pool, password)
        self._begin = _begins(self._engine.url, idle_s)
        event.listen(self._engine, "begin", partial(_begin, self._begin))

    @property
    def address(self) -> str:
        """Who is connected to what, without the password and without parameters: `postgresql://user@host:5432/database`."""
        url = self._engine.url
        host = url.host or url.query.get("host") or "local socket"
        host = host if isinstance(host, str) else ",".join(host)
        return f"postgresql://{url.username or ''}@{host}{f':{url.port}' if url.port else ''}/{url.database or ''}"

    def server(self) -> Server:
        """What the server says of itself now. Raises StoreError."""
        with told("the database"), self._engine.connect() as connection:
            row = connection.execute(_SELF).one()
        return Server(*row)

    def allowed(self) -> int:
        """How many connections the server allows for this user and this database, those of others among them. Raises StoreError."""
        with told("the database"):
            return int(self.ask(lambda connection: connection.execute(_ALLOWED).scalar_one()))

    @contextmanager
    def reading(self, *tables: str) -> Iterator[Connection]:
        """One snapshot, which begins behind the lock on `tables`: one from before a table was written anew would find it empty."""
        with ExitStack() as stack:
            connection = stack.enter_context(self._connected(f"{_SNAPSHOT}; {_waits(self.wait_s)}{_locks(tables)}"))
            try:
                connection.begin()
            except DBAPIError as error:
                if state_of(error) != _NO_TABLE:
                    raise
                connection.close()
                connection = stack.enter_context(self._connected(_SNAPSHOT))  # whoever reads what is not there says so
            yield connection

    @contextmanager
    def writing(self, lock: str, *, wait_s: float | None = None) -> Iterator[Connection]:
        """A transaction that is committed at the end and holds the lock of that name, one of this schema, until then. It is on the server's disk when this ends."""
        waits = _waits(self.wait_s if wait_s is None else wait_s)
        with self._connected(f"{self._begin}; {waits}; {_takes(lock)}") as connection, connection.begin():
            yield connection

    def run(
        self, work: Callable[[Connection], T], waits: tuple[float, ...] = RETRIES_S, *, lock: str | None = None
    ) -> T:
        """What `work` returns, done in a transaction of its own, which holds the lock of that name where one is named; again where the connection was lost in
        front of its commit.

        Behind that nobody knows whether it is stored, and the loss is raised.
        """
        committing = False

        def once() -> T:
            nonlocal committing
            committing = False
            with self._engine.begin() if lock is None else self.writing(lock) as connection:
                done = work(connection)
                committing = True
            return done

        return _again(once, waits, lambda: not committing)

    @contextmanager
    def _connected(self, begins: str) -> Iterator[Connection]:
        """A connection whose transactions are begun by saying `begins`."""
        with self._engine.connect() as connection:
            yield connection.execution_options(**{_BEGINS: begins})

    def ask(self, question: Callable[[Connection], T], waits: tuple[float, ...] = RETRIES_S) -> T:
        """What `question` finds, which says one statement and changes nothing: that is a snapshot by itself, so one round trip. Again where the connection was lost."""

        def once() -> T:
            with self._connected("") as connection:
                return question(connection)

        return _again(once, waits)

    def write(self, say: Callable[[Connection], object], *, lock: str | None = None, repeatable: bool = False) -> None:
        """Does what `say` says, statements whose results nobody reads, in a transaction as `run` does; they and the commit are one round trip. Again where the connection was lost
        before they were sent; `repeatable`, where doing them twice comes to the same, also behind that, and then what begins the transaction, and takes its lock, is sent with them.
        """
        sent = False
        locked = () if lock is None else (_waits(self.wait_s), _takes(lock))

        def once() -> None:
            nonlocal sent
            sent = False
            with self._to_write(lock, repeatable=repeatable) as connection, self.committing(connection):
                if repeatable:
                    for statement in (*self._begin.split("; "), *locked):
                        connection.exec_driver_sql(statement)
                sent = not repeatable
                say(connection)

        _again(once, RETRIES_S, lambda: not sent)

    @contextmanager
    def committing(self, connection: Connection) -> Iterator[None]:
        """What is said meanwhile, whose results nobody reads, is committed with the transaction of `connection` that it ends, in one round trip. An error at the end is of any of it."""
        with _together(connection):
            yield
            connection.exec_driver_sql("COMMIT")

    def _to_write(self, lock: str | None, *, repeatable: bool) -> AbstractContextManager[Connection]:
        """A connection whose transaction is begun, unless that is to be said with all else."""
        if repeatable:
            return self._connected("")
        return self._engine.begin() if lock is None else self.writing(lock)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def retried(work: Callable[[], T], waits: tuple[float, ...] = RETRIES_S) -> T:
    """What `work` returns, done again after each of `waits` seconds where the connection was lost, also while no new one can be made: only what may be done twice.
    Raises what it raises last.
    """
    lost = False
    for wait in waits:
        try:
            return work()
        except ConnectionLost:
            lost = True
        except Unreached:
            if not lost:
                raise
        time.sleep(wait)
    return work()


def _again(once: Callable[[], T], waits: tuple[float, ...], may: Callable[[], bool] = lambda: True) -> T:
    """What `once` returns, done again as by `retried`, as long as it `may` be, and where the server undid it for the sake of another."""
    lost = False
    for wait in waits:
        try:
            return once()
        except DBAPIError as error:
            lost = lost or error.connection_invalidated
            gone = error.connection_invalidated or (lost and _is_unreached(error))
            if state_of(error) not in _UNDONE and not (gone and may()):
                raise
            time.sleep(wait)
    return once()


def _is_unreached(error: DBAPIError) -> bool:
    """True where no connection could be made: a server that fails over refuses them, or is starting, for a while."""
    return error.statement is None and state_of(error) in _UNREACHED and not error.connection_invalidated


@contextmanager
def told(of: str) -> Iterator[None]:
    """Raises StoreError, on one line, for whatever the database says; ConnectionLost where it is gone. `of`: what cannot be used, as a person calls it."""
    try:
        yield
    except DBAPIError as error:
        kind = ConnectionLost if error.connection_invalidated else Unreached if _is_unreached(error) else StoreError
        raise kind(f"{of} cannot be used: {why(error)}") from None
    except NoConnection:
        raise StoreError(
            f"{of} cannot be used: all connections that ATTEST_DATABASE_POOL allows this process are in use"
        ) from None
    except (SQLAlchemyError, OSError, ValueError) as error:
        raise StoreError(f"{of} cannot be used ({type(error).__name__})") from None


def why(error: DBAPIError) -> str:
    """What the database says is wrong, in words of ours: its own can hold values of rows."""
    state = state_of(error)
    if state == _OUR_OWN:
        diagnosis: Any = getattr(error.orig, "diag", None)
        return str(diagnosis.message_primary)
    for begin, words in _BY_STATE.items():
        if state.startswith(begin):
            return words
    if error.connection_invalidated:
        return "the connection was lost"
    said = str(error.orig)
    found = next((words for part, words in _BY_WORDS.items() if not state and part in said), None)
    return found or f"PostgreSQL refuses ({state or type(error.orig).__name__})"


def state_of(error: DBAPIError) -> str:
    """The SQLSTATE, empty where there is none."""
    return str(getattr(error.orig, "sqlstate", None) or "")


def refuse_unfit(connection: Connection) -> None:
    """Raises StoreError for a server that takes no writes."""
    if connection.execute(text("SELECT current_setting('transaction_read_only')")).scalar_one() == "on":
        raise StoreError("the database is read-only")


def _waits(wait_s: float) -> str:
    return f"SET LOCAL lock_timeout = {int(wait_s * 1000)}"


def _locks(tables: tuple[str, ...]) -> str:
    """A statement that takes no snapshot."""
    return f"; LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE" if tables else ""


def _takes(lock: str) -> str:
    """A statement that takes the lock of that name, which may be any text: statements that are said together take no parameters."""
    name = storable(lock).replace("\\", "\\\\").replace("'", "''").replace("%", "%%")
    return f"SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.' || E'{name}', 0))"


def _engine(address: str, pool: int, password: Callable[[], str] | None) -> Engine:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise SettingsError("the address of the database is none; expected postgresql://user@host/database") from None
    if url.drivername not in ("postgresql", "postgres", DRIVER):
        raise SettingsError(f"the database is {url.drivername[:30]!r}; allowed is postgresql://user@host/database")
    given = {
        "application_name": "attest",
        "connect_timeout": _CONNECT_S,
        "target_session_attrs": "read-write",
        "prepare_threshold": None,  # named statements belong to a session, which a pooler changes
        **_SILENCE,
    }
    try:
        engine = create_engine(
            url.set(drivername=DRIVER),
            connect_args={name: value for name, value in given.items() if name not in url.query},
            pool_size=min(pool, _KEPT),
            max_overflow=max(0, pool - _KEPT),
            isolation_level="AUTOCOMMIT",  # of the driver: it says no BEGIN of its own
            use_native_hstore=False,  # else each first connection asks for a type that nobody uses
            hide_parameters=True,
        )
    except ImportError:
        raise SettingsError("PostgreSQL needs its driver: pip install 'attest-copilot[postgres]'") from None
    if password is not None:

        @event.listens_for(engine, "do_connect")
        def _with_password(_dialect: Any, _record: Any, _given: Any, parameters: dict[str, Any]) -> None:
            parameters["password"] = password()

    event.listen(engine, "connect", _refuse_old)
    return engine


@contextmanager
def _together(connection: Connection) -> Iterator[None]:
    """What is said meanwhile is sent without waiting for answers, which come at the end."""
    with _driver(connection) as driver, driver.pipeline():
        yield


def copy_in(connection: Connection, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    """Adds rows by COPY, which takes a tenth of the time of statements. `columns`: quoted, separated by commas; text is stored as `storable` has it."""
    said = f"COPY {table} ({columns}) FROM STDIN"
    with _driver(connection) as driver, driver.cursor() as cursor, cursor.copy(said) as copy:
        for row in rows:
            copy.write_row([storable(value) if isinstance(value, str) else value for value in row])


@contextmanager
def _driver(connection: Connection) -> Iterator[Any]:
    """The driver's connection, whose errors are told as SQLAlchemy tells them."""
    driver: Any = connection.connection.driver_connection
    dialect = connection.dialect
    try:
        yield driver
    except dialect.loaded_dbapi.Error as error:  # an answer that came behind the last statement
        lost = dialect.is_disconnect(error, driver, None)
        if lost:
            connection.invalidate(error)
        kind = dialect.loaded_dbapi.Error
        raise DBAPIError.instance(
            None, None, error, kind, hide_parameters=True, connection_invalidated=lost, dialect=dialect
        ) from error


def _begins(url: URL, idle_s: float) -> str:
    """What begins a transaction that writes, with what the address says nothing of."""
    options = url.query.get("options", "")
    said = options if isinstance(options, str) else " ".join(options)
    settings = {"synchronous_commit": "on", "idle_in_transaction_session_timeout": f"{int(idle_s * 1000)}"}
    return "; ".join([_BEGIN, *(f"SET LOCAL {name} = {value}" for name, value in settings.items() if name not in said)])


def _begin(usual: str, connection: Connection) -> None:
    said = connection.get_execution_options().get(_BEGINS, usual)
    if not said:
        return
    connection.exec_driver_sql(said, execution_options={"stream_results": False})  # a cursor cannot say it


def _refuse_old(connection: Any, _record: Any) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST:
        connection.close()
        raise StoreError(f"the database is PostgreSQL {version}; this program needs {OLDEST} or newer")
