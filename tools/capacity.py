"""What so many human agents need, from what was measured here, by formulae that stand beside each figure; and what is full first.

usage: python -m tools.capacity [--agents N …] [--turns-an-hour N] [--peak N] [--hours N] [--days N] [--pool N] [--connections N] [--tokens-a-minute N] [--searches-a-second N]

`agents` are at work at the same time and use Teams. Measured figures are those of docs/benchmarks.md and docs/scale.md, on two cores that did other work too: measure your own
(`make bench`) and set them. Limits of a cloud are yours to give: none is guessed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

AGENTS = (10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one turn and one process, each with where it was measured."""

    processor_s: float = 0.054
    """A turn on services, in seconds of a core (docs/benchmarks.md, "Turns on services")."""
    memory_mib: float = 315.0
    """A process after 200 turns (docs/benchmarks.md)."""
    entries: float = 2.0
    """Entries of the record a turn in Teams (docs/scale.md)."""
    entry_kb: float = 4.2
    """An entry in the store (docs/benchmarks.md)."""
    chain: float = 800.0
    """Entries a second that one chain takes, the database 1 ms away (docs/scale.md)."""
    round_trips: float = 16.0
    """Waits for the database a turn in Teams (docs/scale.md)."""
    searches: float = 2.0
    """Searches of the index a turn (docs/scale.md)."""
    tokens: float = 3326 + 307 + 614 + 37
    """Of the chat model a turn, in and out, graded and drafted by it: medians of docs/azure.md, "What it takes"."""
    busy: float = 0.6
    """How much of a core is used at the peak: beyond it waiting grows faster than work (chosen, not measured)."""


MEASURED = Measured()


@dataclass(frozen=True, slots=True)
class Use:
    """How people work: turns an agent an hour, the peak over the mean, hours a day, days that the record is kept; connections a process."""

    turns_an_hour: float = 6.0
    peak: float = 2.0
    hours: float = 8.0
    days: float = 365.0
    pool: int = 10


USUAL = Use()


@dataclass(frozen=True, slots=True)
class Limits:
    """What the deployment allows; None where nobody said."""

    connections: float | None = None
    tokens_a_minute: float | None = None
    searches_a_second: float | None = None


UNKNOWN = Limits()


@dataclass(frozen=True, slots=True)
class Need:
    """A row: what, how much, in which unit, by which formula, and the limit that holds for it (None: none known)."""

    what: str
    amount: float
    unit: str
    formula: str
    limit: float | None = None


def needs(agents: int, use: Use, measured: Measured, limits: Limits) -> list[Need]:
    """What `agents` at work at once need at their peak."""
    turns = agents * use.turns_an_hour / 3600 * use.peak
    processes = math.ceil(turns * measured.processor_s / measured.busy)
    daily = agents * use.turns_an_hour * use.hours * measured.entries * measured.entry_kb / 1e6
    return [
        Need("turns", turns, "/s", "agents × turns an hour ÷ 3,600 × peak"),
        Need("processes, a core each", processes, "", "turns × processor time of one ÷ share of a core in use"),
        Need("memory", processes * measured.memory_mib / 1024, "GiB", "processes × memory of one"),
        Need("entries into one chain", turns * measured.entries, "/s", "turns × entries of one", measured.chain),
        Need("waits for the database", turns * measured.round_trips, "/s", "turns × round trips of one"),
        Need("connections", processes * use.pool, "", "processes × ATTEST_DATABASE_POOL", limits.connections),
        Need("the record", daily, "GB a day", "agents × turns an hour × hours × entries × size of one"),
        Need("the record kept", daily * use.days / 1e3, "TB", "a day's × days"),
        Need("searches", turns * measured.searches, "/s", "turns × searches of one", limits.searches_a_second),
        Need("tokens", turns * 60 * measured.tokens / 1e6, "million a minute", "turns × 60 × tokens of one", _millions(limits.tokens_a_minute)),
    ]  # fmt: skip


def _millions(count: float | None) -> float | None:
    return None if count is None else count / 1e6


def full_at(agents: int, found: Sequence[Need]) -> list[tuple[float, str]]:
    """At how many agents each limit is reached, the first one first: every need grows as their number does."""
    return sorted((agents * need.limit / need.amount, need.what) for need in found if need.limit is not None)


def table(
    counts: Sequence[int] = AGENTS, use: Use = USUAL, measured: Measured = MEASURED, limits: Limits = UNKNOWN
) -> Iterator[str]:
    """The lines of a Markdown table, a column for each number of agents, and below it what is full first."""
    columns = [needs(agents, use, measured, limits) for agents in counts]
    yield f"| | {' | '.join(f'{agents:,} agents' for agents in counts)} | by |"
    yield f"|---|{'---|' * (len(counts) + 1)}"
    for row in zip(*columns, strict=True):
        yield f"| {row[0].what} | {' | '.join(map(_amount, row))} | {row[0].formula} |"
    yield ""
    full = full_at(counts[-1], columns[-1])
    told = "; ".join(f"{what} at {_rounded(agents)} agents" for agents, what in full)
    unknown = ", ".join(dict.fromkeys(n.what for n in columns[0] if n.what in _LIMITED and n.limit is None))
    yield f"Full first: {told}." + (f" No limit was given for: {unknown}." if unknown else "")


_LIMITED = frozenset({"connections", "searches", "tokens"})


def _amount(need: Need) -> str:
    over = need.limit is not None and need.amount > need.limit
    unit = f"{need.unit}" if need.unit.startswith("/") else f" {need.unit}".rstrip()
    return f"{'**' if over else ''}{_rounded(need.amount)}{unit}{'**' if over else ''}"


def _rounded(amount: float) -> str:
    """Two digits that count, or the whole number below a hundred."""
    if amount >= 100:
        digits = int(math.log10(amount)) - 1
        return f"{round(amount, -digits):,.0f}"
    return f"{amount:.0f}" if amount >= 10 else f"{amount:.2g}"


def main() -> None:
    """Command line, see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=AGENTS, help="at work at the same time")
    for name, default, told in (
        ("turns-an-hour", USUAL.turns_an_hour, "of an agent"),
        ("peak", USUAL.peak, "the busiest minutes over the mean"),
        ("hours", USUAL.hours, "of work a day"),
        ("days", USUAL.days, "that the record is kept"),
    ):
        parser.add_argument(f"--{name}", type=_positive, default=default, help=told)
    parser.add_argument("--pool", type=int, default=USUAL.pool, help="ATTEST_DATABASE_POOL")
    for name, told in (
        ("connections", "that the database server allows"),
        ("tokens-a-minute", "quota of the chat model"),
        ("searches-a-second", "that the search service was measured to answer"),
    ):
        parser.add_argument(f"--{name}", type=_positive, help=f"{told}; left out: not held against it")
    a = parser.parse_args()
    if min(a.agents) < 1:
        parser.error("--agents takes numbers of at least 1")
    use = Use(a.turns_an_hour, a.peak, a.hours, a.days, a.pool)
    limits = Limits(a.connections, a.tokens_a_minute, a.searches_a_second)
    print("\n".join(table(a.agents, use, limits=limits)))


def _positive(text: str) -> float:
    if not (number := float(text)) > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return number


if __name__ == "__main__":
    main()
