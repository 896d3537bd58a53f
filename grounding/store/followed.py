"""The store as an index elsewhere has to follow it: its live chunks by id, read beside whoever writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grounding.store.chunks import ChunkRow, Chunks
from grounding.store.connection import ReadOnlyStoreFile
from grounding.store.vectors import ChunkVectors, FollowedChunk


class FollowedStore:
    """Live chunks of the store in the file `path` by their ids. Raises StoreError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._file = ReadOnlyStoreFile(path)

    def pieces(self, fingerprint: str, after: str, count: int) -> list[FollowedChunk]:
        """At most `count` live chunks whose id comes after `after`, by rising id."""
        with self._file.reading() as db:
            return ChunkVectors(db).followed(fingerprint, after, count)

    def rows(self, chunk_ids: Sequence[str]) -> dict[str, ChunkRow]:
        """Live chunks by id; what is gone is left out."""
        with self._file.reading() as db:
            return Chunks(db).by_id(chunk_ids)

    def vectors(self, fingerprint: str, chunk_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Vectors of this model as float16 bytes, of those that have one."""
        with self._file.reading() as db:
            return ChunkVectors(db).by_id(fingerprint, chunk_ids)

    def chunks_without_vector(self, fingerprint: str) -> tuple[int, int]:
        """Live chunks without a vector of this model, and how many of them have one of another."""
        with self._file.reading() as db:
            return ChunkVectors(db).missing_count(fingerprint)
