"""Tests that repeat one thing over many cases: a run of the suite takes some of the cases, another run others, and `TEST_THOROUGH=1` all of them.

Which ones is drawn by the seed of the run, `make test SEED=…`, so that a run can be repeated and every worker collects the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
VARIABLE = "TEST_THOROUGH"


def some(cases: Iterable[T], count: int) -> list[T]:
    """`count` of the cases, in their order; all where there are no more, or `TEST_THOROUGH=1`. Where the run has no seed always the same."""
    found = list(cases)
    if os.environ.get(VARIABLE) == "1" or len(found) <= count:
        return found
    seed = os.environ.get("PYTHONHASHSEED", "")
    drawn = set(random.Random(seed).sample(range(len(found)), count))
    return [case for number, case in enumerate(found) if number in drawn]
