"""Embedding of the chunks of a store by jobs that a service does within a day, at a price of its own, and gives back as a file.

A job is noted in the store before it is handed in, and until all that came of it is kept: a run that is killed, or is ended while it waits, is gone on with by the next, and nothing is
handed in twice.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np

from grounding.errors import ServiceError, ServiceRejected
from grounding.services.batches import in_batches
from grounding.services.embedding_jobs import EmbeddingJobs, JobState
from grounding.store.store import Store

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
    """The jobs of a model that are noted in the store: ids by their tokens, empty for one whose id is not known."""

    store: Store
    fingerprint: str
    service: EmbeddingJobs
    on_done: Callable[[int, int], None]
    look_s: float
    sleep: Callable[[float], Awaitable[None]]

    async def hand_in(self, part: list[tuple[str, str]]) -> None:
        """Hand in texts as one job, noted before and with its id behind."""
        token, noted = uuid.uuid4().hex, await self._noted()
        await self._note({**noted, token: ""})
        try:
            job = await self.service.submit(part, token)
        except ServiceError:
            await self._note(noted)
            raise
        await self._note({**noted, token: job})

    async def collected(self) -> int:
        """Wait for the jobs that are noted and keep what came of them; how many vectors that were."""
        made, failed = 0, ""
        total = len(await asyncio.to_thread(self.store.without_vectors, self.fingerprint))
        while noted := await self._noted():
            under_way = 0
            for token, job in noted.items():
                # one that was killed between the note and the reply: the token finds the job, or there is none
                found = job or await self.service.submit((), token)
                state = await self.service.state(found) if found else JobState(0, is_over=True)
                if not state.is_over:
                    under_way += state.done
                    continue
                made += await self._kept(found) if found else 0
                failed = failed or state.failed
                await self._note({t: j for t, j in (await self._noted()).items() if t != token})
            self.on_done(made + under_way, max(total, made + under_way))
            if await self._noted():
                await self.sleep(self.look_s)
        if failed:
            raise ServiceRejected("embedding", f"a batch job failed: {failed}")
        return made

    async def _kept(self, job: str) -> int:
        made = 0
        async for ids, vectors in self.service.vectors(job):
            rows = [(key, vector.tobytes()) for key, vector in zip(ids, vectors.astype(np.float16), strict=True)]
            await asyncio.to_thread(self.store.put_vectors, self.fingerprint, rows)
            made += len(rows)
        await self.service.forget(job)
        return made

    async def _noted(self) -> dict[str, str]:
        noted = await asyncio.to_thread(self.store.embedding_jobs, self.fingerprint)
        return dict(json.loads(noted or "{}"))

    async def _note(self, jobs: dict[str, str]) -> None:
        await asyncio.to_thread(self.store.note_embedding_jobs, self.fingerprint, json.dumps(jobs))
