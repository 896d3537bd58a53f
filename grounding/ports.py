"""Ports of grounding: the interfaces to models, indexes and services that implementations fulfil. All are async.

Each Protocol has one contract suite under tests/contracts that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

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
    """Makes the search query of a conversation, by extractive summarization."""

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        """The query: sentences of `turns`, verbatim. Raises InputError for a conversation without text."""
        ...


class Linker(Protocol):
    """Finds names of the knowledge base in what people type (entity linking)."""

    async def link(self, texts: Sequence[str], access: Access) -> list[list[Linked]]:
        """For each text the names in it, in the order in which they stand; only of documents that `access` may read."""
        ...

    async def knows(self, name: str, access: Access) -> bool:
        """True if a passage that `access` may read holds these words, one after the other."""
        ...

    async def whole(self, name: str, access: Access) -> str:
        """How passages that `access` may read write what a short name or a code stands for ("x2": Wren X2, "C421": C-421); empty where they write it so, several
        stand for it, or none does.
        """
        ...


class Speller(Protocol):
    """Corrects spelling by the words of the knowledge base."""

    async def spelled(self, text: str, access: Access) -> dict[str, str]:
        """Misspelt words of `text`, each with the word that `access` may read which is meant; few, and none where in doubt."""
        ...


class Embedder(Protocol):
    """Embeds texts as unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Identifies the vectors: model and width, and the file or the server. Vectors of different fingerprints are never compared."""
        ...

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of `texts`: shape (len(texts), width), float32, rows of length one. Raises ServiceError where a service embeds."""
        ...


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that embeds questions otherwise than passages."""

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of questions, to be compared with those of passages by `Embedder.embed`."""
        ...


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near blocks of text are to questions, both of the shape (questions, blocks), float32, in [-1, 1]: as wholes, and piece by piece."""

    whole: Vectors
    pieces: Vectors


class BlockReader(Protocol):
    """Reads questions and blocks of text together. What it says compares blocks of one call; it is no probability."""

    async def near(self, questions: Sequence[str], blocks: Sequence[str]) -> Nearness:
        """How near each block is to each question. Raises StoreError if its model cannot be read."""
        ...


class Retriever(Protocol):
    """Searches for the passages that a user may read. Access is filtered inside the search."""

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages, best first. Raises ServiceError or StoreError when search is impossible."""
        ...


class Grader(Protocol):
    """Grades each passage's relevance to the question."""

    @property
    def name(self) -> str:
        """Name of the grader, as the record has it."""
        ...

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """One grade per passage, same order. Failure is `ungraded`, not an exception."""
        ...


class WebSearch(Protocol):
    """Searches the web, for when the knowledge base is not enough."""

    @property
    def name(self) -> str:
        """Name of the search service."""
        ...

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results from allowed sites. Raises ServiceError."""
        ...


class ChatModel(Protocol):
    """Completes a prompt with a chat model. What `compose` hands out screens every prompt first."""

    @property
    def name(self) -> str:
        """Name of the model or deployment."""
        ...

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's complete reply, or an exception: ServiceError, ContentFiltered or PromptBlocked.

        `purpose` ("compose", "grade", "rewrite", "plan") goes into the record. `max_tokens` bounds what is written. `schema`: of
        `grounding.model_calls.schema`, the JSON form that the reply should have; not every server can hold a model to one, so whoever asks reads
        the reply with tolerance.
        """
        ...


class Composer(Protocol):
    """Drafts an answer from a prompt with its evidence."""

    @property
    def name(self) -> str:
        """Name of the composer, as the record has it."""
        ...

    async def compose(self, prompt: Prompt) -> Draft:
        """A draft that cites evidence as [n]. Raises ServiceError, ContentFiltered or PromptBlocked."""
        ...


class Directory(Protocol):
    """Tells which groups a user belongs to."""

    async def groups(self, user: str) -> frozenset[str]:
        """Groups of `user`; empty for a stranger. Raises ServiceError: the caller denies."""
        ...


class Library(Protocol):
    """Holds the documents of the knowledge base, and what each said at any version."""

    async def documents(self) -> tuple[DocumentInfo, ...]:
        """All current documents, by doc_id."""
        ...

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document as it stood at `version` (old versions stay for replay), or as it stands now."""
        ...

    async def last(self, doc_id: str) -> Document | None:
        """The document as it is, or as it was when it was taken out: its last rights count for what it said before."""
        ...

    async def remove(self, doc_id: str) -> bool:
        """Take a document out of every answer at once; False if it is not there."""
        ...
