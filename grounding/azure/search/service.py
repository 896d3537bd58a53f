"""Client of one index of Azure AI Search over the SDK: every call within a deadline, every error translated.

What the SDK would do itself is switched off or avoided: it retries without a bound on what it is told to wait, its buffered sender loses
all but the first document of a batch that fails, and a refused document is no exception but a line of the reply. Documents and searches go
through its pipeline (signing in, transport, errors) as they are published.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from azure.core import MatchConditions
from azure.core.credentials import AzureKeyCredential
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.search.documents.aio import SearchClient
from azure.search.documents.indexes.aio import SearchIndexClient
from azure.search.documents.indexes.models import SearchIndex

from grounding.azure.core.faults import Changed, NotFound, translated
from grounding.azure.core.options import client_options, credential_for, plain_tokens
from grounding.azure.search.filter import OURS, after, among, literal
from grounding.azure.search.ranker import refused_by_ranker
from grounding.errors import ServiceRejected, ServiceReplyInvalid
from grounding.services.remote import Remote

T = TypeVar("T")
SERVICE = "search"
API_VERSION = "2026-04-01"
ENDPOINT = "https://NAME.search.windows.net"
PAGE = 1000
"""Documents of one reply; the service gives no more."""
_MOST_PAGES = 20
"""Replies that one search is put together from."""


class TooLarge(ServiceRejected):
    """HTTP 413: the batch holds more bytes than the service takes at once."""


class Held(NamedTuple):
    """A document that the index holds: its key, and the stamp of what it was made from."""

    chunk_id: str
    stamp: str


class Fate(NamedTuple):
    """Result for one document of a batch; `status` is that of HTTP, 0 where the reply left the document out."""

    ok: bool
    status: int


class Connection(NamedTuple):
    """Arguments shared by the clients of one service: `settings` of a client, `options` of each call."""

    endpoint: str
    credential: AzureKeyCredential | AsyncTokenCredential
    settings: dict[str, Any]
    options: dict[str, Any]


def connection(endpoint: str, key: str | AsyncTokenCredential, deadline_s: float) -> Connection:
    """Arguments for the clients of the service at `endpoint`. Raises SettingsError for an endpoint or key that cannot be used."""
    named = "ATTEST_SEARCH_ENDPOINT", "ATTEST_SEARCH_KEY"
    credential = credential_for(endpoint, key, settings=named, example=ENDPOINT)
    settings: dict[str, Any] = {"api_version": API_VERSION, **client_options(endpoint, deadline_s)}
    # the SDK knows the option only where it handles a token
    options: dict[str, Any] = {"enforce_https": False} if plain_tokens(endpoint, key) else {}
    return Connection(endpoint.rstrip("/"), credential, settings, options)


async def until_unchanged(attempt: Callable[[], Awaitable[T]]) -> T:
    """Run `attempt`, which reads a resource and creates or changes it, again where somebody else changed it meanwhile. Raises Changed the
    third time.
    """
    for _ in range(2):
        try:
            return await attempt()
        except Changed:
            continue
    return await attempt()


class SearchService:
    """Client of the index `index`. `key`: of the search service, or a token credential (Microsoft Entra ID), which its owner closes.

    Raises SettingsError for an endpoint or key that cannot be used; every method raises ServiceError.
    """

    def __init__(self, endpoint: str, key: str | AsyncTokenCredential, index: str, remote: Remote) -> None:
        made = connection(endpoint, key, remote.deadline_s)
        self.index_name = index
        self._remote = remote
        self._options = made.options
        self._documents = SearchClient(made.endpoint, index, made.credential, **made.settings)
        self._indexes = SearchIndexClient(made.endpoint, made.credential, **made.settings)

    # --- the index

    async def definition(self) -> SearchIndex | None:
        """The schema of the index as the service has it, with its ETag; None if there is no index."""
        try:
            return await self._call(lambda: self._indexes.get_index(self.index_name, **self._options))
        except NotFound:
            return None

    async def create(self, index: SearchIndex) -> None:
        """Create the index. Raises Changed if there is one by now."""
        await self._put(index, MatchConditions.IfMissing)

    async def update(self, index: SearchIndex) -> None:
        """Change the schema of the index. Raises Changed if somebody else has, since it was read."""
        # the ETag alone does nothing: without a condition the last writer wins
        await self._put(index, MatchConditions.IfNotModified)

    async def _put(self, index: SearchIndex, condition: MatchConditions) -> None:
        await self._call(
            lambda: self._indexes.create_or_update_index(index, match_condition=condition, **self._options)
        )

    # --- documents

    async def upload(self, documents: Sequence[Mapping[str, Any]]) -> dict[str, Fate]:
        """Upload documents; what became of each, by key. Raises TooLarge for a batch that has to be cut."""
        return await self._write([{"@search.action": "upload", **d} for d in documents])

    async def merge(self, documents: Sequence[Mapping[str, Any]]) -> dict[str, Fate]:
        """Change fields of documents that are there and leave the others; what became of each, by key: status 404 where there is none. Raises TooLarge.

        What the index does not store, vectors by a setting of its own, is lost by it: ours does.
        """
        return await self._write([{"@search.action": "merge", **d} for d in documents])

    async def delete(self, keys: Sequence[str]) -> dict[str, Fate]:
        """Delete documents; what became of each, by key. One that is not there counts as deleted."""
        return await self._write([{"@search.action": "delete", "chunk_id": key} for key in keys])

    async def _write(self, actions: Sequence[Mapping[str, Any]]) -> dict[str, Fate]:
        async def attempt() -> dict[str, Fate]:
            response = await self._posted("search.index", {"value": actions})
            if response.status_code == 413:
                raise TooLarge(SERVICE, "a batch is larger than the service takes (status 413)")
            if response.status_code not in (200, 207):
                raise HttpResponseError(response=response)
            told = {r["key"]: Fate(r["status"] is True, int(r["statusCode"])) for r in response.json()["value"]}
            return {a["chunk_id"]: told.get(a["chunk_id"], Fate(ok=False, status=0)) for a in actions}

        return await self._call(attempt)

    async def _posted(self, path: str, body: Mapping[str, Any]) -> AsyncHttpResponse:
        """The reply to a request for documents or a search, through the SDK's pipeline and past its models: they took 20 ms of processor
        time to read 70 results, write vectors number by number, and fail with a TypeError of their own at a status 413.
        """
        request = HttpRequest(
            "POST", f"/indexes('{self.index_name}')/docs/{path}", params={"api-version": API_VERSION}, json=body
        )
        return await self._documents.send_request(request, **self._options)

    async def document(self, key: str) -> dict[str, Any] | None:
        """One document by its key; None if it is not there."""

        async def attempt() -> dict[str, Any]:
            return dict(await self._documents.get_document(key, **self._options))

        try:
            return await self._call(attempt)
        except NotFound as error:
            if await self._is_missing():
                raise error from None
            return None

    async def _is_missing(self) -> bool:
        """True if there is no index at all, found out with what a query key may ask."""
        try:
            await self.count()
        except NotFound:
            return True
        return False

    async def count(self) -> int:
        """Number of documents in the index, what indexers put there included. New ones count after some seconds."""

        async def attempt() -> int:
            # a page of HTML with status 200 comes out of the SDK as text
            return int(await self._documents.get_document_count(**self._options))

        return await self._call(attempt)

    async def listed(self, beyond: str, doc_id: str | None = None) -> list[Held]:
        """Keys and stamps of our own documents whose key comes after `beyond`, by rising key, at most PAGE; of all documents or of one."""
        # by key and not by $skip, which ends at 100,000
        found = await self.search(
            search="*", filter=after(beyond, doc_id), orderby="chunk_id asc", select="chunk_id,stamp", top=PAGE
        )
        return [Held(str(d["chunk_id"]), str(d["stamp"])) for d in found]

    async def held_of(self, keys: Sequence[str]) -> list[Held]:
        """Keys and stamps of those of our own documents whose key is one of these, at most PAGE."""
        ours = f"source eq {literal(OURS)} and {among('chunk_id', keys)}"
        found = await self.search(search="*", filter=ours, orderby="chunk_id asc", select="chunk_id,stamp", top=PAGE)
        return [Held(str(d["chunk_id"]), str(d["stamp"])) for d in found]

    async def search(self, **query: Any) -> list[dict[str, Any]]:
        """The documents found, best first, with their `@search.…` entries. `query`: the body of the request as published.

        Raises RankerRefused where the service refuses to rank by meaning, for this query and any other.
        """

        async def attempt() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            body: Any = query
            for _ in range(_MOST_PAGES):
                reply = await self._page(body)
                found += reply["value"]
                body = reply.get("@search.nextPageParameters")  # a reply may end before all that was asked for is in it
                if not isinstance(body, dict):
                    break
            return found

        return await self._call(attempt)

    async def _page(self, body: Mapping[str, Any]) -> dict[str, Any]:
        response = await self._posted("search.post.search", body)
        if response.status_code not in (200, 206):
            error = HttpResponseError(response=response)
            raise (refused_by_ranker(SERVICE, error) if body.get("queryType") == "semantic" else None) or error
        reply = dict(response.json())
        if not all(isinstance(d["@search.score"], int | float) for d in reply["value"]):
            raise ServiceReplyInvalid(SERVICE, "a result has no score")
        return reply

    async def _call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        async def once() -> T:
            missing = f"there is no index {self.index_name!r} yet; attest ingest makes it"
            with translated(SERVICE, not_found=missing, endpoint=ENDPOINT):
                return await attempt()

        return await self._remote.call(once)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._documents.close()
        await self._indexes.close()
