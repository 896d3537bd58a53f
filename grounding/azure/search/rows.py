"""Documents of the index: one for each chunk of the store, and one that records the state of the index."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from grounding.azure.search.filter import OURS, STATE, group_field
from grounding.services.batches import in_batches
from grounding.store.chunks import ChunkRow
from grounding.store.vectors import FollowedChunk
from grounding.text import sendable

FORM = 3
"""Of the documents; another number means that all are uploaded again."""
STATE_KEY = "attest-state"
MOST_ROWS, MOST_BYTES = 500, 8 * 2**20
"""Of one batch; the service takes 1,000 rows and 16 MB."""
IndexRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """State of the index after the last run. `embedder`: fingerprint of its vectors, empty while there are none or while they are being
    replaced; `kb_version`: version of the knowledge base; `replaces`: the index behind the same alias in whose place it was taken into use; `step`: the mark under
    which the store tells it of changes, or what `mark_of` begins one with where it does not, empty of old; `left`: somebody went back from it, and no ingest takes it into use again.
    """

    embedder: str
    kb_version: str
    replaces: str = ""
    step: str = field(default="", compare=False)
    left: bool = False

    @property
    def model(self) -> str | None:
        """Fingerprint of the model that the documents are made with, also while none of them has a vector; empty if that is none, None if it is not known."""
        _, known, rest = self.step.partition("|")
        return self.embedder or (rest.rpartition("|")[0] if known else None)


def mark_of(model: str) -> str:
    """What the mark of an index begins with whose documents have this form and vectors of this model."""
    return f"{FORM}|{model}|"


_HALF = 16
_LEFT = "left"


def stamp(piece: FollowedChunk, fingerprint: str) -> str:
    """Digest of what a document of the index is made from: one half of what is searched, the other of what is told of it (rights, version, address). A document
    whose stamp is equal is not sent again, one of which only the second half differs (`is_told_anew`) without its words and its vector.
    """
    searched = (FORM, piece.title, fingerprint if piece.has_vector else "")  # the id stands for the text
    return "".join(hashlib.sha256(repr(made).encode()).hexdigest()[:_HALF] for made in (searched, piece.version))


def is_told_anew(ours: str, theirs: str) -> bool:
    """Whether of a document that the index holds only what is told of it has changed: rights, for the most part."""
    return ours != theirs and len(theirs) == 2 * _HALF and ours[:_HALF] == theirs[:_HALF]


def told_row(row: ChunkRow, fingerprint: str, *, has_vector: bool) -> IndexRow:
    """What a document of the index tells of a live chunk, without what is searched."""
    chunk = row.chunk
    told: IndexRow = {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "source": OURS,
        "product": row.product,
        "version": row.version,
        "updated": row.updated,
        "url": row.url,
        "locator": chunk.locator,
        "start": chunk.start,
        "end": chunk.end,
        "tokens": chunk.tokens,
        "internal": row.internal,
        "trust": row.trust,
        "groups": group_field(row.groups),
        "stamp": stamp(FollowedChunk(chunk.chunk_id, row.version, row.title, has_vector), fingerprint),
    }
    return {name: sendable(value) if isinstance(value, str) else value for name, value in told.items()}


def index_row(row: ChunkRow, vector: bytes | None, fingerprint: str) -> IndexRow:
    """A live chunk as a document of the index. `vector`: float16 bytes, or None."""
    told = told_row(row, fingerprint, has_vector=vector is not None)
    told |= {"title": sendable(row.title), "text": sendable(row.chunk.text)}
    if vector is not None:
        told["vector"] = [round(float(v), 6) for v in np.frombuffer(vector, np.float16)]
    return told


def state_row(state: State) -> IndexRow:
    """The state as a document of the index, which nobody may read and no search finds."""
    told = {name: value for name, value in asdict(state).items() if value or name != "replaces"}  # as ever without it
    # in fields of their own: older programs refuse a stamp that tells more than they know
    apart = {"version": told.pop("step"), "locator": _LEFT if told.pop("left") else ""}
    return {"chunk_id": STATE_KEY, "source": STATE, "groups": [], "stamp": json.dumps(told), **apart}


def state_of(document: Mapping[str, Any] | None) -> State | None:
    """The state that `state_row` wrote; None if there is none that can be read."""
    if not document:
        return None
    try:
        step, left = document.get("version") or "", document.get("locator") == _LEFT
        return State(**json.loads(document["stamp"]), step=step, left=left)
    except (ValueError, KeyError, TypeError):
        return None


def batches(rows: Sequence[IndexRow]) -> Iterator[list[IndexRow]]:
    """`rows` in order, in batches of at most MOST_ROWS and about MOST_BYTES of JSON each."""
    return in_batches(rows, _bytes, most_items=MOST_ROWS, most_size=MOST_BYTES)


def _bytes(row: IndexRow) -> int:
    """Upper bound of the row's size as JSON in bytes: a character outside of ASCII is written as an escape of six, or twelve."""
    texts = (value for value in row.values() if isinstance(value, str))
    return 12 * len(row.get("vector", ())) + 600 + sum(len(t) if t.isascii() else 12 * len(t) for t in texts)
