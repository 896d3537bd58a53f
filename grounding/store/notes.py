"""How far the indexes in a folder have followed a store that lies elsewhere: small files beside them.

What such an index holds differs from folder to folder, so the store, which all folders share, cannot say it. A note goes where the folder is copied to, as the
indexes do; one that belongs to another store counts for nothing, and the index is made again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from grounding.errors import StoreError


class FolderNotes:
    """The notes in `folder` about the store of this name."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder, self._store = folder, store

    def value(self, name: str) -> str | None:
        """The value under `name`; None if there is none, or none that was written for this store. `name` is fit for a file."""
        try:
            kept = json.loads(self._path(name).read_text("utf-8"))
            return str(kept["value"]) if kept["store"] == self._store else None
        except (OSError, ValueError, KeyError, TypeError):  # whatever is unreadable is written anew
            return None

    def put(self, name: str, value: str) -> None:
        """Set the value under `name`: a kill leaves the old one or the new one. Raises StoreError."""
        path = self._path(name)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_text(json.dumps({"store": self._store, "value": value}), "utf-8")
            draft.replace(path)
        except OSError as error:
            raise StoreError(f"{path.name} cannot be written ({type(error).__name__})") from error

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.note"
