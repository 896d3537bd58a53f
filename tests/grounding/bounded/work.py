"""What the tests of the pool have done in its children: functions of a module, as the pool takes them."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from pathlib import Path

from grounding.errors import InputError, ServiceUnavailable

BAD = re.compile(r"(?:a+)+b")
"""Backtracks for longer than anybody waits over thirty letters, and holds the interpreter while it does."""


def doubled(text: str, *, times: int = 2) -> str:
    return text * times


def backtracks(text: str) -> bool:
    return BAD.match(text) is not None


def held(begun: str) -> bool:
    """Backtracks, and tells by the file `begun` that it does."""
    Path(begun).touch()
    return backtracks("a" * 60)


def meets(folder: str, count: int) -> int:
    """Waits in `folder` until as many processes as that have come."""
    (Path(folder) / str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(list(Path(folder).iterdir())) < count and time.monotonic() < until:
        time.sleep(0.01)
    return os.getpid()


def pid() -> int:
    return os.getpid()


def sleeps(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def raises(text: str) -> int:
    return int(text)


def refuses(text: str) -> None:
    raise InputError(f"{text}: not allowed", code="odd")


def cannot_be_sent() -> object:
    return lambda: None


class Unreadable:
    """Goes into a reply and does not come out of it."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("secret words",)


def cannot_be_read() -> Unreadable:
    return Unreadable()


def fails_as_a_service_does() -> None:
    raise ServiceUnavailable("a service", "down")


def dies() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_once(marker: str) -> str:
    """Dies if this process has worked before."""
    if os.environ.get("WORKED"):
        os.kill(os.getpid(), signal.SIGSEGV)
    os.environ["WORKED"] = marker
    return marker


def warns(text: str) -> None:
    logging.getLogger("attest").warning("seen: %s", text)


def prints() -> str:
    os.write(1, b"noise")
    return "quiet"
