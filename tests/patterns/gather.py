"""Every pattern of the three packages: what is compiled while all modules are imported, and what stands in the source.

`python -m tests.patterns.gather` prints them as JSON, in a process of its own: patterns are compiled when a module is first
imported, and a process imports it once.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bot", "grounding", "rai")
CALLS = frozenset({"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
OPTIONAL = frozenset({"bot.__main__"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern as it was compiled, and the line of source that did: "rai/screening/normal_forms.py:32"."""

    text: str
    flags: int
    place: str


@cache
def gathered() -> tuple[Pattern, ...]:
    """Every pattern that importing the packages compiles, and every literal one of their source."""
    out = subprocess.run(
        [sys.executable, "-m", "tests.patterns.gather"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    compiled = {Pattern(*row) for row in json.loads(out.stdout.splitlines()[-1])}
    known = {p.text for p in compiled}
    literal = {Pattern(s.text, s.flags, s.place) for s in sites() if s.text is not None and s.text not in known}
    return tuple(sorted(compiled | literal, key=lambda p: (p.place, p.text)))


@dataclass(frozen=True, slots=True)
class Site:
    """One call of `re` in the source; `text` is its pattern if it is written out, `end` the line of the call's end."""

    place: str
    end: int
    text: str | None
    flags: int = 0


@cache
def sites() -> tuple[Site, ...]:
    """Every call of `re` with a pattern in the three packages."""
    files = (f for package in PACKAGES for f in sorted((ROOT / package).rglob("*.py")) if "sample" not in f.parts)
    return tuple(site for file in files for site in _calls(file))


def _calls(file: Path) -> Iterator[Site]:
    name = file.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.args):
            continue
        first = node.args[0]
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        yield Site(f"{name}:{node.lineno}", node.end_lineno or node.lineno, text, _flags(node))


def _flags(call: ast.Call) -> int:
    names = {n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute) and n.attr.isupper()}
    return sum(int(getattr(re, name)) for name in names if isinstance(getattr(re, name, None), re.RegexFlag))


# --- in a process of its own ------------------------------------------------------------------------------------------


def _recorded(found: set[tuple[str, int, str]]) -> None:
    """Makes the cache under every function of `re` note who asks it for what."""
    original = re._compile  # type: ignore[attr-defined]  # noqa: SLF001  # the one door to all of `re`

    def noting(pattern: Any, flags: Any) -> Any:
        compiled = original(pattern, flags)
        place = _place(sys._getframe(1))  # noqa: SLF001  # as logging does
        if place and isinstance(compiled.pattern, str):
            found.add((compiled.pattern, compiled.flags, place))
        return compiled

    re._compile = noting  # type: ignore[attr-defined]  # noqa: SLF001


def _place(frame: FrameType | None) -> str:
    while frame is not None and frame.f_code.co_filename == re.__file__:
        frame = frame.f_back
    if frame is None or not frame.f_code.co_filename.startswith(str(ROOT)):
        return ""
    name = Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()
    return f"{name}:{frame.f_lineno}" if name.split("/")[0] in PACKAGES else ""


def _modules() -> None:
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if module.name not in OPTIONAL and ".sample" not in module.name:
                importlib.import_module(module.name)


def main() -> None:
    found: set[tuple[str, int, str]] = set()
    _recorded(found)
    _modules()
    sys.stdout.write(json.dumps(sorted(found)))


if __name__ == "__main__":
    main()
