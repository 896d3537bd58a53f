"""Retriever over Azure AI Search's agentic retrieval: a knowledge base finds and ranks, and a plain search of the same index stands behind
it.

Results are taken as the search takes its own: through the store, trimmed by this person's rights. The only score is the ranker's, in [0,
4]; a reply without scores keeps its order, noted. Where the service cannot answer, all results are the search's.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

from grounding.azure.search.knowledge import AGENTIC, SearchKnowledge
from grounding.azure.search.ranker import LastRefusal, RankerRefused
from grounding.azure.search.retriever import AzureSearchRetriever
from grounding.errors import ServiceError
from grounding.observe import record_degraded
from grounding.query.conversation import question_of
from grounding.query.query_vector import question_texts
from grounding.records import Access, Query, Retrieval
from grounding.text import sendable

MODE = "agentic"
NOTHING = "agentic retrieval found nothing: these are the results of the search"
INSTEAD = "these are the results of the search"
UNSCORED = "agentic retrieval gave no scores of the ranker: passages stand in its order"
NO_RANKER = f"{AGENTIC}: the semantic ranker is not available ({{why}}); {INSTEAD}"
_MOST_CHARS = 2000
_SIGN = re.compile(r"""[+|"()\\]|(?<!\S)-+|(?<![*~])[*~]+(?!\S)""")


class AgenticRetriever:
    """Retriever that asks `knowledge` first, and falls back to `search` where that cannot answer, or where words or meaning alone are asked
    for.
    """

    def __init__(
        self,
        knowledge: SearchKnowledge,
        search: AzureSearchRetriever,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._knowledge, self._search = knowledge, search
        self._ranker = LastRefusal(clock)

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises ServiceError, StoreError.

        `mode` is "agentic", or as the search says it, with a note where agentic retrieval was tried in vain.
        """
        texts = intents(query)
        if k < 1 or query.by != "hybrid" or query.imagined or not texts:
            return await self._search.retrieve(query, access, k)
        if self._ranker.refused is not None:
            record_degraded("agentic")
            return await self._searched(query, access, k, NO_RANKER.format(why=self._ranker.refused.why))
        try:
            scores = await self._knowledge.retrieve(texts, self._search.clause(access))
            found = await self._search.ranked(scores, access)
        except ServiceError as error:
            if isinstance(error, RankerRefused):
                self._ranker.learn(error)
            record_degraded("agentic")
            return await self._searched(query, access, k, f"{error}; {INSTEAD}")
        self._ranker.unlearn()
        if not found:
            return await self._searched(query, access, k, NOTHING)
        notes = () if any(passage.reranked is not None for passage in found) else (UNSCORED,)
        return Retrieval(tuple(found[:k]), await self._search.version(), MODE, notes)

    async def _searched(self, query: Query, access: Access, k: int, note: str) -> Retrieval:
        found = await self._search.retrieve(query, access, k)
        return replace(found, notes=(note, *found.notes))

    @property
    def refused(self) -> dict[str, str]:
        """Parts of the service that refused and are not asked for now, each with the reason and the remedy."""
        return {**self._ranker.told(AGENTIC), **self._search.refused}

    async def ready(self) -> dict[str, str]:
        """Health of the search: what does not work fully, by part, with the reason; empty if all does."""
        return await self._search.ready()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._knowledge.aclose()
        await self._search.aclose()


def intents(query: Query) -> list[str]:
    """The query as intents for agentic retrieval: the question, and the question with the names of earlier turns where there are any; empty
    without a word.

    Operators of the query syntax are removed, for an intent is searched for as it stands.
    """
    texts = question_texts(question_of(query), query.entities)
    plain = [" ".join(_SIGN.sub(" ", sendable(text)).split())[:_MOST_CHARS] for text in texts]
    return list(dict.fromkeys(text for text in plain if any(c.isalnum() for c in text)))
