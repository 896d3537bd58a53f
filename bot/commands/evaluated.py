"""What `attest eval` measured, for a person: tables on the terminal, and the page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.text import Text

from bot.commands.html_file import HtmlFile
from bot.commands.output import console, note, table
from bot.evaluate.bench import SetResult, SuiteResult
from bot.evaluate.gain import Gain
from bot.evaluate.page import eval_page


def show(results: Sequence[SuiteResult], seconds: float) -> None:
    """Wrong rows, figures, and what was gained over other systems, suite by suite."""
    out = console()
    for result in results:
        if result.wrong:
            out.print(Text(f"{result.suite}: wrong rows", style="bold red"))
            rows = [(row.id, row.set, row.outcome, "; ".join(row.why)) for row in result.wrong]
            out.print(table(("row", "set", "outcome", "why"), rows))
            out.print()
        names = list(dict.fromkeys(metric for part in result.sets for metric in part.metrics))
        rows_of_figures = [
            (part.name, part.n, *(figure(name, part.metrics.get(name)) for name in names)) for part in result.sets
        ]
        out.print(table((result.suite, "n", *names), rows_of_figures, right=("n", *names)))
        out.print()
        _show_gains(result)
    out.print(f"{seconds:.1f} s", style="dim")


def write_page(file: HtmlFile, results: Sequence[SuiteResult], name: str, below: Sequence[str]) -> None:
    """The page to its file, or to stdout. Raises InputError."""
    page = eval_page(results, name=name, made=f"Made on {datetime.now().astimezone():%-d %B %Y, %H:%M}", below=below)
    if file.on_stdout:
        sys.stdout.write(page)
        return
    file.write(page)
    note(f"wrote {file.path}")


def tell_notes(results: Sequence[SuiteResult]) -> None:
    """What the person who made the sets should know, on stderr."""
    for line in dict.fromkeys(line for result in results for part in result.sets for line in part.notes):
        note(line)


def figure(name: str, value: float | None) -> str:
    """A figure as it stands in a table: counts whole, shares with three places."""
    if value is None:
        return "–"
    return f"{value:.0f}" if name == "without_relevant" or name.endswith("_n") else f"{value:.3f}"


def _show_gains(result: SuiteResult) -> None:
    rows = [_gain_row(part, gain) for part in result.sets for gain in part.gains]
    if not rows:
        return
    columns = ("compared", "figure", "here", "there", "difference", "95 % interval", "better", "worse", "n")
    console().print(table(columns, rows, right=columns[2:]))
    span = next(_spans(result)).span
    console().print(f"paired bootstrap over questions, {span.resamples:,} resamples, seed {span.seed}", style="dim")
    console().print()


def _spans(result: SuiteResult) -> Iterator[Gain]:
    return (gain for part in result.sets for gain in part.gains)


def _gain_row(part: SetResult, gain: Gain) -> tuple[object, ...]:
    span = gain.span
    return (
        f"{part.name} against {gain.against}", gain.metric, f"{gain.value:.3f}", f"{gain.other:.3f}", f"{span.mean:+.3f}",
        f"[{span.low:+.3f}, {span.high:+.3f}]", gain.better, gain.worse, span.n,
    )  # fmt: skip
