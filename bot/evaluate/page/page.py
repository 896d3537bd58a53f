"""The HTML page of `attest eval --html`: headline figures, comparisons, charts and lists of questions in one file, without script or network."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from bot.evaluate.answerability import confusion
from bot.evaluate.glossary import LESS, MAIN, MEANINGS, NEITHER, WHOLE, name_of
from bot.evaluate.page import svg, worst_questions
from bot.evaluate.page.charts import Chart, charts
from bot.evaluate.page.worst_questions import Item, item_of
from bot.evaluate.questions import Question
from bot.evaluate.results import Gain, SetResult, SuiteResult
from bot.evaluate.statistics.bootstrap import Interval
from bot.evaluate.suites.turns.counts import Counted, counted
from bot.http.templating import rendered, static_files
from grounding.records import Action
from rai.records import Outcome

SHOWN = 100
"""Questions that a list of the page holds."""
OPEN = 2
"""Questions that are unfolded from the beginning."""

ACTIONS = (*(action.value for action in Action), *(outcome.value for outcome in Outcome))


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure with its interval, and the gains that belong to it."""

    name: str
    value: str
    span: Interval | None
    n: int
    gains: tuple[Gain, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of questions: the first of `total`."""

    title: str
    lead: str
    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class GainRow:
    """A line of the table of comparisons, with its interval drawn."""

    gain: Gain
    name: str
    drawing: Markup


@dataclass(frozen=True, slots=True)
class SetView:
    """One set as the page shows it."""

    anchor: str
    suite: str
    name: str
    n: int
    notes: tuple[str, ...]
    headlines: tuple[Headline, ...]
    others: tuple[tuple[str, str], ...]
    gains: tuple[GainRow, ...]
    plots: tuple[Chart, ...]
    actions: tuple[str, ...]
    kinds: tuple[tuple[str, tuple[int, ...], int], ...]
    lists: tuple[Listed, ...]
    counted: Counted | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """Systems that were measured side by side: a line for each set, a cell for each figure; `best`: no other set of its split does better."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, str, int, tuple[tuple[str, bool], ...]], ...]


def beside(result: SuiteResult) -> Beside | None:
    """The table of a suite that measured several systems, split by split; None if it measured one."""
    if len({part.system for part in result.sets}) < 2:  # one has nothing beside it
        return None
    names = [n for n in dict.fromkeys(m for part in result.sets for m in part.metrics) if not n.endswith("_n")]
    splits = dict.fromkeys(part.split for part in result.sets)
    rows = []
    for split in splits:
        of_split = [part for part in result.sets if part.split == split]
        best = {name: _best(name, of_split) for name in names}
        for part in of_split:
            cells = tuple(_cell(name, part.metrics.get(name), best[name]) for name in names)
            rows.append((part.system, split, part.n, cells))
    return Beside(f"{result.suite}, side by side", tuple(name_of(name) for name in names), tuple(rows))


def _best(name: str, sets: Sequence[SetResult]) -> float | None:
    values = [part.metrics[name] for part in sets if name in part.metrics]
    if not values or name in NEITHER:
        return None
    return min(values) if name in LESS else max(values)


def _cell(name: str, value: float | None, best: float | None) -> tuple[str, bool]:
    if value is None:
        return "–", False
    return (f"{value:,.0f}" if name == "model_tokens" else f"{value:.3f}"), value == best


def eval_page(results: Sequence[SuiteResult], *, name: str, made: str = "", below: Sequence[str] = ()) -> str:
    """The page as HTML text. `name`: what was measured; `made`: when; `below`: figures that the gate refused."""
    shown = [(r, p) for r in results for p in r.sets if not p.part]
    sets = [
        replace(set_view(f"s{number}", result.suite, part), counted=counted(result, part))
        for number, (result, part) in enumerate(shown, start=1)
    ]
    occurs = dict.fromkeys(metric for result in results for part in result.sets for metric in part.metrics)
    style = "".join(static_files()[file][0].decode() for file in ("attest.css", "report.css", "eval.css"))
    return rendered(
        "evaluate/page.html",
        measured=name,
        made=made,
        below=below,
        sets=sets,
        besides=[table for result in results if (table := beside(result))],
        meanings=[(name_of(metric), MEANINGS[metric]) for metric in MEANINGS if metric in occurs],
        compared=any(view.gains for view in sets),
        style=Markup(style),  # noqa: S704 - our own files, nothing of a question
        policy=f"default-src 'none'; style-src {_hash(style)}; base-uri 'none'; form-action 'none'",
        open_first=OPEN,
    )


def set_view(anchor: str, suite: str, part: SetResult) -> SetView:
    """The view of one set, by its headline figures, gains, charts, confusion table and lists of questions. `anchor`: its id in the page."""
    spans = part.intervals()
    counts = {name for name in part.metrics if name.endswith("_n") or name.startswith("lost_") or name in WHOLE}
    main = MAIN.get(suite, "")
    table = confusion(part.questions)
    occurred = {a for counted in table.values() for a in counted}
    actions = tuple(a for a in ACTIONS if a in occurred)
    return SetView(
        anchor=anchor,
        suite=suite,
        name=part.name,
        n=part.n,
        notes=part.notes,
        headlines=tuple(_headline(part, name, spans) for name in part.metrics if name not in counts)
        if part.questions
        else (),
        others=tuple((name_of(name), f"{value:.4g}") for name, value in part.metrics.items())
        if not part.questions
        else (),
        gains=_gain_rows(part.gains),
        plots=tuple(charts(part.questions, main, suite)),
        actions=actions,
        kinds=tuple((kind, tuple(counted[a] for a in actions), counted.total()) for kind, counted in table.items()),
        lists=tuple(_lists(anchor, part.questions, main)),
    )


def _headline(part: SetResult, name: str, spans: dict[str, Interval]) -> Headline:
    span = spans.get(name)
    gains = tuple(gain for gain in part.gains if gain.metric == name)
    return Headline(name_of(name), f"{part.metrics[name]:.3f}", span, span.n if span else part.n, gains)


def _gain_rows(gains: Sequence[Gain]) -> tuple[GainRow, ...]:
    reach = max((abs(end) for gain in gains for end in (gain.span.low, gain.span.high)), default=0.0)
    return tuple(
        GainRow(gain, name_of(gain.metric), svg.gain_span(gain.span.mean, gain.span.low, gain.span.high, reach))
        for gain in gains
    )


def _lists(anchor: str, questions: Sequence[Question], main: str) -> list[Listed]:
    asked = (
        ("Worst questions first", f"by {name_of(main)}", worst_questions.worst_first(questions, main)),
        (
            "Answered though absent",
            "nothing relevant is there, and something was kept",
            worst_questions.answered_though_absent(questions),
        ),
        (
            "Refused though present",
            "something relevant is there, and nothing was kept",
            worst_questions.refused_though_present(questions),
        ),
    )
    return [
        Listed(
            title,
            lead,
            tuple(item_of(f"{anchor}-{order}-{i}", q, main) for i, q in enumerate(found[:SHOWN], start=1)),
            len(found),
        )
        for order, (title, lead, found) in enumerate(asked)
        if found
    ]


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
