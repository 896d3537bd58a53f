"""What so many agents need: by hand, and what is full first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.capacity import Limits, Measured, Use, full_at, needs, table
from tools.lists import ROOT

MEASURED = Measured(
    processor_s=0.1, memory_mib=512, entries=2, entry_kb=5, chain=50, round_trips=10, searches=2, tokens=3000, busy=0.5
)
USE = Use(turns_an_hour=6, peak=2, hours=10, days=100, pool=8)


def test_needs_by_hand() -> None:
    """3,000 agents: 5 turns a second, 10 at the peak."""
    found = {need.what: need.amount for need in needs(3000, USE, MEASURED, Limits())}
    assert found == pytest.approx(
        {
            "turns": 10,
            "processes, a core each": 2,
            "memory": 1.0,
            "entries into one chain": 20,
            "waits for the database": 100,
            "connections": 16,
            "the record": 3000 * 60 * 10e-6,
            "the record kept": 3000 * 60 * 10e-6 * 0.1,
            "searches": 20,
            "tokens": 1.8,
        }
    )


def test_what_is_full_first_stands_first() -> None:
    limits = Limits(connections=160, tokens_a_minute=0.9e6)
    assert full_at(3000, needs(3000, USE, MEASURED, limits)) == [
        (1500, "tokens"),
        (7500, "entries into one chain"),
        (30000, "connections"),
    ]


def test_what_is_over_a_limit_is_bold_and_what_has_none_is_said() -> None:
    *rows, _, last = table((3000, 30000), USE, MEASURED, Limits(tokens_a_minute=2e6))
    assert "| entries into one chain | 20/s | **200/s** |" in "\n".join(rows)
    assert "| tokens | 1.8 million a minute | **18 million a minute** |" in "\n".join(rows)
    assert last == (
        "Full first: tokens at 3,300 agents; entries into one chain at 7,500 agents. "
        "No limit was given for: connections, searches."
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--agents", "500"], 0, "| turns | 1.7/s |"),
        (["--agents", "0"], 2, "at least 1"),
        (["--peak", "0"], 2, "not above zero"),
        (["--help"], 0, "by formulae that stand beside each figure"),
    ],
)
def test_it_is_run_and_says_what_is_wrong(arguments: list[str], code: int, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.capacity", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert told in " ".join((done.stdout + done.stderr).split())
