"""What a suite measured: sets of rows with their figures, what they gain over another system, and the rows that were judged wrong."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bot.evaluate.answerability import misjudged
from bot.evaluate.questions import Question, metric_names
from bot.evaluate.statistics.bootstrap import Interval, balanced_interval, interval


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean of a figure here (`value`) and there (`other`); `span` is the mean difference of the pairs.

    `better`, `worse`: questions whose figure rose and fell; the rest stayed the same.
    """

    metric: str
    against: str
    value: float
    other: float
    span: Interval
    better: int
    worse: int

    def as_json(self) -> dict[str, Any]:
        """The form of `--json`."""
        return {
            "metric": self.metric,
            "against": self.against,
            "value": self.value,
            "other": self.other,
            "difference": self.span.mean,
            "low": self.span.low,
            "high": self.span.high,
            "n": self.span.n,
            "better": self.better,
            "worse": self.worse,
            "seed": self.span.seed,
            "resamples": self.span.resamples,
        }

    def as_metrics(self) -> dict[str, float]:
        """The difference and the ends of its interval, as a gate names them."""
        span = self.span
        return {self.metric: span.mean, f"{self.metric}_low": span.low, f"{self.metric}_high": span.high}


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
