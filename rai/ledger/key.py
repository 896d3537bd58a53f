"""The key of the ledger's chain, and the anchor that is kept beside it, outside the store."""

from __future__ import annotations

import fcntl
import glob
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from grounding.errors import StoreError
from rai.ledger.chain import GENESIS, seal
from rai.ledger.secret_file import fill_durably, load_secret, make_room, sync_folder, write_durably

_SETTING = "ATTEST_LEDGER_KEY_FILE"
TO_BE_GIVEN = "and where several machines share a database it is given to each, never made: the same for all"
"""Why a key that is missing is not made."""
_ROOM = 1_024
"""Bytes that a mark needs at most."""
_MOVE_S = 2.0
"""Seconds to wait for another process of this machine that moves the anchor: longer than renaming a file takes."""
_AGAIN_S = 0.002
_LEFT_S = 3600.0
"""Seconds after which nobody is still at work on a mark that was prepared: it waits for the store's write lock at most."""


def load_key(path: Path, *, make: bool = True, why: str = "but the ledger has entries; put the key back") -> bytes:
    """The 32-byte key in `path` (64 hex digits, mode 0600), made on first use if `make`; `why` it may not be made else.

    Raises SettingsError if it is missing and may not be made, is readable by others, or is not a key.
    """
    missing = "" if make else why
    return load_secret(path, label=_SETTING, is_called="a ledger key", missing=missing)


def signing_key_beside(path: Path) -> Path:
    """Where the key that checkpoints are signed with lies unless somebody says otherwise: `ledger-signing.key` beside `ledger.key`."""
    return path.with_name(f"{path.stem}-signing{path.suffix}")


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the ledger had come when the anchor was written: number of entries, the last link, and which ledger; None if that had no id yet."""

    count: int
    head: str
    ledger_id: str | None = None


class Anchor:
    """The anchor of one store: a small sealed file beside the key, named after the store's place: a file, or what a database is called.

    It never runs ahead of the store and may lag behind it by entries that chain correctly (a crash between the two
    writes). Its seal covers the place, so that the anchor of another ledger of the same key cannot be put here with its store. It is moved behind a commit, by one
    process of this machine at a time; only a writer that holds the store's write lock may call `write`.
    """

    def __init__(self, key: bytes, key_file: Path, store: Path | str) -> None:
        place = store if isinstance(store, str) else str(store.resolve())
        self._place = hashlib.sha256(place.encode()).hexdigest()
        self.path = key_file.with_name(f"{key_file.name}.{self._place[:16]}.anchor")
        self._key = key

    def read(self) -> Mark | None:
        """The mark, or None if there is no file. Raises StoreError if it was altered or cannot be read."""
        try:
            written = self.path.read_text("ascii")
            data = json.loads(written)
            ledger_id = data.get("ledger_id")
            mark = Mark(int(data["count"]), str(data["head"]), None if ledger_id is None else str(ledger_id))
            # letter for letter: what else stands in it nobody sealed
            sound = hmac.compare_digest(written, self._line(mark))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            sound = False
        if not sound:
            raise StoreError("the ledger's anchor was altered")
        return mark

    def write(self, mark: Mark) -> None:
        """Replaces the mark, durably. Raises StoreError if it cannot."""
        self.publish(self.prepare(mark))

    def prepare(self, mark: Mark) -> Path:
        """Writes `mark` beside the anchor, durably, and returns where: so that an anchor that cannot be written is known before an entry is. Raises StoreError."""
        return self._aside(lambda aside: write_durably(aside, self._line(mark)))

    def reserve(self) -> Path:
        """Makes a file beside the anchor with room for a mark, which `move` takes, and returns where: so that an anchor that cannot be written is known before an
        entry is, and nobody waits for a disk under the store's lock. Raises StoreError.
        """
        return self._aside(lambda aside: make_room(aside, _ROOM))

    def publish(self, prepared: Path) -> None:
        """Puts a mark that was prepared in the anchor's place. Raises StoreError if it cannot."""
        try:
            prepared.replace(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None

    def move(self, reserved: Path, mark: Mark, follows: Callable[[Mark], bool]) -> None:
        """Moves the anchor on to `mark`, which is stored, if it stands before that and `mark` follows it by the chain, as `follows` says of the mark that is there.
        `reserved` is gone afterwards. Raises StoreError if the anchor was altered or cannot be written.
        """
        try:
            fill_durably(reserved, self._line(mark))
            with self._alone():
                now = self.read()
                if now is not None and now.count < mark.count and follows(now):
                    self.publish(reserved)
        except OSError as error:
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None
        finally:
            discard(reserved)

    def _aside(self, make: Callable[[Path], None]) -> Path:
        aside = self.path.with_name(f"{self.path.stem}.{os.getpid()}.{secrets.token_hex(4)}.new")
        try:
            make(aside)
        except OSError as error:
            discard(aside)
            raise StoreError(f"the ledger's anchor cannot be written ({error.strerror})") from None
        return aside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else of this machine moves an anchor of this folder meanwhile, so that two never cross; where a disk has no such locks one may lag, which does no harm."""
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            until = time.monotonic() + _MOVE_S
            while not _locked(handle):
                if time.monotonic() > until:
                    raise StoreError(
                        "the ledger's anchor is being moved by another process, which does not come to an end"
                    )
                time.sleep(_AGAIN_S)
            yield
        finally:
            os.close(handle)

    def tidy(self) -> None:
        """Removes marks that were prepared and never published: a process that is killed in between leaves one. Those of others at work are younger."""
        with suppress(OSError):  # what stays does no harm
            for aside in self.path.parent.glob(f"{glob.escape(self.path.stem)}.*.new"):
                if time.time() - aside.stat().st_mtime > _LEFT_S:
                    aside.unlink(missing_ok=True)

    def start(self, ledger_id: str) -> None:
        """Writes the anchor of an empty store, unless there is one of entries that the store had."""
        before = self.read()
        if before is None or before.count == 0:
            self.write(Mark(0, GENESIS, ledger_id))

    def _line(self, mark: Mark) -> str:
        of = {} if mark.ledger_id is None else {"ledger_id": mark.ledger_id}
        return json.dumps({**of, "count": mark.count, "head": mark.head, "mac": self._seal(mark)}) + "\n"

    def _seal(self, mark: Mark) -> str:
        if mark.ledger_id is None:  # as older programs wrote it
            return seal(self._key, "attest-ledger-anchor-1", str(mark.count), mark.head)
        return seal(self._key, "attest-ledger-anchor-2", mark.ledger_id, self._place, str(mark.count), mark.head)


def discard(aside: Path) -> None:
    """Removes a mark that was prepared or reserved. Where nothing can be written nothing can be removed, and the first reason is the one to tell."""
    with suppress(OSError):
        aside.unlink(missing_ok=True)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk of the network that has none for folders
        return True
    return True
