"""Reading of files in a child process under limits of time and memory, so that no file can stop a run.

One child serves one file after another, which makes many small files fast. It is replaced when a file kills it. A file that fails for want
of memory or by a crash is tried once more in a new child, unless it had one: what the files before it left behind is not its fault.
"""

from __future__ import annotations

import json
import threading
from typing import Any, Self, cast

from grounding.bounded.child import Child, Ended
from grounding.bounded.limits import Limits
from grounding.ingest.readers.extract import MAX_TEXT_CHARS, Extract, Reason, Refused
from grounding.ingest.readers.guarded.wire_format import REQUEST
from grounding.records import Locator

LIMITS = Limits(seconds=90.0, seconds_per_byte=1e-6)
"""What reading one file may take."""
WORKER = "grounding.ingest.readers.guarded.worker"
_MAX_REPLY = 8 * MAX_TEXT_CHARS


class Guard:
    """Reader of files in a child process. Use as a context manager, or `close`; either may be followed by more reading.

    Safe to use from several threads; they take turns.
    """

    def __init__(self, limits: Limits = LIMITS, *, worker: str = WORKER) -> None:
        """`worker`: the module whose `main` reads."""
        self._limits, self._worker = limits, worker
        self._lock = threading.Lock()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._stop()

    def close(self) -> None:
        """Kill the child, if there is one."""
        with self._lock:
            self._stop()

    def read(self, data: bytes, name: str) -> Extract:
        """Read a file as `grounding.ingest.readers.read.read` does, but in the child: nothing that the file does reaches this process.

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
        self._child = child = self._child or self._start()
        label = name.encode("utf-8", "surrogateescape")
        request = (REQUEST.pack(len(label), len(data)) + label, data)
        try:
            reply = _read(child.ask(request, self._limits.deadline(len(data))))
        except (Ended, ValueError) as error:  # what it says may be no reply
            self._stop()
            if isinstance(error, Ended) and error.overran:
                return _refusal(
                    "too_slow", f"{name}: not read within {self._limits.work(len(data)):.0f} seconds"
                ), fresh
            return _refusal("crashed", f"{name}: the file makes its reader crash") | {"worn": True}, fresh
        if reply.get("worn"):
            self._stop()
        return reply, fresh

    def _start(self) -> Child:
        limits = self._limits
        bounds = (limits.memory, limits.seconds, limits.seconds_per_byte)
        return Child("file reader", self._worker, *bounds, most=_MAX_REPLY)

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


def _read(reply: bytes) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(reply.decode("utf-8", "surrogatepass")))


def _refusal(code: Reason, message: str) -> dict[str, Any]:
    return {"refused": code, "message": message}


def _extract(reply: dict[str, Any]) -> Extract:
    meta = dict(reply["meta"])
    if isinstance(meta.get("groups"), list):
        meta["groups"] = tuple(meta["groups"])
    locators = tuple(Locator(start, label) for start, label in reply["locators"])
    return Extract(reply["title"], reply["text"], reply["content_type"], locators, meta)
