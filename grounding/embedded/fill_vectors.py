"""Embedding of the chunks of a store that have no vector yet, in batches that are kept as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from grounding.errors import ServiceError, ServiceRejected, ServiceReplyInvalid
from grounding.ports import Embedder
from grounding.services.remote import Throttled
from grounding.store.store import Store

LOOK_EACH = 50_000
"""Vectors after which `look` is called: an ingest of days is found by approximate search before it ends."""
IN_A_ROW, ALONE_IN_A_ROW = 2, 8
"""Batches, or single texts, that fail one after the other: the service is in trouble, not they."""
_Bare = tuple[str, str]


async def fill(
    store: Store, embedder: Embedder, batch: int, on_done: Callable[[int, int], None], look: Callable[[], object]
) -> int:
    """Embed every live chunk that has no vector of this model; returns how many got one.

    A text that a service refuses for good must not keep its neighbours from their vectors, nor those that come after: what a refused batch
    held is tried one by one. Raises the ServiceError of what is left; what was embedded is kept.
    """
    missing = await asyncio.to_thread(store.without_vectors, embedder.fingerprint)
    done = 0

    async def give(part: Sequence[_Bare]) -> None:
        nonlocal done
        vectors = (await embedder.embed([text for _, text in part])).astype(np.float16)
        rows = [(chunk_id, vector.tobytes()) for (chunk_id, _), vector in zip(part, vectors, strict=True)]
        await asyncio.to_thread(store.put_vectors, embedder.fingerprint, rows)
        if done // LOOK_EACH != (done + len(part)) // LOOK_EACH:
            await asyncio.to_thread(look)
        done += len(part)
        on_done(done, len(missing))

    left, error = await _each(missing, batch, give, IN_A_ROW)
    refused = isinstance(error, ServiceRejected | ServiceReplyInvalid) and not isinstance(error, Throttled)
    if refused and done and batch > 1:
        left, error = await _each(left, 1, give, ALONE_IN_A_ROW)
    if error is not None:
        raise error
    return done


async def _each(
    chunks: Sequence[_Bare], batch: int, give: Callable[[Sequence[_Bare]], Awaitable[None]], most: int
) -> tuple[list[_Bare], ServiceError | None]:
    """Embed `chunks` in batches; returns what got no vector, and the last reason. After `most` failures one after the other nothing more is
    tried.
    """
    left: list[_Bare] = []
    last: ServiceError | None = None
    in_a_row = 0
    for begin in range(0, len(chunks), batch):
        part = chunks[begin : begin + batch]
        try:
            await give(part)
            in_a_row = 0
        except ServiceError as error:
            last, in_a_row = error, in_a_row + 1
            left += part
            if in_a_row == most:
                return [*left, *chunks[begin + batch :]], last
    return left, last
