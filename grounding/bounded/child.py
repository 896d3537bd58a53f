"""A child process of our own program that answers one request after another, and is killed when one takes too long.

A thread cannot be ended, and one that runs a pattern holds the interpreter; a process can. Whoever asks decides what a request and a reply
are; on the wire a reply is a length and so many bytes.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

from grounding.bounded.limits import OUT_OF_TIME
from grounding.errors import ServiceUnavailable

REPLY = struct.Struct(">Q")
"""The length of a reply, before it."""
_ROOT = Path(__file__).parents[2]
_STARTS_WITHIN = 60.0  # seconds


class Ended(Exception):
    """The child process has ended without a reply. `overran`: because the request took longer than it may, by the clock or by the
    processor.
    """

    def __init__(self, *, overran: bool) -> None:
        super().__init__("it took too long" if overran else "it ended by itself")
        self.overran = overran


class Child:
    """One child process that runs `main` of `module` with the arguments as strings. For one thread at a time.

    Raises ServiceUnavailable, which names it `what`, if it cannot be started.
    """

    def __init__(self, what: str, module: str, *arguments: object, most: int) -> None:
        """`most`: bytes of a reply above which it counts as none."""
        path = [*(part or str(Path.cwd()) for part in sys.path), str(_ROOT)]  # an editable install is not in sys.path
        count = 1 + len(arguments)
        start = f"import sys; sys.path[:] = sys.argv[{count}:]; from {module} import main; main(*sys.argv[1:{count}])"
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter with our own module
                [sys.executable, "-I", "-S", "-c", start, *map(str, arguments), *path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ServiceUnavailable(what, f"cannot be started ({error.strerror})") from None
        self._most = most
        self.killed = False
        try:
            self.ask((), _STARTS_WITHIN)
        except Ended:
            raise ServiceUnavailable(what, "ends before it is ready") from None

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def ask(self, request: Iterable[bytes], deadline_s: float) -> bytes:
        """Send a request and return the reply. Raises Ended, and the process is gone, if no reply comes within `deadline_s` seconds or what
        comes is none.
        """
        overdue = threading.Event()
        timer = threading.Timer(deadline_s, self._overrun, (overdue,))
        timer.daemon = True
        timer.start()
        try:
            return self._exchanged(request)
        except (OSError, EOFError, ValueError):  # it died, or what it says is no reply
            self.end()
            overran = overdue.is_set() or self._process.returncode == -OUT_OF_TIME
            raise Ended(overran=overran) from None
        finally:
            timer.cancel()

    def kill(self) -> None:
        """Kill the process while another thread waits for its reply, which will not come."""
        self.killed = True
        self._process.kill()

    def end(self) -> None:
        """Kill the process, whatever it does, and wait until it is gone; may be called again."""
        self._process.kill()
        self._process.communicate()  # closes the pipes and waits

    def _overrun(self, overdue: threading.Event) -> None:
        overdue.set()
        self._process.kill()

    def _exchanged(self, request: Iterable[bytes]) -> bytes:
        sink, source = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        for part in request:
            sink.write(part)
        sink.flush()
        head = source.read(REPLY.size)
        if len(head) < REPLY.size:
            raise EOFError
        (length,) = REPLY.unpack(head)
        if length > self._most:
            raise ValueError("a reply that is too long")
        body = source.read(length)
        if len(body) < length:
            raise EOFError
        return body
