"""What one system gains over another on the same questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.evaluate.bootstrap import Interval


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
            "metric": self.metric, "against": self.against, "value": self.value, "other": self.other,
            "difference": self.span.mean, "low": self.span.low, "high": self.span.high, "n": self.span.n,
            "better": self.better, "worse": self.worse, "seed": self.span.seed, "resamples": self.span.resamples,
        }  # fmt: skip

    def as_metrics(self) -> dict[str, float]:
        """The difference and the ends of its interval, as a gate names them."""
        return {
            self.metric: self.span.mean, f"{self.metric}_low": self.span.low, f"{self.metric}_high": self.span.high
        }  # fmt: skip
