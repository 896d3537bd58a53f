"""A pooler in front of a server, as PgBouncer is in its mode `transaction`: each transaction of a client is done on another of its connections.

`python -m tests.postgres.pooler URL` prints the address of one for the server at URL, and is there until its standard input ends.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

import psycopg
from sqlalchemy import URL, make_url

_TLS, _GSS = 80877103, 80877104
_TOLD = (
    "server_version",
    "server_encoding",
    "client_encoding",
    "standard_conforming_strings",
    "integer_datetimes",
    "DateStyle",
    "TimeZone",
)
"""What a client is told of the session that it does not have. Not whether it may write, as poolers do not tell that: libpq asks."""
_STEPS = (b"P", b"B", b"D", b"E", b"C")
"""The steps of a statement that a "sync" is to follow."""
_LEFT = """
SELECT 'a prepared statement' FROM pg_prepared_statements UNION ALL SELECT 'a channel' FROM pg_listening_channels()
UNION ALL SELECT 'a lock' FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
UNION ALL SELECT 'a cursor' FROM pg_cursors WHERE is_holdable UNION ALL SELECT 'a temporary table' WHERE pg_my_temp_schema() <> 0
UNION ALL SELECT 'the setting ' || name FROM pg_settings WHERE source = 'session'
"""


class Session:
    """A connection to the server that libpq made, whose messages are read and written past it."""

    def __init__(self, server: URL, options: str) -> None:
        plain = server.render_as_string(hide_password=False)
        self.driver = psycopg.connect(plain, autocommit=True, options=options or None)
        self.socket = socket.socket(fileno=os.dup(self.driver.fileno()))
        self.socket.setblocking(True)
        self.begun = b""  # of a message that has not come whole

    def close(self) -> None:
        self.socket.close()
        self.driver.close()

    def left(self) -> list[str]:
        """What a transaction left to the next client that gets this one."""
        self.socket.setblocking(False)
        found = [str(name) for (name,) in self.driver.execute(_LEFT).fetchall()]
        self.socket.setblocking(True)
        return found


@dataclass
class Pooler:
    """A pooler that is open. `url`: its address for a client of the server's own; `done`: transactions by session of the server."""

    server: URL
    url: str = ""
    size: int = 3
    done: Counter[int] = field(default_factory=Counter)
    _free: dict[str, deque[Session]] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, options: str) -> Session:
        """The session that nobody has had for longest, of those of one way of starting them."""
        with self._changed:
            if options not in self._free:
                self._free[options] = deque(Session(self.server, options) for _ in range(self.size))
            free = self._free[options]
            assert self._changed.wait_for(lambda: free, 60), "all sessions are in use"
            return free.popleft()

    def give(self, options: str, session: Session) -> None:
        """Give it back behind a transaction."""
        with self._changed:
            self.done[id(session)] += 1
            self._free[options].append(session)
            self._changed.notify()

    def replace(self, options: str, session: Session) -> None:
        """End one that a client left in a transaction."""
        session.close()
        self.give(options, Session(self.server, options))

    def told(self, options: str) -> list[bytes]:
        session = self.take(options)
        status = [(name, session.driver.info.parameter_status(name) or "") for name in _TOLD]
        with self._changed:
            self._free[options].appendleft(session)
        return [_message(b"S", name.encode() + b"\0" + value.encode() + b"\0") for name, value in status]

    def left(self) -> list[str]:
        """What the transactions so far left behind in sessions that others get."""
        with self._changed:
            return [name for free in self._free.values() for session in free for name in session.left()]

    def close(self) -> None:
        with self._changed:
            for free in self._free.values():
                for session in free:
                    session.close()


@contextmanager
def pooler(server: str, size: int = 3) -> Iterator[Pooler]:
    """A pooler in front of the server at the URL `server`, with so many sessions of it. What a client's address has as `options` holds for the sessions it gets."""
    made = Pooler(make_url(server), size=size)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_listen, args=(listening, made), daemon=True).start()
        port = int(listening.getsockname()[1])
        address = made.server.set(host="127.0.0.1", port=port).difference_update_query(["host"])
        made.url = address.render_as_string(hide_password=False)
        yield made
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
    made.close()


def _listen(listening: socket.socket, made: Pooler) -> None:
    with suppress(OSError):  # it is closed
        while True:
            came, _ = listening.accept()
            came.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_serve, args=(came, made), daemon=True).start()


def _serve(came: socket.socket, made: Pooler) -> None:
    with closing(came), suppress(OSError, EOFError):
        options = _started(came)
        if options is None:
            return
        came.sendall(
            _message(b"R", bytes(4)) + b"".join(made.told(options)) + _message(b"K", bytes(8)) + _message(b"Z", b"I")
        )
        _Client(came, made, options).pass_on()


def _started(came: socket.socket) -> str | None:
    """The `options` that a client starts with; None for one who only wants another's statement cancelled."""
    while True:
        size = int.from_bytes(_exactly(came, 4), "big")
        code = int.from_bytes(_exactly(came, 4), "big")
        rest = _exactly(came, size - 8)
        if code not in (_TLS, _GSS):
            break
        came.sendall(b"N")
    if code >> 16 != 3:
        return None
    parts = rest.split(b"\0")
    return dict(zip(parts[::2], parts[1::2], strict=False)).get(b"options", b"").decode()


class _Client:
    """A client and the session that it has while a transaction of its is open."""

    def __init__(self, came: socket.socket, made: Pooler, options: str) -> None:
        self._came, self._made, self._options = came, made, options
        self._session: Session | None = None
        self._begun = b""
        self._asked = 0  # answers that are to end with "ready"
        self._open = False  # something was said that no "sync" followed yet

    def pass_on(self) -> None:
        try:
            while True:
                there = [self._came] if self._session is None else [self._came, self._session.socket]
                for ready in _readable(there):
                    if ready is self._came:
                        self._said()
                    elif self._session is not None:
                        self._answered(self._session)
        finally:
            if self._session is not None:
                self._made.replace(self._options, self._session)

    def _said(self) -> None:
        data = self._came.recv(65536)
        if not data:
            raise EOFError
        messages, self._begun = _whole(self._begun + data)
        for kind, message in messages:
            if kind == b"X":
                raise EOFError
            if self._session is None:
                self._session = self._made.take(self._options)
            self._asked += kind in (b"Q", b"S", b"F")
            self._open = kind != b"S" and (self._open or kind in _STEPS)
            self._session.socket.sendall(message)

    def _answered(self, session: Session) -> None:
        data = session.socket.recv(65536)
        if not data:  # the server ended it, and so a pooler ends the client
            raise EOFError
        messages, session.begun = _whole(session.begun + data)
        self._came.sendall(b"".join(message for _, message in messages))
        for kind, message in messages:
            if kind == b"Z":
                self._asked -= 1
                if message[5:] == b"I" and not self._asked and not self._open:
                    self._session = None
                    self._made.give(self._options, session)


def _readable(sockets: list[socket.socket]) -> list[socket.socket]:
    """Those of `sockets` that say something, or have ended; at least one."""
    waiting = select.poll()
    for each in sockets:
        waiting.register(each, select.POLLIN)
    ready = {number for number, _ in waiting.poll()}
    return [each for each in sockets if each.fileno() in ready]


def _whole(data: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The messages that have come whole, each with its kind, and what has come of the next."""
    found = []
    while len(data) >= 5 and len(data) > (size := int.from_bytes(data[1:5], "big")):
        found.append((data[:1], data[: size + 1]))
        data = data[size + 1 :]
    return found, data


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + (len(content) + 4).to_bytes(4, "big") + content


def _exactly(came: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = came.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def main() -> None:
    with pooler(sys.argv[1]) as made:
        sys.stdout.write(f"{made.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
