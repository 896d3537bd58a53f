"""Files are read in a child process under limits of time and memory, so that none of them can stop a run.

One child serves one file after another, which makes many small files fast. It is replaced when a file kills it. A file
that fails for want of memory or by a crash is tried once more in a new child, unless it had one: what the files before
it left behind is not its fault.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from grounding.errors import ServiceUnavailable
from grounding.readers.extract import MAX_TEXT_CHARS, Extract, Reason, Refused
from grounding.readers.frames import REPLY, REQUEST
from grounding.records import Locator

_MAX_REPLY = 8 * MAX_TEXT_CHARS
_START = "import sys; sys.path[:] = sys.argv[4:]; from grounding.readers.worker import main; main(int(sys.argv[1]), *map(float, sys.argv[2:4]))"
_ROOT = Path(__file__).parents[2]
_STARTS_WITHIN = 60.0  # seconds
_OUT_OF_TIME = int(getattr(signal, "SIGXCPU", 0))


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take. `seconds` of processor time, and as many more as the size of the file is due;
    `patience` times as long on the clock, for machines that are busy. `memory` in bytes.
    """

    seconds: float = 90.0
    seconds_per_byte: float = 1e-6
    patience: float = 3.0
    memory: int = 1_500_000_000

    def work(self, size: int) -> float:
        """Seconds of processor time for a file of `size` bytes."""
        return self.seconds + size * self.seconds_per_byte

    def deadline(self, size: int) -> float:
        """Seconds on the clock for a file of `size` bytes."""
        return self.patience * self.work(size)


class Guard:
    """Reads files in a child process. Use as a context manager, or `close`; either may be followed by more reading.

    Safe to use from several threads; they take turns.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._stop()

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            self._stop()

    def read(self, data: bytes, name: str) -> Extract:
        """As `grounding.readers.read.read`, but nothing that the file does reaches this process.

        Raises Refused, whose code may also be too_slow or crashed; ServiceUnavailable if no child can be started.
        """
        with self._lock:
            reply, fresh = self._served(data, name)
            if not fresh and reply.get("worn"):
                reply, _ = self._served(data, name)
        if "refused" in reply:
            raise Refused(cast(Reason, reply["refused"]), reply["message"])
        return _extract(reply)

    def _served(self, data: bytes, name: str) -> tuple[dict[str, Any], bool]:
        """The reply, and whether the child had read nothing before. `worn`: a new child may do better."""
        fresh = self._child is None
        child = self._child or self._start()
        self._child = child
        overdue = threading.Event()
        timer = threading.Timer(self._limits.deadline(len(data)), _end, (child, overdue))
        timer.start()
        try:
            reply = _asked(child, data, name)
        except (OSError, EOFError, ValueError):  # it died, or what it says is no reply
            self._stop()
            if overdue.is_set() or child.returncode == -_OUT_OF_TIME:
                return _refusal(
                    "too_slow", f"{name}: not read within {self._limits.work(len(data)):.0f} seconds"
                ), fresh
            return _refusal("crashed", f"{name}: the file makes its reader crash") | {"worn": True}, fresh
        finally:
            timer.cancel()
        if reply.get("worn"):
            self._stop()
        return reply, fresh

    def _start(self) -> subprocess.Popen[bytes]:
        limits = self._limits
        path = [*(part or str(Path.cwd()) for part in sys.path), str(_ROOT)]  # an editable install is not in sys.path
        arguments = [limits.memory, limits.seconds, limits.seconds_per_byte, *path]
        overdue = threading.Event()
        try:
            child = subprocess.Popen(  # noqa: S603  # our own interpreter with our own module
                [sys.executable, "-I", "-S", "-c", _START, *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise ServiceUnavailable("file reader", f"cannot be started ({error.strerror})") from None
        timer = threading.Timer(_STARTS_WITHIN, _end, (child, overdue))
        timer.start()
        try:
            _received(child)
        except (OSError, EOFError, ValueError):
            _end(child, overdue)
            child.communicate()
            raise ServiceUnavailable("file reader", "ends before it is ready") from None
        finally:
            timer.cancel()
        return child

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()  # closes the pipes and waits


def _asked(child: subprocess.Popen[bytes], data: bytes, name: str) -> dict[str, Any]:
    sink = cast(BinaryIO, child.stdin)
    label = name.encode("utf-8", "surrogateescape")
    sink.write(REQUEST.pack(len(label), len(data)) + label)
    sink.write(data)
    sink.flush()
    return _received(child)


def _received(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Raises EOFError when the child has ended, ValueError for what is no reply."""
    source = cast(BinaryIO, child.stdout)
    head = source.read(REPLY.size)
    if len(head) < REPLY.size:
        raise EOFError
    (length,) = REPLY.unpack(head)
    if length > _MAX_REPLY:
        raise ValueError("a reply that is too long")
    body = source.read(length)
    if len(body) < length:
        raise EOFError
    return cast(dict[str, Any], json.loads(body.decode("utf-8", "surrogatepass")))


def _end(child: subprocess.Popen[bytes], overdue: threading.Event) -> None:
    overdue.set()
    child.kill()


def _refusal(code: Reason, message: str) -> dict[str, Any]:
    return {"refused": code, "message": message}


def _extract(reply: dict[str, Any]) -> Extract:
    meta = dict(reply["meta"])
    if isinstance(meta.get("groups"), list):
        meta["groups"] = tuple(meta["groups"])
    locators = tuple(Locator(start, label) for start, label in reply["locators"])
    return Extract(reply["title"], reply["text"], reply["content_type"], locators, meta)
