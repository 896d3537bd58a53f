"""What a suite is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bot.evaluate.bootstrap import Interval, balanced_interval, interval
from bot.evaluate.gain import Gain
from bot.evaluate.questions import Question, metric_names, misjudged
from bot.rows.jsonl import BadLine, open_source, read_rows
from bot.system import System
from grounding.errors import InputError

T = TypeVar("T")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetResult:
    """Measures of one set of `n` rows: a file, or the part of it that the name says after a colon.

    Suites that measure question by question hand the questions over, and what the set gains over another system;
    `notes` are lines for the person who made the set. `system`: which of several that were measured side by side, such as a policy.
    `part`: a line of the table of the set before it. `rule`: the rule of the check that the line is about, where it is about one.
    """

    name: str
    n: int
    metrics: dict[str, float]
    questions: tuple[Question, ...] = ()
    gains: tuple[Gain, ...] = ()
    notes: tuple[str, ...] = ()
    system: str = ""
    part: bool = False
    rule: str = ""

    @property
    def split(self) -> str:
        """The part of the data that it is over, without the system's name."""
        return self.name.removeprefix(f"{self.system}:") if self.system else self.name

    def intervals(self) -> dict[str, Interval]:
        """The bootstrap interval of each mean over questions, and of the mean of both ways to be right."""
        values = {
            name: [q.metrics[name] for q in self.questions if name in q.metrics]
            for name in metric_names(self.questions)
        }
        spans = {name: interval(given) for name, given in (values | misjudged(self.questions)).items()}
        right = [[1 - value for value in wrong] for wrong in misjudged(self.questions).values()]
        spans["balanced_accuracy"] = balanced_interval(right)
        return {name: span for name, span in spans.items() if span is not None}

    def as_json(self) -> dict[str, Any]:
        """The form of `--json`; what a set has not is left out."""
        parts = {
            "intervals": {name: [span.low, span.high] for name, span in self.intervals().items()},
            "gains": [gain.as_json() for gain in self.gains],
            "notes": list(self.notes),
            "questions": [question.as_json() for question in self.questions],
        }
        return {"name": self.name, "n": self.n, "metrics": self.metrics} | {k: v for k, v in parts.items() if v}


@dataclass(frozen=True, slots=True)
class WrongRow:
    """A row that was judged wrong, with every reason. `lost`: the stage that lost it, `question` what was asked, where the suite tells them."""

    id: str
    set: str
    outcome: str
    why: tuple[str, ...]
    lost: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """One suite's sets; `wrong` for suites that judge row by row."""

    suite: str
    sets: tuple[SetResult, ...]
    wrong: tuple[WrongRow, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The form of `--json`."""
        value: dict[str, Any] = {"suite": self.suite, "sets": [part.as_json() for part in self.sets]}
        wrong = [{k: v for k, v in asdict(row).items() if v is not None} for row in self.wrong]
        return value | ({"wrong": wrong} if wrong else {})


@dataclass(frozen=True, slots=True)
class Company:
    """A knowledge base with questions of its own. `readers`: who may read what; `directory`: who is in which group; None: everyone, nobody."""

    name: str
    kb: Path
    turns: Path
    readers: Path | None = None
    directory: Path | None = None


class Track(Protocol):
    """Passes rows on and shows how far they are."""

    def __call__(self, name: str, rows: Sequence[T], /) -> Iterator[T]: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """The system under test and the data. `limit` rows of each file at most, evenly spread; None is all.

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


def load(path: Path) -> list[Row]:
    """Every row of a file. Raises InputError that names file and line."""
    with open_source(str(path)) as stream:
        return [_good(path, number, row) for number, row in read_rows(stream)]


def spread(rows: Sequence[T], limit: int | None) -> list[T]:
    """At most `limit` of `rows`, evenly spaced, order kept."""
    if limit is None or limit >= len(rows):
        return list(rows)
    return [rows[i * len(rows) // limit] for i in range(limit)]


def label(path: Path, row: Row, allowed: Sequence[str]) -> str:
    """The field `label`. Raises InputError."""
    value = row.get("label")
    if value not in allowed:
        raise InputError(f"{path}, row {row.get('id')}: field 'label' must be one of {', '.join(allowed)}")
    return str(value)


def _good(path: Path, number: int, row: Row | BadLine) -> Row:
    if isinstance(row, BadLine):
        raise InputError(f"{path}, line {number}: {row.error}", code=row.error.code)
    return row
