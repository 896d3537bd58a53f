"""The child process that reads files: one request after another on its standard input, under limits that it sets itself.

`ready` is said once at the start; then every request has its reply, an extract or a refusal. `worn` in a reply says that
this process has grown and a new one may do better.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO

from grounding.readers.extract import Extract, Refused
from grounding.readers.frames import REPLY, REQUEST
from grounding.readers.read import read

if sys.platform != "win32":  # there only the deadline of the parent holds
    import resource

_GROWN = 500_000_000  # bytes


def main(memory: int, seconds: float, seconds_per_byte: float) -> None:
    """Serve until the input ends. `memory` is in bytes beyond those held at the start; seconds are of processor time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints does not reach the parent
    held = _limit_memory(memory)
    _send(sink, {"ready": True})
    while len(head := source.read(REQUEST.size)) == REQUEST.size:
        name_length, data_length = REQUEST.unpack(head)
        name = source.read(name_length).decode("utf-8", "surrogateescape")
        data = source.read(data_length)
        if len(data) < data_length:
            break
        _limit_time(seconds + len(data) * seconds_per_byte)
        reply = _reply(data, name, memory)
        del data
        _send(sink, {"worn": _peak() > held + _GROWN} | reply)
    os._exit(0)  # nothing is open that needs an orderly end


def _reply(data: bytes, name: str, memory: int) -> dict[str, Any]:
    try:
        return packed(read(data, name))
    except Refused as refusal:
        return {"refused": refusal.code, "message": str(refusal)}
    except MemoryError:
        return {
            "refused": "too_large",
            "message": f"{name}: needs more than {memory // 1_000_000:,} MB of memory",
            "worn": True,
        }
    except Exception as error:  # noqa: BLE001  # a fault of a reader must cost one file, not the run
        return {"refused": "crashed", "message": f"{name}: the reader failed ({type(error).__name__})"}


def packed(extract: Extract) -> dict[str, Any]:
    """An extract as JSON can hold it."""
    return {
        "title": extract.title,
        "text": extract.text,
        "content_type": extract.content_type,
        "locators": [[place.start, place.label] for place in extract.locators],
        "meta": extract.meta,
    }


def _send(sink: BinaryIO, reply: dict[str, Any]) -> None:
    body = json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
    sink.write(REPLY.pack(len(body)) + body)
    sink.flush()


def _limit_memory(memory: int) -> int:
    """Set what may be allocated from now on, no core file and nothing written; returns the peak held so far, in bytes."""
    if sys.platform == "win32":
        return 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    size = Path("/proc/self/statm")
    if size.exists():  # elsewhere the kernel does not hold to the limit, and a wrong one would stop every file
        pages = int(size.read_text("ascii").split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.dont_write_bytecode = True
    return _peak()


def _limit_time(seconds: float) -> None:
    """Let the kernel end the process after `seconds` more of processor time."""
    if sys.platform != "win32":
        usage = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(usage.ru_utime + usage.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _peak() -> int:
    """The most memory ever held, in bytes."""
    if sys.platform == "win32":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
