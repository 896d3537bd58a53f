"""Client of one alias in Azure AI Search, of the indexes that may stand behind it, and of what the service has room for.

An alias takes the place of an index in every request for documents, and is moved to another index in one step; the service says that up to
ten seconds pass until every request goes there. It is no index: it can be neither the target of a knowledge source nor deleted as one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.search.documents.indexes.aio import SearchIndexClient
from azure.search.documents.indexes.models import SearchAlias

from grounding.azure.core.faults import Changed, NotFound, translated
from grounding.azure.search.index import DIGITS, SETTING
from grounding.azure.search.service import ENDPOINT, SERVICE, connection
from grounding.errors import SettingsError
from grounding.services.remote import Remote

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IndexSize:
    """What an index holds, as the service counted it last: documents, bytes of storage, bytes of memory that its vectors take."""

    documents: int
    storage: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Room:
    """What a service has room for, in bytes: used and allowed, of storage and of memory for vectors. None: it names no bound."""

    storage: int
    most_storage: int | None
    vectors: int
    most_vectors: int | None


class SearchAliases:
    """Client of the alias `name`. `key`: as of SearchService; its owner closes a token credential.

    Raises SettingsError for an endpoint or key that cannot be used; every method raises ServiceError.
    """

    def __init__(self, endpoint: str, key: str | AsyncTokenCredential, name: str, remote: Remote) -> None:
        made = connection(endpoint, key, remote.deadline_s)
        self.name = name
        self._remote, self._options = remote, made.options
        self._client = SearchIndexClient(made.endpoint, made.credential, **made.settings)
        self._own = re.compile(rf"{re.escape(name)}-[0-9a-f]{{{DIGITS}}}")

    async def target(self) -> str | None:
        """The index that the alias names; None if there is no alias yet."""
        found = await self._alias()
        return found.indexes[0] if found else None

    async def check(self) -> None:
        """Raise SettingsError where an index has the name of the alias: it was made before there were aliases, or is somebody else's."""
        if await self._alias() is None and self.name in await self._names():
            raise SettingsError(
                f"{SETTING}={self.name}: that is an index, and an alias needs a name of its own; set {SETTING} to a new name and run attest ingest, or"
                " ATTEST_SEARCH_ALIAS=off"
            )

    async def point(self, index: str, before: str | None) -> None:
        """Let the alias name `index` in place of `before`. Raises Changed where it names another, or somebody else moves it at the same time."""
        found = await self._alias()
        if (found.indexes[0] if found else None) != before:
            raise Changed(SERVICE, f"the alias {self.name} was moved by somebody else meanwhile")
        if before == index:
            return
        alias = SearchAlias(name=self.name, indexes=[index])
        condition = MatchConditions.IfMissing
        if found is not None:
            alias.e_tag, condition = found.e_tag, MatchConditions.IfNotModified
        await self._call(lambda: self._client.create_or_update_alias(alias, match_condition=condition, **self._options))

    async def indexes(self) -> list[str]:
        """Names of the indexes that `attest ingest` made to stand behind this alias, sorted."""
        return sorted(name for name in await self._names() if self._own.fullmatch(name))

    async def size(self, index: str) -> IndexSize:
        """Size of one index. Statistics lag behind by minutes."""
        found = await self._call(lambda: self._client.get_index_statistics(index, **self._options))
        return IndexSize(found.document_count, found.storage_size, found.vector_index_size)

    async def room(self) -> Room:
        """What the service has room for, all its indexes counted."""
        found = (await self._call(lambda: self._client.get_service_statistics(**self._options))).counters
        storage, vectors = found.storage_size_counter, found.vector_index_size_counter
        return Room(storage.usage, storage.quota, vectors.usage, vectors.quota)

    async def delete(self, index: str) -> None:
        """Delete an index with all its documents."""
        await self._call(lambda: self._client.delete_index(index, **self._options))

    async def _alias(self) -> SearchAlias | None:
        try:
            return await self._call(lambda: self._client.get_alias(self.name, **self._options))
        except NotFound:
            return None

    async def _names(self) -> list[str]:
        async def attempt() -> list[str]:
            return [str(name) async for name in self._client.list_index_names(**self._options)]

        return await self._call(attempt)

    async def _call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        async def once() -> T:
            with translated(SERVICE, not_found="it has no such alias or index", endpoint=ENDPOINT):
                return await attempt()

        return await self._remote.call(once)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()
