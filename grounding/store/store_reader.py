"""Read access to the store for an index elsewhere that follows it: live chunks by id, beside whoever writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grounding.store.chunks import ChunkRow, Chunks
from grounding.store.databases.places import Place, looked_at
from grounding.store.vectors import ChunkVectors, FollowedChunk


class StoreReader:
    """Live chunks, by id, of the store at `place`: a file, or a database. Raises StoreError if it cannot be read."""

    def __init__(self, place: Place) -> None:
        self._database = looked_at(place)

    def pieces(self, fingerprint: str, after: str, count: int) -> list[FollowedChunk]:
        """At most `count` live chunks whose id comes after `after`, sorted by id; whether each has a vector of model `fingerprint`."""
        return self._database.read(lambda db: ChunkVectors(db).followed(fingerprint, after, count))

    def pieces_of(self, fingerprint: str, chunk_ids: Sequence[str]) -> list[FollowedChunk]:
        """Those of these chunks that are live; whether each has a vector of model `fingerprint`."""
        return self._database.read(lambda db: ChunkVectors(db).followed_by_id(fingerprint, chunk_ids))

    def rows(self, chunk_ids: Sequence[str]) -> dict[str, ChunkRow]:
        """Live chunks by id; what was deleted meanwhile is left out."""
        return self._database.read(lambda db: Chunks(db).by_id(chunk_ids))

    def vectors(self, fingerprint: str, chunk_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Vectors of this model as float16 bytes, by chunk id, for chunks that have one."""
        return self._database.read(lambda db: ChunkVectors(db).by_id(fingerprint, chunk_ids))

    def chunks_without_vector(self, fingerprint: str) -> tuple[int, int]:
        """Number of live chunks without a vector of this model, and how many of them have one of another."""
        return self._database.read(lambda db: ChunkVectors(db).missing_count(fingerprint))
