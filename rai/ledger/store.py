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

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, Text, func, insert, null, select, update
from sqlalchemy.engine import Row as SqlRow
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from grounding.errors import InputError, SettingsError, StoreError
from rai.ledger import dialect
from rai.ledger.chain import ERASE, GENESIS, SealedRow, canonical, key_id, link, new_entry_id, walk
from rai.ledger.export import export_lines
from rai.ledger.key import Anchor, Mark, load_key
from rai.personal.redact import redact_entry
from rai.records import Entry, Verification

_SCHEMA = "1"
"""The version of the tables."""
_BATCH = 200
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
Redaction = Callable[[dict[str, Any]], dict[str, Any]]
"""From a body to the body that is kept."""


class SqlLedger:
    """A `rai.ports.Ledger` in the SQLite file `path`, sealed with the key in `key_file` (made on first use).

    `redact` maps a body to the body that is kept. Raises SettingsError for a key that is missing, readable by others
    or of another ledger, StoreError for a store that cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        key_file: Path,
        *,
        redact: Redaction = redact_entry,
        busy_s: float = dialect.BUSY_SECONDS,
    ) -> None:
        self._redact = redact
        self._writing = threading.Lock()
        with _store_errors():
            self._engine = dialect.engine_for(path, busy_s)
            self._writer = self._engine.execution_options(immediate=True)
            with self._writer.begin() as connection:
                _METADATA.create_all(connection)
                dialect.guard(connection)
                entries = _last(connection)
                self._key = load_key(key_file, make=entries is None)
                _check_about(connection, key_id(self._key))
                self._anchor = Anchor(self._key, key_file, path)
                if entries is None:
                    self._anchor.start()

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

    async def export(self) -> AsyncIterator[str]:
        """The whole ledger as lines for `verify_export`, from one snapshot, in bounded memory."""
        with _store_errors(), self._engine.connect() as connection:
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
        kept = canonical(self._redact(body))
        with self._write() as connection:
            row = self._insert(connection, kind, kept)
        self._advance()
        return _entry(row)

    def _erase(self, entry_id: str, reason: str) -> Entry:
        with self._write() as connection:
            target = connection.execute(select(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id)).first()
            if target is None or target.kind == ERASE:
                raise InputError(f"entry {entry_id!r} is not in the ledger, or is itself a record of an erasure")
            row = self._insert(connection, ERASE, canonical({"entry_id": entry_id, "reason": reason}))
            connection.execute(update(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id).values(body=None))
        self._advance()
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

    def _advance(self) -> None:
        # Under the write lock, so that anchors never cross. It moves only along the chain it already stands on: a
        # store that was cut or replaced cannot pull the anchor after it, and the evidence stays.
        with self._write() as connection:
            mark, last = self._anchor.read(), _last(connection)
            if mark is not None and last is not None and mark.count < last.seq and _holds(connection, mark):
                self._anchor.write(Mark(last.seq, last.mac))

    def _get(self, entry_id: str) -> Entry | None:
        with _store_errors(), self._engine.connect() as connection:
            found = connection.execute(select(_ENTRIES).where(_ENTRIES.c.entry_id == entry_id)).first()
        return None if found is None else _entry(_row(found))

    def _batch(self, after: int, bound: int | None, size: int, newest_first: bool) -> list[SealedRow]:
        query = select(_ENTRIES).where(_ENTRIES.c.seq > after)
        if bound is not None:
            query = query.where(_ENTRIES.c.seq < bound)
        query = query.order_by(_ENTRIES.c.seq.desc() if newest_first else _ENTRIES.c.seq).limit(size)
        with _store_errors(), self._engine.connect() as connection:
            return [_row(r) for r in connection.execute(query)]

    def _verify(self) -> Verification:
        try:
            mark, anchor_fault = self._anchor.read(), ""  # before the snapshot: it can lag, never lead
        except StoreError as error:
            mark, anchor_fault = None, f"changed: {error}"
        with _store_errors(), self._engine.connect() as connection:
            state = walk(self._key, _rows(connection), lambda mac: _stands(connection, mac))
            notes = () if dialect.is_guarded(connection) else ("the triggers that refuse changes are not in place",)
            why = anchor_fault or _against(connection, mark, state.count)
        if state.broken is not None:
            return Verification(False, state.count, state.head, state.broken.entry, state.broken.why, notes)
        return Verification(not why, state.count, state.head, None, why, notes)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._writing, _store_errors(), self._writer.begin() as connection:
            yield connection


def _against(connection: Connection, mark: Mark | None, count: int) -> str:
    if mark is None:
        return "truncated: the anchor is missing, so entries cut from the end would not show" if count else ""
    if mark.count > count:
        return f"truncated: {count} entries, but the anchor has seen {mark.count}"
    return "" if _holds(connection, mark) else f"changed: entry {mark.count} is not the one that the anchor has seen"


def _holds(connection: Connection, mark: Mark) -> bool:
    if mark.count == 0:
        return True
    return connection.execute(select(_ENTRIES.c.mac).where(_ENTRIES.c.seq == mark.count)).scalar() == mark.head


def _stands(connection: Connection, mac: str) -> bool:
    query = select(func.count()).select_from(_ENTRIES).where(_ENTRIES.c.mac == mac)
    return bool(connection.execute(query).scalar())


def _last(connection: Connection) -> SealedRow | None:
    """The last entry without its body, which is long and is not needed to add to the chain."""
    found = connection.execute(_LAST).first()
    return None if found is None else _row(found)


def _rows(connection: Connection) -> Iterator[SealedRow]:
    # streamed on one connection: one snapshot, bounded memory
    result = connection.execution_options(stream_results=True).execute(select(_ENTRIES).order_by(_ENTRIES.c.seq))
    for found in result.yield_per(_BATCH):
        yield _row(found)


def _check_about(connection: Connection, key: str) -> None:
    about = {str(n): str(v) for n, v in connection.execute(select(_ABOUT)).all()}
    if not about:
        connection.execute(insert(_ABOUT), [{"name": "schema", "value": _SCHEMA}, {"name": "key_id", "value": key}])
        return
    if about.get("schema") != _SCHEMA:
        raise StoreError(f"the ledger is of version {about.get('schema')}; this program reads version {_SCHEMA}")
    if about.get("key_id") != key:
        raise SettingsError("ATTEST_LEDGER_KEY_FILE: this is not the key that the ledger was written with")


def _columns(row: SealedRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in SealedRow.__slots__}


def _row(found: SqlRow[Any]) -> SealedRow:
    return SealedRow(found.seq, found.entry_id, found.at, found.kind, found.body, found.digest, found.prev, found.mac)


def _entry(row: SealedRow) -> Entry:
    body = {"erased": True} if row.body is None else json.loads(row.body)
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
