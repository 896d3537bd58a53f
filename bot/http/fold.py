"""Which stretches of a long text are folded away around what is marked in it."""

from __future__ import annotations

FOLD_ABOVE = 1500
"""Characters above which a text is folded at all."""
_AROUND = 260
"""Characters that are shown before and after what is marked."""
_WORTH = 400
"""Characters that a fold must save."""


def folds(text: str, *, first: bool, last: bool) -> list[tuple[str, bool]]:
    """`text`, a stretch without marks, in pieces with whether each is folded. Joined they are `text`.

    `first`: nothing marked stands before it, `last`: nothing after it; a text without any mark shows its beginning.
    """
    head = 0 if first and not last else _AROUND
    tail = 0 if last else _AROUND
    if len(text) - head - tail < _WORTH:
        return [(text, False)]
    begin = _space(text, head, min(len(text), head + 60)) if head else 0
    end = _space(text, len(text) - tail - 60, len(text) - tail) if tail else len(text)
    parts = [(text[:begin], False), (text[begin:end], True), (text[end:], False)]
    return [(part, gap) for part, gap in parts if part]


def _space(text: str, begin: int, end: int) -> int:
    """The place after the first white space in [begin, end), else `end`: words are not cut where that can be helped."""
    return next((i + 1 for i in range(begin, end) if text[i].isspace()), end)
