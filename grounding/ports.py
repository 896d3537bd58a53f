"""The seams of grounding: what each part may ask of the world. All are async; none knows an implementation.

Each Protocol has one contract suite under tests/contracts that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from grounding.records import (
    Access,
    Completion,
    Document,
    DocumentInfo,
    Draft,
    Grading,
    Linked,
    Passage,
    Prompt,
    Query,
    Retrieval,
    Turn,
    WebResult,
)

Vectors = NDArray[np.float32]


class Summarizer(Protocol):
    """Conversation to query by extractive summarization."""

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        """Choose sentences of `turns` verbatim. Raises InputError for a conversation without text."""
        ...


class Linker(Protocol):
    """Finds the names that the knowledge base goes by in what people type."""

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        """For each text the names it speaks of, in the order in which they stand; only of documents that `access` may read."""
        ...

    async def knows(self, name: str, access: Access) -> bool:
        """True if a passage that `access` may read holds these words, one after the other."""
        ...


class Speller(Protocol):
    """Knows how the knowledge base spells its words."""

    async def spelled(self, text: str, access: Access) -> dict[str, str]:
        """Words of `text` that are slips of the hand for a word that `access` may read, each with that word; few, and none where in doubt."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Names model and width, and the file or the server; vectors of another fingerprint are never compared."""
        ...

    @property
    def width(self) -> int:
        """Numbers of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), width), float32, L2-normalised rows. Raises ServiceError where a service embeds."""
        ...


class Retriever(Protocol):
    """Query to passages that this user may read. Trimming happens inside the search."""

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages, best first. Raises ServiceError or StoreError when search is impossible."""
        ...


class Grader(Protocol):
    """Judges each passage against the question."""

    @property
    def name(self) -> str: ...

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """One grade per passage, same order. Failure is `ungraded`, not an exception."""
        ...


class WebSearch(Protocol):
    """The web, when the knowledge base is not enough."""

    @property
    def name(self) -> str: ...

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results from allowed sites. Raises ServiceError."""
        ...


class ChatModel(Protocol):
    """A chat model. What `compose` hands out screens every prompt first."""

    @property
    def name(self) -> str: ...

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A complete reply or an exception: ServiceError, ContentFiltered or PromptBlocked.

        `purpose` ("compose", "grade", "rewrite", "plan") goes into the record. `schema`: of `grounding.asking.schema`, the JSON form that the
        reply should have; not every server can hold a model to one, so whoever asks reads the reply with tolerance.
        """
        ...


class Composer(Protocol):
    """Prompt with its evidence to a draft."""

    @property
    def name(self) -> str: ...

    async def compose(self, prompt: Prompt) -> Draft:
        """A draft that cites evidence as [n]. Raises ServiceError, ContentFiltered or PromptBlocked."""
        ...


class Directory(Protocol):
    """Who belongs to which groups."""

    async def groups(self, user: str) -> frozenset[str]:
        """Groups of `user`; empty for a stranger. Raises ServiceError: the caller denies."""
        ...


class Library(Protocol):
    """The documents of the knowledge base: what is in it, and what it said at any version."""

    async def documents(self) -> tuple[DocumentInfo, ...]:
        """Every current document, by doc_id."""
        ...

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document as it stood at `version` (old versions stay for replay), or as it stands now."""
        ...

    async def last(self, doc_id: str) -> Document | None:
        """The document as it stands, or as it stood when it was taken out: its last rights count for what it said before."""
        ...

    async def remove(self, doc_id: str) -> bool:
        """Take a document out of every answer at once; False if it is not there."""
        ...
