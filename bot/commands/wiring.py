"""What a command is given: how to load settings, build the system and open the ingester.

Commands take it from the click context, so that a test hands in its own and nothing is patched.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

import typer

from bot.compose import compose, open_ingester
from bot.settings import Settings, load_settings
from bot.system import System
from grounding.ingest import IngestReport, Progress

T = TypeVar("T")


class Ingester(Protocol):
    """Takes documents in; closed once, by whoever opened it."""

    async def run(
        self, paths: Sequence[Path], *, acl: Path | None, lexical_only: bool, on_progress: Callable[[Progress], None]
    ) -> IngestReport:
        """Make the knowledge base hold what stands under `paths`. Raises InputError or StoreError."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """The makers that commands use. All may raise UserError, ServiceError or StoreError."""

    compose: Callable[[Settings], Awaitable[System]] = compose
    open_ingester: Callable[[Settings], Awaitable[Ingester]] = open_ingester
    load_settings: Callable[..., Settings] = load_settings


def wiring_of(context: typer.Context) -> Wiring:
    """The wiring handed to `main`, or the real one."""
    return context.obj if isinstance(context.obj, Wiring) else Wiring()


def settings_of(context: typer.Context, **overrides: object) -> Settings:
    """Settings with the command's options on top; sets the log up. Raises SettingsError."""
    settings = wiring_of(context).load_settings(**{k: v for k, v in overrides.items() if v is not None})
    log_to_stderr(settings.log_level if settings.log_level in ("debug", "error") else "warning")
    return settings


def log_to_stderr(level: str) -> None:
    """Log records at `level` and above go to stderr; a one-shot command speaks only when something is wrong."""
    logging.basicConfig(
        stream=sys.stderr, level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )


@asynccontextmanager
async def opened(context: typer.Context, settings: Settings | None = None) -> AsyncIterator[System]:
    """The composed system, closed at the end."""
    system = await wiring_of(context).compose(settings or settings_of(context))
    try:
        yield system
    finally:
        await system.close()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine; Ctrl-C raises KeyboardInterrupt at once.

    asyncio's own handler only cancels the main task, which a read that waits for the next line of stdin never notices.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main)
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        return asyncio.run(main)
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
