"""The store as an index elsewhere has to follow it: its live chunks by id, read beside whoever writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from grounding.errors import StoreError
from grounding.records import Chunk
from grounding.store.rows import groups_of
from grounding.store.store import ChunkRow

_PIECES = """
    SELECT DISTINCT c.chunk_id, d.version,
        EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = ?)
    FROM chunks c JOIN documents d ON d.doc_id = c.doc_id AND d.live
    WHERE c.chunk_id > ? ORDER BY c.chunk_id LIMIT ?"""
_ROWS = """
    SELECT c.pk, c.chunk_id, c.doc_id, c.start, c."end", c.text, c.tokens, c.locator,
        d.title, d.url, d.groups, d.product, d.internal, d.updated, d.version
    FROM json_each(?) j CROSS JOIN chunks c ON c.chunk_id = j.value JOIN documents d ON d.doc_id = c.doc_id AND d.live"""
_VECTORS = """
    SELECT v.chunk_id, v.vector FROM json_each(?) j CROSS JOIN vectors v ON v.chunk_id = j.value AND v.fingerprint = ?"""


_BARE = """
    SELECT count(*), coalesce(sum(EXISTS (
        SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint NOT LIKE ? || '%')), 0)
    FROM chunks c JOIN documents d ON d.doc_id = c.doc_id AND d.live
    WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = ?)"""


class FollowedChunk(NamedTuple):
    """A live chunk: its id, its document's version, and whether it has a vector of the model asked about."""

    chunk_id: str
    version: str
    has_vector: bool


class StoreKeys:
    """Live chunks of the store in the file `path` by their ids. Raises StoreError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pieces(self, fingerprint: str, after: str, count: int) -> list[FollowedChunk]:
        """At most `count` live chunks whose id comes after `after`, by rising id."""
        with self._reading() as db:
            return [
                FollowedChunk(key, version, bool(has))
                for key, version, has in db.execute(_PIECES, (fingerprint, after, count))
            ]

    def rows(self, chunk_ids: Sequence[str]) -> dict[str, ChunkRow]:
        """Live chunks by id; what is gone is left out."""
        with self._reading() as db:
            found = db.execute(_ROWS, (json.dumps(list(chunk_ids)),)).fetchall()
        return {
            r[1]: ChunkRow(r[0], Chunk(*r[1:8]), r[8], r[9], groups_of(r[10]), r[11], bool(r[12]), r[13], r[14])
            for r in found
        }

    def vectors(self, fingerprint: str, chunk_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Vectors of this model as float16 bytes, of those that have one."""
        with self._reading() as db:
            return dict(db.execute(_VECTORS, (json.dumps(list(chunk_ids)), fingerprint)).fetchall())

    def chunks_without_vector(self, fingerprint: str) -> tuple[int, int]:
        """Live chunks without a vector of this model, and how many of them have one of another."""
        with self._reading() as db:
            count, other = db.execute(_BARE, (fingerprint, fingerprint)).fetchone()
        return int(count), int(other)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path.resolve().as_uri() + "?mode=ro", uri=True, timeout=30)) as db:
                yield db
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be read ({type(error).__name__}: {error})") from error
