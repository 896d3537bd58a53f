"""Tables of the store of record (SQLAlchemy). A change of them is a new SCHEMA: older programs refuse the file.

1: the first. 2: `changes`, and numbers of chunks that are never given twice. 3: `documents.trust`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

SCHEMA = 3
METADATA = sa.MetaData()
META = sa.Table(
    "meta", METADATA, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
)
VERSIONS = sa.Table(
    "versions",
    METADATA,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("version", sa.Text, primary_key=True),
    sa.Column("body", sa.Text, nullable=False),  # the whole Document as JSON: what it said, who could read it
)
DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("doc_id", sa.Text, primary_key=True),
    sa.Column("root", sa.Text, nullable=False, index=True),
    sa.Column("stamp", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("url", sa.Text),
    sa.Column("groups", sa.Text),  # JSON list; NULL is everyone
    sa.Column("product", sa.Text),
    sa.Column("internal", sa.Boolean, nullable=False),
    sa.Column("updated", sa.Text),
    sa.Column("content_type", sa.Text, nullable=False),
    sa.Column("trust", sa.Text, nullable=False, server_default="ordinary"),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("ingested_at", sa.Text, nullable=False),
    sa.Column("live", sa.Boolean, nullable=False),
    sa.Column("pulled", sa.Boolean, nullable=False),  # removed by a person: stays out until its stamp changes
    sa.Column("indexed", sa.Boolean, nullable=False, index=True),
)
CHUNKS = sa.Table(
    "chunks",
    METADATA,
    sa.Column("pk", sa.Integer, primary_key=True),
    sa.Column("chunk_id", sa.Text, nullable=False, index=True),
    sa.Column("doc_id", sa.Text, nullable=False, index=True),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("locator", sa.Text),
)
VECTORS = sa.Table(
    "vectors",
    METADATA,
    sa.Column("chunk_id", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text, primary_key=True),
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
