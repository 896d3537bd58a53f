"""The figures of the dashboard: what happened, by days or weeks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from bot.desk.daily import MS, OUTCOME, REFUSED, STRUCK, DailyNumber, percentile
from bot.desk.index import Desk
from bot.desk.rows import FEEDBACK, SCREEN
from bot.desk.search import DeskSearch
from bot.events.kinds import VERDICT
from bot.judging.unanswered import unanswered
from bot.wording.reviewing.outcomes import outcome_word
from bot.wording.reviewing.verdicts import VERDICT_WORDS
from rai.records import Outcome

Step = Literal["day", "week"]
USUAL_DAYS = 30
DAYS_MAX = 92
"""Days that are shown one by one; of more, weeks are."""
LONGEST_DAYS = 3 * 366
MOST = 12
"""Rules and subjects that are shown, those with the highest numbers."""


@dataclass(frozen=True, slots=True)
class Span:
    """From one day to another, both included, in days or weeks."""

    since: date
    until: date
    by: Step

    @classmethod
    def of(cls, since: str, until: str, by: str, today: date | None = None) -> Span:
        """The span that is asked for; without days the last 30. A day that is none is not asked for, and one before the other changes places with it."""
        last = _day(until) or today or datetime.now(UTC).date()
        first = _day(since) or last - timedelta(days=USUAL_DAYS - 1)
        first, last = sorted((first, last))
        first = max(first, last - timedelta(days=min(LONGEST_DAYS, (last - date.min).days)))
        step: Step = "week" if by == "week" or (last - first).days >= DAYS_MAX else "day"
        return cls(first, last, step)

    def instead_of(self, since: str, until: str) -> tuple[str, ...]:
        """What was made of the days that were asked for, a line each; nothing where they are those of the span."""
        first, last = _day(since), _day(until)
        told = [f"“{day[:20]}” is no day" for day, read in ((since, first), (until, last)) if day and read is None]
        if first and last and first > last:
            told.append("the first day was after the last: they changed places")
            first, last = last, first
        if first and first < self.since:
            told.append(f"at most {LONGEST_DAYS // 366} years are shown, those up to {self.until}")
        return tuple(told)

    @property
    def periods(self) -> tuple[str, ...]:
        """The beginnings of the periods: days, or the Mondays of the weeks."""
        found, at = [], self._begin(self.since)
        while True:
            found.append(at.isoformat())
            following = at.toordinal() + (7 if self.by == "week" else 1)
            if following > self.until.toordinal():
                return tuple(found)
            at = date.fromordinal(following)

    def period_of(self, day: str) -> str:
        """The period of a day."""
        return self._begin(date.fromisoformat(day[:10])).isoformat()

    def _begin(self, day: date) -> date:
        return date.fromordinal(max(1, day.toordinal() - day.weekday())) if self.by == "week" else day


@dataclass(frozen=True, slots=True)
class DashboardLine:
    """One line of a chart. `values`: a number for each period, None where there is none; `total`: what stands beside it; `search`: conditions of the turns behind it."""

    name: str
    values: tuple[int | None, ...]
    total: int | None
    search: Mapping[str, str]

    @property
    def highest(self) -> int:
        return max((value for value in self.values if value is not None), default=0)


@dataclass(frozen=True, slots=True)
class Heading:
    """What a chart is called. `key`: what is counted."""

    key: str
    title: str
    about: str


_OUTCOMES = Heading(OUTCOME, "Outcomes", "How turns ended.")
_TIMES = Heading(MS, "Time", "How long turns took, to a tenth.")
_STRUCK = Heading(STRUCK, "Values struck, by rule", "Turns in which a rule of the check struck something.")
_REFUSED = Heading(REFUSED, "Refusals, by rule", "Turns that a rule of the screen refused.")
_UNANSWERED = Heading("unanswered", "Unanswered questions", "What no document answers, near-equal questions together.")
_FEEDBACK = Heading(FEEDBACK, "Feedback", "What people said of answers, by the day on which they said it.")
_VERDICTS = Heading(VERDICT, "Verdicts", "What reviewers said, by the day on which they said it.")


@dataclass(frozen=True, slots=True)
class DashboardChart:
    """Lines over the same periods. `unit`: of the values, "" for how many; `left_out`: lines whose numbers are no higher, which are not shown."""

    heading: Heading
    series: tuple[DashboardLine, ...]
    unit: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """The dashboard. `cut`: not all unanswered turns of the span were read."""

    span: Span
    charts: tuple[DashboardChart, ...]
    cut: bool = False

    def as_json(self) -> dict[str, Any]:
        """The form of `attest review figures --json`."""
        lines = {c.heading.key: {s.name: list(s.values) for s in c.series} for c in self.charts}
        return {
            "since": self.span.since.isoformat(),
            "until": self.span.until.isoformat(),
            "by": self.span.by,
            "periods": list(self.span.periods),
            **lines,
        }


async def figures(desk: Desk, span: Span, among: frozenset[str] | None = None) -> Figures:
    """All charts of a span; of the turns of some people alone if `among` is given. Raises StoreError."""
    found = await desk.daily(span.since.isoformat(), span.until.isoformat(), among)
    days = {"since": span.since.isoformat(), "until": span.until.isoformat()}
    asked = await unanswered(desk, DeskSearch(since=days["since"], until=days["until"], among=among))
    lines = [
        (
            subject.question,
            Counter(span.period_of(turn.at) for turn in subject.turns),
            {"entry": subject.entry_id},
        )
        for subject in asked.subjects
    ]
    thumbs = {"like": "thumbs up", "dislike": "thumbs down"}
    charts = (
        _named(span, found, _OUTCOMES, {o.value: outcome_word(o) for o in Outcome}, {"outcome": ""} | days),
        _times(span, found),
        _ranked(span, found, _STRUCK, {"struck": "yes"} | days),
        _ranked(span, found, _REFUSED, {"claim": SCREEN} | days),
        _chart(span, _UNANSWERED, lines),
        _named(span, found, _FEEDBACK, thumbs, {"feedback": ""}),
        _named(span, found, _VERDICTS, VERDICT_WORDS, {"verdict": ""}),
    )
    return Figures(span, charts, asked.cut)


def _named(
    span: Span, found: Iterable[DailyNumber], of: Heading, words: Mapping[str, str], search: Mapping[str, str]
) -> DashboardChart:
    """A line for each of `words`. `search`: the condition without a value gets the name."""
    counts = _counts(span, found, of.key)
    lines = tuple(
        _series(span, word, counts.get(name, Counter()), {field: value or name for field, value in search.items()})
        for name, word in words.items()
    )
    return DashboardChart(of, lines)


def _ranked(span: Span, found: Iterable[DailyNumber], of: Heading, search: Mapping[str, str]) -> DashboardChart:
    """A line for each rule, those with the highest numbers first."""
    counts = _counts(span, found, of.key)
    lines = [(name or "(no rule named)", each, {**search, "rule": name}) for name, each in counts.items()]
    return _chart(span, of, sorted(lines, key=lambda line: (-line[1].total(), line[0])))


def _chart(span: Span, of: Heading, lines: Sequence[tuple[str, Counter[str], Mapping[str, str]]]) -> DashboardChart:
    shown = tuple(_series(span, name, each, search) for name, each, search in lines[:MOST])
    return DashboardChart(of, shown, left_out=max(0, len(lines) - MOST))


def _times(span: Span, found: Iterable[DailyNumber]) -> DashboardChart:
    """The times within which half of all turns, and nineteen of twenty, were done."""
    by_period: dict[str, Counter[int]] = {}
    for each in found:
        if each.what == MS and each.name.isdigit():
            by_period.setdefault(span.period_of(each.day), Counter())[int(each.name)] += each.number
    every = sum(by_period.values(), Counter[int]())
    lines = tuple(
        DashboardLine(
            name,
            tuple(percentile(by_period.get(period, {}), share) for period in span.periods),
            percentile(every, share),
            {},
        )
        for name, share in (("half of all turns within", 0.5), ("19 of 20 turns within", 0.95))
    )
    return DashboardChart(_TIMES, lines, unit="ms")


def _counts(span: Span, found: Iterable[DailyNumber], what: str) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for each in found:
        if each.what == what:
            counts.setdefault(each.name, Counter())[span.period_of(each.day)] += each.number
    return counts


def _series(span: Span, name: str, counts: Mapping[str, int], search: Mapping[str, str]) -> DashboardLine:
    values = tuple(counts.get(period, 0) for period in span.periods)
    return DashboardLine(name, values, sum(values), {key: value for key, value in search.items() if value})


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
