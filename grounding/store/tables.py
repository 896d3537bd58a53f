"""Tables of the store of record (SQLAlchemy), as SQLite has them; those of PostgreSQL are in `databases.postgres`. A change of them is a new SCHEMA, of which older
programs refuse the file, and a step there.

1: the first. 2: `changes`, and numbers of chunks that are never given twice. 3: `documents.trust`. 4: `outbox`. 5: the planned runs of `runs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from grounding.database.text import AnyText

SCHEMA = 5
METADATA = sa.MetaData()
META = sa.Table(
    "meta", METADATA, sa.Column("name", AnyText, primary_key=True), sa.Column("value", AnyText, nullable=False)
)
VERSIONS = sa.Table(
    "versions",
    METADATA,
    sa.Column("doc_id", AnyText, primary_key=True),
    sa.Column("version", AnyText, primary_key=True),
    sa.Column("body", AnyText, nullable=False),  # the whole Document as JSON: what it said, who could read it
)
DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("doc_id", AnyText, primary_key=True),
    sa.Column("root", AnyText, nullable=False, index=True),
    sa.Column("stamp", AnyText, nullable=False),
    sa.Column("version", AnyText, nullable=False),
    sa.Column("title", AnyText, nullable=False),
    sa.Column("url", AnyText),
    sa.Column("groups", AnyText),  # JSON list; NULL is everyone
    sa.Column("product", AnyText),
    sa.Column("internal", sa.Boolean, nullable=False),
    sa.Column("updated", AnyText),
    sa.Column("content_type", AnyText, nullable=False),
    sa.Column("trust", AnyText, nullable=False, server_default="ordinary"),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("ingested_at", AnyText, nullable=False),
    sa.Column("live", sa.Boolean, nullable=False),
    sa.Column("pulled", sa.Boolean, nullable=False),  # removed by a person: stays out until its stamp changes
    sa.Column("indexed", sa.Boolean, nullable=False, index=True),  # in a file alone: by its one word index
    # in PostgreSQL alone, instead: the number of the row's last change, which the word indexes of many folders follow
    sa.Column("changed", sa.BigInteger, system=True),
)
CHUNKS = sa.Table(
    "chunks",
    METADATA,
    sa.Column("pk", sa.Integer, primary_key=True),
    sa.Column("chunk_id", AnyText, nullable=False, index=True),
    sa.Column("doc_id", AnyText, nullable=False, index=True),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("text", AnyText, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("locator", AnyText),
)
VECTORS = sa.Table(
    "vectors",
    METADATA,
    sa.Column("chunk_id", AnyText, primary_key=True),
    sa.Column("fingerprint", AnyText, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # float16, as many numbers as the embedder's width
)
CHANGES = sa.Table(
    "changes",  # what an index of vectors has to follow, in order
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("pk", sa.Integer, nullable=False),
    sa.Column("gone", sa.Boolean, nullable=False),  # else: the chunk has a vector now
    sqlite_autoincrement=True,
)


def parts(values: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    """`values` in slices of at most `size`, as many as one statement can name."""
    for i in range(0, len(values), size):
        yield values[i : i + size]
