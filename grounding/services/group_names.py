"""Names for a directory's group ids, as documents' rights use them, from a YAML file `groups: {OBJECT-ID: hr}` that is read again when it
changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from grounding.errors import InputError, ServiceUnavailable


class GroupNames:
    """Group names in the file as it is now. `path` None: there are none, and rights of documents name object ids."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._names: Mapping[str, str] = {}

    def current(self) -> Mapping[str, str]:
        """Group names by object id, in lower case. Raises ServiceUnavailable if the file cannot be used, upon which the caller denies
        access.
        """
        if self._path is None:
            return {}
        try:
            status = self._path.stat()
            stamp = status.st_mtime_ns, status.st_size
            if stamp != self._stamp:
                self._names = read_group_names(self._path)
                self._stamp = stamp
        except OSError as error:
            raise ServiceUnavailable(
                "directory", f"{self._path.name}: {(error.strerror or 'unreadable').lower()}"
            ) from None
        except InputError as error:
            raise ServiceUnavailable("directory", str(error)) from None
        return self._names


def read_group_names(path: Path) -> dict[str, str]:
    """Group names by object id, in lower case, of the file `path`. Raises InputError: what is wrong, where, what is allowed; OSError."""
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path.name}: not readable as YAML ({type(error).__name__})") from None
    groups = data.get("groups") if isinstance(data, dict) else None
    if not isinstance(groups, dict):
        raise InputError(f"{path.name}: expected `groups:` with a name for each object id")
    for group, name in groups.items():
        if not isinstance(group, str) or not isinstance(name, str) or not name.strip():
            raise InputError(f"{path.name}: groups.{group}: expected an object id and a name")
    return {group.lower(): name for group, name in groups.items()}
