"""Where a store lies: in a file, or in a PostgreSQL that many share."""

from __future__ import annotations

from pathlib import Path

from grounding.database.postgres import Postgres
from grounding.store.databases.form import StoreDatabase, StoreLook
from grounding.store.databases.postgres import SharedLook, SharedStore
from grounding.store.databases.sqlite import ReadOnlyStoreFile, StoreFile

Place = Path | Postgres
"""The file of a store, or the database in whose schema it lies."""


def opened(place: Place, folder: Path | None) -> StoreDatabase:
    """The store at `place`, a file made if it is not there. `folder`: of the indexes of a store that is shared; those of a file lie beside it.

    Raises StoreError where it cannot be used, ValueError for a shared one without a folder.
    """
    if not isinstance(place, Postgres):
        return StoreFile(place)
    if folder is None:
        raise ValueError("a store that is shared needs a folder for its indexes")
    return SharedStore(place, folder)


def looked_at(place: Place) -> StoreLook:
    """The store at `place`, to be read beside whoever writes; what is not there is said when it is used."""
    return SharedLook(place) if isinstance(place, Postgres) else ReadOnlyStoreFile(place)
