"""What an index elsewhere has yet to be told of: the passages that changed since it was last like the store, written with each change, in the same transaction.

An index is in step under a mark, which it and the store both carry; without one nothing is written. So an ingest looks at what changed, and not at every passage of
the index. One index at a time is in step: whichever is compared in whole takes the mark. It gets another before each ingest tells it something, so that an older
state of the store, put back, carries one that the index no longer has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from grounding.database.text import AnyText, storable
from grounding.store import dialects
from grounding.store.meta import Meta
from grounding.store.tables import METADATA, parts

OUTBOX = sa.Table(
    "outbox",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("chunk_id", AnyText, nullable=False),
    sa.Column("doc_id", AnyText, nullable=False, index=True),
    sqlite_autoincrement=True,
)
TABLES = (
    """
CREATE TABLE outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chunk_id text COLLATE "C" NOT NULL,
    doc_id text COLLATE "C" NOT NULL)""",
    "CREATE INDEX outbox_doc_id ON outbox (doc_id)",
)
"""The same in PostgreSQL."""
RIGHTS = ("GRANT SELECT, INSERT, DELETE ON outbox TO {worker}",)
_MARK = "in step"
_IN_STEP = "EXISTS (SELECT 1 FROM meta WHERE name = 'in step' AND value <> '')"
_CHUNKS = "INSERT INTO outbox (chunk_id, doc_id) SELECT c.chunk_id, c.doc_id FROM {texts} {then} chunks c ON"
_OF_DOCUMENTS = dialects.forms(f"{_CHUNKS} c.doc_id = j.value WHERE {_IN_STEP}")
_OF_CHUNKS = dialects.forms(f"{_CHUNKS} c.chunk_id = j.value WHERE {_IN_STEP}")
_WAITING = dialects.forms(
    "SELECT DISTINCT o.chunk_id FROM {texts} {then} outbox o ON o.doc_id = j.value WHERE o.seq <= {param}"
)
_DONE = dialects.forms("DELETE FROM outbox WHERE seq <= {param} AND doc_id IN (SELECT value FROM {texts})")


class Waiting(NamedTuple):
    """A passage that the index has yet to be told of. `seq`: number of the change."""

    seq: int
    chunk_id: str


class Outbox:
    """Repository of the table `outbox`, over one connection."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def mark(self) -> str | None:
        """The mark of the index that is in step; None if none is."""
        return Meta(self._db).value(_MARK) or None

    def begin(self, mark: str) -> None:
        """From now on the index under `mark` is told; what waited for another is forgotten."""
        self._db.execute(OUTBOX.delete())
        self.go_on(mark)

    def go_on(self, mark: str) -> None:
        """The index that is told has another mark; what waits for it still does."""
        Meta(self._db).put(_MARK, mark)

    def end(self) -> None:
        """No index is in step any more."""
        self.begin("")  # a server may not delete from the table

    def documents_change(self, doc_ids: Sequence[str]) -> None:
        """Note the passages of these documents, as they stand now; nothing where no index is in step."""
        for part in parts(doc_ids):
            self._say(_OF_DOCUMENTS, [storable(doc_id) for doc_id in part])

    def chunks_change(self, chunk_ids: Sequence[str]) -> None:
        """Note these passages; nothing where no index is in step."""
        for part in parts(chunk_ids):
            self._say(_OF_CHUNKS, [storable(chunk_id) for chunk_id in part])

    def until(self) -> int:
        """Number of the newest change that waits; 0 if none does."""
        return int(self._db.execute(sa.select(sa.func.max(OUTBOX.c.seq))).scalar() or 0)

    def waiting(self, after: int, until: int, count: int) -> list[Waiting]:
        """At most `count` of what changed by changes number `after` + 1 to `until`, in their order; one that changed again comes again."""
        query = sa.select(OUTBOX.c.seq, OUTBOX.c.chunk_id).where(OUTBOX.c.seq > after, OUTBOX.c.seq <= until)
        return [Waiting(*row) for row in self._db.execute(query.order_by(OUTBOX.c.seq).limit(count))]

    def waiting_of(self, doc_ids: Sequence[str], until: int) -> list[str]:
        """Ids of the passages of these documents that wait since changes up to number `until`, sorted."""
        found: set[str] = set()
        for part in parts(doc_ids):
            found.update(row.chunk_id for row in self._say(_WAITING, [storable(d) for d in part], until))
        return sorted(found)

    def done(self, until: int, doc_ids: Sequence[str] | None = None) -> None:
        """Forget what waited since changes up to number `until`, of these documents alone where they are named."""
        if doc_ids is None:
            self._db.execute(OUTBOX.delete().where(OUTBOX.c.seq <= until))
            return
        for part in parts(doc_ids):
            said = dialects.of(self._db).given([storable(doc_id) for doc_id in part])
            self._db.exec_driver_sql(_DONE[self._db.dialect.name], (until, said))

    def _say(self, statement: Mapping[str, str], names: list[str], *more: object) -> sa.CursorResult[*tuple[Any, ...]]:
        given = dialects.of(self._db).given(names)
        return self._db.exec_driver_sql(statement[self._db.dialect.name], (given, *more))
