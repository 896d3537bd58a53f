"""The key of the ledger's chain, and the anchor that is kept beside it, outside the store."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from grounding.errors import StoreError
from rai.ledger.chain import GENESIS, seal
from rai.ledger.secret_file import load_secret, sync_folder, write_durably

_SETTING = "ATTEST_LEDGER_KEY_FILE"


def load_key(path: Path, *, make: bool = True) -> bytes:
    """The 32-byte key in `path` (64 hex digits, mode 0600), made on first use if `make`.

    Raises SettingsError if it is missing and may not be made, is readable by others, or is not a key.
    """
    missing = "" if make else "but the ledger has entries; put the key back"
    return load_secret(path, label=_SETTING, is_called="a ledger key", missing=missing)


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
            write_durably(aside, line)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None
        return aside

    def publish(self, prepared: Path) -> None:
        """Puts a mark that was prepared in the anchor's place. Raises StoreError if it cannot."""
        try:
            prepared.replace(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None

    def start(self) -> None:
        """Writes the anchor of an empty store, unless there is one."""
        if self.read() is None:
            self.write(Mark(0, GENESIS))

    def _seal(self, mark: Mark) -> str:
        return seal(self._key, "attest-ledger-anchor-1", str(mark.count), mark.head)
