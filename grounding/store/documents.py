"""Tables of documents and of their versions in the store: live ones, ones taken out, earlier contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from grounding.database.text import storable
from grounding.ingest.chunk_settings import unmarked
from grounding.ingest.history import Tombstone
from grounding.records import Chunk, Document, DocumentInfo, Locator
from grounding.store import dialects
from grounding.store.tables import DOCUMENTS, VERSIONS, parts

OF_CHUNK = "JOIN documents d ON d.doc_id = c.doc_id AND d.live"
"""SQL that goes from a chunk `c` to its document `d`, if that is live."""
TOLD_OF_CHUNK = "d.title, d.url, d.groups, d.product, d.internal, d.updated, d.version, d.trust"
"""SQL for what a document says about each of its chunks."""
_LISTED = sa.select(
    *(
        DOCUMENTS.c[name]
        for name in "doc_id root stamp version title url groups product internal updated content_type trust chunks "
        "ingested_at pulled".split()
    )
).order_by(DOCUMENTS.c.doc_id)
_KEEP = sa.text(
    "INSERT INTO versions (doc_id, version, body) VALUES (:doc_id, :version, :body) ON CONFLICT (doc_id, version) DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What the store knows of a document before it is read again: its root, the stamp of its file and its version."""

    root: str
    stamp: str
    version: str


class Unindexed(NamedTuple):
    """A document that a word index has not caught up with, live or gone. `change`: number of its last change, by which those of a list rise; 0 in a file, where marks
    say it.
    """

    doc_id: str
    change: int
    is_live: bool


class Documents:
    """Repository of the tables `documents` and `versions`, over one connection."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def known(self, doc_ids: Sequence[str] | None = None) -> dict[str, KnownDocument]:
        """All live documents by id, or those of these."""
        d = DOCUMENTS.c
        query = sa.select(d.doc_id, d.root, d.stamp, d.version).where(d.live)
        asked = [query] if doc_ids is None else [query.where(d.doc_id.in_(part)) for part in parts(doc_ids)]
        rows = (row for one in asked for row in self._db.execute(one))
        return {r.doc_id: KnownDocument(r.root, r.stamp, r.version) for r in rows}

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        d = DOCUMENTS.c
        rows = self._db.execute(sa.select(d.doc_id, d.stamp, d.version).where(d.pulled, ~d.live))
        return {r.doc_id: (r.stamp, r.version) for r in rows}

    def pulled_of(self, doc_ids: Sequence[str]) -> set[str]:
        """Those of these documents that a person removed."""
        d = DOCUMENTS.c
        query = sa.select(d.doc_id).where(d.pulled, ~d.live)
        return {
            doc_id for part in parts(doc_ids) for doc_id in self._db.execute(query.where(d.doc_id.in_(part))).scalars()
        }

    def live(self) -> tuple[DocumentInfo, ...]:
        """All live documents, sorted by id."""
        rows = self._db.execute(_LISTED.where(DOCUMENTS.c.live)).all()
        return tuple(
            DocumentInfo(
                r.doc_id,
                r.title,
                r.content_type,
                r.version,
                r.chunks,
                r.url,
                groups_of(r.groups),
                r.product,
                r.internal,
                r.updated,
                r.root,
                r.ingested_at,
                unmarked(r.stamp)[1],
                r.trust,
            )
            for r in rows
        )

    def tombstones(self) -> tuple[Tombstone, ...]:
        """All documents that were taken out, sorted by id."""
        rows = self._db.execute(_LISTED.where(~DOCUMENTS.c.live))
        return tuple(
            Tombstone(r.doc_id, r.title, r.version, r.root, groups_of(r.groups), bool(r.pulled), r.stamp) for r in rows
        )

    def version_of(self, doc_id: str, *, live: bool) -> str | None:
        """Current version of a document, or, if it need not be `live`, that at which it was taken out; None if there is none."""
        query = sa.select(DOCUMENTS.c.version).where(DOCUMENTS.c.doc_id == doc_id)
        return self._db.execute(query.where(DOCUMENTS.c.live) if live else query).scalar()

    def versions(self, doc_id: str) -> tuple[str, ...]:
        """The versions kept of a document, in the order in which they first came in."""
        query = sa.select(VERSIONS.c.version).where(VERSIONS.c.doc_id == doc_id)
        query = query.order_by(sa.text(dialects.of(self._db).came))
        return tuple(self._db.execute(query).scalars())

    def at(self, doc_id: str, version: str | None) -> Document | None:
        """The document as it was at `version`, if that is kept."""
        query = sa.select(VERSIONS.c.body).where(VERSIONS.c.doc_id == doc_id, VERSIONS.c.version == version)
        kept = self._db.execute(query).scalar()
        return _document(kept) if kept else None

    def counts(self) -> tuple[int, int]:
        """Number of live documents and of live chunks."""
        query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(DOCUMENTS.c.chunks), 0)).where(DOCUMENTS.c.live)
        documents, chunks = self._db.execute(query).one()
        return int(documents), int(chunks)

    def unindexed(self, after: int | None = None) -> list[Unindexed]:
        """Documents that the word index has not caught up with: those changed after the change of that number; None where marks say it."""
        d = DOCUMENTS.c
        if after is None:
            marked = self._db.execute(sa.select(d.doc_id, d.live).where(~d.indexed))
            return [Unindexed(doc_id, 0, live) for doc_id, live in marked]
        query = sa.select(d.doc_id, d.changed, d.live).where(d.changed > after).order_by(d.changed)
        return [Unindexed(*row) for row in self._db.execute(query)]

    def indexed_chunks(self, until: int | None = None) -> int:
        """Number of live chunks that the word index should hold, if it has the changes up to number `until`; None where marks say it."""
        d = DOCUMENTS.c
        query = sa.select(sa.func.coalesce(sa.func.sum(d.chunks), 0)).where(d.live)
        return int(self._db.execute(query.where(d.indexed if until is None else d.changed <= until)).scalar() or 0)

    def newest_change(self) -> int:
        """Number of the newest change of a document, where they have numbers; 0 if there was none."""
        return int(self._db.execute(sa.select(sa.func.max(DOCUMENTS.c.changed))).scalar() or 0)

    def marks(self, doc_ids: Sequence[str]) -> int:
        """Sum (exclusive or) of the marks of those of these documents that are live: their part of the digest."""
        digest = 0
        for part in parts(doc_ids):
            query = sa.select(DOCUMENTS.c.doc_id, DOCUMENTS.c.version)
            for doc_id, version in self._db.execute(query.where(DOCUMENTS.c.doc_id.in_(part), DOCUMENTS.c.live)).all():
                digest ^= mark(doc_id, version)
        return digest

    def replace(self, items: Iterable[tuple[Document, tuple[Chunk, ...], str, str]], now: str) -> None:
        """Insert or replace documents, given as (document, chunks, root, stamp), as live and not indexed; this version of each is kept."""
        items = list(items)
        numbered = dialects.numbers_changes(self._db)  # a new row has its number then
        waits: dict[str, object] = {} if numbered else {"indexed": False}
        for part in parts([d.doc_id for d, _, _, _ in items]):
            self._db.execute(DOCUMENTS.delete().where(DOCUMENTS.c.doc_id.in_(part)))
        self._db.execute(DOCUMENTS.insert(), [_row(d, c, root, stamp, now) | waits for d, c, root, stamp in items])
        kept = [
            {"doc_id": storable(d.doc_id), "version": d.version, "body": storable(_body(d))} for d, _, _, _ in items
        ]
        self._db.execute(_KEEP, kept)

    def take_out(self, doc_ids: Sequence[str], *, pulled: bool) -> None:
        """Mark documents as no longer live. `pulled`: a person removed them; what a person removed before stays so."""
        numbered = dialects.numbers_changes(self._db)
        waits: dict[str, Any] = {"changed": sa.text("DEFAULT")} if numbered else {"indexed": False}  # the next number
        by_hand = {"pulled": True} if pulled else {}
        for part in parts(doc_ids):
            gone = DOCUMENTS.update().where(DOCUMENTS.c.doc_id.in_(part))
            self._db.execute(gone.values(live=False, chunks=0, **by_hand, **waits))

    def touch(self, stamps: Mapping[str, str]) -> None:
        """Keep new stamps of documents whose content did not change."""
        for doc_id, stamp in stamps.items():
            self._db.execute(DOCUMENTS.update().where(DOCUMENTS.c.doc_id == doc_id).values(stamp=stamp))

    def mark_indexed(self, done: Sequence[Unindexed]) -> None:
        """Mark these documents as indexed by the word index, where marks say it; not one that was removed since: that alone waits for no lock."""
        for is_live in (True, False):
            for part in parts([document.doc_id for document in done if document.is_live == is_live]):
                same = DOCUMENTS.update().where(DOCUMENTS.c.doc_id.in_(part), DOCUMENTS.c.live == is_live)
                self._db.execute(same.values(indexed=True))

    def mark_all_unindexed(self) -> None:
        """Mark all documents as not indexed by the word index, where marks say it."""
        self._db.execute(DOCUMENTS.update().values(indexed=False))


def mark(doc_id: str, version: str) -> int:
    """Contribution of one document to the digest of the knowledge base, which combines them by exclusive or; of its id as it is kept."""
    return int.from_bytes(hashlib.sha256(f"{storable(doc_id)}\x00{version}".encode()).digest()[:7], "big")


def groups_of(value: str | None) -> tuple[str, ...] | None:
    """Groups from their JSON; None is everyone."""
    return None if value is None else tuple(json.loads(value))


def _row(d: Document, chunks: tuple[Chunk, ...], root: str, stamp: str, now: str) -> dict[str, object]:
    """Row of `documents` for a document, live."""
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
        "trust": d.trust,
        "chunks": len(chunks),
        "ingested_at": now,
        "live": True,
        "pulled": False,
    }


def _body(d: Document) -> str:
    """Content of a document as `versions` keeps it: with the text that its chunks are kept with."""
    locators = [[loc.start, storable(loc.label)] for loc in d.locators]
    fields = {
        "doc_id": d.doc_id,
        "title": d.title,
        "text": d.text,
        "url": d.url,
        "groups": d.groups,
        "product": d.product,
        "internal": d.internal,
        "updated": d.updated,
        "content_type": d.content_type,
        "trust": d.trust,
    }
    kept = {name: storable(value) if isinstance(value, str) else value for name, value in fields.items()}
    return json.dumps({**kept, "locators": locators}, ensure_ascii=False)


def _document(kept: str) -> Document:
    """Inverse of `_body`: the document that it kept."""
    fields = json.loads(kept)  # one that was kept before there was trust has none
    fields["groups"] = None if fields["groups"] is None else tuple(fields["groups"])
    fields["locators"] = tuple(Locator(start, label) for start, label in fields["locators"])
    return Document(**fields)
