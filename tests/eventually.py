"""Waits for what comes by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE_S = 30.0


async def eventually(
    holds: Callable[[], Awaitable[bool]] | Callable[[], bool], *, within_s: float = PATIENCE_S
) -> None:
    """Until `holds` says so. Raises AssertionError after a long while."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        found = holds()
        if found if isinstance(found, bool) else await found:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"not within {within_s:g} s")
