"""Documents and chunks as rows of the store, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grounding.records import Chunk, Document, Locator


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What the store knows of a document before it is read again."""

    root: str
    stamp: str
    version: str


def groups_of(value: str | None) -> tuple[str, ...] | None:
    """Groups from their JSON; None is everyone."""
    return None if value is None else tuple(json.loads(value))


def chunk_row(c: Chunk, pk: int) -> dict[str, object]:
    """A row of `chunks`."""
    return {
        "pk": pk,
        "chunk_id": c.chunk_id,
        "doc_id": c.doc_id,
        "start": c.start,
        "end": c.end,
        "text": c.text,
        "tokens": c.tokens,
        "locator": c.locator,
    }


def document_row(d: Document, chunks: tuple[Chunk, ...], root: str, stamp: str, now: str) -> dict[str, object]:
    """A row of `documents`, live and not yet in the word index."""
    groups = None if d.groups is None else json.dumps(d.groups)
    return {
        "doc_id": d.doc_id,
        "root": root,
        "stamp": stamp,
        "version": d.version,
        "title": d.title,
        "url": d.url,
        "groups": groups,
        "product": d.product,
        "internal": d.internal,
        "updated": d.updated,
        "content_type": d.content_type,
        "chunks": len(chunks),
        "ingested_at": now,
        "live": True,
        "indexed": False,
        "pulled": False,
    }


def body(d: Document) -> str:
    """What `versions` keeps of a document."""
    locators = [[loc.start, loc.label] for loc in d.locators]
    fields = {
        "title": d.title,
        "text": d.text,
        "url": d.url,
        "groups": d.groups,
        "product": d.product,
        "internal": d.internal,
        "updated": d.updated,
        "content_type": d.content_type,
    }
    return json.dumps({"doc_id": d.doc_id, **fields, "locators": locators}, ensure_ascii=False)


def document(kept: str) -> Document:
    """The document that `body` kept."""
    fields = json.loads(kept)
    fields["groups"] = None if fields["groups"] is None else tuple(fields["groups"])
    fields["locators"] = tuple(Locator(start, label) for start, label in fields["locators"])
    return Document(**fields)


def embedding_text(title: str, text: str) -> str:
    """What is embedded of a chunk: its title travels with it, once."""
    return text if text.startswith(title) else f"{title}\n{text}"


def parts(values: Sequence[Any], size: int = 500) -> Iterator[Sequence[Any]]:
    """`values` in pieces that one statement can name."""
    for i in range(0, len(values), size):
        yield values[i : i + size]


def mark(doc_id: str, version: str) -> int:
    """What one document adds to the digest of the knowledge base, by exclusive or."""
    return int.from_bytes(hashlib.sha256(f"{doc_id}\x00{version}".encode()).digest()[:7], "big")
