"""Paired comparison of two systems on the same questions: mean differences with bootstrap intervals, against a baseline, another system or an earlier run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.evaluate.questions import Question, metric_names
from bot.evaluate.results import Gain, SetResult, SuiteResult
from bot.evaluate.statistics.bootstrap import interval
from grounding.errors import InputError

EARLIER = "earlier run"
PLAIN = "plain hybrid"
LAST_TURN = "last turn"
COMPARED = ("right", "outcome")

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """An earlier run as `--json` wrote it: (suite, set) to question id to figure to value."""

    path: Path
    sets: Mapping[tuple[str, str], Mapping[str, Figures]]


def gains(questions: Sequence[Question], others: Sequence[Figures], against: str) -> tuple[Gain, ...]:
    """The gain in each figure: the mean paired difference over the questions that both systems have it for, with its bootstrap interval.

    `others` has the figures of the other system for each of `questions`, in their order.
    """
    return tuple(made for name in metric_names(questions) if (made := _gain(questions, others, against, name)))


def over_plain(questions: Sequence[Question], name: str = PLAIN) -> tuple[Gain, ...]:
    """Gains over the baseline whose figures the questions carry; `name`: what it is called."""
    return gains(questions, [q.plain for q in questions], name)


def over_first(sets: Sequence[SetResult]) -> list[SetResult]:
    """Sets of systems measured side by side, those of the first system with their gains over each other one, in the figures `COMPARED`."""
    first = sets[0].system if sets else ""
    return [replace(s, gains=(*s.gains, *_over_others(s, sets))) if s.system == first else s for s in sets]


def _over_others(mine: SetResult, sets: Sequence[SetResult]) -> Iterator[Gain]:
    for other in sets:
        if other.system != mine.system and other.split == mine.split:
            theirs = {q.id: {name: v for name, v in q.metrics.items() if name in COMPARED} for q in other.questions}
            yield from gains(mine.questions, [theirs.get(q.id, {}) for q in mine.questions], other.system)


def read_earlier(path: Path) -> EarlierRun:
    """Reads what `attest eval … --json` wrote. Raises InputError if it cannot be read, is something else, or has no figure of a question."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
        sets = dict(_sets(value))
    except OSError as error:
        raise InputError(f"--baseline {path}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError(f"--baseline {path}: not what `attest eval … --json` writes", code="bad_json") from None
    if not sets:
        raise InputError(f"--baseline {path}: holds no figures per question; allowed: suites retrieval, query, golden")
    return EarlierRun(path, sets)


def over_earlier(results: Sequence[SuiteResult], earlier: EarlierRun) -> list[SuiteResult]:
    """`results` with the gains over the earlier run, and a note on what it does not have."""
    return [_with_gains(result, earlier) for result in results]


def _with_gains(result: SuiteResult, earlier: EarlierRun) -> SuiteResult:
    return replace(result, sets=tuple(_set_with_gains(result.suite, part, earlier) for part in result.sets))


def _set_with_gains(suite: str, part: SetResult, earlier: EarlierRun) -> SetResult:
    if not part.questions:
        return part
    before = earlier.sets.get((suite, part.name), {})
    absent = sum(q.id not in before for q in part.questions)
    note = f"{part.name}: {absent} of {len(part.questions)} questions are not in {earlier.path} and are not compared"
    made = gains(part.questions, [before.get(q.id, {}) for q in part.questions], EARLIER)
    return replace(part, gains=(*part.gains, *made), notes=(*part.notes, *([note] if absent else [])))


def _gain(questions: Sequence[Question], others: Sequence[Figures], against: str, name: str) -> Gain | None:
    pairs = [
        (q.metrics[name], other[name])
        for q, other in zip(questions, others, strict=True)
        if name in q.metrics and name in other
    ]
    span = interval([mine - theirs for mine, theirs in pairs])
    if span is None:
        return None
    value, other = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    better, worse = (sum(sign * (a - b) > 0 for a, b in pairs) for sign in (1, -1))
    return Gain(name, against, value, other, span, better, worse)


def _sets(value: Any) -> Iterator[tuple[tuple[str, str], Mapping[str, Figures]]]:
    for suite in value["suites"]:
        for part in suite["sets"]:
            figures = {
                str(row["id"]): {str(name): float(figure) for name, figure in row["metrics"].items()}
                for row in part.get("questions", ())
            }
            if figures:
                yield (str(suite["suite"]), str(part["name"])), figures
