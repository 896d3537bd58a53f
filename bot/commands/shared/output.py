"""Printing for commands: results to stdout, everything else to stderr; colours and bars on terminals alone."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 160
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def console(stream: TextIO | None = None) -> Console:
    """A console on stdout (or `stream`): plain text of fixed width when it is not a terminal."""
    target = stream or sys.stdout
    terminal = target.isatty()
    return Console(
        file=target,
        force_terminal=terminal,
        color_system="auto" if terminal else None,
        width=None if terminal else _PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not terminal,
    )


def plain(text: str) -> str:
    """`text` without control characters, so that a document cannot move the cursor or reverse the reading order."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def note(message: str) -> None:
    """Write one line for the person to stderr."""
    sys.stderr.write(plain(message).replace("\n", " ") + "\n")
    sys.stderr.flush()


def emit(value: Any) -> None:
    """Write one JSON document to stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


def emit_line(value: Any) -> None:
    """Write one JSON object as a line of stdout, flushed, so that the reader of a pipe has it at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = (), whole: Sequence[str] = ()
) -> Table:
    """A table whose cells are data: nothing in them is read as markup. Columns named in `right` are figures, cells of those in `whole` stay on a line."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold", no_wrap=name in whole)
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(plain(str(cell))) for cell in row))
    return made


def show_progress() -> bool:
    """True if a bar may be drawn: a person sits at both ends."""
    return sys.stderr.isatty() and sys.stdout.isatty()


class RateColumn(ProgressColumn):
    """A column of a bar: items per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


def progress() -> Progress:
    """Bars on stderr with count, rate and time left; silent where no person looks on."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        transient=True,
        disable=not show_progress(),
    )
