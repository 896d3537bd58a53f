"""Extra output tokens for models that reason before they write, since reasoning counts against the same `max_tokens` as the reply.

An adapter that knows its model asks here for the extra tokens; whoever keeps the token account of a turn says how many may be taken. A call
that nobody keeps an account of gets all that it asks for.
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
    """Context manager: inside the block, `grant` decides how many extra reply tokens a model call gets."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def granted(tokens: int, *, again: bool = False) -> int | None:
    """Number of extra reply tokens this call may take beyond its cap, from 0 to `tokens`.

    `again`: the call is a second attempt, so its prompt and its cap must also fit in the account; None if they do not.
    """
    grant = _grant.get()
    return tokens if grant is None else grant(tokens, again)
