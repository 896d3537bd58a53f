"""Every pattern of the three packages comes to an end on texts made to keep it busy.

Nothing is timed for its own sake: what tries every way would take hours, and is ended after a generous limit.
"""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Sequence
from multiprocessing.connection import Connection

import pytest

from tests.patterns.attack import attacks
from tests.patterns.gather import Pattern, gathered, sites
from tests.thorough import some

SIZE = 600
LIMIT_S = 30.0
"""For all attacks on one pattern; the slowest takes a hundredth of it."""
PARTS = 8


def endless(patterns: Sequence[Pattern], limit_s: float = LIMIT_S, size: int = SIZE) -> list[Pattern]:
    """Those that did not come to an end."""
    found, left = list[Pattern](), list(patterns)
    while left:
        here, there = multiprocessing.get_context("fork").Pipe()
        process = multiprocessing.get_context("fork").Process(target=_attack, args=(there, left, size), daemon=True)
        process.start()
        there.close()
        done = 0
        while done < len(left) and here.poll(limit_s):
            here.recv()
            done += 1
        process.kill()
        process.join()
        found += left[done : done + 1]
        left = left[done + 1 :]
    return found


def _attack(end: Connection, patterns: Sequence[Pattern], size: int) -> None:
    for pattern in patterns:
        compiled = re.compile(pattern.text, pattern.flags)
        for text in attacks(pattern.text, pattern.flags, size):
            for _ in compiled.finditer(text):
                pass
        end.send(None)


@pytest.mark.parametrize("part", some(range(PARTS), 3))
def test_every_pattern_comes_to_an_end(part: int) -> None:
    assert [p.place for p in endless(gathered()[part::PARTS])] == []


PLANTED = (
    r"(?:a+)+b",
    r"(?:\w+[ -]?)*!",
    r"tell(?:[^\w.!?]{1,6}[\w'-]{1,30}){0,14}?[^\w.!?]{1,6}no way",
    r"(?:x|xx|xxx)*y",
)


@pytest.mark.parametrize("text", PLANTED)
def test_a_planted_pattern_is_found(text: str) -> None:
    sound = Pattern(r"\bfee\b", 0, "sound")
    assert endless([sound, Pattern(text, 0, "planted"), sound], limit_s=1.0) == [Pattern(text, 0, "planted")]


def test_no_pattern_is_left_out() -> None:
    """What is written out in a call of `re` is gathered, whether or not importing its module compiles it."""
    texts = {p.text for p in gathered()}
    assert [s.place for s in sites() if s.text is not None and s.text not in texts] == []
    assert len(texts) > 800
