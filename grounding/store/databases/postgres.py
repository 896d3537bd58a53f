"""The store in PostgreSQL: the tables that its owner makes, what a worker may do with them, and who writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, text

from grounding.database.postgres import Postgres, retried, told
from grounding.database.schema import SchemaPart, Step, refuse_other
from grounding.database.tables import KeptTable
from grounding.errors import StoreError
from grounding.store import outbox, runs
from grounding.store.meta import Meta
from grounding.store.notes import FolderNotes

T = TypeVar("T")
LOCK = "store"
"""The lock of whoever alone writes now."""
_WHAT = "the store"
# Numbers of `changed`, `came` and `seq` are given under the lock, so that they rise in the order of the commits.
_TABLES = (
    """
CREATE TABLE documents (
    doc_id text COLLATE "C" PRIMARY KEY,
    root text COLLATE "C" NOT NULL,
    stamp text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    url text COLLATE "C",
    groups text COLLATE "C",
    product text COLLATE "C",
    internal boolean NOT NULL,
    updated text COLLATE "C",
    content_type text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    chunks integer NOT NULL,
    ingested_at text COLLATE "C" NOT NULL,
    live boolean NOT NULL,
    pulled boolean NOT NULL,
    changed bigint GENERATED ALWAYS AS IDENTITY)""",
    "CREATE UNIQUE INDEX documents_changed ON documents (changed)",
    """
CREATE TABLE versions (
    doc_id text COLLATE "C",
    version text COLLATE "C",
    body text NOT NULL,
    came bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (doc_id, version))""",
    """
CREATE TABLE chunks (
    pk bigint PRIMARY KEY,
    chunk_id text COLLATE "C" NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    start integer NOT NULL,
    "end" integer NOT NULL,
    text text NOT NULL,
    tokens integer NOT NULL,
    locator text COLLATE "C")""",
    "CREATE INDEX chunks_chunk_id ON chunks (chunk_id)",
    "CREATE INDEX chunks_doc_id ON chunks (doc_id)",
    """
CREATE TABLE vectors (
    chunk_id text COLLATE "C",
    fingerprint text COLLATE "C",
    vector bytea NOT NULL,
    PRIMARY KEY (chunk_id, fingerprint))""",
    """
CREATE TABLE changes (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pk bigint NOT NULL,
    gone boolean NOT NULL)""",
    'CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL)',
    # of these no question asks by value, so samples of them are of no use
    "ALTER TABLE versions ALTER COLUMN body SET STATISTICS 0",
    "ALTER TABLE chunks ALTER COLUMN text SET STATISTICS 0",
    # numbers of a vector cannot be deflated: no time is lost in trying
    "ALTER TABLE vectors ALTER COLUMN vector SET STATISTICS 0, ALTER COLUMN vector SET STORAGE EXTERNAL",
    "INSERT INTO meta (name, value) VALUES ('store', CAST(gen_random_uuid() AS text))",
)
_NAME = text("SELECT value || '/' || CAST(CAST('documents' AS regclass) AS oid) FROM meta WHERE name = 'store'")
"""The name of a store. Tables that were made again, of a dump, have other numbers: indexes that followed those of before are none of theirs."""

PART = SchemaPart(
    "store",
    # who knows no outbox writes none
    (Step(_TABLES, oldest=1), Step(outbox.TABLES, oldest=2), Step(runs.TABLES, oldest=2)),
    rights=(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO {worker}",
        "GRANT SELECT, INSERT, DELETE ON chunks TO {worker}",
        "GRANT SELECT, INSERT, UPDATE ON vectors, meta TO {worker}",
        "GRANT SELECT, INSERT ON versions, changes TO {worker}",
        *outbox.RIGHTS,
        *runs.RIGHTS,
    ),
    tables=(
        KeptTable(
            "documents",
            "doc_id root stamp version title url groups product internal updated content_type trust chunks ingested_at live pulled",
            "doc_id",
            made=(("indexed", False),),  # the word index is not taken along
        ),
        KeptTable("versions", "doc_id version body", "", came=True),
        KeptTable("chunks", "pk chunk_id doc_id start end text tokens locator", "pk"),
        KeptTable("vectors", "chunk_id fingerprint vector", "chunk_id fingerprint"),
        KeptTable("changes", "seq pk gone", "seq", numbered="seq"),
        # the form and the name of a store are its own, and so are the names of saved indexes, what an index elsewhere was told, and passages that a service has in hand
        KeptTable(
            "meta",
            "name value",
            "name",
            only="name NOT IN ('schema', 'store', 'in step') AND name NOT LIKE 'vectors %' AND name NOT LIKE 'embedding jobs %'",
        ),
    ),
)
"""The tables of the store of record."""


class SharedLook:
    """The store in the schema of `database`, as a `StoreLook`."""

    def __init__(self, database: Postgres) -> None:
        self._database = database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One snapshot. Raises StoreError."""
        with told(_WHAT), self._database.reading() as db:
            yield db

    def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` finds in one snapshot; in another where the connection was lost. Raises StoreError."""

        def look() -> T:
            with self.reading() as db:
                return work(db)

        return retried(look)

    def ask(self, question: Callable[[Connection], T]) -> T:
        """What `question` finds, which says one statement. Raises StoreError."""
        with told(_WHAT):
            return self._database.ask(question)


class SharedStore(SharedLook):
    """The store in the schema of `database`, as a `StoreDatabase`; its indexes are in `folder`, made if it is not there. Nothing of the database is made: that is its owner's.

    Raises StoreError where its tables are not there, or of a form that this program cannot use.
    """

    def __init__(self, database: Postgres, folder: Path) -> None:
        super().__init__(database)
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._name = self.read(_name)
        self.notes: FolderNotes | None = FolderNotes(folder, self._name)

    def refuse_another(self) -> None:
        """Raises StoreError if the store is no longer that which was opened."""
        if self.read(_name) != self._name:
            raise StoreError(
                "an older state of the store was put back; start this program again, and it makes its indexes anew"
            )

    def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, done in one transaction; again where the connection was lost in front of its commit. Raises StoreError; ConnectionLost where nobody
        knows whether it is stored.
        """
        with told(_WHAT):
            return self._database.run(work, lock=LOCK)

    def close(self) -> None:
        """Closes all connections."""
        self._database.close()


def name_anew(database: Postgres) -> None:
    """Gives the store in the schema of `database` another name, because an older state of it was put back: indexes that followed it before are none of its, and none
    elsewhere is in step. Raises StoreError.
    """

    def work(db: Connection) -> None:
        db.execute(text("UPDATE meta SET value = CAST(gen_random_uuid() AS text) WHERE name = 'store'"))
        outbox.Outbox(db).end()
        Meta(db).bump()

    with told(_WHAT):
        database.run(work, lock=LOCK)


def _name(db: Connection) -> str:
    refuse_other(db, PART)
    return str(db.execute(_NAME).scalar_one())
