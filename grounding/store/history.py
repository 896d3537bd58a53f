"""History of the store: documents that were taken out, earlier versions; and a backup of the whole store while it is in use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from grounding.errors import InputError
from grounding.ingest.history import Tombstone
from grounding.store.databases.places import Place, looked_at
from grounding.store.databases.sqlite import copy_whole
from grounding.store.documents import Documents

T = TypeVar("T")


class StoreHistory:
    """History (tombstones, versions, backup) of the store at `place`, a file or a database, read beside whoever writes.

    Raises InputError if there is no store yet, StoreError if it cannot be read.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._database = looked_at(place)

    def tombstones(self) -> tuple[Tombstone, ...]:
        """All documents that were taken out, by id."""
        return self._read(lambda db: Documents(db).tombstones())

    def tombstone(self, doc_id: str) -> Tombstone | None:
        """The document `doc_id` if it was taken out, otherwise None."""
        return next((t for t in self.tombstones() if t.doc_id == doc_id), None)

    def versions(self, doc_id: str) -> tuple[str, ...]:
        """The versions kept of a document, in the order in which they first came in."""
        return self._read(lambda db: Documents(db).versions(doc_id))

    def backup(self, target: Path) -> int:
        """Write a copy of the store's file as it is at one moment, whoever writes meanwhile; returns its bytes. Readable by its owner only.

        Raises InputError for a target that cannot be written or is there already, then nothing is left of the copy; and for a store in a database.
        """
        if not isinstance(self._place, Path):
            raise InputError("the knowledge base is in PostgreSQL, which its administrator backs up: see pg_dump")
        if target.exists():
            raise InputError(f"{target}: is there already; allowed: a new file")
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from None
        try:
            self._read(lambda db: _copy(db, beside, target))
            beside.rename(target)
        finally:
            beside.unlink(missing_ok=True)
        return target.stat().st_size

    def _read(self, work: Callable[[sa.Connection], T]) -> T:
        if isinstance(self._place, Path) and not self._place.exists():
            raise InputError("there is no knowledge base yet; `attest ingest PATH` makes one")
        return self._database.read(work)


def _copy(db: sa.Connection, beside: Path, target: Path) -> None:
    Documents(db).counts()  # a file without tables is no store
    copy_whole(db, beside, target)
