"""The command that builds this installation's models, once: `python -m rai.embedded.build_models`. `rai.model_files` knows where they belong.

Needs what `grounding.embedded.recipes.build_model` needs. Models that are there already are left alone. Those of older recipes are removed: a process that
uses them holds them in memory.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grounding.embedded.recipes.build_model import build, build_changed
from grounding.embedded.recipes.build_reader import build_reader
from grounding.errors import InputError, StoreError
from rai.model_files import (
    CHANGES,
    CLASSIFIER,
    EMBEDDING,
    READER,
    READER_TOKENIZER,
    installed_models,
    missing,
)

_BUILDING = ".building"
_OURS = re.compile(r"[0-9a-f]{12}")


def build_models(target: Path) -> None:
    """Builds all models into `target`, a folder named by its recipe, unless they are there; removes those of other recipes.

    Its files appear together: whoever looks while they are built finds none. Only one process builds at a time; another waits, and finds them done.
    Raises InputError if the weights are not installed, StoreError if they are not the pinned ones, OSError if the folder cannot be written.
    """
    root = target.parent
    root.mkdir(parents=True, exist_ok=True)
    with _alone(root):
        if missing(target):
            _build(root / _BUILDING, target)
        for other in root.iterdir():
            if _OURS.fullmatch(other.name) and other != target:
                shutil.rmtree(other)


def _build(scratch: Path, target: Path) -> None:
    shutil.rmtree(scratch, ignore_errors=True)  # of a build that was killed
    scratch.mkdir()
    try:
        build(scratch / EMBEDDING)
        build_changed(scratch / CLASSIFIER, CHANGES)
        build_reader(scratch / READER, scratch / READER_TOKENIZER)
        for path in scratch.iterdir():
            _settle(path)
        shutil.rmtree(target, ignore_errors=True)  # somebody took a file out of it
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _settle(path: Path) -> None:
    """Forces a file onto the disk before its folder gets its name: after a loss of power set-up must not take empty files for models."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """A block that one process at a time is in, for this folder; others wait."""
    with (root / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Runs the command, which takes no arguments: 0 if the models are there, 2 with a line on standard error if not."""
    if len(sys.argv) != 1:
        print("usage: python -m rai.embedded.build_models", file=sys.stderr)  # noqa: T201
        return 2
    try:
        build_models(installed_models())
    except (InputError, StoreError, OSError) as error:
        print(f"the models were not built: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
