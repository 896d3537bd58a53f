"""Time that passes when a test says so: a deadline is shown without waiting for it, on the slowest machine as on the fastest."""

from __future__ import annotations

import asyncio
import time

AMPLE_S = 600.0
"""Seconds for a deadline that only `time_passes` may reach: no machine takes so long to what the test waits for."""


def time_passes(seconds: float = AMPLE_S) -> None:
    """The clock of the running event loop goes forward by `seconds`: every timeout and pause within them is over at once.

    Called from where a test wants them to pass, e.g. in a fake that has begun its work. Raises RuntimeError outside a loop.
    """
    loop = asyncio.get_running_loop()
    shown = loop.time
    loop.time = lambda: shown() + seconds  # type: ignore[method-assign]  # a loop has no other way to set its clock


async def at_once(_seconds: float) -> None:
    """A pause that takes no time; for what is given a way to sleep."""
    await asyncio.sleep(0)


class Clock:
    """The clock of this machine, and what a test lets pass beside; for what is given a clock."""

    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> float:
        """Seconds since some moment, as `time.monotonic` gives them."""
        return time.monotonic() + self.passed
