"""Hypotheticals of the passages: questions and answers that a chat model imagines at ingest, searched beside the passages (HyDE turned
round).

What was written is kept by chunk id, which is a hash of the text, in a small file of its own or in PostgreSQL: it cost a model's work and is not asked for
twice. Its vectors lie in the store under fingerprints of their own, keyed by the same ids: they are followed, filtered by what a person may
read, and dropped with their chunk as the passages' own vectors are. A hit is a hit on the chunk; nothing leads from here to a prompt.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.errors import AttestError, ContentFiltered, PromptBlocked
from grounding.model_calls.spotlight import new_marker
from grounding.ports import ChatModel, Embedder
from grounding.query.hyde import EACH, hypothesize
from grounding.records import OnProgress, Progress
from grounding.store.dialects import forms
from grounding.store.side import Kept, Place, side_at
from grounding.store.store import Store

LOG = logging.getLogger("attest")
BATCH = 8
"""Passages of one call: what a small model still numbers right, at some 150 tokens each."""
AT_ONCE = 4
"""Calls at the same time; what a wave of them brought is kept before the next."""
PART = SchemaPart(
    "hypotheticals",
    (
        Step(
            (
                'CREATE TABLE hypotheticals (chunk_id text COLLATE "C" PRIMARY KEY, texts text, tries integer NOT NULL)',
                "ALTER TABLE hypotheticals ALTER COLUMN texts SET STATISTICS 0",  # no question asks by it
            ),
            oldest=1,
        ),
    ),
    rights=("GRANT SELECT, INSERT, UPDATE ON hypotheticals TO {worker}",),
    tables=(KeptTable("hypotheticals", "chunk_id texts tries", "chunk_id", "written"),),
)
"""What was written, in PostgreSQL."""
KEPT = Kept(
    "the record of hypothetical questions",
    "CREATE TABLE IF NOT EXISTS written (chunk_id TEXT PRIMARY KEY, texts TEXT, tries INTEGER NOT NULL) WITHOUT ROWID;",
    PART,
)
_TABLES = {"written": "hypotheticals"}
_OF_CHUNKS = forms(
    "SELECT chunk_id, texts, tries FROM {written} WHERE chunk_id IN (SELECT value FROM {texts})", _TABLES
)
_WRITE = forms(
    "INSERT INTO {written} (chunk_id, texts, tries) VALUES ({param}, {param}, 1) ON CONFLICT (chunk_id) DO UPDATE "
    "SET texts = coalesce(excluded.texts, {written}.texts), tries = {written}.tries + 1",
    _TABLES,
)
_Texts = dict[str, tuple[str, ...]]


def fingerprints(fingerprint: str) -> tuple[str, ...]:
    """Fingerprints under which the vectors of a passage's first, second … hypothetical are kept, for an embedder's fingerprint."""
    return tuple(f"{fingerprint}-hyde{n}" for n in range(1, EACH + 1))


def indexes(store: Store, fingerprint: str, width: int) -> tuple[VectorIndex, ...]:
    """Vector indexes of all hypotheticals, for a retriever."""
    return tuple(VectorIndex(store, name, width) for name in fingerprints(fingerprint))


class Hypotheticals:
    """The hypotheticals of all passages, in one SQLite file or a PostgreSQL."""

    def __init__(self, place: Place) -> None:
        self._side = side_at(place, KEPT)

    async def follow(
        self,
        store: Store,
        embedder: Embedder,
        model: ChatModel,
        on_progress: OnProgress = lambda _at: None,
    ) -> int:
        """Have a model write hypotheticals for each live chunk that has none, and embed them all; returns how many chunks got some now.

        Never raises for what a model, the screen or a file does: what fails is told in the log, and tried again at the next ingest, after
        what was never tried. A round of calls that brings nothing ends it.
        """
        try:
            bare = dict(await asyncio.to_thread(store.without_vectors, fingerprints(embedder.fingerprint)[0]))
            known, tries = await asyncio.to_thread(self._read, list(bare))
            await _embed(store, embedder, known)  # another embedder, or a kill between file and store
            todo = sorted(bare.keys() - known.keys(), key=lambda c: (tries.get(c, 0), c))
            written = 0
            for at in range(0, len(todo), BATCH * AT_ONCE):
                part = todo[at : at + BATCH * AT_ONCE]
                found = await _wave(model, [(c, bare[c]) for c in part])
                await asyncio.to_thread(self._keep, part, found)
                await _embed(store, embedder, found)
                written += sum(map(bool, found.values()))
                on_progress(Progress("hyde", min(at + len(part), len(todo)), len(todo)))
                if not found:
                    LOG.warning(
                        "hypothetical questions: %d passages have none; the next ingest tries again", len(todo) - at
                    )
                    break
        except AttestError as error:
            LOG.warning("hypothetical questions wait for the next ingest: %s", error)
            return 0
        return written

    def texts(self, chunk_ids: Sequence[str]) -> _Texts:
        """The hypotheticals of these chunks; a chunk of which there is nothing to ask has none. Raises StoreError."""
        return self._read(chunk_ids)[0]

    def _read(self, chunk_ids: Sequence[str]) -> tuple[_Texts, dict[str, int]]:
        """Texts of the chunks that are done, and how often each of the others was tried."""
        rows = self._side.read(lambda db: db.rows(_OF_CHUNKS, list(chunk_ids)))
        done = {chunk: tuple(json.loads(texts)) for chunk, texts, _ in rows if texts is not None}
        return done, {chunk: tries for chunk, texts, tries in rows if texts is None}

    def _keep(self, asked: Iterable[str], found: Mapping[str, tuple[str, ...]]) -> None:
        rows = [(c, json.dumps(found[c], ensure_ascii=False) if c in found else None) for c in asked]
        self._side.write(lambda db: db.each(_WRITE, rows))


async def _wave(model: ChatModel, chunks: Sequence[tuple[str, str]]) -> _Texts:
    """Hypotheticals from several model calls at once, for these (chunk id, text)."""
    parts = [chunks[i : i + BATCH] for i in range(0, len(chunks), BATCH)]
    results = await asyncio.gather(*(_written(model, part) for part in parts), return_exceptions=True)
    found: _Texts = {}
    for result in results:
        if isinstance(
            result, Exception
        ):  # of errors that are not ours the kind alone, for their words may hold the text
            LOG.warning(
                "hypothetical questions: %s", result if isinstance(result, AttestError) else type(result).__name__
            )
        elif isinstance(result, BaseException):
            raise result
        else:
            found |= result
    return found


async def _written(model: ChatModel, chunks: Sequence[tuple[str, str]]) -> _Texts:
    """Hypotheticals from one model call; a passage that the screen or the service's filter refuses costs its neighbours a call each, not
    their hypotheticals.
    """
    try:
        answers = await hypothesize(model, [text for _, text in chunks], new_marker())
    except (PromptBlocked, ContentFiltered) as error:
        if isinstance(error, PromptBlocked) and error.unavailable:
            raise
        alone: _Texts = {}
        for chunk in chunks if len(chunks) > 1 else ():
            alone |= await _written(model, [chunk])
        return alone
    return {chunk: texts for (chunk, _), texts in zip(chunks, answers, strict=True) if texts is not None}


async def _embed(store: Store, embedder: Embedder, texts: Mapping[str, tuple[str, ...]]) -> None:
    """Embed the hypotheticals into the store, the first of each chunk last: a chunk that has a vector of its first has all."""
    chunks = [chunk for chunk, lines in texts.items() if lines]
    for at in range(0, len(chunks), BATCH * AT_ONCE):
        part = chunks[at : at + BATCH * AT_ONCE]
        for n, name in reversed(list(enumerate(fingerprints(embedder.fingerprint)))):
            having = [chunk for chunk in part if len(texts[chunk]) > n]
            if having:
                vectors = (await embedder.embed([texts[chunk][n] for chunk in having])).astype(np.float16)
                rows = [(chunk, vector.tobytes()) for chunk, vector in zip(having, vectors, strict=True)]
                await asyncio.to_thread(store.put_vectors, name, rows)
