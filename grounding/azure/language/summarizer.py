"""Search query from a conversation by Azure AI Language's extractive summarization: the service ranks sentences,
`grounding.query.conversation` decides.

It is asked only where sentences have to be chosen. A question of at most `MAX_LAST` sentences is kept whole whatever anybody ranks;
sentences of earlier turns do a question that names its subject no good (see `grounding.query.conversation`), and one that depends on a name
gets the name. What is left: a last turn with more sentences than a query should have, and one that holds no term at all ("And why?"), whose
subject lies among what was said before.

Microsoft retires the summarization of this service on 2029-03-31.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.polling.base_polling import BadResponse

from grounding.azure.core.faults import code_of, translated
from grounding.azure.language.client import SERVICE, STRING_INDEX, Mask, async_client
from grounding.errors import ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.query.conversation import (
    MAX_LAST,
    assemble,
    last_asked,
    last_turn_query,
    missing_names,
    said_before,
    turn_sentences,
)
from grounding.records import Query, Sentence, Turn
from grounding.services.remote import Remote

MOST_CHARACTERS = 125_000
"""Of all documents of one request; one that is longer has the whole request refused."""
MOST_SENTENCES = 20
"""The service chooses 1 to 20."""
POLL_S = 1
"""Seconds between two looks at a job, which takes about one; the SDK's own default is 5. A Retry-After overrides it."""
CANCEL_S = 0.5
"""Seconds that calling a job off may take, beyond the deadline."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class LanguageSummarizer:
    """Summarizer (conversation to query) over `begin_extract_summary`. `remote.deadline_s` bounds a whole job, its polling included.

    `key`: of the Language resource, or a token credential (Microsoft Entra ID), whose owner closes it. `mask`: hides personal data in what
    is sent. `poll_s`: seconds between two looks at a job. Raises SettingsError for an endpoint or key that cannot be used.
    """

    def __init__(
        self,
        endpoint: str,
        key: str | AsyncTokenCredential,
        remote: Remote,
        *,
        mask: Mask | None = None,
        poll_s: int = POLL_S,
    ) -> None:
        self._client = async_client(endpoint, key, timeout_s=remote.deadline_s)
        self._remote = remote
        self._mask = mask
        self._poll_s = poll_s

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        """The query: sentences of `turns`, verbatim. Raises InputError for a conversation without text, ServiceError if the service fails."""
        asked = last_asked(turns)
        last = turn_sentences(turns, asked)
        if not last:
            return await self._after_what_was_said(turns, asked)
        entities = missing_names(turns, asked)
        if len(last) <= MAX_LAST:
            return assemble([replace(s, rank_score=1.0) for s in last], entities)
        questions = [replace(s, rank_score=1.0) for s in last if s.text.endswith("?")][-MAX_LAST:]
        ranked, note = await self._ranked(last) if len(questions) < MAX_LAST else ([], None)
        kept = {s.start for s in questions}
        others = [s for s in ranked if s.start not in kept]
        return assemble([*questions, *others[: MAX_LAST - len(questions)]], entities, note)

    async def _after_what_was_said(self, turns: Sequence[Turn], asked: int) -> Query:
        """Query for a last turn without any term: it follows the asker's newest earlier sentence and the one that the service ranks
        highest.
        """
        alone = last_turn_query(turns, "the last turn holds no term to rank")
        before = said_before(turns, asked)
        if not before:
            return alone
        newest = replace(before[-1], rank_score=1.0)
        ranked, note = await self._ranked(before) if len(before) > 1 else ([], None)
        best = [s for s in ranked[:1] if (s.turn, s.start) != (newest.turn, newest.start)]
        return assemble([*best, newest, *alone.sentences], (), note)

    async def _ranked(self, chosen: Sequence[Sentence]) -> tuple[list[Sentence], str | None]:
        """The sentences that the service chose, best first, and a note if the oldest were left out because the request would be too long."""
        sent = _within(chosen)
        note = None
        if len(sent) < len(chosen):
            note = f"the oldest {len(chosen) - len(sent)} of {len(chosen)} sentences were too much to summarize"
        if not sent:
            return [], note
        lines = [_SURROGATE.sub("�", s.text) for s in sent]
        if self._mask is not None:
            lines = list(await self._mask(lines))
        document = "\n".join(lines)
        found = await self._remote.call(lambda: self._summary(document, min(MOST_SENTENCES, len(sent))))
        return _in_order(sent, found), note

    async def _summary(self, document: str, count: int) -> list[tuple[int, int, float]]:
        """(start, end, rank in [0, 1]) of each sentence that one summarization job chooses of `document`; at most `count`."""
        with translated(SERVICE):
            job = await self._submitted(document, count)
            try:
                replies = [reply async for reply in await job.result()]
            except asyncio.CancelledError:
                await _call_off(job)
                raise
            except HttpResponseError as error:
                if error.status_code == 200:  # the state could be read, and says so
                    raise ServiceUnavailable(SERVICE, "the job failed") from None
                raise
            return _read(document, replies)

    async def _submitted(self, document: str, count: int) -> Any:
        try:
            return await self._client.begin_extract_summary(
                [document],
                polling_interval=self._poll_s,
                max_sentence_count=count,
                order_by="Rank",
                disable_service_logs=True,
                string_index_type=STRING_INDEX,
            )
        except BadResponse:  # of a reply without the job's address; it belongs to no tree of errors
            raise ServiceReplyInvalid(SERVICE, "the reply does not say where the job stands") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


async def _call_off(job: Any) -> None:
    """Cancel a job at the service; asked once, for the caller's time is up."""
    with contextlib.suppress(AzureError, TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        async with asyncio.timeout(CANCEL_S):
            await job.cancel()


def _within(chosen: Sequence[Sentence]) -> list[Sentence]:
    """The newest of `chosen` that fit into one request, in their order."""
    kept: list[Sentence] = []
    size = 0
    for sentence in reversed(chosen):
        size += len(sentence.text) + 1
        if size > MOST_CHARACTERS:
            break
        kept.append(sentence)
    return kept[::-1]


def _read(document: str, replies: Sequence[Any]) -> list[tuple[int, int, float]]:
    if len(replies) != 1:
        raise ServiceReplyInvalid(SERVICE, f"{len(replies)} of 1 documents answered")
    reply = replies[0]
    if reply.is_error:
        raise ServiceRejected(SERVICE, f"the conversation was not summarized ({code_of(reply.error.code)})")
    found = []
    for sentence in reply.sentences:
        start, end, rank = sentence.offset, sentence.offset + sentence.length, float(sentence.rank_score)
        if not 0 <= start < end <= len(document) or document[start:end] != sentence.text:
            raise ServiceReplyInvalid(SERVICE, "a sentence of the summary does not stand in the conversation")
        if not 0.0 <= rank <= 1.0:
            raise ServiceReplyInvalid(SERVICE, "a sentence of the summary has a rank that is none")
        found.append((start, end, rank))
    if not found:
        raise ServiceReplyInvalid(SERVICE, "the summary holds nothing")
    return found


def _in_order(sent: Sequence[Sentence], found: Sequence[tuple[int, int, float]]) -> list[Sentence]:
    """Our sentences that the summary's spans touch, each with the rank, best first; where the service cuts sentences otherwise, ours stay
    whole.
    """
    ranked = []
    at = 0
    for sentence in sent:
        end = at + len(sentence.text)
        ranks = [rank for start, stop, rank in found if start < end and at < stop]
        if ranks:
            ranked.append(replace(sentence, rank_score=round(max(ranks), 4)))
        at = end + 1
    return sorted(ranked, key=lambda s: -s.rank_score)
