"""Client of the knowledge base (agentic retrieval) over an index of Azure AI Search, and of the knowledge source between the two.

Both bear the name of the index, or of the alias before it; a source names an index, for an alias it cannot. The stable interface takes intents alone: it plans no queries, answers nothing, and hears no conversation.
A filter holds for one knowledge source, so a knowledge base that reads any other than ours is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from math import isfinite
from typing import Any, TypeVar

from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError
from azure.search.documents.indexes.aio import SearchIndexClient
from azure.search.documents.indexes.models import (
    KnowledgeBase,
    KnowledgeSourceReference,
    SearchIndexFieldReference,
    SearchIndexKnowledgeSource,
    SearchIndexKnowledgeSourceParameters,
)
from azure.search.documents.knowledgebases.aio import KnowledgeBaseRetrievalClient
from azure.search.documents.knowledgebases.models import (
    KnowledgeBaseRetrievalRequest,
    KnowledgeBaseRetrievalResponse,
    KnowledgeRetrievalIntent,
    KnowledgeRetrievalSemanticIntent,
    KnowledgeSourceParams,
    SearchIndexKnowledgeSourceParams,
)

from grounding.azure.core.faults import NotFound, translated
from grounding.azure.search.hits import TOP_RANK
from grounding.azure.search.index import CONFIGURATION, SETTING
from grounding.azure.search.ranker import refused_by_ranker
from grounding.azure.search.service import ENDPOINT, connection, until_unchanged
from grounding.errors import ServiceReplyInvalid, ServiceUnavailable, SettingsError
from grounding.services.remote import Remote

T = TypeVar("T")
AGENTIC = "agentic retrieval"
"""Name of the service in messages, figures and `/readyz`: it can fail while the search beside it answers."""
_SEARCHED = ("title", "text")
_MOST_TOKENS = 100_000
"""Of the content of a reply; what does not fit is left out without a word."""
_ABOUT = "Passages of Attest's knowledge base; made by `attest ingest`."


class SearchKnowledge:
    """The knowledge base of the index `name`. `key`: as of SearchService; its owner closes a token credential.

    Raises SettingsError for an endpoint or key that cannot be used.
    """

    def __init__(self, endpoint: str, key: str | AsyncTokenCredential, name: str, remote: Remote) -> None:
        made = connection(endpoint, key, remote.deadline_s)
        self.name = name
        self._remote, self._options = remote, made.options
        self._made = SearchIndexClient(made.endpoint, made.credential, **made.settings)
        # the name belongs here: retrieve() takes none
        self._asked = KnowledgeBaseRetrievalClient(
            made.endpoint, made.credential, knowledge_base_name=name, **made.settings
        )

    async def prepare(self, index: str = "", *, of: Collection[str] = ()) -> None:
        """Create knowledge source and knowledge base, or bring them up to date; the index must exist. `index`: what the source reads, empty: the index of its
        name; a source that reads one `of` these is moved there.

        Raises ServiceError; SettingsError where one of that name is somebody else's.
        """
        await until_unchanged(partial(self._source, index or self.name, frozenset(of)))
        await until_unchanged(self._base)

    async def _source(self, index: str, ours: frozenset[str]) -> None:
        found = await self._found(self._made.get_knowledge_source)
        if found is None:
            await self._call(
                lambda: self._made.create_or_update_knowledge_source(
                    self._wanted(index), match_condition=MatchConditions.IfMissing, **self._options
                )
            )
        elif self._migrated(found, index, ours):
            await self._call(
                lambda: self._made.create_or_update_knowledge_source(
                    found, match_condition=MatchConditions.IfNotModified, **self._options
                )
            )

    async def _base(self) -> None:
        found = await self._found(self._made.get_knowledge_base)
        ours = [KnowledgeSourceReference(name=self.name)]
        if found is None:
            wanted, condition = KnowledgeBase(name=self.name, description=_ABOUT, knowledge_sources=ours), "IfMissing"
        else:
            names = {source.name for source in found.knowledge_sources or []}
            if names - {self.name}:
                raise self._taken("knowledge base", "reads other knowledge sources, for which no filter of ours holds")
            if names:
                return
            found.knowledge_sources = ours
            wanted, condition = found, "IfNotModified"
        await self._call(
            lambda: self._made.create_or_update_knowledge_base(
                wanted, match_condition=MatchConditions[condition], **self._options
            )
        )

    def _wanted(self, index: str) -> SearchIndexKnowledgeSource:
        parameters = SearchIndexKnowledgeSourceParameters(
            search_index_name=index,
            semantic_configuration_name=CONFIGURATION,
            search_fields=[SearchIndexFieldReference(name=name) for name in _SEARCHED],
        )
        return SearchIndexKnowledgeSource(name=self.name, description=_ABOUT, search_index_parameters=parameters)

    def _migrated(self, found: Any, index: str, ours: frozenset[str]) -> bool:
        """Change the knowledge source `found` in place to search `index` as ours does; True if anything changed. What else it holds stays."""
        have = getattr(found, "search_index_parameters", None)
        if have is None or have.search_index_name not in {index, *ours}:
            raise self._taken("knowledge source", "does not read the index of that name")
        fields = tuple(field.name for field in have.search_fields or [])
        if (have.search_index_name, have.semantic_configuration_name, fields) == (index, CONFIGURATION, _SEARCHED):
            return False
        wanted = self._wanted(index).search_index_parameters
        have.search_index_name = index
        have.semantic_configuration_name, have.search_fields = CONFIGURATION, wanted.search_fields
        return True

    def _taken(self, what: str, why: str) -> SettingsError:
        return SettingsError(
            f"{SETTING}={self.name}: the {what} of that name {why}; set {SETTING} to a new name and run attest ingest, or delete the {what} first"
        )

    async def _found(self, get: Callable[..., Awaitable[T]]) -> T | None:
        try:
            return await self._call(lambda: get(self.name, **self._options))
        except NotFound:
            return None

    # --- asking

    async def retrieve(self, intents: Sequence[str], clause: str) -> dict[str, float | None]:
        """Keys of the documents found under the filter `clause`, best first, with the best score in [0, 4] that the semantic ranker gave
        each for one of `intents`.

        The score is None where the reply gives the place alone. Raises RankerRefused where the service ranks nothing at all, other
        ServiceErrors, also for a reply that is not whole.
        """
        asked: list[KnowledgeRetrievalIntent] = [KnowledgeRetrievalSemanticIntent(search=text) for text in intents]
        params: list[KnowledgeSourceParams] = [
            SearchIndexKnowledgeSourceParams(
                knowledge_source_name=self.name,
                filter_add_on=clause,
                include_references=True,
                include_reference_source_data=False,  # words come from the store
                reranker_threshold=0.0,  # the grader decides what is good enough
            )
        ]
        request = KnowledgeBaseRetrievalRequest(
            intents=asked,
            max_output_size_in_tokens=_MOST_TOKENS,
            include_activity=False,
            knowledge_source_params=params,
        )

        async def attempt() -> dict[str, float | None]:
            # a reply in part is a success to the SDK: its status alone tells
            try:
                replied: Any = await self._asked.retrieve(request, cls=_with_status, **self._options)
            except HttpResponseError as error:
                raise refused_by_ranker(AGENTIC, error) or error from None
            status, reply = replied
            if status != 200:
                raise ServiceUnavailable(AGENTIC, f"answered in part (status {status})")
            return _scores(reply)

        return await self._call(attempt)

    async def _call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        async def once() -> T:
            missing = f"there is no knowledge base {self.name!r} yet; attest ingest makes it"
            with translated(AGENTIC, not_found=missing, endpoint=ENDPOINT):
                return await attempt()

        return await self._remote.call(once)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._made.close()
        await self._asked.close()


def _with_status(response: Any, reply: KnowledgeBaseRetrievalResponse, _headers: object) -> tuple[int, Any]:
    return response.http_response.status_code, reply


def _scores(reply: KnowledgeBaseRetrievalResponse) -> dict[str, float | None]:
    """Best score of each document key, by falling score, or in the order of the reply where it tells none. One without a score stays behind
    the one before it.
    """
    if not isinstance(reply["references"], list):
        raise ServiceReplyInvalid(AGENTIC, "the reply holds no references")
    found: dict[str, float | None] = {}
    places: dict[str, float] = {}
    place = TOP_RANK
    for reference in reply["references"]:
        key, score = reference["docKey"], _score(reference.get("rerankerScore"))
        if not isinstance(key, str):
            raise ServiceReplyInvalid(AGENTIC, "a reference lacks its key")
        place = place if score is None else score
        known = found.get(key)
        if key not in found or (score is not None and score > (known or 0.0)):
            found[key], places[key] = score, place
    return {key: found[key] for key in sorted(found, key=lambda key: -places[key])}


def _score(told: object) -> float | None:
    """The ranker's score in [0, 4]; None where there is none, which the published contract allows. Raises ServiceReplyInvalid for anything
    else.
    """
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float) or not isfinite(told) or not 0 <= told <= TOP_RANK:
        raise ServiceReplyInvalid(AGENTIC, "a reference has a score that is none")
    return float(told)
