"""History of the store: documents that were taken out, earlier versions; and a backup of the whole store while it is in use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from grounding.errors import InputError
from grounding.ingest.history import Tombstone
from grounding.store.connection import ReadOnlyStoreFile, copy_whole
from grounding.store.documents import Documents


class StoreHistory:
    """History (tombstones, versions, backup) of the store in the file `path`, read beside whoever writes.

    Raises InputError if there is no store yet, StoreError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = ReadOnlyStoreFile(path)

    def tombstones(self) -> tuple[Tombstone, ...]:
        """All documents that were taken out, by id."""
        with self._reading() as db:
            return Documents(db).tombstones()

    def tombstone(self, doc_id: str) -> Tombstone | None:
        """The document `doc_id` if it was taken out, otherwise None."""
        return next((t for t in self.tombstones() if t.doc_id == doc_id), None)

    def versions(self, doc_id: str) -> tuple[str, ...]:
        """The versions kept of a document, in the order in which they first came in."""
        with self._reading() as db:
            return Documents(db).versions(doc_id)

    def backup(self, target: Path) -> int:
        """Write a copy of the store as it is at one moment, whoever writes meanwhile; returns its bytes. Readable by its owner only.

        Raises InputError for a target that cannot be written or is there already; then nothing is left of the copy.
        """
        if target.exists():
            raise InputError(f"{target}: is there already; allowed: a new file")
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from None
        try:
            with self._reading() as db:
                Documents(db).counts()  # a file without tables is no store
                copy_whole(db, beside, target)
            beside.rename(target)
        finally:
            beside.unlink(missing_ok=True)
        return target.stat().st_size

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        if not self._path.exists():
            raise InputError("there is no knowledge base yet; `attest ingest PATH` makes one")
        with self._file.reading() as db:
            yield db
