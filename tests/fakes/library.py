"""A library in memory, and the search over it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from grounding.records import Access, Document, DocumentInfo, Passage, Query, Retrieval, chunk_id


@dataclass
class FakeLibrary:
    """Documents with their versions; `old` keeps what was replaced or removed."""

    current: dict[str, Document] = field(default_factory=dict)
    old: list[Document] = field(default_factory=list)

    async def documents(self) -> tuple[DocumentInfo, ...]:
        return tuple(
            DocumentInfo(
                d.doc_id,
                d.title,
                d.content_type,
                d.version,
                1,
                d.url,
                d.groups,
                d.product,
                d.internal,
                d.updated,
                "kb",
                "2026-11-01T08:00:00Z",
            )
            for _, d in sorted(self.current.items())
        )

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        now = self.current.get(doc_id)
        if version is None:
            return now
        return next(
            (d for d in [*([now] if now else []), *self.old] if d.doc_id == doc_id and d.version == version), None
        )

    async def last(self, doc_id: str) -> Document | None:
        return self.current.get(doc_id) or next((d for d in reversed(self.old) if d.doc_id == doc_id), None)

    async def remove(self, doc_id: str) -> bool:
        gone = self.current.pop(doc_id, None)
        if gone is not None:
            self.old.append(gone)
        return gone is not None

    def put(self, document: Document) -> None:
        if document.doc_id in self.current:
            self.old.append(self.current[document.doc_id])
        self.current[document.doc_id] = document


class FakeRetriever:
    """Every document that shares a word with the query, in one passage."""

    def __init__(self, library: FakeLibrary) -> None:
        self._library = library

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        words = set(re.findall(r"\w{4,}", query.text.lower()))
        hits = [
            passage_of(d)
            for d in self._library.current.values()
            if access.may_read(d.groups) and words & set(re.findall(r"\w{4,}", d.text.lower()))
        ]
        return Retrieval(tuple(hits[:k]), "kb-7f3a")


def passage_of(document: Document) -> Passage:
    """All of a document, as a search found it."""
    text = document.text
    return Passage(
        chunk_id(document.doc_id, 0, len(text), text),
        document.doc_id,
        document.title,
        text,
        0,
        document.url,
        "page 2",
        version=document.version,
        internal=document.internal,
        score=0.91,
        bm25=7.4,
        semantic=0.62,
    )
