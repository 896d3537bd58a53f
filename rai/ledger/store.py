"""The ledger in a SQL database: append-only, chained with a key, durable before it returns.

Any number of threads and processes may append; each takes the store's write lock for one entry. The body is redacted
here, in the one writer, so that no caller can forget it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    null,
    select,
    update,
)
from sqlalchemy.engine import Row as SqlRow
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from grounding.errors import InputError, SettingsError, StoreError
from rai.entry_schema import NAME, SCHEMA
from rai.ledger import dialect
from rai.ledger.chain import (
    BREAKS_MAX,
    ERASE,
    GENESIS,
    Flaw,
    SealedRow,
    canonical,
    is_same,
    key_id,
    link,
    mac_of,
    new_entry_id,
    result_of,
    walk,
)
from rai.ledger.export import export_lines
from rai.ledger.key import Anchor, Mark, load_key
from rai.ledger.watch import LOOK_S, LedgerWatch, Watched
from rai.personal.redact import redact_entry
from rai.records import Break, Entry, Verification

_SCHEMA = "1"
"""The version of the tables."""
GUARD = "guard"
"""The kind of an entry that records what was gone from a store and put back by whoever opened it."""
_ANOTHER_KEY = "not the key that the ledger was written with"
_OF_ANOTHER_KEY = "the key file, or the store's own note of its key: they no longer belong together"
_BATCH = 200
LEAST_FREE = 1 << 20
"""Bytes of the disk that must be free for an entry to be written: one takes some tens of kilobytes, and the write-ahead log as many."""
"""Entries that are read at a time."""
_METADATA = MetaData()
_ENTRIES = Table(
    "entries",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("entry_id", String(26), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("body", Text, nullable=True),
    Column("digest", String(64), nullable=False),
    Column("prev", String(64), nullable=False),
    Column("mac", String(64), nullable=False),
)
_ABOUT = Table(
    "about", _METADATA, Column("name", String(32), primary_key=True), Column("value", String(64), nullable=False)
)
_LAST = (
    select(*(null().label("body") if column.name == "body" else column for column in _ENTRIES.c))
    .order_by(_ENTRIES.c.seq.desc())
    .limit(1)
)
Redaction = Callable[[dict[str, Any], str], dict[str, Any]]
"""From a body and the kind of its entry to the body that is kept."""


class SqlLedger:
    """A `rai.ports.Ledger` in the SQLite file `path`, sealed with the key in `key_file` (made on first use).

    `redact` maps a body to the body that is kept. Raises SettingsError for a key that is missing, readable by others
    or of another ledger, StoreError for a store that cannot be opened.

    `read_only`: nothing is made, put back or written, and `verify` tells what would else be raised at the start.
    """

    def __init__(
        self,
        path: Path,
        key_file: Path,
        *,
        redact: Redaction = redact_entry,
        busy_s: float = dialect.BUSY_SECONDS,
        read_only: bool = False,
    ) -> None:
        self._redact = redact
        self._writing = threading.Lock()
        self._read_only = read_only
        with _store_errors():
            if read_only:
                self._open_to_read(path, key_file, busy_s)
            else:
                self._open_to_write(path, key_file, busy_s)
        self._watch = LedgerWatch(self._key, _Stored(self._engine, self._key, self._anchor))

    def _open_to_write(self, path: Path, key_file: Path, busy_s: float) -> None:
        self._engine = dialect.engine_for(path, busy_s)
        self._writer = self._engine.execution_options(immediate=True)
        with self._writer.begin() as connection:
            _METADATA.create_all(connection)
            put_back = dialect.guard(connection)
            empty = _last(connection) is None
            self._key = load_key(key_file, make=empty)
            about = _about(connection)
            if not about:
                if not empty and not self._is_of_key(connection):
                    raise SettingsError(f"ATTEST_LEDGER_KEY_FILE: this is {_ANOTHER_KEY}")
                about = _note(connection, self._key)
                put_back.append("about")
            _check_about(about, self._key)
            self._anchor = Anchor(self._key, key_file, path)
            if empty:
                self._anchor.start()
            elif put_back:
                # What was gone and is there again must not look as if it had always been there.
                row = self._insert(connection, GUARD, canonical({NAME: SCHEMA, "put_back": put_back}))
                mark = Mark(row.seq, row.mac)
        if put_back and not empty:
            self._advance(mark, self._anchor.prepare(mark))

    def _open_to_read(self, path: Path, key_file: Path, busy_s: float) -> None:
        self._engine = dialect.reading_engine_for(path, busy_s)
        never = not path.exists() and not key_file.exists() and not any(key_file.parent.glob(f"{key_file.name}.*"))
        self._key = b"" if never else load_key(key_file, make=False)
        self._anchor = Anchor(self._key, key_file, path)
        if not path.exists():  # an empty one in memory, which reads like one that was opened to write and holds nothing
            with self._engine.begin() as connection:
                _METADATA.create_all(connection)
                dialect.guard(connection)
                _note(connection, self._key)

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        """Redacts `body`, writes the entry durably, then returns it. Raises StoreError: then no answer may leave."""
        return await asyncio.to_thread(self._append, kind, body)

    async def get(self, entry_id: str) -> Entry | None:
        """The entry with that id, or None. The body of an erased entry is `{"erased": true}`."""
        return await asyncio.to_thread(self._get, entry_id)

    async def entries(
        self, *, after: int = 0, limit: int | None = None, newest_first: bool = False
    ) -> AsyncIterator[Entry]:
        """The entries with `seq` > `after`, at most `limit`, oldest first unless `newest_first`; read in batches."""
        left, bound = limit, None
        while left is None or left > 0:
            size = _BATCH if left is None else min(_BATCH, left)
            rows = await asyncio.to_thread(self._batch, after, bound, size, newest_first)
            for row in rows:
                yield _entry(row)
            if len(rows) < size:
                return
            left = None if left is None else left - len(rows)
            if newest_first:
                bound = rows[-1].seq
            else:
                after = rows[-1].seq

    async def verify(self) -> Verification:
        """Checks the whole chain with the key, then compares it with the anchor."""
        return await asyncio.to_thread(self._verify)

    async def probe(self) -> None:
        """Finds out whether an entry could be written now. Raises StoreError with the reason if not: another holds the store locked, the disk is full, the anchor's folder cannot be written."""
        await asyncio.to_thread(self._probe)

    async def look(self, budget_s: float = LOOK_S) -> Watched:
        """Verifies what is new since the last look, and goes on with a round over all for `budget_s` seconds: what a server does while it serves."""
        return await asyncio.to_thread(self._watch.look, budget_s)

    async def export(self) -> AsyncIterator[str]:
        """The whole ledger as lines for `verify_export`, from one snapshot, in bounded memory."""
        if not self._key:
            raise InputError("there is no ledger yet: its first entry makes store and key")
        with self._reading() as connection:
            lines = export_lines(self._key, _rows(connection))
            while (line := await asyncio.to_thread(next, lines, None)) is not None:
                yield line

    async def erase(self, entry_id: str, reason: str) -> Entry:
        """Empties the body of an entry and appends the record of that, which it returns. Raises InputError if there is no such entry."""
        return await asyncio.to_thread(self._erase, entry_id, reason)

    async def close(self) -> None:
        """Closes the connections to the store."""
        await asyncio.to_thread(self._engine.dispose)

    def _append(self, kind: str, body: dict[str, Any]) -> Entry:
        self._refuse_to_write()
        kept = canonical(self._redact(body, kind))
        return _entry(self._sealed(lambda connection: self._insert(connection, kind, kept)))

    def _probe(self) -> None:
        self._refuse_to_write()
        with self._write() as connection:
            prepared = self._anchor.prepare(Mark(0, GENESIS))
            prepared.unlink(missing_ok=True)
            if dialect.free_bytes(connection) < LEAST_FREE:
                raise StoreError("the ledger cannot be used: the disk is full")

    def _sealed(self, work: Callable[[Connection], SealedRow]) -> SealedRow:
        """Does `work`, which adds an entry, and moves the anchor to it. Where the anchor cannot be written, the entry is not: nothing is stored
        as answered that could not leave.
        """
        prepared: Path | None = None
        try:
            with self._write() as connection:
                row = work(connection)
                prepared = self._anchor.prepare(Mark(row.seq, row.mac))
        except BaseException:
            if prepared is not None:
                prepared.unlink(missing_ok=True)
            raise
        self._advance(Mark(row.seq, row.mac), prepared)
        return row

    def _refuse_to_write(self) -> None:
        if self._read_only:
            raise StoreError("the ledger was opened to be read alone")

    def _erase(self, entry_id: str, reason: str) -> Entry:
        self._refuse_to_write()
        said = canonical(self._redact({NAME: SCHEMA, "entry_id": entry_id, "reason": reason}, ERASE))

        def work(connection: Connection) -> SealedRow:
            target = connection.execute(select(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id)).first()
            if target is None or target.kind == ERASE:
                raise InputError(f"entry {entry_id!r} is not in the ledger, or is itself a record of an erasure")
            row = self._insert(connection, ERASE, said)
            connection.execute(update(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id).values(body=None))
            return row

        row = self._sealed(work)
        with _store_errors():
            dialect.flush(self._engine)
        return _entry(row)

    def _insert(self, connection: Connection, kind: str, body: str) -> SealedRow:
        last, now = _last(connection), datetime.now(UTC)
        row = link(
            self._key,
            seq=last.seq + 1 if last else 1,
            entry_id=new_entry_id(int(now.timestamp() * 1000), last.entry_id if last else None),
            at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            kind=kind,
            body=body,
            prev=last.mac if last else GENESIS,
        )
        connection.execute(insert(_ENTRIES).values(**_columns(row)))
        return row

    def _advance(self, mark: Mark, prepared: Path) -> None:
        # Under the write lock, so that anchors never cross. It moves only along the chain it already stands on: a
        # store that was cut or replaced cannot pull the anchor after it, and the evidence stays.
        with self._write() as connection:
            before = self._anchor.read()
            if (
                before is not None
                and before.count < mark.count
                and _holds(connection, before)
                and _holds(connection, mark)
            ):
                self._anchor.publish(prepared)
            else:
                prepared.unlink(missing_ok=True)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection to read out from. Raises SettingsError or StoreError for what opening to write would have refused."""
        with _store_errors(), self._engine.connect() as connection:
            if self._read_only:
                about = _about(connection)
                _check_about({**_as_made(self._key), **about}, self._key)
            yield connection

    def _get(self, entry_id: str) -> Entry | None:
        with self._reading() as connection:
            found = connection.execute(select(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id)).first()
        return None if found is None else _entry(_row(found))

    def _batch(self, after: int, bound: int | None, size: int, newest_first: bool) -> list[SealedRow]:
        query = select(_ENTRIES).where(_ENTRIES.c.seq > after)
        if bound is not None:
            query = query.where(_ENTRIES.c.seq < bound)
        query = query.order_by(_ENTRIES.c.seq.desc() if newest_first else _ENTRIES.c.seq).limit(size)
        with self._reading() as connection:
            return [_row(r) for r in connection.execute(query)]

    def _verify(self) -> Verification:
        apart: list[str] = []
        try:
            mark = self._anchor.read()  # before the snapshot: it can lag, never lead
        except StoreError as error:
            mark = None
            apart.append(f"changed: {error}")
        with _store_errors(), self._engine.connect() as connection:
            try:
                return self._verified(connection, mark, apart)
            except DBAPIError as error:
                # The entries are read with care below; here the file does not even say what tables it has.
                damage = dialect.damage(str(error.orig))
                if damage is None:
                    raise
                why = f"changed: the store cannot be read: {damage}"
                return Verification(False, 0, GENESIS, None, why, breaks=(Break(None, why),))

    def _verified(self, connection: Connection, mark: Mark | None, apart: list[str]) -> Verification:
        about = _about_faults(_about(connection), self._key)
        if f"changed: {_OF_ANOTHER_KEY}" in about and not self._is_of_key(connection):
            why = f"changed: {_OF_ANOTHER_KEY}"
            return Verification(False, 0, GENESIS, None, why, breaks=(Break(None, why),))
        state = walk(self._key, _careful(connection), _Links(connection).__contains__)
        if (
            len(state.breaks) < BREAKS_MAX and not apart
        ):  # else where the entries end, or where they should, is not known
            apart += _against(connection, mark, state.seq)
        apart += [*about, *dialect.faults(connection, _METADATA)]
        return result_of(state, apart)

    def _is_of_key(self, connection: Connection) -> bool:
        """True if the last entry, or the first, was sealed with this key."""
        for order in (_ENTRIES.c.seq, _ENTRIES.c.seq.desc()):
            found = connection.execute(select(_ENTRIES).order_by(order).limit(1)).first()
            if found is not None and is_same(mac_of(self._key, _row(found)), str(found.mac)):
                return True
        return False

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._writing, _store_errors(), self._writer.begin() as connection:
            yield connection


def _against(connection: Connection, mark: Mark | None, last: int) -> list[str]:
    if mark is None:
        return ["truncated: the anchor is missing, so entries cut from the end would not show"] if last else []
    if mark.count > last:
        return [f"truncated: {last} entries, but the anchor has seen {mark.count}"]
    return [] if _holds(connection, mark) else [f"changed: entry {mark.count} is not the one that the anchor has seen"]


def _holds(connection: Connection, mark: Mark) -> bool:
    if mark.count == 0:
        return True
    return connection.execute(select(_ENTRIES.c.mac).where(_ENTRIES.c.seq == mark.count)).scalar() == mark.head


class _Stored:
    """The store as a watch looks at it: each question on a connection of its own, so that nothing is held between two looks."""

    def __init__(self, engine: Engine, key: bytes, anchor: Anchor) -> None:
        self._engine = engine
        self._key = key
        self._anchor = anchor

    def after(self, seq: int | None, count: int) -> list[SealedRow | Flaw]:
        query = select(_ENTRIES).order_by(_ENTRIES.c.seq).limit(count)
        with _store_errors(), self._engine.connect() as connection:
            try:
                found = connection.execute(query if seq is None else query.where(_ENTRIES.c.seq > seq)).all()
            except DBAPIError as error:
                damage = dialect.damage(str(error.orig))
                if damage is None:
                    raise
                return [Flaw(None, f"changed: the store cannot be read after entry {seq or 0}: {damage}")]
        return [_row(row) for row in found]

    def apart(self) -> list[str]:
        try:
            mark = self._anchor.read()  # before the snapshot: it can lag, never lead
        except StoreError as error:
            return [f"changed: {error}"]
        with _store_errors(), self._engine.connect() as connection:
            about = _about_faults(_about(connection), self._key)
            last = _last(connection)  # not of the walk, which others may have gone on behind
            return [
                *_against(connection, mark, last.seq if last else 0),
                *about,
                *dialect.faults(
                    connection, _METADATA, pages=False
                ),  # a look must not take as long as the file is large
            ]

    def is_linked(self, mac: str) -> bool:
        return self._any(_ENTRIES.c.mac == mac)

    def has_body(self, entry_id: str) -> bool:
        return self._any((_ENTRIES.c.entry_id == entry_id) & _ENTRIES.c.body.is_not(None))

    def _any(self, condition: ColumnElement[bool]) -> bool:
        with _store_errors(), self._engine.connect() as connection:
            return connection.execute(select(_ENTRIES.c.seq).where(condition).limit(1)).first() is not None


class _Links:
    """The links of all entries, read when one is first looked for: a sound ledger never asks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._links: set[object] | None = None

    def __contains__(self, mac: str) -> bool:
        if self._links is None:
            self._links = {found.mac for found in self._connection.execute(select(_ENTRIES.c.mac))}
        return mac in self._links


def _last(connection: Connection) -> SealedRow | None:
    """The last entry without its body, which is long and is not needed to add to the chain."""
    found = connection.execute(_LAST).first()
    return None if found is None else _row(found)


def _rows(connection: Connection) -> Iterator[SealedRow]:
    # streamed on one connection: one snapshot, bounded memory
    result = connection.execution_options(stream_results=True).execute(select(_ENTRIES).order_by(_ENTRIES.c.seq))
    for found in result.yield_per(_BATCH):
        yield _row(found)


def _careful(connection: Connection) -> Iterator[SealedRow | Flaw]:
    """The entries, and in place of the rest what keeps them from being read."""
    read = 0
    try:
        for row in _rows(connection):
            yield row
            read += 1
    except DBAPIError as error:
        damage = dialect.damage(str(error.orig))
        if damage is None:
            raise
        yield Flaw(None, f"changed: the store cannot be read after entry {read}: {damage}")


def _about(connection: Connection) -> dict[str, str]:
    return {str(n): str(v) for n, v in connection.execute(select(_ABOUT)).all()}


def _note(connection: Connection, key: bytes) -> dict[str, str]:
    """Writes what the store says of itself, and returns it."""
    made = _as_made(key)
    connection.execute(insert(_ABOUT), [{"name": name, "value": value} for name, value in made.items()])
    return made


def _as_made(key: bytes) -> dict[str, str]:
    return {"schema": _SCHEMA, "key_id": key_id(key)}


def _about_faults(about: dict[str, str], key: bytes) -> list[str]:
    """What the store says of itself that is not as it was made."""
    made = _as_made(key)
    if about.get("schema", _SCHEMA) != _SCHEMA:
        return [f"changed: the store says that it is of version {about['schema'][:20]!r}, not {_SCHEMA}"]
    if "key_id" in about and about["key_id"] != made["key_id"]:
        return [f"changed: {_OF_ANOTHER_KEY}"]
    gone = [f"changed: the store's note of its {name} is gone" for name in made if name not in about]
    return gone + [f"changed: the store's note has {name[:20]!r}, which is none" for name in about if name not in made]


def _check_about(about: dict[str, str], key: bytes) -> None:
    if about.get("schema") != _SCHEMA:
        raise StoreError(f"the ledger is of version {about.get('schema')}; this program reads version {_SCHEMA}")
    if about.get("key_id") != key_id(key):
        raise SettingsError(f"ATTEST_LEDGER_KEY_FILE: this is {_ANOTHER_KEY}")


def _columns(row: SealedRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in SealedRow.__slots__}


def _row(found: SqlRow[Any]) -> SealedRow:
    return SealedRow(found.seq, found.entry_id, found.at, found.kind, found.body, found.digest, found.prev, found.mac)


def _entry(row: SealedRow) -> Entry:
    try:
        body = {"erased": True} if row.body is None else json.loads(row.body)
    except (TypeError, ValueError):
        raise StoreError(f"entry {row.seq} of the ledger cannot be read; see attest ledger verify") from None
    return Entry(row.entry_id, row.seq, row.at, row.kind, body, row.prev, row.mac)


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the ledger cannot be used: {_plain(str(error.orig))}") from None
    except (SQLAlchemyError, OSError, ValueError) as error:
        raise StoreError(f"the ledger cannot be used ({type(error).__name__})") from None


def _plain(message: str) -> str:
    if "locked" in message or "busy" in message:
        return "another process holds it locked"
    if "full" in message:
        return "the disk is full"
    if "malformed" in message or "not a database" in message:
        return "it is damaged"
    return message.splitlines()[0][:120]
