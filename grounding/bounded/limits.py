"""Limits of time and memory for child processes, which set them on themselves and are held to them by the kernel."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":  # there only the deadline of the parent holds
    import resource

OUT_OF_TIME = int(getattr(signal, "SIGXCPU", 0))


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    `seconds` of processor time, and `seconds_per_byte` more for each byte of the request, and `first` more for the first request of a process, which reads its tables;
    `patience` times as long on the clock, for machines that are busy. `memory` in bytes.
    """

    seconds: float
    seconds_per_byte: float
    patience: float = 3.0
    memory: int = 1_500_000_000
    first: float = 0.0

    def work(self, size: int, *, fresh: bool = False) -> float:
        """Seconds of processor time for a request of `size` bytes. `fresh`: it is the first of its process."""
        return self.seconds + size * self.seconds_per_byte + (self.first if fresh else 0.0)

    def deadline(self, size: int, *, fresh: bool = False) -> float:
        """Seconds on the clock for a request of `size` bytes."""
        return self.patience * self.work(size, fresh=fresh)


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes for requests and replies, taken away from standard input and output: what a library prints does not reach the parent, which
    alone decides when to stop.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return source, sink


def limit_memory(memory: int) -> int:
    """Bound the memory that may be allocated from now on, and forbid core files and writing; returns the peak held so far, in bytes."""
    if sys.platform == "win32":
        return 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    size = Path("/proc/self/statm")
    if size.exists():  # elsewhere the kernel does not hold to the limit, and a wrong one would stop everything
        pages = int(size.read_text("ascii").split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.dont_write_bytecode = True
    return peak()


def limit_time(seconds: float) -> None:
    """Let the kernel kill the process after `seconds` more of processor time."""
    if sys.platform != "win32":
        usage = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(usage.ru_utime + usage.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def peak() -> int:
    """The most memory that the process has held so far, in bytes."""
    if sys.platform == "win32":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
