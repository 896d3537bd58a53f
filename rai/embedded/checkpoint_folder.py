"""Checkpoints in a folder: a mounted share, another disk, whatever the operator of the ledger does not keep together with it."""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from grounding.errors import StoreError
from rai.ledger.secret_file import sync_folder, write_durably
from rai.records import KeptCheckpoint

T = TypeVar("T")
ANSWER_S = 20.0
"""Seconds that the folder may take to answer: a share whose server is gone answers never, and does not say so."""
_MOST_BYTES = 1 << 20
_MODE = 0o644
"""Checkpoints are for others to read."""


class FolderSink:
    """A `rai.ports.CheckpointSink` in a folder that is there already: one that this program made might lie under a share that is not mounted."""

    def __init__(self, folder: Path, *, answer_s: float = ANSWER_S) -> None:
        self._folder = folder
        self._answer_s = answer_s
        self._waiting: threading.Thread | None = None

    @property
    def place(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    async def put(self, name: str, note: str) -> str | None:
        """Writes the note aside, then gives it its name, which it takes from nobody."""
        return await self._answered(lambda: self._put(name, note))

    async def read(self, name: str) -> str | None:
        """The text of that file; bytes that are no UTF-8 stand as U+FFFD, which no note holds."""
        return await self._answered(lambda: self._read(name))

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        """The last file whose name begins with `prefix`, and when it was written."""
        return await self._answered(lambda: self._newest(prefix))

    async def _answered(self, work: Callable[[], T]) -> T:
        """The result of `work`, which is done in a thread that the end of the process does not wait for. Raises StoreError after `answer_s` seconds, and at once while an earlier one still waits."""
        if self._waiting is not None and self._waiting.is_alive():
            raise StoreError(f"{self._folder} still does not answer")
        loop = asyncio.get_running_loop()
        told: asyncio.Future[T] = loop.create_future()

        def tell(set_it: Callable[[Any], None], what: object) -> None:
            if not told.done():
                set_it(what)

        def run() -> None:
            with suppress(RuntimeError):  # nobody waits any longer, and the loop is closed
                try:
                    done = work()
                except Exception as error:  # noqa: BLE001 - raised where it is waited for
                    loop.call_soon_threadsafe(tell, told.set_exception, error)
                else:
                    loop.call_soon_threadsafe(tell, told.set_result, done)

        thread = threading.Thread(target=run, name="checkpoint-folder", daemon=True)
        thread.start()
        try:
            async with asyncio.timeout(self._answer_s):
                return await told
        except TimeoutError:
            self._waiting = thread
            raise StoreError(f"{self._folder} does not answer within {self._answer_s:g} s") from None

    def _put(self, name: str, note: str) -> str | None:
        path = self._folder / name
        try:
            if not path.exists():
                self._write(path, note)
            return _text(path)
        except PermissionError:
            if path.exists():
                return None
            raise StoreError(f"{self._folder} cannot be written (permission denied)") from None
        except OSError as error:
            raise StoreError(f"{self._folder} {self._why(error)}") from None

    def _read(self, name: str) -> str | None:
        try:
            return _text(self._folder / name)
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


def _text(path: Path) -> str:
    """What stands in a file, as far as a checkpoint may reach; nothing for what is no file: a pipe would be waited for."""
    found = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            return ""
        return os.read(found, _MOST_BYTES).decode("utf-8", "replace")
    finally:
        os.close(found)
