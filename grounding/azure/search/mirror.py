"""Synchronisation of the index in Azure AI Search with the store of record.

The first time the index is asked what it holds and compared with the store by key and stamp, both in rising order; from then on the store notes what changes
(`grounding.store.outbox`) and the index is asked about that alone. So a run which was killed is gone on with, nothing is uploaded twice needlessly, and neither side
has to fit into memory. Every row of every reply is read: one that failed for the moment is tried again, the others are told.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from grounding.azure.core.faults import BadRequest
from grounding.azure.search.index import WHOLE, VectorForm, definition, migrated, width_of
from grounding.azure.search.rows import (
    MOST_ROWS,
    STATE_KEY,
    IndexRow,
    State,
    batches,
    index_row,
    is_told_anew,
    mark_of,
    stamp,
    state_of,
    state_row,
    told_row,
)
from grounding.azure.search.service import PAGE, SERVICE, Fate, Held, SearchService, TooLarge, until_unchanged
from grounding.errors import ServiceUnavailable
from grounding.records import OnProgress, Progress
from grounding.store.store import Store
from grounding.store.store_reader import StoreReader

TRIES = 6
"""Attempts at a row that fails for the moment, with pauses from half a second up to eight between them."""
_PASSING = frozenset({0, 409, 422, 429, 500, 502, 503, 504})
"""Statuses of a row that may be taken the next time; 0: the reply left it out."""
_NAMED = 5
_MANY = 50
"""Rows of which none is taken: the service is in trouble, not they."""


Change = Literal["tell", "upload", "delete"]
"""What a document of the index needs: only what is told of it, all of it, or to go."""
_Pair = tuple[str, str | None, str | None]


class Incomplete(ServiceUnavailable):
    """Some passages were not taken by the index. What was taken stays, and the next run uploads only the rest."""


@dataclass(slots=True)
class Mirrored:
    """Counts of one run, in passages. `told`: of those uploaded the ones whose words and vectors were left as they are; `failed`: document and status of those
    that the service did not take; `waiting`: those that it may take the next time.
    """

    uploaded: int = 0
    told: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: dict[str, tuple[str, int]] = field(default_factory=dict)
    waiting: list[IndexRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Step:
    """How far the store's notes of changes are followed. `mark`: under which the index is in step with the store when this is done; `until`: number of the newest change;
    `version`: of the knowledge base then; `whole`: the index is compared in whole, notes or not.
    """

    mark: str
    until: int
    version: str
    whole: bool


class SearchMirror:
    """Makes the index hold what `store` holds. `fingerprint`: of the embedder, None without one: vectors then stay as they are.

    `width`: dimensions of a vector; `semantic`: whether the index gets a semantic configuration; `language`: of its texts, one of `ANALYZERS`; `form`: how it
    keeps vectors. `as_it_is`: the index is there and its schema stays. `sleep` and `jitter` are given by tests.
    """

    def __init__(
        self,
        service: SearchService,
        store: Store,
        fingerprint: str | None,
        width: int,
        *,
        semantic: bool,
        language: str = "en",
        form: VectorForm = WHOLE,
        as_it_is: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._service, self._store, self._keys = service, store, StoreReader(store.place)
        self._wanted_model, self._width, self._semantic = fingerprint, width, semantic
        self._language, self._form, self._as_it_is = language, form, as_it_is
        self._sleep, self._jitter = sleep, jitter

    async def follow(self, on_progress: OnProgress = lambda _: None) -> Mirrored:
        """Bring the index up to date: upload what is new or changed, delete what is gone.

        Raises ServiceError; Incomplete if single passages were not taken; SettingsError for an index that cannot be used.
        """
        if not self._as_it_is:
            await until_unchanged(self._prepare)
        before = state_of(await self._service.document(STATE_KEY))
        model = (before.embedder if before else "") if self._wanted_model is None else self._wanted_model
        before, step = await self._begin(before, model)
        done = Mirrored()
        total = (await asyncio.to_thread(self._store.counts))[1]
        pairs = self._compared(model) if step.whole else self._noted(model, step.until)
        await self._bring(
            pairs, model, done, lambda: on_progress(Progress("search", done.uploaded + done.unchanged, total))
        )
        if not step.whole:
            done.unchanged = max(0, total - done.uploaded - len(done.failed))
        on_progress(Progress("search", done.uploaded + done.unchanged, total))
        await self._conclude(model, before, step, done)
        return done

    async def follow_documents(self, doc_ids: Sequence[str]) -> Mirrored | None:
        """Bring up to date what the index holds of these documents, of which the store has noted that they changed; None, and nothing is done, for an index that is not in step.

        Of single passages that are not taken (`failed`) the next `follow` tells again. Raises ServiceError; Incomplete where none of many is taken.
        """
        before = state_of(await self._service.document(STATE_KEY))
        model = (before.embedder if before else "") if self._wanted_model is None else self._wanted_model
        mark, until = await asyncio.to_thread(self._store.in_step)
        if before is None or not _is_in_step(before, mark, model):
            return None
        done = Mirrored()
        keys = await asyncio.to_thread(self._store.untold_of, doc_ids, until)
        await self._bring(self._pairs(keys, model), model, done, lambda: None)
        if not done.failed:
            await asyncio.to_thread(self._store.told, until, doc_ids)
        return done

    async def _begin(self, before: State | None, model: str) -> tuple[State | None, _Step]:
        """The state of the index while it is brought up to date, and how. Before it is sent anything it loses the mark that copies of the store have; the store notes
        changes for it from now on where it did not.
        """
        mark, until = await asyncio.to_thread(self._store.in_step)
        version = await asyncio.to_thread(self._store.kb_version)
        whole = before is None or not _is_in_step(before, mark, model)
        if before and not (whole or until) and before.kb_version == version:
            return before, _Step(before.step, until, version, whole)
        mark = f"{mark_of(model)}{uuid.uuid4().hex}"
        if before is not None:  # until all vectors are of one model, search goes by words
            embedder = before.embedder if before.embedder == model else ""
            before = await self._become(
                before, replace(before, embedder=embedder, step=mark_of(model) if whole else mark)
            )
        await asyncio.to_thread(self._store.step_with if whole else self._store.stay_in_step_with, mark)
        return before, _Step(mark, 0 if whole else until, version, whole)

    async def _bring(self, pairs: AsyncIterator[_Pair], model: str, done: Mirrored, tell: Callable[[], None]) -> None:
        """Send what differs of `pairs`: each key with its stamp in the store and in the index."""
        waiting: dict[Change, list[str]] = {"tell": [], "upload": [], "delete": []}
        async for key, ours, theirs in pairs:
            change = _change(ours, theirs)
            if change is None:
                done.unchanged += 1
            else:
                waiting[change].append(key)
                if len(waiting[change]) == MOST_ROWS:
                    await self._send(change, waiting[change], model, done)
                    waiting[change].clear()
            if (done.uploaded + done.unchanged + len(done.waiting)) % MOST_ROWS == 0:
                tell()
        await self._tell_anew(waiting["tell"], model, done)
        await self._upload(waiting["upload"], model, done)
        await self._again(done)
        await self._delete(waiting["delete"], done)  # last: what takes its place is there by then

    async def _send(self, change: Change, keys: Sequence[str], model: str, done: Mirrored) -> None:
        if change == "delete":
            await self._delete(keys, done)
        else:
            await (self._tell_anew if change == "tell" else self._upload)(keys, model, done)

    async def _conclude(self, model: str, before: State | None, step: _Step, done: Mirrored) -> None:
        """Write the state document. What could not be brought up to date is taken out first: it may be of another model."""
        version = step.version
        if done.failed:
            cleared = Mirrored()
            gone = [{"chunk_id": key} for key in done.failed]
            await self._write(gone, cleared, lambda rows: self._service.delete([row["chunk_id"] for row in rows]))
            if cleared.failed:
                raise _incomplete(done)
            version += "-incomplete"
        embedder = model if await asyncio.to_thread(self._store.vector_count, model) else ""
        mark = mark_of(model) if done.failed and step.whole else step.mark
        known = before or State(embedder, version)
        await self._become(before, replace(known, embedder=embedder, kb_version=version, step=mark))
        if done.failed:
            raise _incomplete(done)
        await asyncio.to_thread(self._store.told, step.until)

    async def _prepare(self) -> None:
        """Create the index, or migrate it."""
        found = await self._service.definition()
        width = width_of(found) if self._wanted_model is None else None
        wanted = definition(
            self._service.index_name,
            width or self._width,
            semantic=self._semantic,
            language=self._language,
            form=self._form,
        )
        if found is None:
            await self._service.create(wanted)
        elif migrated(found, wanted):
            await self._service.update(found)

    async def _become(self, before: State | None, after: State) -> State:
        """Write the state `after`, unless it is that which stands there; it."""
        done = Mirrored()
        if after != before or after.step != before.step:
            await self._write([state_row(after)], done, self._service.upload)
        if done.failed:
            raise _incomplete(done)
        return after

    async def _noted(self, model: str, until: int) -> AsyncIterator[_Pair]:
        """What the store has noted for the index: each key with its stamp on either side, None where it is missing."""
        after = 0
        while rows := await asyncio.to_thread(self._store.untold, after, until, MOST_ROWS):
            async for pair in self._pairs(sorted({row.chunk_id for row in rows}), model):
                yield pair
            after = rows[-1].seq

    async def _pairs(self, keys: Sequence[str], model: str) -> AsyncIterator[_Pair]:
        for begin in range(0, len(keys), MOST_ROWS):
            part = keys[begin : begin + MOST_ROWS]
            pieces = await asyncio.to_thread(self._keys.pieces_of, model, part)
            ours = {piece.chunk_id: stamp(piece, model) for piece in pieces}
            theirs = dict(await self._service.held_of(part))
            for key in part:
                if key in ours or key in theirs:
                    yield key, ours.get(key), theirs.get(key)

    async def _compared(self, model: str) -> AsyncIterator[_Pair]:
        """Merge of store and index by rising key: each key with its stamp on either side, None where it is missing."""
        ours, theirs = aiter(self._stored(model)), aiter(self._held())
        one, other = await anext(ours, None), await anext(theirs, None)
        while one is not None or other is not None:
            key = min(held.chunk_id for held in (one, other) if held is not None)
            mine = one.stamp if one is not None and one.chunk_id == key else None
            its = other.stamp if other is not None and other.chunk_id == key else None
            yield key, mine, its
            if mine is not None:
                one = await anext(ours, None)
            if its is not None:
                other = await anext(theirs, None)

    async def _stored(self, model: str) -> AsyncIterator[Held]:
        beyond = ""
        while pieces := await asyncio.to_thread(self._keys.pieces, model, beyond, PAGE):
            for piece in pieces:
                yield Held(piece.chunk_id, stamp(piece, model))
            beyond = pieces[-1].chunk_id

    async def _held(self) -> AsyncIterator[Held]:
        beyond = ""
        while page := await self._service.listed(beyond):
            for held in page:
                yield held
            beyond = page[-1].chunk_id

    async def _upload(self, keys: Sequence[str], model: str, done: Mirrored) -> None:
        """Upload these chunks as the store has them now; what was deleted meanwhile is left out."""
        rows = await asyncio.to_thread(self._rows, list(keys), model)
        for batch in batches(rows):
            fates = await _sent(batch, self._service.upload)
            done.waiting += [row for row in batch if not fates[row["chunk_id"]].ok]
            done.uploaded += sum(fate.ok for fate in fates.values())
            if len(done.waiting) >= MOST_ROWS or len(done.waiting) >= max(_MANY, len(batch)):
                await self._again(done)
        await self._again_if_old(rows, model, done)

    async def _again_if_old(self, rows: Sequence[IndexRow], model: str, done: Mirrored) -> None:
        """Send anew what changed in the store since `rows` were read: another run may have sent the newer before these, and noted that it is told."""
        pieces = await asyncio.to_thread(self._keys.pieces_of, model, [row["chunk_id"] for row in rows])
        now = {piece.chunk_id: stamp(piece, model) for piece in pieces}
        old = [row["chunk_id"] for row in rows if now.get(row["chunk_id"], row["stamp"]) != row["stamp"]]
        if old:
            done.uploaded -= len(old)
            await self._upload(old, model, done)

    async def _tell_anew(self, keys: Sequence[str], model: str, done: Mirrored) -> None:
        """Send of these chunks what is told of them, and whole those of which that is not taken."""
        rows = await asyncio.to_thread(self._told, list(keys), model)
        missed: list[str] = []
        for batch in batches(rows):
            fates = await _sent(batch, self._service.merge)
            missed += [key for key, fate in fates.items() if not fate.ok]
            taken = sum(fate.ok for fate in fates.values())
            done.uploaded += taken
            done.told += taken
        if missed:
            await self._upload(missed, model, done)
        await self._again_if_old([row for row in rows if row["chunk_id"] not in missed], model, done)

    def _told(self, keys: list[str], model: str) -> list[IndexRow]:
        found, vectors = self._keys.rows(keys), self._keys.vectors(model, keys)
        return [told_row(row, model, has_vector=key in vectors) for key, row in found.items()]

    async def _again(self, done: Mirrored) -> None:
        """Send the rows that wait until each was taken or refused."""
        rows, done.waiting = done.waiting, []
        for batch in batches(rows):
            before = len(done.failed)
            await self._write(batch, done, self._service.upload)
            done.uploaded += len(batch) - (len(done.failed) - before)

    def _rows(self, keys: list[str], model: str) -> list[IndexRow]:
        found, vectors = self._keys.rows(keys), self._keys.vectors(model, keys)
        return [index_row(row, vectors.get(key), model) for key, row in found.items()]

    async def _delete(self, keys: Sequence[str], done: Mirrored) -> None:
        """Delete these keys unless the store has them again: another ingest may have been quicker."""
        live = await asyncio.to_thread(self._keys.rows, list(keys))
        gone = [{"chunk_id": key} for key in keys if key not in live]
        await self._write(gone, done, lambda rows: self._service.delete([row["chunk_id"] for row in rows]))
        done.deleted += len(gone) - len(done.failed.keys() & set(keys))

    async def _write(
        self, rows: list[IndexRow], done: Mirrored, send: Callable[[list[IndexRow]], Awaitable[dict[str, Fate]]]
    ) -> None:
        """Send `rows`, with pauses, until each was taken or refused for good. Raises Incomplete when none of many could be."""
        pending = rows
        for tried in range(TRIES):
            fates = await _sent(pending, send) if pending else {}
            failed = {row["chunk_id"]: row for row in pending if not fates[row["chunk_id"]].ok}
            last = tried == TRIES - 1
            for key, row in failed.items():
                if last or fates[key].status not in _PASSING:
                    done.failed[key] = (str(row.get("doc_id", key)), fates[key].status)
            pending = [row for key, row in failed.items() if key not in done.failed]
            if not pending:
                break
            await self._sleep((0.5 + 0.5 * self._jitter()) * min(8.0, 0.5 * 2.0**tried))
        if len(rows) >= _MANY and all(row["chunk_id"] in done.failed for row in rows):
            raise _incomplete(done)


def _is_in_step(state: State, mark: str | None, model: str) -> bool:
    return mark is not None and state.step == mark and mark.startswith(mark_of(model))


def _change(ours: str | None, theirs: str | None) -> Change | None:
    """What is to be done with a key, by its stamps in the store and in the index; None: nothing."""
    if ours is None:
        return "delete"
    if ours == theirs:
        return None
    return "tell" if theirs is not None and is_told_anew(ours, theirs) else "upload"


async def remove_document(service: SearchService, doc_id: str) -> None:
    """Delete the passages of one document from the index. Raises ServiceError; what is left then the next `follow` deletes."""
    beyond = ""
    while page := await service.listed(beyond, doc_id):
        keys = [held.chunk_id for held in page]
        fates = await service.delete(keys)
        if not all(fate.ok for fate in fates.values()):
            raise Incomplete(SERVICE, f"passages of {doc_id} could not be deleted from the index")
        beyond = keys[-1]


async def _sent(rows: list[IndexRow], send: Callable[[list[IndexRow]], Awaitable[dict[str, Fate]]]) -> dict[str, Fate]:
    """What became of each row; a batch that is too large, or holds something malformed, is halved until the row is found."""
    try:
        return await send(rows)
    except (TooLarge, BadRequest) as error:
        if len(rows) == 1:
            return {rows[0]["chunk_id"]: Fate(ok=False, status=413 if isinstance(error, TooLarge) else 400)}
    half = len(rows) // 2
    return {**await _sent(rows[:half], send), **await _sent(rows[half:], send)}


def _incomplete(done: Mirrored) -> Incomplete:
    documents = sorted({doc_id for doc_id, _ in done.failed.values()})
    statuses = ", ".join(str(status) for status in sorted({status for _, status in done.failed.values()}))
    named = ", ".join(documents[:_NAMED]) + (" …" if len(documents) > _NAMED else "")
    return Incomplete(
        SERVICE,
        f"{len(done.failed)} passages of {len(documents)} documents were not taken (status {statuses}): {named};"
        " run attest ingest again, it goes on where this ended",
    )
