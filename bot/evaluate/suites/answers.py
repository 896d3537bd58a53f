"""The suite `answers`: how often the check flags honest answers and locates the one error of others, by style, type, language and rule.

A row is an answer with its sources and question, `honest` or with one error: its `type`, its characters `start` to `end`, and what is
true. The same figures as a person would ask for: how often is a right answer condemned, how often is the error itself pointed at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.results import SetResult, SuiteResult, WrongRow
from bot.evaluate.rows import Row, RowErrors
from bot.evaluate.statistics import metrics
from bot.rows.forms import check_request
from grounding.errors import InputError
from rai.records import SUPPORTED, UNSUPPORTED, Claim, Report

IN_VALUES = frozenset({"digit", "wrong_role", "unit", "date", "contact", "name", "derived"})
IN_SENTENCES = frozenset({"negation", "condition", "scope", "order", "invented"})
TYPES = IN_VALUES | IN_SENTENCES
"""What an error is: the first in a value, the others in what a sentence says."""


@dataclass(frozen=True, slots=True)
class _JudgedAnswer:
    """A row and its report. `start` and `end`: the characters of its error, half open; both 0 in an honest row."""

    id: str
    type: str | None
    start: int
    end: int
    style: str
    lang: str
    report: Report

    @property
    def bad(self) -> list[Claim]:
        return [c for c in self.report.claims if c.status in UNSUPPORTED]

    def touches(self, claim: Claim) -> bool:
        """True if the claim overlaps the error; of an error in a value a sentence does not count as such."""
        return claim.start < self.end and self.start < claim.end

    @property
    def located(self) -> bool:
        return any(self.touches(c) for c in self.bad)

    @property
    def assured(self) -> bool:
        """True if every claim on the error is called supported."""
        here = [
            c for c in self.report.claims if self.touches(c) and (self.type in IN_SENTENCES or c.kind != "statement")
        ]
        return bool(here) and all(c.status in SUPPORTED for c in here)


async def answers(bench: Bench) -> SuiteResult:
    """Honest answers flagged and errors located: per file, style, type and language, and with `by_rule` how often each rule was right."""
    sets: list[SetResult] = []
    wrong: list[WrongRow] = []
    for path in bench.files("answers"):
        judged = [await _judge(bench, path, row) for row in bench.track(path.stem, bench.rows(path))]
        sets += _sets(path.stem, judged)
        sets += _by_rule(path.stem, judged) if bench.by_rule else ()
        wrong += [w for row in judged if (w := _wrong(path.stem, row)) is not None]
    return SuiteResult("answers", tuple(sets), tuple(wrong))


async def _judge(bench: Bench, path: Path, row: Row) -> _JudgedAnswer:
    with RowErrors(path, row):
        request = check_request(row)
        kind, start, end = _error(row, request.answer)
    report = await bench.system.check(request)
    return _JudgedAnswer(
        str(row["id"]), kind, start, end, str(row.get("style") or ""), str(row.get("lang") or ""), report
    )


def _error(row: Row, answer: str) -> tuple[str | None, int, int]:
    """Type, start and end of the row's error. Raises InputError."""
    honest = row.get("honest")
    if not isinstance(honest, bool):
        raise InputError("field 'honest' must be true or false")
    if honest:
        return None, 0, 0
    kind, start, end = row.get("type"), row.get("start"), row.get("end")
    if kind not in TYPES:
        raise InputError(f"field 'type' must be one of {', '.join(sorted(TYPES))}")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
        raise InputError("'start' and 'end' must be the characters of the error in the answer")
    return str(kind), start, end


def _sets(stem: str, judged: Sequence[_JudgedAnswer]) -> Iterator[SetResult]:
    yield _measure(stem, judged)
    for name in ("style", "lang", "type"):
        for value in sorted({v for row in judged if (v := getattr(row, name))}):
            part = [row for row in judged if getattr(row, name) == value]
            if len(part) < len(judged):
                yield _measure(f"{stem}:{value}", part)


def _measure(name: str, judged: Sequence[_JudgedAnswer]) -> SetResult:
    honest, bad = [r for r in judged if r.type is None], [r for r in judged if r.type is not None]
    values = [c for r in honest for c in r.report.claims if c.kind != "statement"]
    sentences = [c for r in honest for c in r.report.claims if c.kind == "statement"]
    measured = metrics.defined(
        honest_flagged=metrics.share([bool(r.bad) for r in honest]),
        values_flagged=metrics.share([c.status in UNSUPPORTED for c in values]),
        values_marked=metrics.share([c.status in ("unchecked", "conflict") for c in values]),
        sentences_open=metrics.share([c.status == "unchecked" for c in sentences]),
        changed=metrics.share([r.report.repaired is not None for r in honest]),
        located=metrics.share([r.located for r in bad]),
        located_in_values=metrics.share([r.located for r in bad if r.type in IN_VALUES]),
        located_in_sentences=metrics.share([r.located for r in bad if r.type in IN_SENTENCES]),
        called_supported=metrics.share([r.assured for r in bad]),
    )
    return SetResult(name, len(judged), measured)


def _by_rule(stem: str, judged: Sequence[_JudgedAnswer]) -> Iterator[SetResult]:
    """For each rule that condemned a claim, how often the claim was on an error (`right`), and how often not."""
    right, condemned = Counter[str](), Counter[str]()
    for row in judged:
        for claim in row.bad:
            rule = claim.rule or "unnamed"
            condemned[rule] += 1
            right[rule] += row.type is not None and row.touches(claim)
    for rule, n in condemned.most_common():
        yield SetResult(f"{stem}:{rule}", n, {"right": right[rule] / n, "wrong": 1 - right[rule] / n}, rule=rule)


def _wrong(stem: str, row: _JudgedAnswer) -> WrongRow | None:
    if row.type is None and row.bad:
        return WrongRow(row.id, stem, "flagged", tuple(f"{c.rule}: {c.why}" for c in row.bad))
    if row.type is not None and not row.located:
        return WrongRow(row.id, stem, "missed", (f"{row.type} at {row.start}-{row.end}",))
    return None
