"""The charts of a set: recall curve, ranks, calibration of grades, sorted scores, differences to the baseline, scores by tag; each with a caption and its figures as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.evaluate.glossary import name_of
from bot.evaluate.page import plot_data, svg
from bot.evaluate.page.svg import Bar, Point, Series
from bot.evaluate.questions import Question


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, what it says, its legend (look, name), and its figures as a table."""

    title: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def charts(questions: Sequence[Question], main: str, suite: str) -> list[Chart]:
    """The charts of a set whose questions are ranked by the figure `main`; none where no question has it."""
    scored = [q for q in questions if main in q.metrics]
    if not scored:
        return []
    made: list[Chart | None] = [_recall_chart(scored), _rank_chart(scored)] if suite == "retrieval" else []
    made.append(_grade_chart(questions))
    if suite not in ("golden", "turns"):
        made += [_sorted_chart(scored, main), _difference_chart(scored, main)]
    tags = plot_data.by_tag(scored, main)
    made += [_tag_chart(tags, main)] if tags else []
    return [chart for chart in made if chart is not None]


def _recall_chart(questions: Sequence[Question]) -> Chart:
    series = [Series("this run", "here", plot_data.recall_curve(questions, plot_data.here))]
    if any(q.plain for q in questions):
        series.append(Series("plain hybrid", "there", plot_data.recall_curve(questions, plot_data.plain)))
    ticks = (1, 2, 5, 10, 20, 50)
    return Chart(
        "Recall against how many documents are looked at",
        svg.curve(
            series,
            f"Recall rises from {series[0].values[0]:.2f} at one document to {series[0].values[-1]:.2f} at fifty",
            "documents looked at",
        ),
        _legend(series),
        ("k", *(one.name for one in series)),
        tuple((str(k), *(f"{one.values[k - 1]:.3f}" for one in series)) for k in ticks),
    )


def _rank_chart(questions: Sequence[Question]) -> Chart:
    series = [Series("this run", "here", plot_data.first_ranks(questions, plot_data.here))]
    if any(q.plain for q in questions):
        series.append(Series("plain hybrid", "there", plot_data.first_ranks(questions, plot_data.plain)))
    names = plot_data.rank_names()
    label = f"{series[0].values[0]:.0f} of {len(questions)} questions have a right document first, {series[0].values[-1]:.0f} none among fifty"
    counts = tuple((name, *(f"{one.values[i]:.0f}" for one in series)) for i, name in enumerate(names))
    return Chart(
        "Where the first right document stands",
        svg.columns(names, series, label, "rank of the first right document"),
        _legend(series),
        ("rank", *(one.name for one in series)),
        counts,
    )


def _grade_chart(questions: Sequence[Question]) -> Chart | None:
    bands = plot_data.reliability(questions)
    if not bands:
        return None
    points = [Point(b.mean, b.share, b.span.low, b.span.high, b.n) for b in bands]
    said = ", ".join(f"{b.present} of {b.n} graded {b.name}" for b in bands)
    return Chart(
        "What a grade means",
        svg.reliability(
            points,
            [(b.mean, b.balanced) for b in bands],
            f"The answer is there for {said}",
            "best grade of the question",
        ),
        (("here", "share whose answer is there"), ("there", "the same if two of three questions had one")),
        ("best grade", "mean", "questions", "answer there", "share", "95 % interval", "if two of three had one"),
        tuple(
            (
                b.name,
                f"{b.mean:.2f}",
                str(b.n),
                str(b.present),
                f"{b.share:.2f}",
                f"{b.span.low:.2f} to {b.span.high:.2f}",
                f"{b.balanced:.2f}",
            )
            for b in bands
        ),
    )


def _sorted_chart(questions: Sequence[Question], main: str) -> Chart:
    series = [Series("this run", "here", [q.metrics[main] for q in questions])]
    if all(main in q.plain for q in questions):
        series.append(Series(_other(main), "there", [q.plain[main] for q in questions]))
    parts = [
        ("1", lambda v: v >= 1),
        ("0.5 to 1", lambda v: 0.5 <= v < 1),
        ("above 0 to 0.5", lambda v: 0 < v < 0.5),
        ("0", lambda v: v == 0),
    ]
    counted = tuple((name, *(str(sum(map(test, one.values))) for one in series)) for name, test in parts)
    return Chart(
        f"{name_of(main)} of each question",
        svg.sorted_shares(
            series, f"{name_of(main)} of {len(questions)} questions, from best to worst", "questions, best to worst"
        ),
        _legend(series),
        (name_of(main), *(f"questions, {one.name}" for one in series)),
        counted,
    )


def _difference_chart(questions: Sequence[Question], main: str) -> Chart | None:
    pairs = [q.metrics[main] - q.plain[main] for q in questions if main in q.plain]
    if not pairs:
        return None
    better, worse = sum(d > 0 for d in pairs), sum(d < 0 for d in pairs)
    counted = (("better", str(better)), ("the same", str(len(pairs) - better - worse)), ("worse", str(worse)))
    return Chart(
        f"{name_of(main)} less that of the {_other(main)}",
        svg.differences(
            pairs,
            f"{better} questions are better and {worse} worse than by the {_other(main)}",
            "questions, largest gain to largest loss",
        ),
        (("better", "better"), ("worse", "worse")),
        (f"against the {_other(main)}", "questions"),
        counted,
    )


def _tag_chart(bars: Sequence[Bar], main: str) -> Chart:
    return Chart(
        f"{name_of(main)} by tag",
        svg.rows(bars, f"{name_of(main)} of {len(bars)} parts of the set"),
        (),
        ("tag", name_of(main), "95 % interval", "n"),
        tuple((bar.name, f"{bar.value:.3f}", f"{bar.low:.3f} to {bar.high:.3f}", str(bar.n)) for bar in bars),
    )


def _other(main: str) -> str:
    return "last turn" if main == "rouge_1_f" else "plain hybrid"


def _legend(series: Sequence[Series]) -> tuple[tuple[str, str], ...]:
    return tuple((one.look, one.name) for one in series) if len(series) > 1 else ()
