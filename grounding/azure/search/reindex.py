"""An index for each embedding model and schema behind one alias, so that a change of either is made beside the index in use, without a gap.

An ingest brings the index in use up to date first, under the model that made its vectors, and then the one of today's model and schema. When that is whole it
takes the other's place: the knowledge source first, which can name no alias, then the alias. A run that ends anywhere is gone on with by the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grounding.azure.core.faults import NotFound
from grounding.azure.search.aliases import IndexSize, Room, SearchAliases
from grounding.azure.search.index import SETTING, WHOLE, VectorForm, definition, name_behind, width_of
from grounding.azure.search.knowledge import SearchKnowledge
from grounding.azure.search.mirror import Mirrored, SearchMirror, remove_document
from grounding.azure.search.rows import FORM, STATE_KEY, State, state_of, state_row
from grounding.azure.search.service import SERVICE, SearchService, until_unchanged
from grounding.errors import InputError, ServiceError, ServiceRejected, SettingsError
from grounding.records import OnProgress
from grounding.store.store import Store


@dataclass(frozen=True, slots=True)
class Schema:
    """What an index is made for. `embedder`: fingerprint of the vectors, None without a model; `width`: their dimensions; `language`: of the texts, one of
    `ANALYZERS`; `semantic`: whether the semantic ranker is used; `form`: how vectors are kept.
    """

    embedder: str | None
    width: int
    language: str
    semantic: bool
    form: VectorForm = WHOLE

    def name(self, alias: str) -> str:
        """Name of its index behind `alias`."""
        wanted = definition("any", self.width, semantic=False, language=self.language, form=self.form)
        return name_behind(alias, wanted, (FORM, self.embedder))


@dataclass(frozen=True, slots=True)
class Reindexed:
    """Result of a run: the index that it brought up to date, the one that is in use after it, and the one that was before, None if there was none."""

    index: str
    in_use: str
    before: str | None


@dataclass(frozen=True, slots=True)
class IndexBehind:
    """An index behind the alias: whether it is in use, its state, None where it was never whole, and its size."""

    name: str
    in_use: bool
    state: State | None
    size: IndexSize


class Reindexing:
    """The indexes behind the alias of `aliases`. `open_service`: a client of one of them, or of the alias, kept open until `aclose`.

    `hold`: what is new is made whole and not taken into use. `knowledge`: the knowledge base of agentic retrieval, None without. Methods raise ServiceError.
    """

    def __init__(
        self,
        aliases: SearchAliases,
        open_service: Callable[[str], SearchService],
        store: Store,
        schema: Schema,
        *,
        knowledge: SearchKnowledge | None = None,
        hold: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._aliases, self._open, self._store, self._schema = aliases, open_service, store, schema
        self._knowledge, self._hold, self._sleep = knowledge, hold, sleep

    async def follow(self, on_progress: OnProgress = lambda _: None) -> Reindexed:
        """Bring the index in use up to date, and the one of today's model and schema, which then takes its place unless it is to be held, or was gone
        back from.

        Raises Incomplete if single passages were not taken: then nothing is moved; SettingsError for a name that is taken, and for an index that would not fit.
        """
        await self._aliases.check()
        in_use = await self._aliases.target()
        wanted = self._schema.name(self._aliases.name)
        if self._schema.embedder is None and in_use is not None:
            wanted = in_use  # without a model the vectors stay as they are
        if in_use is not None and in_use != wanted:
            await self._follow_as_it_is(in_use, on_progress)
        if await self._open(wanted).definition() is None:
            await self._check_room(wanted)
        await self._mirror(wanted, as_it_is=self._schema.embedder is None and in_use is not None).follow(on_progress)
        held = in_use is not None and (self._hold or await self._is_left(wanted))
        if not held:
            await self._take(wanted)
        return Reindexed(wanted, in_use if held and in_use is not None else wanted, in_use)

    async def follow_documents(self, doc_ids: Sequence[str]) -> Mirrored | None:
        """Bring up to date what the index of today's model and schema holds of these documents, see `SearchMirror`; None, and nothing is done, unless that is in use and in step."""
        wanted = self._schema.name(self._aliases.name)
        in_use = await self._aliases.target()
        if in_use is None or (in_use != wanted and self._schema.embedder is not None):
            return None
        return await self._mirror(in_use, as_it_is=True).follow_documents(doc_ids)

    def _mirror(self, index: str, *, as_it_is: bool) -> SearchMirror:
        schema = self._schema
        return SearchMirror(
            self._open(index),
            self._store,
            schema.embedder,
            schema.width,
            semantic=schema.semantic,
            language=schema.language,
            form=schema.form,
            as_it_is=as_it_is,
            sleep=self._sleep,
        )

    async def use(self, index: str) -> str | None:
        """Take an index into use, brought up to date under the model that its documents are made with; the one that was in use. Raises InputError for one that is not there or was never whole."""
        await self._make_fit(index)
        before = await self._aliases.target()
        await self._take(index)
        return before

    async def back(self) -> tuple[str, str]:
        """Take the index into use that the one in use has replaced; both, the older first. No ingest undoes it, `use` does. Raises InputError where there is none."""
        in_use = await self._aliases.target()
        state = await self._state(in_use) if in_use else None
        if in_use is None or state is None or state.replaces not in await self._aliases.indexes():
            raise InputError(f"{in_use or self._aliases.name} has replaced no index that is still there")
        await self._make_fit(state.replaces)
        await self._note(in_use, left=True)
        await self._take(state.replaces)
        return state.replaces, in_use

    async def remove(self, index: str) -> None:
        """Delete an index that is not in use. Raises InputError for one that is, or is not there."""
        if await self._known(index) == await self._aliases.target():
            raise InputError(f"{index} is in use; attest index use takes another in its place first")
        await self._aliases.delete(index)

    async def listed(self) -> list[IndexBehind]:
        """The indexes behind the alias, the one in use first."""
        in_use = await self._aliases.target()
        names = sorted(await self._aliases.indexes(), key=lambda name: (name != in_use, name))
        return [IndexBehind(n, n == in_use, await self._state(n), await self._aliases.size(n)) for n in names]

    async def room(self) -> Room:
        """What the service has room for."""
        return await self._aliases.room()

    async def remove_document(self, doc_id: str) -> None:
        """Delete the passages of one document from every index behind the alias."""
        try:
            names = await self._aliases.indexes()
        except ServiceRejected:  # whoever may write documents need not be one who may list indexes
            names = [self._aliases.name]
        for name in names:
            await remove_document(self._open(name), doc_id)

    # --- steps

    async def _known(self, index: str) -> str:
        names = await self._aliases.indexes()
        if index not in names:
            raise InputError(f"no index {index!r} behind {self._aliases.name}; there are: {', '.join(names) or 'none'}")
        return index

    async def _make_fit(self, index: str) -> None:
        """Bring an index up to date that is to be taken into use. Raises InputError for one that is not there or was never whole."""
        if await self._state(await self._known(index)) is None:
            raise InputError(f"{index} was never whole: run attest ingest with the settings that it was made for")
        await self._follow_as_it_is(index, lambda _: None)

    async def _is_left(self, index: str) -> bool:
        state = await self._state(index)
        return state is not None and state.left

    async def _note(self, index: str, **told: Any) -> None:
        """Keep this in the state of an index."""
        state = await self._state(index)
        if state is None or replace(state, **told) == state:
            return
        fates = await self._open(index).upload([state_row(replace(state, **told))])
        if not all(fate.ok for fate in fates.values()):
            raise ServiceRejected(SERVICE, f"{index} could not note which index it stands beside")

    async def _state(self, index: str) -> State | None:
        try:
            return state_of(await self._open(index).document(STATE_KEY))
        except NotFound:
            return None

    async def _follow_as_it_is(self, index: str, on_progress: OnProgress) -> Mirrored | None:
        """Bring an index up to date under the model that its documents are made with, which may be none; one that was never whole is left to the run that makes it."""
        service = self._open(index)
        state, found = await self._state(index), await service.definition()
        width, model = width_of(found), state.model if state else None
        if model is None or width is None:
            return None
        mirror = SearchMirror(service, self._store, model, width, semantic=False, as_it_is=True, sleep=self._sleep)
        return await mirror.follow(on_progress)

    async def _take(self, index: str) -> None:
        """Let knowledge source and alias name `index`, in this order: the source answers from a whole index whichever of them comes first."""
        if self._knowledge is not None:
            await self._knowledge.prepare(index, of=await self._aliases.indexes())
        await until_unchanged(partial(self._move, index))

    async def _move(self, index: str) -> None:
        """Let the alias name `index`, which knows before what it replaces: a run that ends between the two has not lost the way back."""
        before = await self._aliases.target()
        await self._note(index, left=False, **({} if before in (None, index) else {"replaces": before}))
        await self._aliases.point(index, before)

    async def _check_room(self, index: str) -> None:
        """Raise SettingsError where a new index would not fit beside those that are there, by the least that it needs: text and vectors as they are."""
        try:
            room = await self._aliases.room()
        except ServiceError:
            return  # who may not ask need not be kept from trying
        embedder = self._schema.embedder
        text, passages = await asyncio.to_thread(self._store.text_size)
        count = min(passages, await asyncio.to_thread(self._store.vector_count, embedder)) if embedder else 0
        numbers, form = count * self._schema.width, self._schema.form
        for what, used, most, needs in (
            ("storage", room.storage, room.most_storage, text + int(numbers * form.stored_bytes)),
            ("memory for vectors", room.vectors, room.most_vectors, int(numbers * form.number_bytes)),
        ):
            if most is not None and used + needs > most:
                raise SettingsError(
                    f"{SETTING}={self._aliases.name}: the new index {index} does not fit: it needs at least {needs:,} bytes of {what}, and of {most:,} {used:,} are used;"
                    " delete an index that is not in use (attest index list, attest index remove), or give the service more partitions"
                )
