"""Python environments beside the one that runs the suite: with the packages that a lock file names, and nothing of ours."""

from __future__ import annotations

import re
import venv
from importlib.metadata import distribution
from pathlib import Path

from grounding.embedded.recipes.build_reader import WEIGHTS, weights_root


def make_environment(folder: Path) -> Path:
    """A new environment without packages; its folder of packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    return packages


def add_weights(folder: Path) -> None:
    """The reader's weights as set-up fetched them for the suite, as links in `folder`, where set-up of another environment would unpack them."""
    there = weights_root() / WEIGHTS
    link = folder / WEIGHTS
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(there)


def add_locked(packages: Path, lock: Path) -> None:
    """What pip would install by `lock`, as links to what the suite runs with: no network, and the same versions.

    A package of another platform or version of Python, which pip would leave out, is not here either and is left out.
    """
    for name, marker in re.findall(r"^([\w.-]+)==[^\s;]+(?: *; *([^\\\n]+))?", lock.read_text("utf-8"), re.MULTILINE):
        try:
            files = distribution(name).files or []
        except ModuleNotFoundError:
            assert marker, f"{lock.name} names {name}, which this environment lacks"
            continue
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            link = packages / top
            if not link.exists():
                link.symlink_to(Path(str(distribution(name).locate_file(top))), target_is_directory=True)
