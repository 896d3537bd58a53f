"""Files that hold 32 secret bytes as 64 hex digits: made on first use, durable, and refused when others can read them."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from grounding.errors import SettingsError

_BYTES = 32


def load_secret(path: Path, *, label: str, is_called: str, missing: str) -> bytes:
    """The 32 bytes in `path`, made on first use unless `missing` says why it may not be.

    `label` begins every message and says which file is meant; `is_called` is what it should hold. Raises SettingsError if the file is missing and may not be
    made, is readable by others, or holds something else.
    """
    if not path.exists():
        if missing:
            raise SettingsError(f"{label}: {path} is missing, {missing}")
        _make(path, label)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{label}: {path} cannot be read ({type(error).__name__})") from None
    if os.name == "posix" and mode & 0o077:
        raise SettingsError(f"{label}: {path} can be read by others (mode {mode:04o}); allowed is 0600: chmod 600")
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != _BYTES:
        raise SettingsError(f"{label}: {path} is not {is_called}; it holds {2 * _BYTES} hex digits")
    return secret


def _make(path: Path, label: str) -> None:
    # written aside and linked: of two processes that start at once, one key wins and both use it
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        write_durably(aside, secrets.token_hex(_BYTES) + "\n")
        with suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise SettingsError(f"{label}: {path} cannot be made ({error.strerror})") from None


def write_durably(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Makes the file `path`, which must not be there yet, by default readable by its owner alone; its `text` is on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        left = memoryview(text.encode("utf-8"))
        while left:  # a disk that is nearly full takes a part, and says what is wrong when it is asked for the rest
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def make_room(path: Path, size: int) -> None:
    """Makes the file `path`, which must not be there yet, readable by its owner alone, with `size` bytes that `fill_durably` may write over."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        left = size
        while left:
            left -= os.write(handle, b" " * left)
    finally:
        os.close(handle)


def fill_durably(path: Path, text: str) -> None:
    """Writes `text`, no longer than the file has room for, in the place of what is in it; it is on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY)
    try:
        written = os.write(handle, text.encode("utf-8"))
        os.ftruncate(handle, written)
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Makes the names in a folder durable, where the system has a way to."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
