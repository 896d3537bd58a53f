"""The first steps of every command: settings, the log, the home, the event loop. Imports nothing that a light command need not pay for."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

from bot.commands.shared.output import note
from bot.observability.logs import log_to_stderr
from bot.settings.load import as_given, load_settings, unknown_names
from bot.settings.settings import Settings
from grounding.errors import SettingsError

T = TypeVar("T")


def settings_of(**overrides: object) -> Settings:
    """Read the settings, with the command's options on top where they are not None, and set the log up. Raises SettingsError."""
    settings = load_settings(**{k: v for k, v in overrides.items() if v is not None})
    log_to_stderr(settings, quiet=True)
    return settings


def warn_of_unknown_names() -> None:
    """Write a line to stderr for each variable that looks like a setting and is none: a slip in a name would else go unseen."""
    for name, nearest in unknown_names():
        note(f"attest: {name} is no setting{f'; did you mean {nearest}?' if nearest else '; see attest settings'}")


def make_home(settings: Settings) -> None:
    """Make the folder of index and ledger. Raises SettingsError if it cannot be a folder that we may write to."""
    try:
        settings.files.home.mkdir(parents=True, exist_ok=True)
        usable = os.access(settings.files.home, os.W_OK | os.X_OK)
        reason = "cannot be written"
    except FileExistsError:
        usable, reason = False, "is a file"
    except (OSError, ValueError) as error:
        usable, reason = False, f"cannot be made ({getattr(error, 'strerror', None) or 'not a path'})".lower()
    if not usable:
        raise SettingsError(
            f"{as_given('home', settings.files.home)} {reason}: allowed is a folder that you may write to"
        )


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
