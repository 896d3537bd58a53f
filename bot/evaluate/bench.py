"""What a suite is given: the system under test, the folder of data, and what was asked for on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.evaluate.rows import Row, T, load, spread
from bot.system import System


@dataclass(frozen=True, slots=True)
class Company:
    """A knowledge base with questions of its own. `readers`: who may read what; `directory`: who is in which group; None: everyone, nobody."""

    name: str
    kb: Path
    turns: Path
    readers: Path | None = None
    directory: Path | None = None


class Track(Protocol):
    """A progress bar: passes rows on, in order, and shows how far they are. `name`: what is measured."""

    def __call__(self, name: str, rows: Sequence[T], /) -> Iterator[T]: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What a suite measures and how: the system under test, the data folder, and options of `attest eval`. `limit` rows of each file at most, evenly spread; None is all.

    `fresh` builds a system over a temporary knowledge base made of one path, and removes it at the end; `open` does the same of a company.
    `mutations`: how many of each kind the provenance suite makes, 0 for none; `errors`: where it writes its mistakes.
    `grades`: retrieval also grades what it found and says whether it would have answered; `details`: texts are kept to be read.
    `by_rule`: answers also says of each rule how often it was right. `policies`: golden runs under each of them, side by side; empty is the one that counts.
    `kinds`: turns asks rows of these alone; empty is all.
    """

    system: System
    data: Path
    fresh: Callable[[Path], AbstractAsyncContextManager[System]]
    open: Callable[[Company], AbstractAsyncContextManager[System]]
    track: Track
    limit: int | None = None
    by_category: bool = False
    by_rule: bool = False
    mutations: int = 0
    errors: Path | None = None
    grades: bool = False
    details: bool = False
    policies: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def files(self, suite: str) -> list[Path]:
        """The suite's files, by name."""
        return sorted((self.data / suite).glob("*.jsonl"))

    def rows(self, path: Path) -> list[Row]:
        """Rows of a file, at most `limit`, evenly spread so that an ordered file stays represented."""
        return spread(load(path), self.limit)
