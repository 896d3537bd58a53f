"""Room in a reply beyond what was asked for: a model that thinks before it writes spends tokens of the same cap on it.

An adapter that knows its model asks for it here; whoever keeps an account of the turn says how much may be taken. A call that
nobody keeps an account of gets all that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Grant = Callable[[int, bool], int | None]
"""Tokens that are wanted, and whether the whole request is made once more, to tokens that may be taken. None: not even the request may."""

_grant: ContextVar[Grant | None] = ContextVar("room_granted_by", default=None)


@contextmanager
def room_granted_by(grant: Grant) -> Iterator[None]:
    """Let `grant` decide in the block."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def granted(tokens: int, *, again: bool = False) -> int | None:
    """How many of `tokens` the reply of this call may take beyond its cap, 0 to `tokens`.

    `again`: the call is made a second time, so that its prompt and its cap have to fit beside; None if they do not.
    """
    grant = _grant.get()
    return tokens if grant is None else grant(tokens, again)
