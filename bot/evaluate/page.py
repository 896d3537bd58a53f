"""Figures as one page that needs no network, no server and no script."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from bot.evaluate import figures, plots, worst
from bot.evaluate.bench import SetResult, SuiteResult
from bot.evaluate.bootstrap import Interval
from bot.evaluate.gain import Gain
from bot.evaluate.insufficiency import confusion
from bot.evaluate.item import Item, item_of
from bot.evaluate.kinds import Counted, counted
from bot.evaluate.plots import Bar, Point, Series
from bot.evaluate.questions import Question
from bot.evaluate.wording import LESS, MAIN, MEANINGS, NEITHER, WHOLE, name_of
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
class Plot:
    """A drawing, what it says, its legend (look, name), and its figures as a table."""

    title: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


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
    plots: tuple[Plot, ...]
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
    """The page of `results`. `name`: what was measured; `made`: when; `below`: figures that the gate refused."""
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
    """One set, shaped for reading."""
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
        plots=tuple(_plots(part.questions, main, suite)),
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
        GainRow(gain, name_of(gain.metric), plots.gain_span(gain.span.mean, gain.span.low, gain.span.high, reach))
        for gain in gains
    )


def _plots(questions: Sequence[Question], main: str, suite: str) -> list[Plot]:
    scored = [q for q in questions if main in q.metrics]
    if not scored:
        return []
    made: list[Plot | None] = [_recall_plot(scored), _rank_plot(scored)] if suite == "retrieval" else []
    made.append(_grade_plot(questions))
    if suite not in ("golden", "turns"):
        made += [_sorted_plot(scored, main), _difference_plot(scored, main)]
    tags = figures.by_tag(scored, main)
    made += [_tag_plot(tags, main)] if tags else []
    return [plot for plot in made if plot is not None]


def _recall_plot(questions: Sequence[Question]) -> Plot:
    series = [Series("this run", "here", figures.recall_curve(questions, figures.here))]
    if any(q.plain for q in questions):
        series.append(Series("plain hybrid", "there", figures.recall_curve(questions, figures.plain)))
    ticks = (1, 2, 5, 10, 20, 50)
    return Plot(
        "Recall against how many documents are looked at",
        plots.curve(
            series,
            f"Recall rises from {series[0].values[0]:.2f} at one document to {series[0].values[-1]:.2f} at fifty",
            "documents looked at",
        ),
        _legend(series),
        ("k", *(one.name for one in series)),
        tuple((str(k), *(f"{one.values[k - 1]:.3f}" for one in series)) for k in ticks),
    )


def _rank_plot(questions: Sequence[Question]) -> Plot:
    series = [Series("this run", "here", figures.first_ranks(questions, figures.here))]
    if any(q.plain for q in questions):
        series.append(Series("plain hybrid", "there", figures.first_ranks(questions, figures.plain)))
    names = figures.rank_names()
    label = f"{series[0].values[0]:.0f} of {len(questions)} questions have a right document first, {series[0].values[-1]:.0f} none among fifty"
    counts = tuple(
        (name, *(f"{one.values[i]:.0f}" for one in series)) for i, name in enumerate(names)
    )  # fmt: skip
    return Plot(
        "Where the first right document stands",
        plots.columns(names, series, label, "rank of the first right document"),
        _legend(series),
        ("rank", *(one.name for one in series)),
        counts,
    )


def _grade_plot(questions: Sequence[Question]) -> Plot | None:
    bands = figures.reliability(questions)
    if not bands:
        return None
    points = [Point(b.mean, b.share, b.span.low, b.span.high, b.n) for b in bands]
    said = ", ".join(f"{b.present} of {b.n} graded {b.name}" for b in bands)
    return Plot(
        "What a grade means",
        plots.reliability(points, [(b.mean, b.balanced) for b in bands], f"The answer is there for {said}", "best grade of the question"),
        (("here", "share whose answer is there"), ("there", "the same if two of three questions had one")),
        ("best grade", "mean", "questions", "answer there", "share", "95 % interval", "if two of three had one"),
        tuple(
            (b.name, f"{b.mean:.2f}", str(b.n), str(b.present), f"{b.share:.2f}", f"{b.span.low:.2f} to {b.span.high:.2f}", f"{b.balanced:.2f}")
            for b in bands
        ),
    )  # fmt: skip


def _sorted_plot(questions: Sequence[Question], main: str) -> Plot:
    series = [Series("this run", "here", [q.metrics[main] for q in questions])]
    if all(main in q.plain for q in questions):
        series.append(Series(_other(main), "there", [q.plain[main] for q in questions]))
    parts = [("1", lambda v: v >= 1), ("0.5 to 1", lambda v: 0.5 <= v < 1), ("above 0 to 0.5", lambda v: 0 < v < 0.5), ("0", lambda v: v == 0)]  # fmt: skip
    counted = tuple((name, *(str(sum(map(test, one.values))) for one in series)) for name, test in parts)
    return Plot(
        f"{name_of(main)} of each question",
        plots.sorted_shares(
            series, f"{name_of(main)} of {len(questions)} questions, from best to worst", "questions, best to worst"
        ),
        _legend(series),
        (name_of(main), *(f"questions, {one.name}" for one in series)),
        counted,
    )


def _difference_plot(questions: Sequence[Question], main: str) -> Plot | None:
    pairs = [q.metrics[main] - q.plain[main] for q in questions if main in q.plain]
    if not pairs:
        return None
    better, worse = sum(d > 0 for d in pairs), sum(d < 0 for d in pairs)
    counted = (("better", str(better)), ("the same", str(len(pairs) - better - worse)), ("worse", str(worse)))
    return Plot(
        f"{name_of(main)} less that of the {_other(main)}",
        plots.differences(pairs, f"{better} questions are better and {worse} worse than by the {_other(main)}", "questions, largest gain to largest loss"),
        (("better", "better"), ("worse", "worse")),
        (f"against the {_other(main)}", "questions"),
        counted,
    )  # fmt: skip


def _tag_plot(bars: Sequence[Bar], main: str) -> Plot:
    return Plot(
        f"{name_of(main)} by tag",
        plots.rows(bars, f"{name_of(main)} of {len(bars)} parts of the set"),
        (),
        ("tag", name_of(main), "95 % interval", "n"),
        tuple((bar.name, f"{bar.value:.3f}", f"{bar.low:.3f} to {bar.high:.3f}", str(bar.n)) for bar in bars),
    )


def _other(main: str) -> str:
    return "last turn" if main == "rouge_1_f" else "plain hybrid"


def _legend(series: Sequence[Series]) -> tuple[tuple[str, str], ...]:
    return tuple((one.look, one.name) for one in series) if len(series) > 1 else ()


def _lists(anchor: str, questions: Sequence[Question], main: str) -> list[Listed]:
    asked = (
        ("Worst questions first", f"by {name_of(main)}", worst.worst_first(questions, main)),
        ("Answered though absent", "nothing relevant is there, and something was kept", worst.answered_though_absent(questions)),
        ("Refused though present", "something relevant is there, and nothing was kept", worst.refused_though_present(questions)),
    )  # fmt: skip
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
