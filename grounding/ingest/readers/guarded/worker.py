"""Main program of the child process that reads files: one request after another on its standard input, under limits that it sets itself.

`ready` is said once at the start; then every request has its reply, an extract or a refusal. `worn` in a reply says that this process has
grown and a new one may do better.
"""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO

from grounding.bounded.child import REPLY
from grounding.bounded.limits import limit_memory, limit_time, own_pipes, peak
from grounding.ingest.readers.extract import Extract, Refused
from grounding.ingest.readers.guarded.wire_format import REQUEST
from grounding.ingest.readers.read import read

_GROWN = 500_000_000  # bytes


def main(memory: str, seconds: str, seconds_per_byte: str) -> None:
    """Serve requests until the input ends. `memory`: bytes beyond those held at the start; seconds are of processor time."""
    source, sink = own_pipes()
    held = limit_memory(int(memory))
    _send(sink, {"ready": True})
    while len(head := source.read(REQUEST.size)) == REQUEST.size:
        name_length, data_length = REQUEST.unpack(head)
        name = source.read(name_length).decode("utf-8", "surrogateescape")
        data = source.read(data_length)
        if len(data) < data_length:
            break
        limit_time(float(seconds) + len(data) * float(seconds_per_byte))
        reply = _reply(data, name, int(memory))
        del data
        _send(sink, {"worn": peak() > held + _GROWN} | reply)
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
    """An extract as values that JSON can hold."""
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
