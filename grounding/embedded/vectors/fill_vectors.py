"""Embedding of the chunks of a store that have no vector yet, in batches that are kept as they come."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from grounding.errors import ServiceError, ServiceRejected, ServiceReplyInvalid
from grounding.ingest.runs import Lease
from grounding.ports import Embedder
from grounding.services.ceiling import CeilingReached
from grounding.services.remote import Throttled
from grounding.services.together import together
from grounding.store.store import Store

LOOK_EACH = 50_000
"""Vectors after which `look` is called: an ingest of days is found by approximate search before it ends."""
IN_A_ROW, ALONE_IN_A_ROW = 2, 8
"""Batches, or single texts, that fail one after the other: the service is in trouble, not they."""
_Bare = tuple[str, str]


async def fill(
    store: Store,
    embedder: Embedder,
    batch: int,
    on_done: Callable[[int, int], None],
    look: Callable[[], object],
    *,
    at_once: int = 1,
    doc_ids: Sequence[str] | None = None,
    lease: Lease | None = None,
) -> int:
    """Embed every live chunk that has no vector of this model, `at_once` batches at the same time; returns how many got one. `doc_ids`: those of these documents
    alone, written under `lease`.

    A text that a service refuses for good must not keep its neighbours from their vectors, nor those that come after: what a refused batch
    held is tried one by one. Raises the ServiceError of what is left; what was embedded is kept.
    """
    missing = await asyncio.to_thread(store.without_vectors, embedder.fingerprint, doc_ids)
    done = 0

    async def give(part: Sequence[_Bare]) -> None:
        nonlocal done
        vectors = (await embedder.embed([text for _, text in part])).astype(np.float16)
        rows = [(chunk_id, vector.tobytes()) for (chunk_id, _), vector in zip(part, vectors, strict=True)]
        await asyncio.to_thread(store.put_vectors, embedder.fingerprint, rows, lease)
        before, done = done, done + len(part)
        on_done(done, len(missing))
        if before // LOOK_EACH != done // LOOK_EACH:
            await asyncio.to_thread(look)

    left, error = await _each(missing, batch, give, IN_A_ROW, at_once)
    refused = isinstance(error, ServiceRejected | ServiceReplyInvalid) and not isinstance(error, Throttled)
    if refused and done and batch > 1:
        left, error = await _each(left, 1, give, ALONE_IN_A_ROW, at_once)
    if error is not None:
        raise error
    return done


async def _each(
    chunks: Sequence[_Bare], batch: int, give: Callable[[Sequence[_Bare]], Awaitable[None]], most: int, at_once: int
) -> tuple[list[_Bare], ServiceError | None]:
    """Embed `chunks` in batches, `at_once` at the same time; returns what got no vector, in order, and the last reason. After `most` failures one after
    the other, or where a ceiling is reached, nothing more is begun.
    """
    begins = deque(range(0, len(chunks), batch))
    failed: dict[int, ServiceError] = {}
    in_a_row = 0

    async def work() -> None:
        nonlocal in_a_row
        while begins and in_a_row < most:
            begin = begins.popleft()
            try:
                await give(chunks[begin : begin + batch])
                in_a_row = (
                    0 if in_a_row < most else in_a_row
                )  # what was under way when it was given up begins nothing anew
            except ServiceError as error:
                failed[begin] = error
                in_a_row = most if isinstance(error, CeilingReached) else in_a_row + 1

    await together(work() for _ in range(at_once))
    without = sorted([*failed, *begins])
    return [chunk for begin in without for chunk in chunks[begin : begin + batch]], failed[
        max(failed)
    ] if failed else None
