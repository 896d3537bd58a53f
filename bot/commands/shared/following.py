"""What a person sees of long work: on a terminal bars, elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import TaskID

from bot.commands.shared.output import note, progress, show_progress
from grounding.records import OnProgress, Progress

_LINE_S = 5.0
"""Where no bar may be drawn, a line says so often how far it is."""


@contextmanager
def followed() -> Iterator[OnProgress]:
    """Yields what is to be told of progress, which is shown on stderr with its rate and the time left: as bars, or as a line now and then."""
    tasks: dict[str, TaskID] = {}
    began: dict[str, tuple[float, int]] = {}
    told = time.monotonic()
    with progress() as bars:

        def on_progress(at: Progress) -> None:
            nonlocal told
            total, now = at.total or 0, time.monotonic()
            since, before = began.setdefault(at.stage, (now, at.done))
            if total and at.stage not in tasks:
                tasks[at.stage] = bars.add_task(at.stage, total=total, completed=at.done)
            elif total:
                bars.update(tasks[at.stage], completed=at.done)
            if not show_progress() and now - told >= _LINE_S and now > since and at.done > before:
                told, rate = now, (at.done - before) / (now - since)
                left = (total - at.done) / rate
                note(f"{at.stage}: {at.done:,} of {total:,}, {rate:,.0f}/s, {left:.0f} s left")

        yield on_progress
