"""What has to hold before a version is tagged, and what is handed out of it: `make release`, or `python -m tools.release [--tag TAG] [--links URL]`.

The version is the same in bot/version.py, pyproject.toml and the newest section of CHANGELOG.md, nothing waits under `Unreleased`, the tree is clean, and
the lists in the documents are fresh. Then `dist/` gets sdist, wheel (built from the sdist) and the notes of the version. Nothing is tagged or sent.
Exit code 1: something does not hold, a line each.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OUT = "dist"
NOTES = "NOTES.md"
WAITING = "Unreleased"
_SECTION = re.compile(r"^## (\S+)(?: - (\S+))?$", re.MULTILINE)
_VERSION = re.compile(r'^VERSION = "(\d+\.\d+\.\d+)"$', re.MULTILINE)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")
_BUILD = "import sys, setuptools.build_meta as backend; getattr(backend, 'build_' + sys.argv[1])(sys.argv[2])"


class Section(NamedTuple):
    """A section of the changelog; `day` is empty where the heading has none."""

    version: str
    day: str
    body: str


def sections(changelog: str) -> list[Section]:
    """The sections from the top."""
    _, *found = _SECTION.split(changelog)
    return [Section(found[n], found[n + 1] or "", found[n + 2].strip()) for n in range(0, len(found), 3)]


def version_of(root: Path) -> str:
    """The version that the program reports. Raises ValueError."""
    found = _VERSION.search((root / "bot" / "version.py").read_text("utf-8"))
    if not found:
        raise ValueError('bot/version.py: no line VERSION = "1.2.3"')
    return found[1]


def complaints(root: Path, tag: str | None = None) -> Iterator[str]:
    """What does not hold, a line each. `tag`: the one that is being released; without it, there must be none of the version yet."""
    version = version_of(root)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    source = project["tool"]["setuptools"]["dynamic"]["version"]
    if "version" in project["project"] or source != {"attr": "bot.version.VERSION"}:
        yield "pyproject.toml: its version is not that of bot/version.py"
    yield from _of_changelog(sections((root / "CHANGELOG.md").read_text("utf-8")), version)
    changed = _git(root, "status", "--porcelain").splitlines()
    if changed:
        yield f"the tree is not clean: {', '.join(line[3:] for line in changed[:5])}"
    if tag is None and _git(root, "tag", "--list", f"v{version}"):
        yield f"v{version} is tagged already: bot/version.py names the next version"
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, and bot/version.py says {version}"
    yield from _of_lists(root)


def _of_changelog(found: Sequence[Section], version: str) -> Iterator[str]:
    waiting, newest = (*found, *[Section("", "", "")] * 2)[:2]
    if waiting.version != WAITING:
        yield f"CHANGELOG.md: the first section is not {WAITING}"
    elif waiting.body:
        yield f"CHANGELOG.md: what stands under {WAITING} belongs to {version}, or to no release yet"
    if newest.version != version:
        yield f"CHANGELOG.md: the newest release is {newest.version or 'none'}, and bot/version.py says {version}"
    elif not newest.body:
        yield f"CHANGELOG.md: {version} says nothing"
    elif not _is_day(newest.day):
        yield f"CHANGELOG.md: the heading of {version} has no day, as in ## {version} - 2026-11-25"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _of_lists(root: Path) -> list[str]:
    """In a process of its own: what makes the lists imports every module."""
    looked = [sys.executable, "-m", "tools.lists", "--check"]
    done = subprocess.run(looked, cwd=root, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines() or ["the lists in the documents cannot be looked at: make lists"]
    return said if done.returncode else []


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def notes_of(section: Section, links: str | None) -> str:
    """What a section says. `links`: the address below which the files lie that it links to, where the notes are read elsewhere than beside them."""
    return _LINK.sub(rf"]({links.rstrip('/')}/\g<1>)", section.body) if links else section.body


def build(root: Path, out: Path, links: str | None = None) -> list[Path]:
    """Sdist, wheel and notes of what is committed, in place of what was in `out`. The wheel is built from the sdist, so that both hold the same."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        exported, unpacked = Path(folder) / "tree", Path(folder) / "sdist"
        exported.mkdir()
        _git(root, "archive", "--output", str(exported.with_suffix(".tar")), "HEAD")
        _unpack(exported.with_suffix(".tar"), exported)
        sdist = _built("sdist", exported, out)
        _unpack(sdist, unpacked)
        (inside,) = unpacked.iterdir()
        wheel = _built("wheel", inside, out)
    notes = out / NOTES
    newest = sections((root / "CHANGELOG.md").read_text("utf-8"))[1]
    notes.write_text(f"{notes_of(newest, links)}\n", "utf-8")
    return [sdist, wheel, notes]


def _built(kind: str, source: Path, out: Path) -> Path:
    """What setuptools makes of a source tree, by the hooks that pip calls too. Raises CalledProcessError."""
    before = set(out.iterdir())
    made_by = [sys.executable, "-c", _BUILD, kind, str(out)]
    subprocess.run(made_by, cwd=source, capture_output=True, text=True, check=True)
    (made,) = set(out.iterdir()) - before
    return made


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as held:
        held.extractall(folder, filter="data")


def main(given: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Look, then build; 1 if something does not hold, and nothing is built then, or if it cannot be built."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="look before a tag, and build")
    parser.add_argument("--tag", help="the tag that is being released, as v1.2.3; without it the one to come")
    parser.add_argument("--links", metavar="URL", help="where the files lie that the notes link to")
    read = parser.parse_args(given)
    tag = read.tag
    try:
        found = list(complaints(root, tag))
        built = [] if found else build(root, root / OUT, read.links)
    except (OSError, ValueError) as error:
        found = [str(error)]
    except subprocess.CalledProcessError as error:
        found = [str(error.stderr or error).strip()]
    if found:
        print(*found, sep="\n", file=sys.stderr)
        return 1
    for path in built:
        print(path.relative_to(root))
    if tag is None:
        version = version_of(root)
        print(f"next: git tag -a v{version} -m {version} && git push origin v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
