"""Figures of a benchmark with unit, n and target, percentiles of observations, and the machine they were measured on."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number of `n` observations. `target` is what it should keep to, as a person reads it."""

    name: str
    value: float
    unit: str
    n: int
    target: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A bench that was not run, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the figures come from. `load` is the load average of the last minute before the first bench began."""

    cpu: str
    cores: int
    memory_gb: float
    python: str
    system: str
    load: float


def machine() -> Machine:
    """This machine, now."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 2**30, 1),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        load=round(psutil.getloadavg()[0], 2),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest observation that at least `share` of all do not exceed (nearest rank); `share` in (0, 1]."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def spread(
    name: str,
    values: Sequence[float],
    unit: str,
    *,
    at: Sequence[int] = (50, 90, 99),
    targets: Mapping[int, str] | None = None,
    note: str = "",
) -> list[Figure]:
    """Percentiles of `values`, nearest rank, each a figure named `name, pN`; `at` and the keys of `targets` in (0, 100]."""
    wanted = targets or {}
    return [
        Figure(f"{name}, p{p}", percentile(values, p / 100), unit, len(values), wanted.get(p, ""), note) for p in at
    ]


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
