"""The cells of a row: what stands between bars or tabs."""

from __future__ import annotations

import re

_CELL = re.compile(r"\s*\|\s*|\t+")


def cells_of(line: str, start: int) -> tuple[tuple[int, int], ...]:
    """The cells of `line`, which begins at `start` of its text: half open, in that text; none of a line without bars and tabs."""
    if "|" not in line and "\t" not in line:
        return ()
    found: list[tuple[int, int]] = []
    at = 0
    for match in _CELL.finditer(line):
        if at or line[: match.start()].strip():
            found.append((start + at, start + match.start()))
        at = match.end()
    if line[at:].strip():
        found.append((start + at, start + len(line)))
    return tuple(found)
