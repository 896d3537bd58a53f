"""`attest ingest --root`, `--runs` and `--end`: runs that several processes do together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bot.commands.shared.output import console, emit, note, table
from bot.commands.shared.startup import make_home
from bot.compose.planned_run import break_off, run_states
from bot.settings.settings import Settings
from grounding.errors import InputError
from grounding.ingest.runs import RunState

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOUR_S, _MINUTE_S = 3600, 60


def check_root(paths: Sequence[Path] | None, root: str | None, *, runs: bool, end: bool, alone: bool) -> None:
    """Raises InputError for options that do not go together. `alone`: one of those that --root does not go with."""
    if root is not None and not _NAME.fullmatch(root):
        raise InputError(f"--root {root!r}: allowed are up to 64 letters, digits, dots, dashes and underscores")
    if runs and end:
        raise InputError("ingest takes either --runs or --end")
    if (runs or end) and (paths or alone):
        raise InputError(f"ingest {'--runs' if runs else '--end'} takes no PATH and goes with --root alone")
    if end and root is None:
        raise InputError("ingest --end takes --root NAME: whose run is to be ended")
    if root is not None and not (runs or end) and (alone or len(paths or ()) != 1):
        raise InputError(
            "ingest --root takes one PATH, a folder or a .jsonl corpus, and none of --sample, --rebuild, --watch"
        )


def show_runs(settings: Settings, root: str | None, *, end: bool, json: bool) -> None:
    """Print the runs of a root, or of all; `end`: end the one that is under way first. Raises InputError, StoreError."""
    make_home(settings)
    if end and root is not None:
        run = break_off(settings, root)
        note(f"run {run} of --root {root} is ended; what was taken in stays, and the next ingest of it plans anew")
    states = run_states(settings, root)
    if json:
        emit({"runs": [asdict(state) for state in states]})
    elif not states:
        note("no runs yet; attest ingest PATH --root NAME plans one")
    else:
        rows = [_row(state) for state in states]
        heads = ("run", "root", "state", "begun", "documents", "done", "a second", "left", "workers")
        console().print(table(heads, rows, right=("documents", "done", "a second", "left", "workers")))


def _row(state: RunState) -> tuple[str, ...]:
    is_over = state.ended is not None
    return (
        state.run,
        state.root,
        state.state,
        datetime.fromtimestamp(state.began, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        f"{state.documents:,}",
        f"{state.done:,}",
        "" if is_over else f"{state.rate:.1f}",
        "" if is_over else _told(state.left_s),
        "" if is_over else str(state.workers),
    )


def _told(seconds: float | None) -> str:
    """A span of time in its two largest units; "unknown" for None."""
    if seconds is None:
        return "unknown"
    minutes, seconds_left = divmod(int(seconds), _MINUTE_S)
    hours, minutes_left = divmod(int(seconds), _HOUR_S)
    return f"{hours} h {minutes_left // _MINUTE_S} min" if hours else f"{minutes} min {seconds_left} s"
