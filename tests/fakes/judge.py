"""Judges of statements for tests: ordinary implementations of the seam."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rai.records import Source


class WordJudge:
    """The share of a statement's words that stand in a source; None of one without words. `asked` is the log."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def judge(self, statements: Sequence[str], sources: Sequence[Source]) -> tuple[float | None, ...]:
        self.asked.append(tuple(statements))
        return tuple(_share(s, sources) for s in statements)


def _share(statement: str, sources: Sequence[Source]) -> float | None:
    words = set(re.findall(r"\w+", statement.lower()))
    known = {w for s in sources for w in re.findall(r"\w+", f"{s.title} {s.text}".lower())}
    return len(words & known) / len(words) if words else None


class FailingJudge:
    """Raises what it was given."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def judge(self, statements: Sequence[str], sources: Sequence[Source]) -> tuple[float | None, ...]:
        raise self._error
