"""Main program of the child processes of `grounding.bounded.pool`: one call after another on its standard input, under limits that it sets
itself.

What the program logs during a call goes back with the reply. An error that is none of ours goes back as its type and the line of ours it
came from, never in its own words, which may hold the text.
"""

from __future__ import annotations

import logging
import os
import pickle
import struct
from dataclasses import dataclass
from typing import BinaryIO

from grounding.bounded.child import REPLY
from grounding.bounded.limits import limit_memory, limit_time, own_pipes, peak
from grounding.errors import AttestError, kind_and_place

HEAD = struct.Struct(">Q")
"""The length of a request, before it."""
_GROWN = 1_000_000_000  # bytes


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """How a call ended: with `value`; with `error`, one of ours; or with another error, of which `place` tells type and line.

    `logged`: (logger, level, message) of what was logged meanwhile.
    """

    value: object = None
    error: AttestError | None = None
    place: str | None = None
    logged: tuple[tuple[str, int, str], ...] = ()


class _Collected(logging.Handler):
    """Logging handler that keeps records until they are taken."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self._kept.append((record.name, record.levelno, record.getMessage()))

    def taken(self) -> tuple[tuple[str, int, str], ...]:
        """The records kept since the last call, as (logger, level, message); they are kept no longer."""
        taken, self._kept = tuple(self._kept), []
        return taken


def main(memory: str, seconds: str, seconds_per_byte: str, first: str) -> None:
    """Serve calls until the input ends. `memory`: bytes beyond those held at the start; seconds are of processor time, `first` those of the first call beyond the others'."""
    source, sink = own_pipes()
    logged = _Collected()
    logging.getLogger("attest").addHandler(logged)
    held, more = limit_memory(int(memory)), float(first)
    _send(sink, b"")  # ready
    while len(head := source.read(HEAD.size)) == HEAD.size:
        (length,) = HEAD.unpack(head)
        request = source.read(length)
        if len(request) < length:
            break
        reply = _replied(request, float(seconds) + length * float(seconds_per_byte) + more, logged)
        more = 0.0
        _send(sink, _packed(reply, worn=peak() > held + _GROWN))
    os._exit(0)  # nothing is open that needs an orderly end


def _replied(request: bytes, seconds: float, logged: _Collected) -> WorkerReply:
    try:
        function, args, kwargs = pickle.loads(request)  # noqa: S301 - our own parent wrote it; what it imports counts for no text
        limit_time(seconds)
        return WorkerReply(function(*args, **kwargs), logged=logged.taken())
    except AttestError as error:
        return WorkerReply(error=error, logged=logged.taken())
    except Exception as error:  # noqa: BLE001 - a fault of ours must cost one text, not the run
        return WorkerReply(place=kind_and_place(error), logged=logged.taken())


def _packed(reply: WorkerReply, *, worn: bool) -> bytes:
    """The reply as bytes; one that cannot be pickled is replaced by an error."""
    try:
        packed = pickle.dumps((worn, reply), pickle.HIGHEST_PROTOCOL)
        if reply.error is not None:
            pickle.loads(packed)  # noqa: S301 - an exception may be written that cannot be read
        return packed
    except Exception as error:  # noqa: BLE001 - whatever a class does when it is pickled
        return pickle.dumps((worn, WorkerReply(place=kind_and_place(reply.error or error), logged=reply.logged)))


def _send(sink: BinaryIO, body: bytes) -> None:
    sink.write(REPLY.pack(len(body)) + body)
    sink.flush()
