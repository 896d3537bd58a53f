"""Contingency table of turns: kind by verdict, and kind by the stage that lost them."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evaluate.results import SetResult, SuiteResult
from bot.evaluate.suites.turns.facts import VERDICTS
from bot.evaluate.suites.turns.lost import STAGES


@dataclass(frozen=True, slots=True)
class Counted:
    """A table of counts: a line for each kind, the last for all. `verdicts` and `stages` head its columns; what never occurs is left out of them."""

    name: str
    verdicts: tuple[str, ...]
    stages: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[int, ...], tuple[int, ...]], ...]


def counted(result: SuiteResult, whole: SetResult) -> Counted | None:
    """The table of a set and of its parts; None where it has none."""
    parts = [part for part in result.sets if part.part and part.name.startswith(f"{whole.name}:")]
    if whole.part or not parts:
        return None
    verdicts = tuple(v for v in VERDICTS if v == "right" or whole.metrics.get(v))
    stages = tuple(s for s in STAGES if whole.metrics.get(f"lost_{s}"))
    rows = [
        (
            "all" if one is whole else one.name.removeprefix(f"{whole.name}:"),
            one.n,
            tuple(_count(one, v) for v in verdicts),
            tuple(_count(one, f"lost_{s}") for s in stages),
        )
        for one in (*parts, whole)
    ]
    return Counted(whole.name, verdicts, stages, tuple(rows))


def _count(part: SetResult, metric: str) -> int:
    return round(part.metrics.get(metric, 0.0) * part.n)
