"""The mark of the turn that code runs in, for lines of the log: the turn's id, its trace, and its entry once that is written.

A request or a job opens a mark, and the turn inside it fills the mark in: so a line that is written after the turn has
ended, such as a reply that could not be delivered, still leads to the entry.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class TurnMark:
    """The ids by which a line of the log is found again. `turn_id`: 16 hexadecimal digits, empty before a turn began. The others are empty where there is none (yet)."""

    turn_id: str = ""
    trace_id: str = ""
    entry_id: str = ""


_mark: ContextVar[TurnMark | None] = ContextVar("turn_mark", default=None)


def current_mark() -> TurnMark | None:
    """The mark of the request or turn that this runs in, or None."""
    return _mark.get()


@contextmanager
def marked() -> Iterator[TurnMark]:
    """Open a mark for what happens in the block: the one that stands already, if no turn has begun under it."""
    mark = _mark.get()
    if mark is not None and not mark.turn_id:
        yield mark
        return
    token = _mark.set(mark := TurnMark())
    try:
        yield mark
    finally:
        _mark.reset(token)


@contextmanager
def turn_marked() -> Iterator[TurnMark]:
    """Open a mark with a new id for a turn that begins now."""
    with marked() as mark:
        mark.turn_id = secrets.token_hex(8)
        yield mark
