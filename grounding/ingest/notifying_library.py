"""Wrapper of a Library that tells a listener of each removal, so that what is derived from it can follow at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from grounding.ports import Library
from grounding.records import Document, DocumentInfo


class NotifyingLibrary:
    """`library`, with `after` called with the id of each document that was removed from it."""

    def __init__(self, library: Library, after: Callable[[str], Awaitable[object]]) -> None:
        self._library, self._after = library, after

    async def documents(self) -> tuple[DocumentInfo, ...]:
        """Every current document, by doc_id."""
        return await self._library.documents()

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document as it stood at `version`, or as it stands now."""
        return await self._library.document(doc_id, version)

    async def last(self, doc_id: str) -> Document | None:
        """The document as it is, or as it was when it was taken out."""
        return await self._library.last(doc_id)

    async def remove(self, doc_id: str) -> bool:
        """Take a document out, and tell `after`; False if it is not there."""
        removed = await self._library.remove(doc_id)
        if removed:
            await self._after(doc_id)
        return removed
