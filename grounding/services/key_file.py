"""A service's key in a file, which is read again when it changes: a key is replaced without a restart."""

from __future__ import annotations

import logging
from pathlib import Path

from grounding.errors import SettingsError
from grounding.services.address import check_key

LOG = logging.getLogger("attest")


class KeyFile:
    """The key in the file `path`, as it is now. A file that became unreadable or holds no key keeps the one before, and the log says so once.

    `setting`: its name in messages. Raises SettingsError if there is no key at the start.
    """

    def __init__(self, path: Path, setting: str) -> None:
        self._path, self._setting = path, setting
        self._stamp = self._now()
        self._key = read_key(path, setting)

    def current(self) -> str:
        """The key."""
        stamp = self._now()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._key = read_key(self._path, self._setting)
            except SettingsError as error:
                LOG.warning("the key before stays in use: %s", error)
        return self._key

    def _now(self) -> tuple[int, int, int] | None:
        """What changes with the file; its number too, for secrets are mounted as links that are moved to another file."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def read_key(path: Path, setting: str) -> str:
    """The key in a file, without the line break at its end. Raises SettingsError, naming `setting` and never the key."""
    try:
        key = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or "unreadable").lower() if isinstance(error, OSError) else "no UTF-8 text"
        raise SettingsError(f"{setting} {str(path)!r}: {why}; allowed is a file that holds the key alone") from None
    if not key:
        raise SettingsError(f"{setting} {str(path)!r}: is empty; allowed is a file that holds the key alone")
    check_key(key, f"{setting} {str(path)!r}")
    return key
