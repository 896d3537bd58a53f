"""Directory of users' groups from a YAML file, `users: {alice: [billing]}`, read again when it changes."""

from __future__ import annotations

from pathlib import Path

import yaml

from grounding.errors import InputError, ServiceUnavailable


class FileDirectory:
    """Directory (a user's groups) over a YAML file. A missing file means that nobody is in any group; an unreadable one denies, noted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._users: dict[str, frozenset[str]] = {}

    async def groups(self, user: str) -> frozenset[str]:
        """Groups of `user`; empty for a stranger. Raises ServiceUnavailable if the file cannot be understood."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return frozenset()
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self._stamp:
            try:
                self._users = read_directory(self._path)
            except InputError as error:
                raise ServiceUnavailable("directory", str(error)) from error
            self._stamp = stamp
        return self._users.get(user, frozenset())

    async def users(self) -> tuple[str, ...]:
        """All users that the file names, in its order."""
        await self.groups("")
        return tuple(self._users)


def read_directory(path: Path) -> dict[str, frozenset[str]]:
    """Groups by user from the file `path`. Raises InputError: what is wrong, where, what is allowed."""
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path.name}: not readable as YAML ({type(error).__name__})") from error
    users = data.get("users") if isinstance(data, dict) else None
    if not isinstance(users, dict):
        raise InputError(f"{path.name}: expected `users:` with a list of groups for each user")
    out: dict[str, frozenset[str]] = {}
    for user, groups in users.items():
        if not isinstance(groups, list) or not all(isinstance(g, str) for g in groups):
            raise InputError(f"{path.name}: users.{user}: expected a list of group names")
        out[str(user)] = frozenset(groups)
    return out
