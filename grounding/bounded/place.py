"""Where an error that nobody expected came from, without a word of the text that it came of."""

from __future__ import annotations

import traceback
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def place_of(error: BaseException) -> str:
    """`ValueError at rai/support/elapsed.py:88`: the type, and the innermost line of our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).is_relative_to(_ROOT) and "site-packages" not in f.filename]
    if not ours:
        return type(error).__name__
    return f"{type(error).__name__} at {Path(ours[-1].filename).relative_to(_ROOT).as_posix()}:{ours[-1].lineno}"
