"""Checkpoints in a folder: a mounted share, another disk, whatever the operator of the ledger does not keep together with it."""

from __future__ import annotations

import asyncio
import os
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from grounding.errors import StoreError
from rai.ledger.secret_file import sync_folder, write_durably
from rai.records import KeptCheckpoint

_MODE = 0o644
"""Checkpoints are for others to read."""


class FolderSink:
    """A `rai.ports.CheckpointSink` in a folder that is there already: one that this program made might lie under a share that is not mounted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    async def put(self, name: str, note: str) -> str | None:
        """Writes the note aside, then gives it its name, which it takes from nobody."""
        return await asyncio.to_thread(self._put, name, note)

    async def read(self, name: str) -> str | None:
        """The text of that file; bytes that are no UTF-8 stand as U+FFFD, which no note holds."""
        return await asyncio.to_thread(self._read, name)

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        """The last file whose name begins with `prefix`, and when it was written."""
        return await asyncio.to_thread(self._newest, prefix)

    def _put(self, name: str, note: str) -> str | None:
        path = self._folder / name
        try:
            if not path.exists():
                self._write(path, note)
            return path.read_text("utf-8")
        except (PermissionError, UnicodeDecodeError):
            if path.exists():
                return None
            raise StoreError(f"{self._folder} cannot be written (permission denied)") from None
        except OSError as error:
            raise StoreError(f"{self._folder} {self._why(error)}") from None

    def _read(self, name: str) -> str | None:
        try:
            return (self._folder / name).read_text("utf-8", "replace")
        except OSError as error:
            if isinstance(error, FileNotFoundError | PermissionError) and self._folder.is_dir():
                return None
            raise StoreError(f"{self._folder} {self._why(error)}") from None

    def _write(self, path: Path, note: str) -> None:
        aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            write_durably(aside, note, mode=_MODE)
            with suppress(FileExistsError):
                try:
                    os.link(aside, path)
                except FileExistsError:
                    raise
                except OSError:  # shares that know no second name of a file
                    write_durably(path, note, mode=_MODE)
        finally:
            aside.unlink(missing_ok=True)
        sync_folder(self._folder)

    def _newest(self, prefix: str) -> KeptCheckpoint | None:
        try:
            with os.scandir(self._folder) as found:
                names = [entry.name for entry in found if entry.name.startswith(prefix)]
            if not names:
                return None
            written = (self._folder / max(names)).stat().st_mtime
        except OSError as error:
            raise StoreError(f"{self._folder} {self._why(error)}") from None
        return KeptCheckpoint(max(names), datetime.fromtimestamp(written, UTC))

    def _why(self, error: OSError) -> str:
        if not self._folder.is_dir():
            return "is no folder; make it, or mount it"
        return f"cannot be used ({(error.strerror or type(error).__name__).lower()})"
