"""The list of erasures that is kept outside of a database: what was erased comes back where an older state of that is put back, and is erased again by it.

It holds no text and no name: ids of entries, keyed digests of conversations, ids of passages. Each line is sealed, as whoever could add one could have anything erased.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.privacy.facts import Place
from grounding.errors import InputError, StoreError


@dataclass(frozen=True, slots=True)
class NotedErasure:
    """An erasure. `at`: seconds since the epoch; `entries`: ids; `places`: digests of conversations whose rows went; `notes`: ids of passages whose notes went. `stayed`: ids
    of entries that stand before it in the list and were kept after all, because they were held meanwhile.
    """

    at: float
    entries: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stayed: tuple[str, ...] = ()


class ErasureList:
    """The list in the file at `path`, made on first use, mode 0600. `digest_of`: a keyed digest of values that JSON can say, by the ledger's key."""

    def __init__(self, path: Path, digest_of: Callable[..., str]) -> None:
        self._path, self._digest_of = path, digest_of

    def digest(self, place: Place) -> str:
        """What stands for a conversation."""
        return self._digest_of("erased", *place)

    def note(self, at: float, entries: Collection[str], places: Collection[Place], notes: Collection[str]) -> None:
        """Adds an erasure, durably, before it is done. Raises StoreError: then nothing may be erased."""
        erasure = NotedErasure(at, tuple(entries), tuple(sorted(map(self.digest, places))), tuple(notes))
        self._keep(erasure, "nothing was erased")

    def keep(self, at: float, entries: Collection[str]) -> None:
        """Adds that entries which were noted stayed, so that nobody erases them again. Raises StoreError."""
        self._keep(NotedErasure(at, stayed=tuple(entries)), f"what is held is noted as erased ({', '.join(entries)})")

    def _keep(self, erasure: NotedErasure, so: str) -> None:
        said = {name: value for name, value in asdict(erasure).items() if value or name != "stayed"}
        line = json.dumps({**said, "seal": self._seal(said)}) + "\n"
        try:
            self._add(line.encode())
        except OSError as error:
            raise StoreError(
                f"{so}: the list of erasures, {self._path}, cannot be written ({(error.strerror or 'no reason').lower()})"
            ) from None

    def _add(self, line: bytes) -> None:
        """Adds a line, durably and whole, or leaves the file as it was."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(
                handle, fcntl.LOCK_EX
            )  # until it is closed: nobody else's line is cut off, or stands within this one
            end = os.fstat(handle).st_size
            begun = end == 0 or os.pread(handle, 1, end - 1) == b"\n"  # else whoever wrote the line before was killed
            left = line if begun else b"\n" + line
            try:
                while left:  # a disk that is filling takes a part and says nothing
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, end)
                raise
        finally:
            os.close(handle)

    def read(self, *, named: bool = False) -> tuple[NotedErasure, ...]:
        """Every erasure of the list, in order, but for lines that are `torn`; none where there is no file. Raises InputError for a line that is not as it was written, and for a
        list that somebody `named` and that is not there: what it should repeat would not be.
        """
        return tuple(self._read(self._lines(named=named)))

    def torn(self) -> tuple[str, ...]:
        """File and number of each line that breaks off, as whoever is killed while it is written leaves one: nothing is erased before it is whole. Raises InputError."""
        return tuple(f"{self._path}: line {number}" for number, line in self._lines() if _is_torn(line))

    def _lines(self, *, named: bool = False) -> list[tuple[int, str]]:
        try:
            return list(enumerate(self._path.read_text("utf-8").splitlines(), start=1))
        except FileNotFoundError:
            if named:
                raise InputError(f"{self._path}: there is no such list of erasures") from None
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self._path}: cannot be read ({type(error).__name__})") from None

    def _read(self, lines: list[tuple[int, str]]) -> Iterator[NotedErasure]:
        for number, line in lines:
            if _is_torn(line):
                continue
            try:
                said = json.loads(line)
                sealed = said.pop("seal") == self._seal(said)
                entries, places, notes = (tuple(said[name]) for name in ("entries", "places", "notes"))
                erasure = NotedErasure(float(said["at"]), entries, places, notes, tuple(said.get("stayed", ())))
            except (ValueError, KeyError, TypeError, AttributeError):
                sealed = False
            if not sealed:
                raise InputError(
                    f"{self._path}: line {number} is not as it was written with this ledger key; nothing of it is repeated"
                )
            yield erasure

    def _seal(self, said: dict[str, object]) -> str:
        return self._digest_of("erasures", said)


def _is_torn(line: str) -> bool:
    """True for the beginning of a line that was noted: only a whole one has the brace that ends it."""
    return line.startswith("{") and "}" not in line
