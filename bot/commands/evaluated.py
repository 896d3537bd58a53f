"""What `attest eval` measured, for a person: tables on the terminal, and the page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from rich.text import Text

from bot.commands.shared.html_file import HtmlFile
from bot.commands.shared.output import console, note, table
from bot.evaluate.glossary import WHOLE, name_of
from bot.evaluate.page.page import eval_page
from bot.evaluate.results import Gain, SetResult, SuiteResult
from bot.evaluate.suites.turns.counts import counted
from rai.check.catalogue import BY_ID

ASKED = 90
"""Characters of a question in a table."""


def show(results: Sequence[SuiteResult], seconds: float) -> None:
    """Wrong rows, figures, and what was gained over other systems, suite by suite."""
    out = console()
    for result in results:
        if any(part.part for part in result.sets):
            _show_turns(result)
            continue
        if result.wrong:
            out.print(Text(f"{result.suite}: wrong rows", style="bold red"))
            rows = [(row.id, row.set, row.outcome, "; ".join(row.why)) for row in result.wrong]
            out.print(table(("row", "set", "outcome", "why"), rows))
            out.print()
        _show_figures(result.suite, [part for part in result.sets if not part.rule])
        _show_rules([part for part in result.sets if part.rule])
        _show_gains(result)
    out.print(f"{seconds:.1f} s", style="dim")


def _show_figures(title: str, sets: Sequence[SetResult]) -> None:
    """A line for each set, a table for sets of the same figures; what sets are called stays on a line, whatever room the figures take."""
    for measured, group in groupby(sets, key=lambda part: frozenset(part.metrics)):
        parts = list(group)
        names = [metric for metric in parts[0].metrics if metric in measured]
        rows = [(part.name, part.n, *(figure(name, part.metrics.get(name)) for name in names)) for part in parts]
        console().print(table((title, "n", *names), rows, right=("n", *names), whole=(title,)))
        console().print()


def _show_rules(sets: Sequence[SetResult]) -> None:
    """A line for each rule that condemned a claim: how often, how often rightly, and what it means."""
    if not sets:
        return
    rows = [
        (p.name, p.n, figure("right", p.metrics["right"]), BY_ID[p.rule].says if p.rule in BY_ID else "") for p in sets
    ]
    heads = ("rule that condemned", "n", "right", "it says")
    console().print(table(heads, rows, right=("n", "right"), whole=heads[:1]))
    console().print()


def _show_turns(result: SuiteResult) -> None:
    """Of each company a table by kind and the facts on their way, then what was lost, the worst first, and where."""
    out = console()
    for whole in result.sets:
        counts = counted(result, whole)
        if counts is None:
            continue
        ends, stages = counts.verdicts, counts.stages
        lost_at = ("lost at:",) if stages else ()
        blank = ("",) * len(lost_at)
        rows = [(kind, n, *(c or "" for c in (*ended, *blank, *lost))) for kind, n, ended, lost in counts.rows]
        columns = ("n", *ends, *lost_at, *stages)
        out.print(table((whole.name, *columns), rows, right=columns))
        out.print()
        out.print(_totals(whole))
        out.print()
    if result.wrong:
        out.print(Text("what was lost, the worst first", style="bold red"))
        heads = ("row", "set", "verdict", "lost at", "asked", "why")
        lines = [
            (row.id, row.set, row.outcome, row.lost or "", _short(row.question or ""), "; ".join(row.why))
            for row in result.wrong
        ]
        out.print(table(heads, lines))
        out.print()


def _totals(whole: SetResult) -> str:
    """Right in all, and how far the facts of the turns that can be answered came."""
    m = whole.metrics
    said = f"{whole.n} turns, right {m['right']:.2f}"
    said += f", answers of {m['words']:.0f} words (median)" if "words" in m else ""
    ways = [(name, m[name]) for name in m if name.startswith("facts_")]
    if ways:
        told = " · ".join(f"{name_of(name).removeprefix('Facts ')} {value:.2f}" for name, value in ways)
        said += f"\nturns whose facts were all {told}"
    return said


def _short(text: str) -> str:
    """The end of what was asked: of a pasted conversation it is the question."""
    words = " ".join(text.split())
    return words if len(words) <= ASKED else f"… {words[-ASKED:].partition(' ')[2]}"


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
    return f"{value:.0f}" if name in WHOLE or name.endswith("_n") else f"{value:.3f}"


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
        f"{part.name} against {gain.against}",
        gain.metric,
        f"{gain.value:.3f}",
        f"{gain.other:.3f}",
        f"{span.mean:+.3f}",
        f"[{span.low:+.3f}, {span.high:+.3f}]",
        gain.better,
        gain.worse,
        span.n,
    )
