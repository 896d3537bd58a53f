"""The pages of docs/howto as steps: what somebody who follows one writes and runs.

A block of code says in its first line which file it is for. A block that begins with `# new file: PATH`, in a template `{# new file: PATH #}`, is that file. A `diff` begins with `--- PATH`;
its lines begin with a space, a plus or a minus, and `@@` stands between places that are far from each other. In a `console` block
what stands behind `$` is run in the root of a checkout, and the lines below it are printed, others between them; `…` stands for any characters.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEW = re.compile(r"^(?:# new file: (\S+)|{# new file: (\S+) #})\n")
_CHANGED = re.compile(r"^--- (\S+)\n")
# with the bytecode, so that what a page has run compiles only what it changed
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv*", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".attest", "build"
)


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a page has somebody write."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a file that is there: the lines as they stand now, and as they are to be."""

    path: str
    now: str
    then: str


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, and what must be printed, line by line; a command that shows no output must end well."""

    line: str
    output: tuple[str, ...]


Step = NewFile | Change | Command


def steps(page: str) -> Iterator[Step]:
    """The steps of a page in their order. Raises ValueError for a block of code that does not say what it is for."""
    for language, block in _FENCE.findall(page):
        if language == "console":
            yield from _commands(block)
        elif new := _NEW.match(block):
            yield NewFile(new[1] or new[2], block[new.end() :])
        elif language == "diff" and (changed := _CHANGED.match(block)):
            yield from _changes(changed[1], block[changed.end() :])
        else:
            raise ValueError(f"this block of code does not say which file it is for: {block[:60]!r}")


def _commands(block: str) -> Iterator[Command]:
    for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *output = typed.rstrip().splitlines()
        yield Command(line, tuple(output))


def _changes(path: str, diff: str) -> Iterator[Change]:
    for place in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = place.splitlines(keepends=True)
        now = "".join(line[1:] or "\n" for line in lines if not line.startswith("+"))
        then = "".join(line[1:] or "\n" for line in lines if not line.startswith("-"))
        yield Change(path, now, then)


def write(step: NewFile | Change, root: Path) -> None:
    """Do in the checkout `root` what a step says. Raises ValueError if the file is not as the page takes it to be."""
    file = root / step.path
    if isinstance(step, NewFile):
        if file.exists():
            raise ValueError(f"{step.path} is there already")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.text, "utf-8")
        return
    text = file.read_text("utf-8") if file.is_file() else ""
    places = (
        [found.start() for found in re.finditer(rf"^{re.escape(step.now)}", text, re.MULTILINE)] if step.now else []
    )
    if len(places) != 1:
        raise ValueError(f"{step.path} must have these lines once:\n{step.now}")
    file.write_text(text[: places[0]] + step.then + text[places[0] + len(step.now) :], "utf-8")


def missing(command: Command, printed: str) -> str | None:
    """The first line of a command's output that it did not print behind the one before it; None if it printed all."""
    printed = "\n".join(line.strip() for line in printed.splitlines())
    at = 0
    for line in command.output:
        pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
        found = re.compile(f"^{pattern}$", re.MULTILINE).search(printed, at)
        if found is None:
            return line
        at = found.end()
    return None


def copy(target: Path) -> None:
    """A copy of this checkout that uses the same environment."""
    shutil.copytree(ROOT, target, ignore=_NOT_COPIED)
    (target / ".venv").symlink_to(sys.prefix)


def main() -> None:
    """`python -m tests.howto PAGE FOLDER`: a copy of this checkout with all that the page says written."""
    page, target = (Path(name) for name in sys.argv[1:3]) if len(sys.argv) == 3 else (Path(), Path())
    if not page.is_file() or target.exists():
        sys.exit(
            "usage: python -m tests.howto PAGE FOLDER, as docs/howto/setting.md and a folder that does not exist yet"
        )
    copy(target)
    for step in steps(page.read_text("utf-8")):
        if isinstance(step, Command):
            sys.stdout.write(f"{step.line}\n")
        else:
            write(step, target)


if __name__ == "__main__":
    main()
