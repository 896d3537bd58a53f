"""The key of the ledger's chain, and the anchor that is kept beside it, outside the store."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grounding.errors import SettingsError, StoreError
from rai.ledger.chain import GENESIS, seal

_SETTING = "ATTEST_LEDGER_KEY_FILE"
_BYTES = 32


def load_key(path: Path, *, make: bool = True) -> bytes:
    """The 32-byte key in `path` (64 hex digits, mode 0600), made on first use if `make`.

    Raises SettingsError if it is missing and may not be made, is readable by others, or is not a key.
    """
    if not path.exists():
        if not make:
            raise SettingsError(f"{_SETTING}: {path} is missing, but the ledger has entries; put the key back")
        _make(path)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{_SETTING}: {path} cannot be read ({type(error).__name__})") from None
    if os.name == "posix" and mode & 0o077:
        raise SettingsError(f"{_SETTING}: {path} can be read by others (mode {mode:04o}); allowed is 0600: chmod 600")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise SettingsError(f"{_SETTING}: {path} is not a ledger key; it holds {2 * _BYTES} hex digits")
    return key


def _make(path: Path) -> None:
    # written aside and linked: of two processes that start at once, one key wins and both use it
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        _write_durably(aside, secrets.token_hex(_BYTES) + "\n")
        with suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()
        _sync_folder(path.parent)
    except OSError as error:
        raise SettingsError(f"{_SETTING}: {path} cannot be made ({error.strerror})") from None


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the ledger had come when the anchor was written: number of entries, and the last link."""

    count: int
    head: str


class Anchor:
    """The anchor of one store: a small sealed file beside the key, named after the store's place.

    It never runs ahead of the store and may lag behind it by entries that chain correctly (a crash between the two
    writes). Only a writer that holds the store's write lock may call `write`.
    """

    def __init__(self, key: bytes, key_file: Path, store: Path) -> None:
        name = hashlib.sha256(str(store.resolve()).encode()).hexdigest()[:16]
        self.path = key_file.with_name(f"{key_file.name}.{name}.anchor")
        self._key = key

    def read(self) -> Mark | None:
        """The mark, or None if there is no file. Raises StoreError if it was altered or cannot be read."""
        try:
            data = json.loads(self.path.read_text("ascii"))
            mark = Mark(int(data["count"]), str(data["head"]))
            sound = hmac.compare_digest(str(data["mac"]), self._seal(mark))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            raise StoreError("the ledger's anchor was altered")
        return mark

    def write(self, mark: Mark) -> None:
        """Replaces the mark, durably. Raises StoreError if it cannot."""
        self.publish(self.prepare(mark))

    def prepare(self, mark: Mark) -> Path:
        """Writes `mark` beside the anchor, durably, and returns where: so that an anchor that cannot be written is known before an entry is. Raises StoreError."""
        aside = self.path.with_name(f"{self.path.stem}.{os.getpid()}.{secrets.token_hex(4)}.new")
        line = json.dumps({"count": mark.count, "head": mark.head, "mac": self._seal(mark)}) + "\n"
        try:
            _write_durably(aside, line)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None
        return aside

    def publish(self, prepared: Path) -> None:
        """Puts a mark that was prepared in the anchor's place. Raises StoreError if it cannot."""
        try:
            prepared.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None

    def start(self) -> None:
        """Writes the anchor of an empty store, unless there is one."""
        if self.read() is None:
            self.write(Mark(0, GENESIS))

    def _seal(self, mark: Mark) -> str:
        return seal(self._key, "attest-ledger-anchor-1", str(mark.count), mark.head)


def _write_durably(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, text.encode("ascii"))
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
