"""What may be said of an exception that nobody expected: its type and the way to it through the code.

Its message and its locals can hold a customer's words, so neither is ever looked at.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

_OURS = ("bot", "rai", "grounding")
_ROOT = PurePath(__file__).parent.parent


def kind_and_place(error: BaseException) -> str:
    """`KeyError at rai/screening/screen.py:88`: the type, and the last place that is our own code, if any is."""
    places = _places(error)
    ours = [place for place in places if place.startswith(_OURS)]
    return f"{type(error).__name__} at {(ours or places or ['an unknown place'])[-1]}"


def kind_and_way(error: BaseException) -> str:
    """The type and every place from the outermost to where it was raised, on one line: a traceback without content."""
    return f"{type(error).__name__} by {' > '.join(_places(error)) or 'an unknown way'}"


def _places(error: BaseException) -> list[str]:
    return [f"{_short(frame.filename)}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]


def _short(filename: str) -> str:
    """The path from our package on; of a file of others its name alone: where things are installed is nobody's business."""
    path = PurePath(filename)
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _OURS:
        return path.relative_to(_ROOT).as_posix()
    return path.name
