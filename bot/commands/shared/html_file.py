"""The file that `--html` names: never one of the inputs, and never half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grounding.errors import InputError


@dataclass(frozen=True, slots=True)
class HtmlFile:
    """The file that a command writes its page to; `path` is None for stdout."""

    path: Path | None

    @classmethod
    def of(cls, name: str, *, inputs: Sequence[str]) -> HtmlFile:
        """The file of a name, `-` is stdout. Raises InputError, before any work is done, if it cannot be written or is one of `inputs`."""
        if name == "-":
            return cls(None)
        path = Path(name)
        if path.is_dir():
            raise InputError(f"--html {name}: is a folder; allowed: a file to write", code="bad_file")
        if not path.parent.is_dir():
            raise InputError(f"--html {name}: its folder does not exist", code="bad_file")
        if any(_same(path, Path(given)) for given in inputs if given != "-"):
            raise InputError(f"--html {name}: is the input of this command; allowed: another file", code="bad_file")
        return cls(path)

    @property
    def on_stdout(self) -> bool:
        """True if the page goes to stdout."""
        return self.path is None

    def write(self, page: str) -> None:
        """Write beside the file, then rename: a reader sees the old page or the new one. Raises InputError."""
        assert self.path is not None
        beside: str | None = None
        try:
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.path.parent, delete=False) as stream:
                beside = stream.name
                stream.write(page)
            Path(beside).chmod(0o666 & ~_umask())
            Path(beside).replace(self.path)
        except OSError as error:
            if beside is not None:
                Path(beside).unlink(missing_ok=True)
            reason = (error.strerror or "cannot be written").lower()
            raise InputError(f"--html {self.path}: {reason}", code="bad_file") from None


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return path.absolute() == other.absolute()


def _umask() -> int:
    # the mask can only be read by setting it
    mask = os.umask(0)
    os.umask(mask)
    return mask
