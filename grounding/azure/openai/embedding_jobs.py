"""Embeddings by OpenAI's batch API, as OpenAI and Azure OpenAI's `/openai/v1/` have it: a file of requests goes up, a job does them within 24 hours, a file of replies comes back.

Each request has one text and the id of its passage. A reply is believed as one of the embeddings API is: what is not one sound vector of the width that was asked for is left out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
from openai import NotFoundError
from openai.types import Batch

from grounding.azure.openai.client import Auth, KeySource, make_client
from grounding.azure.openai.faults import translated
from grounding.azure.openai.vectors import vectors_of
from grounding.errors import ServiceError
from grounding.ports import Vectors
from grounding.services.embedding_jobs import JobState
from grounding.services.remote import Remote
from grounding.text import sendable

URL: Final = "/v1/embeddings"
_TOKEN = "attest"  # noqa: S105 - the name under which a job's metadata has what finds it again
_PART = 500
_RECENT = 100
_OVER = {"completed", "failed", "expired", "cancelled"}
_NOTHING = "."
"""Stands for a text without a word, which the service refuses."""


class OpenAIEmbeddingJobs:
    """`grounding.embedded.vectors.fill_by_jobs.EmbeddingJobs` over OpenAI's batch API. `shorten`: ask for vectors of `width` numbers. Raises SettingsError as `make_client` does."""

    def __init__(
        self,
        base_url: str | None,
        api_key: KeySource,
        model: str,
        width: int,
        remote: Remote,
        *,
        auth: Auth = "bearer",
        shorten: bool = False,
    ) -> None:
        self._model, self._width, self._remote, self._shorten = model, width, remote, shorten
        self._client = make_client(base_url, api_key, remote, auth)

    async def submit(self, texts: Sequence[tuple[str, str]], token: str) -> str:
        """Hand in texts as one job, unless there is one with this token; its id, empty where there is none and no text."""

        async def attempt() -> str:
            with translated(self._remote.service):
                found = await self._found(token)
                if found or not texts:
                    return found
                lines = await asyncio.to_thread(self._lines, texts)
                file = await self._client.files.create(file=("attest.jsonl", lines), purpose="batch")
                job = await self._client.batches.create(
                    input_file_id=file.id, endpoint=URL, completion_window="24h", metadata={_TOKEN: token}
                )
                return job.id

        return await self._remote.call(attempt)

    async def state(self, job: str) -> JobState | None:
        """How far a job is; None if this service knows none of that id. One that expired or was cancelled gives what it did until then."""
        found = await self._job(job)
        if found is None:
            return None
        done = found.request_counts.completed if found.request_counts else 0
        errors = found.errors.data if found.errors and found.errors.data else []
        code = (errors[0].code if errors else None) or ""
        failed = code[:40] if code.isidentifier() else "no reason is given"  # a code, and no words of a text
        return JobState(done, found.status in _OVER, failed if found.status == "failed" else "")

    async def vectors(self, job: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """The vectors that came of a job that is over."""
        found = await self._job(job)
        if found is None or not found.output_file_id:
            return
        text = await self._content(found.output_file_id)
        for ids, rows in _in_parts(self._sound(text.splitlines())):
            yield ids, np.concatenate(rows)

    async def forget(self, job: str) -> None:
        """Delete the files of a job; one that cannot be deleted now goes when the service's own time is over."""
        found = await self._job(job)
        for file in (found.input_file_id, found.output_file_id, found.error_file_id) if found else ():
            if file:
                with suppress(ServiceError):
                    await self._deleted(file)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _found(self, token: str) -> str:
        """The id of a recent job with this token; empty if there is none."""
        page = await self._client.batches.list(limit=_RECENT)
        return next((job.id for job in page.data if (job.metadata or {}).get(_TOKEN) == token), "")

    async def _job(self, job: str) -> Batch | None:
        async def attempt() -> Batch | None:
            with translated(self._remote.service):
                try:
                    return await self._client.batches.retrieve(job)
                except NotFoundError:
                    await self._client.batches.list(limit=1)  # a wrong address has no jobs at all, and is told
                    return None

        return await self._remote.call(attempt)

    async def _content(self, file: str) -> str:
        """The text of a file; empty if it was deleted, or its time is over."""

        async def attempt() -> str:
            with translated(self._remote.service):
                try:
                    return (await self._client.files.content(file)).text
                except NotFoundError:
                    return ""

        return await self._remote.call(attempt)

    async def _deleted(self, file: str) -> None:
        async def attempt() -> None:
            with translated(self._remote.service):
                await self._client.files.delete(file)

        await self._remote.call(attempt)

    def _lines(self, texts: Sequence[tuple[str, str]]) -> bytes:
        wide: dict[str, Any] = {"dimensions": self._width} if self._shorten else {}
        lines = []
        for key, text in texts:
            body = {
                "model": self._model,
                "input": sendable(text).strip() or _NOTHING,
                "encoding_format": "float",
                **wide,
            }
            lines.append(json.dumps({"custom_id": key, "method": "POST", "url": URL, "body": body}) + "\n")
        return "".join(lines).encode()

    def _sound(self, lines: Iterable[str]) -> Iterator[tuple[str, Vectors]]:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError, ServiceError):
                told = json.loads(line)
                if told["response"]["status_code"] == 200:
                    row = vectors_of(self._remote.service, told["response"]["body"], 1)
                    if row.shape[1] == self._width:
                        yield str(told["custom_id"]), row


def _in_parts(rows: Iterator[tuple[str, Vectors]]) -> Iterator[tuple[list[str], list[Vectors]]]:
    ids: list[str] = []
    part: list[Vectors] = []
    for key, row in rows:
        ids.append(key)
        part.append(row)
        if len(ids) == _PART:
            yield ids, part
            ids, part = [], []
    if ids:
        yield ids, part
