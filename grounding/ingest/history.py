"""Port for the history of a knowledge base: documents that were taken out, earlier versions, backup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

ChangeKind = Literal["added", "changed", "deleted"]
OnChange = Callable[[ChangeKind, str], None]
"""Hears the kind of a change and the document's id."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Record of a document that was taken out. `by_hand`: a person removed it, so that an ingest does not bring it back.

    `groups` are those that could read it last; None is everyone.
    """

    doc_id: str
    title: str
    version: str
    root: str
    groups: tuple[str, ...] | None
    by_hand: bool
    stamp: str


class History(Protocol):
    """Keeps the history of a knowledge base; the embedded implementation is `grounding.store.history.StoreHistory`."""

    def tombstones(self) -> tuple[Tombstone, ...]:
        """All documents that were taken out, by id."""
        ...

    def versions(self, doc_id: str) -> tuple[str, ...]:
        """The versions kept of a document, in the order in which they first came in."""
        ...

    def backup(self, target: Path) -> int:
        """Write a copy of the knowledge base as it stands at one moment; returns its bytes. Raises InputError, StoreError."""
        ...
