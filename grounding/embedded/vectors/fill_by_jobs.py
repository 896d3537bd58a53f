"""Embedding of the chunks of a store by jobs that a service does within a day, at a price of its own, and gives back as a file.

A job is noted in the store before it is handed in, and until all that came of it is kept: a run that is killed, or is ended while it waits, or that hears no reply to what it handed in,
is gone on with by the next, and nothing is handed in twice. A job that the service does not know, or whose file it no longer has, is noted no more.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np

from grounding.errors import ServiceError, ServiceRejected
from grounding.services.batches import in_batches
from grounding.services.ceiling import CeilingReached
from grounding.services.embedding_jobs import EmbeddingJobs
from grounding.services.remote import Throttled
from grounding.store.store import Store

LOG = logging.getLogger("attest")
MOST_TEXTS, MOST_CHARS = 10_000, 40_000_000
"""Of one job; the service takes 50,000 and 200 MB, and a smaller job is sooner within a ceiling."""
LOOK_S = 30.0
"""Seconds between two looks at the jobs."""


async def fill_by_jobs(
    store: Store,
    fingerprint: str,
    service: EmbeddingJobs,
    on_done: Callable[[int, int], None],
    *,
    look_s: float = LOOK_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> int:
    """Embed every live chunk that has no vector of this model as far as the service does it in jobs; how many got one. What an earlier run handed in comes first.

    Raises ServiceError, also where a job failed as a whole; what came of the others is kept.
    """
    jobs = _Jobs(store, fingerprint, service, on_done, look_s, sleep)
    made = await jobs.collected()
    failed: ServiceError | None = None
    missing = list(dict(await asyncio.to_thread(store.without_vectors, fingerprint)).items())
    for part in in_batches(missing, lambda row: len(row[1]), most_items=MOST_TEXTS, most_size=MOST_CHARS):
        try:
            await jobs.hand_in(part)
        except ServiceError as error:  # those that were handed in are waited for all the same
            failed = error
            break
    made += await jobs.collected()
    if failed is not None:
        raise failed
    return made


@dataclass(frozen=True, slots=True)
class _Jobs:
    """The jobs of a model that are noted in the store."""

    store: Store
    fingerprint: str
    service: EmbeddingJobs
    on_done: Callable[[int, int], None]
    look_s: float
    sleep: Callable[[float], Awaitable[None]]

    async def hand_in(self, part: list[tuple[str, str]]) -> None:
        """Hand in texts as one job, noted before and with its id behind."""
        token = uuid.uuid4().hex
        await self._note(token, "")
        try:
            job = await self.service.submit(part, token)
        except ServiceError as error:
            if _is_refusal(error):  # of any other the service may have taken the job: the token finds it
                await self._note(token, None)
            raise
        await self._note(token, job)

    async def collected(self) -> int:
        """Wait for the jobs that are noted and keep what came of them; how many vectors that were."""
        made, failed, sought = 0, "", set[str]()
        total = len(await asyncio.to_thread(self.store.without_vectors, self.fingerprint))
        while noted := await self._noted():
            under_way = 0
            for token, job in noted.items():
                found = job or await self._found(token)
                if not found and token not in sought:
                    sought.add(token)  # the service may still be at work on what it gave no reply to
                    continue
                state = await self.service.state(found) if found else None
                if state is not None and not state.is_over:
                    under_way += state.done
                    continue
                if state is not None:
                    made += await self._kept(found)
                    failed = failed or state.failed
                elif found:
                    LOG.warning(
                        "embedding: the service does not know a batch job of an earlier run; its passages are embedded anew"
                    )
                await self._note(token, None)
            self.on_done(made + under_way, max(total, made + under_way))
            if await self._noted():
                await self.sleep(self.look_s)
        if failed:
            raise ServiceRejected("embedding", f"a batch job failed: {failed}")
        return made

    async def _found(self, token: str) -> str:
        """The id of the job of a run that ended before it noted one; empty if the service has none with this token."""
        job = await self.service.submit((), token)
        if job:
            await self._note(token, job)
        return job

    async def _kept(self, job: str) -> int:
        made = 0
        async for ids, vectors in self.service.vectors(job):
            rows = [(key, vector.tobytes()) for key, vector in zip(ids, vectors.astype(np.float16), strict=True)]
            await asyncio.to_thread(self.store.put_vectors, self.fingerprint, rows)
            made += len(rows)
        await self.service.forget(job)
        return made

    async def _noted(self) -> dict[str, str]:
        return await asyncio.to_thread(self.store.embedding_jobs, self.fingerprint)

    async def _note(self, token: str, job: str | None) -> None:
        await asyncio.to_thread(self.store.note_embedding_job, self.fingerprint, token, job)


def _is_refusal(error: ServiceError) -> bool:
    """True if nothing was handed in for certain."""
    refused = isinstance(error, ServiceRejected) and not isinstance(error, Throttled)
    return refused or isinstance(error, CeilingReached)
