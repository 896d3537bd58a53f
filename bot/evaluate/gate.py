"""A quality gate: least and most that figures of a run may be, read from a file, and which of them the run does not keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.evaluate.results import SuiteResult
from grounding.errors import InputError

_FORM = 'a minimum, or {"min": number, "max": number}'


@dataclass(frozen=True, slots=True)
class Bound:
    """Least and most of one figure of one set, both allowed; None is no bound."""

    suite: str
    set: str
    metric: str
    least: float | None
    most: float | None

    @property
    def place(self) -> str:
        """SUITE/SET/METRIC, as messages name it."""
        return f"{self.suite}/{self.set}/{self.metric}"


def read_gate(path: Path) -> tuple[Bound, ...]:
    """The bounds of a JSON or YAML file {suite: {set: {metric: minimum or {"max": x}}}}. Raises InputError."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"--gate {path}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise InputError(f"--gate {path}: neither JSON nor YAML", code="bad_json") from None
    return tuple(_bounds(path, value))


def failures(bounds: Sequence[Bound], results: Sequence[SuiteResult], *, partial: bool) -> list[str]:
    """A line for each bound that is not kept.

    A bound on something that was not measured is an InputError, for a gate with a slip of the pen would pass for ever;
    with `partial` (one suite was asked for) bounds on other suites are passed over.
    """
    measured = _measured(results)
    ran = {result.suite for result in results}
    lines: list[str] = []
    for bound in bounds:
        if partial and bound.suite not in ran:
            continue
        value = measured.get((bound.suite, bound.set), {}).get(bound.metric)
        if value is None:
            raise InputError(f"--gate: {bound.place} was not measured")
        if bound.least is not None and value < bound.least:
            lines.append(f"{bound.place} is {value:.4f}, below {bound.least}")
        if bound.most is not None and value > bound.most:
            lines.append(f"{bound.place} is {value:.4f}, above {bound.most}")
    return lines


def _measured(results: Sequence[SuiteResult]) -> dict[tuple[str, str], dict[str, float]]:
    """Figures by suite and set; differences stand under `NAME against OTHER`."""
    measured: dict[tuple[str, str], dict[str, float]] = {}
    for result in results:
        for part in result.sets:
            measured[result.suite, part.name] = dict(part.metrics)
            for gain in part.gains:
                measured.setdefault((result.suite, f"{part.name} against {gain.against}"), {}).update(gain.as_metrics())
    return measured


def _bounds(path: Path, value: Any) -> Iterator[Bound]:
    for suite, sets in _items(path, "the file", value):
        for name, measures in _items(path, suite, sets):
            for metric, limit in _items(path, f"{suite}/{name}", measures):
                yield _bound(path, suite, name, metric, limit)


def _items(path: Path, where: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"--gate {path}: {where} must be an object with at least one name")
    return iter((str(key), item) for key, item in value.items())


def _bound(path: Path, suite: str, name: str, metric: str, limit: Any) -> Bound:
    given = limit if isinstance(limit, Mapping) else {"min": limit}
    if not given or set(given) - {"min", "max"} or not all(_is_number(item) for item in given.values()):
        raise InputError(f"--gate {path}: {suite}/{name}/{metric} must be {_FORM}")
    return Bound(suite, name, metric, given.get("min"), given.get("max"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - not NaN
