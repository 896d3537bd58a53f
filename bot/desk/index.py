"""The index of the reviewers' desk: a file beside the ledger in which entries are found. It is derived: it follows the ledger, is checked against its seals, and is made anew where they differ."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from bot.desk import sql
from bot.desk.compared import facts, facts_of
from bot.desk.daily import DailyNumber, numbers
from bot.desk.rows import Packed, packed_row_of, unpacked
from bot.desk.search import DeskSearch
from bot.desk.sql import FoundEntry, QuotedVersion, SealedAt
from bot.privacy.facts import erased_by
from grounding.bounded.pool import Run, shared_pool
from grounding.errors import AttestError, ServiceUnavailable, StoreError, WorkError
from rai.ledger.chain import ERASE
from rai.ports import Ledger
from rai.records import Entry

LOG = logging.getLogger("attest.desk")
T = TypeVar("T")
NAME = "review.db"
PAGE = 25
BATCH, MOST_AT_ONCE, HELD_S = 100, 3_200, 0.5
"""Entries that are written in one transaction, at first and at most: so many that it holds the write lock for about `HELD_S` seconds, in which nobody else can fill or erase."""
COUNTED = 5_000
"""Entries that are counted at most: of a million that many take a fifth of a second where they must be looked up one by one."""
SAMPLED = 1_000
"""Entries of a sample at most."""
STRATA = ("outcome", "channel", "user", "product", "code")
"""What a sample can be spread over."""
_DOWNLOADED = 500
_AGAIN_S = 600.0
"""Seconds in which a damaged file is made anew but once."""
PARTS = 3
"""Parts of a batch that are read at once where processes read: two are at work, one waits for them."""
MANY = 2_000
"""Entries behind, from which on they are read by processes: to start one takes as long as to read so many."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the index goes: up to which entry, and up to which the ledger does. `rebuilt`: rows that were taken away because the ledger has other entries there."""

    seq: int
    last: int
    rebuilt: int = 0

    @property
    def is_whole(self) -> bool:
        return self.seq >= self.last


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample: `number` of each stratum of `by`, or of everything where that is "", picked by chance; `seed`: of the chance, the same for the same picks."""

    number: int
    by: str
    seed: int

    def __str__(self) -> str:
        of = f" of each {self.by}" if self.by else ""
        return f"{self.number}{of}, picked by chance with the seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a search. `older`: whether more follow; `documents`: by number of an entry those that it quotes."""

    rows: tuple[FoundEntry, ...]
    older: bool
    documents: dict[int, list[str]]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many entries a search finds, by outcome; "" is what is no turn. `more`: there are more than were counted, the newest."""

    by_outcome: dict[str, int]
    more: bool

    @property
    def total(self) -> int:
        return sum(self.by_outcome.values())

    @property
    def told(self) -> int:
        """The total as it is told: where there are more, how many there are at least."""
        return min(self.total, COUNTED)


@dataclass(frozen=True, slots=True)
class UnansweredTurn:
    """A turn that the documents did not answer. `subject`: what was searched for; `is_open`: nobody has judged it."""

    seq: int
    entry_id: str
    at: str
    question: str
    subject: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class DownloadRow:
    """An entry as it is downloaded."""

    row: FoundEntry
    documents: tuple[str, ...]
    question: str
    answer: str

    def as_json(self) -> dict[str, Any]:
        """The form of a line."""
        row = self.row
        return {
            "entry_id": row.entry_id,
            "seq": row.seq,
            "at": row.at,
            "kind": row.kind,
            "erased": row.erased,
            "outcome": row.outcome or None,
            "code": row.code or None,
            "channel": row.channel or None,
            "user": row.user or None,
            "product": row.product or None,
            "arrived": row.arrived or None,
            "struck": row.struck,
            "verdict": row.verdict or None,
            "documents": list(self.documents),
            "question": self.question or (row.title if row.kind != "turn" else ""),
            "answer": self.answer,
        }


class Desk:
    """The index in the file `path`, which is made when it is first used. Several processes may fill and read it. `run` reads entries where there are many, so that
    this goes on beside the writing; else the processes of `shared_pool` do. Everything here raises StoreError; `close` ends it.
    """

    def __init__(self, path: Path, run: Run | None = None) -> None:
        self._path = path
        self._run = run or shared_pool().run
        self._engine: Engine | None = None
        self._identity: tuple[int, int] | None = None
        self._filling = asyncio.Lock()
        self._unflushed = False
        self._compared = 0
        self._made_at = -_AGAIN_S
        self._batch = BATCH

    async def close(self) -> None:
        """Close the connections to the file."""
        if self._engine is not None:
            engine, self._engine = self._engine, None
            await finished(engine.dispose)

    async def follow(
        self, ledger: Ledger, budget_s: float | None = None, on_reach: Callable[[Reach], None] = lambda _: None
    ) -> Reach:
        """Go on to the last entry of the ledger, or as far as `budget_s` seconds lead. What the index says of the last entries is compared with their seals first. `on_reach` hears
        how far it goes after each of many parts.
        """
        async with self._filling:
            try:
                return await self._followed(ledger, budget_s, on_reach)
            except sql.DamagedError as damaged:
                await self._make_anew(damaged)
                return await self._followed(ledger, budget_s, on_reach)

    async def _followed(self, ledger: Ledger, budget_s: float | None, on_reach: Callable[[Reach], None]) -> Reach:
        until = None if budget_s is None else time.monotonic() + budget_s
        rebuilt = 0
        async with _ReadAhead(ledger, self._run) as ahead:
            if self._unflushed:
                await self._flush_soon()
            while True:
                seq, more, dropped = await self._step(ledger, ahead, goes_on=until is None)
                rebuilt += dropped
                if not more:
                    return Reach(seq, seq, rebuilt)
                if until is not None and time.monotonic() >= until:
                    return Reach(seq, await _last(ledger), rebuilt)
                on_reach(Reach(seq, ahead.last, rebuilt))

    async def reached(self, ledger: Ledger) -> Reach:
        """How far the index goes as it is, without going on."""
        mark = await self._read(sql.last_mark)
        return Reach(mark.seq if mark else 0, await _last(ledger))

    async def check(self, ledger: Ledger) -> int:
        """Compare every part of the index with the seal of its last entry in the ledger and with its number of rows. What does not fit is taken away, with all that follows it; says how many rows."""
        async with self._filling:
            try:
                return await self._checked(ledger)
            except sql.DamagedError as damaged:
                await self._make_anew(damaged)
                return 0

    async def _checked(self, ledger: Ledger) -> int:
        good: SealedAt | None = None
        for mark in await self._read(sql.marks):
            first = good.seq if good else 0
            rows = await self._read(lambda c, a=first, b=mark.seq: sql.counted(c, a, b))  # type: ignore[misc]
            if not await _stands(ledger, mark) or rows != mark.count:
                return await self._drop(good)
            good = mark
        return 0

    async def compare(self, ledger: Ledger) -> int:
        """Read one part of the ledger again, the next at each call, and compare all that the index holds of its entries. What differs is taken away, with all that follows it; says how many rows."""
        async with self._filling:
            try:
                known = await self._read(sql.marks)
                if not known:
                    return 0
                self._compared = self._compared % len(known) + 1
                good, mark = ([None, *known])[self._compared - 1], known[self._compared - 1]
                for _ in range(2):  # what was erased between the two readings differs once
                    if await self._is_as_in(ledger, good.seq if good else 0, mark.seq):
                        return 0
                return await self._drop(good)
            except sql.DamagedError as damaged:
                await self._make_anew(damaged)
                return 0

    async def _is_as_in(self, ledger: Ledger, after: int, until: int) -> bool:
        packed = await _packed(ledger, after, until - after, self._run)
        rows = [row for row in map(unpacked, packed) if row.seq <= until]
        held = await self._read(lambda c: facts(c, after, until))
        # of what was erased just now the index may hold more for a moment: who erases empties it
        return len(rows) == len(held) and all(row.erased or held.get(row.seq) == facts_of(row) for row in rows)

    async def _make_anew(self, damaged: sql.DamagedError) -> None:
        """Takes a damaged file away: the next step begins another. Raises `damaged` if that was done a short time ago: what fails again is not the file."""
        if time.monotonic() - self._made_at < _AGAIN_S:
            raise damaged
        self._made_at = time.monotonic()
        LOG.warning("%s is damaged and is made anew from the ledger", self._path.name)
        await self.close()
        await finished(sql.remove, self._path)

    async def find(self, wanted: DeskSearch, size: int = PAGE) -> Found:
        """A page of a search, the newest first."""

        def work(connection: Connection) -> Found:
            rows = sql.listed(connection, wanted, size + 1)
            shown = tuple(rows[:size])
            return Found(shown, len(rows) > size, sql.documents_of(connection, [row.seq for row in shown]))

        return await self._read(work)

    async def count(self, wanted: DeskSearch) -> Counts:
        """How many entries a search finds, wherever in the list it stands."""
        by_outcome = await self._read(lambda c: sql.counts(c, wanted.whole(), COUNTED + 1))
        return Counts(by_outcome, sum(by_outcome.values()) > COUNTED)

    async def sample(self, wanted: DeskSearch, draw: Draw) -> tuple[FoundEntry, ...]:
        """A sample of a search, the newest first, at most `SAMPLED` entries; the same for the same seed while the search finds the same. `draw.by`: one of `STRATA`, or ""."""

        def work(connection: Connection) -> tuple[FoundEntry, ...]:
            # of each stratum a reservoir, so that memory does not grow with what is found
            chance = random.Random(draw.seed)  # noqa: S311 - a sample, no secret
            kept: dict[str, list[int]] = {}
            seen: dict[str, int] = {}
            for seq, stratum in sql.strata(connection, wanted.whole(), draw.by or "kind"):
                name = stratum if draw.by else ""
                picked = kept.setdefault(name, [])
                seen[name] = seen.get(name, 0) + 1
                if len(picked) < draw.number:
                    picked.append(seq)
                elif (at := chance.randrange(seen[name])) < draw.number:
                    picked[at] = seq
            chosen = [seq for picked in kept.values() for seq in picked]
            return tuple(sql.numbered(connection, chosen[:SAMPLED]))

        return await self._read(work)

    async def rows(self, wanted: DeskSearch, draw: Draw | None = None) -> AsyncIterator[DownloadRow]:
        """All that a search finds, or a sample of it, the newest first, read in parts."""
        if draw is not None:
            for row in await self.downloads(await self.sample(wanted, draw)):
                yield row
            return
        before = wanted.before
        while True:
            found = await self.find(replace(wanted, before=before), _DOWNLOADED)
            for row in await self.downloads(found.rows, found.documents):
                yield row
            if not found.older:
                return
            before = found.rows[-1].seq

    async def downloads(
        self, rows: Sequence[FoundEntry], documents: dict[int, list[str]] | None = None
    ) -> tuple[DownloadRow, ...]:
        """Entries of the list with what they say."""
        numbers = [row.seq for row in rows]

        def work(connection: Connection) -> Iterator[DownloadRow]:
            said = sql.words_of(connection, numbers)
            known = sql.documents_of(connection, numbers) if documents is None else documents
            for row in rows:
                question, answer = said.get(row.seq, ("", ""))
                yield DownloadRow(row, tuple(known.get(row.seq, ())), question, answer)

        return await self._read(lambda c: tuple(work(c)))

    async def waiting(self, among: frozenset[str] | None = None) -> dict[str, int]:
        """By reason of the queue how many turns wait in it, at most `COUNTED` + 1 of each; those of some people alone if `among` is given."""
        return await self._read(lambda c: sql.waiting(c, COUNTED + 1, among))

    async def daily(self, since: str, until: str, among: frozenset[str] | None = None) -> list[DailyNumber]:
        """What was counted by day, from one day to another, both included. `among`: of the turns of these people alone, and of what was said of them."""
        return await self._read(lambda c: numbers(c, since, until, among))

    async def reasons(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """By number of an entry why it waits in the queue; those that do not are left out."""
        return await self._read(lambda c: sql.reasons(c, numbers))

    async def place_of(self, entry_id: str) -> int:
        """The number of an entry; 0 for one that is not known."""
        return await self._read(lambda c: sql.place_of(c, entry_id))

    async def said_of(self, entry_id: str, size: int) -> list[str]:
        """Ids of the newest entries that say something of a turn, the oldest of them first."""
        return await self._read(lambda c: sql.said_of(c, entry_id, size))

    async def unanswered(self, wanted: DeskSearch, size: int) -> list[UnansweredTurn]:
        """The newest turns of a search that the documents did not answer."""
        return await self._read(lambda c: [UnansweredTurn(*row) for row in sql.unanswered(c, wanted.whole(), size)])

    async def quoted(self, document: str = "", among: frozenset[str] | None = None) -> list[QuotedVersion]:
        """Every version of a document that an answer quotes, or those of one document; pages of the web apart. `among`: in turns of these people alone."""
        return await self._read(lambda c: sql.quoted(c, document, among))

    async def quoting(
        self, versions: Sequence[tuple[str, str]], before: int, size: int, among: frozenset[str] | None = None
    ) -> list[FoundEntry]:
        """The newest turns that quote one of these versions, each a document's id and its version; at most `size`, those before the entry `before` if it is given,
        those of these people alone if `among` is.
        """
        return await self._read(lambda c: sql.quoting(c, versions, before, size, among))

    async def similar_documents(self, part: str, most: int = 5) -> list[str]:
        """Ids of documents that turns used and that hold these characters, at most `most`; none where one has just this id."""
        return await self._read(lambda c: sql.similar_documents(c, part, most))

    async def began(self) -> str:
        """The time of the first entry; "" while there is none."""
        return await self._read(sql.began)

    async def people(self) -> list[str]:
        """Everybody who asked or acted, each once, as one of their entries has it."""
        return await self._read(sql.people)

    async def settle(self, ledger: Ledger) -> int:
        """Empty what the index holds of every entry whose erasure the ledger has recorded since this was last done, and flush its log. How many entries had something.

        Raises StoreError also where erased text may still lie in the log because somebody reads the file.
        """
        async with self._filling:
            after = await self._read(sql.erased_to)
            gone, last = list[str](), after
            async for entry in ledger.entries(after=after, kinds=(ERASE,)):
                gone += erased_by(entry)
                last = entry.seq

            def work(connection: Connection) -> int:
                emptied = sql.forget(connection, gone)
                if emptied:
                    sql.tidy(connection)
                sql.note_erased_to(connection, last)
                return emptied

            emptied = await self._write(work) if gone else 0
            await self._flushed()
            return emptied

    async def _step(self, ledger: Ledger, ahead: _ReadAhead, *, goes_on: bool) -> tuple[int, bool, int]:
        """One batch further: up to where the index goes now, whether there may be more, and how many rows were taken away. `goes_on`: the next is read while this one is written."""
        mark = await self._read(sql.last_mark)
        first = await _from(ledger, mark, 1)
        if mark is not None and not (first and _is(first[0], mark)):
            dropped = await self._drop(await self._standing(ledger))
            return 0, True, dropped
        if len(first) == (1 if mark else 0):
            return (mark.seq if mark else 0), False, 0
        after = mark.seq if mark else 0
        batch = await ahead.rows(after, self._batch)
        async with self._writing() as connection:
            began = time.monotonic()
            held = await finished(sql.last_mark, connection)
            if held != mark:  # another process was faster
                return (held.seq if held else 0), True, 0
            # What is erased from now on is emptied by whoever erases, behind this transaction.
            if await ahead.is_stale():
                batch = await ahead.rows(after, self._batch)
            if goes_on and batch and batch[-1][0] < ahead.last:
                ahead.begin(batch[-1][0], self._batch)

            def work() -> int:
                emptied = sql.forget(connection, sql.add(connection, list(map(unpacked, batch))))
                if emptied:
                    sql.tidy(connection)
                return emptied

            erased = await finished(work)
            if len(batch) == self._batch:  # one that was begun while fewer were read at once says nothing of so many
                self._batch = batch_after(self._batch, time.monotonic() - began)
        if erased:
            await self._flush_soon()
        return (batch[-1][0] if batch else 0), bool(batch), 0

    async def _standing(self, ledger: Ledger) -> SealedAt | None:
        """The last mark that the ledger has as the index does."""
        for mark in reversed(await self._read(sql.marks)):
            if await _stands(ledger, mark):
                return mark
        return None

    async def _drop(self, good: SealedAt | None) -> int:
        """Takes away all that stands behind a mark."""
        after = good.seq if good else 0

        def work(connection: Connection) -> int:
            rows = sql.counted(connection, after, 1 << 62)
            sql.drop_after(connection, after)
            sql.tidy(connection)
            sql.note_erased_to(connection, 0)
            return rows

        rows = await self._write(work)
        await self._flush_soon()
        return rows

    async def _flushed(self) -> None:
        await self._flush_soon()
        if self._unflushed:
            raise StoreError(f"{NAME}: erased text may lie in its log until whoever reads it has ended")

    async def _flush_soon(self) -> None:
        """Flush the log, or have the next who follows try again where somebody reads the file."""
        engine = await self._opened()
        with sql.store_errors():
            self._unflushed = not await finished(sql.flush, engine)

    async def _opened(self) -> Engine:
        """The engine on the file that bears the name now: who goes on with one that was removed or replaced fills what nobody reads."""
        if self._engine is not None and sql.identity(self._path) != self._identity:
            await self.close()
        engine = self._engine
        if engine is None:
            engine = self._engine = await finished(sql.engine_for, self._path)
            self._identity = sql.identity(self._path)
        return engine

    async def _read(self, work: Callable[[Connection], T]) -> T:
        engine = await self._opened()

        def run() -> T:
            with sql.store_errors(), engine.connect() as connection:
                return work(connection)

        return await finished(run)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        async with self._writing() as connection:
            with sql.store_errors():
                return await finished(work, connection)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Connection]:
        """A transaction that holds the write lock from its beginning."""
        engine = await self._opened()
        with sql.store_errors():
            connection = await finished(engine.execution_options(immediate=True).connect, undo=Connection.close)
            try:
                transaction = await finished(connection.begin)
                try:
                    yield connection
                except BaseException:
                    await finished(transaction.rollback)
                    raise
                await finished(transaction.commit)
            finally:
                await finished(connection.close)


class _ReadAhead:
    """Rows of entries, read before whoever writes them holds the lock, the next batch while one is written. A context that ends what it began."""

    def __init__(self, ledger: Ledger, run: Run) -> None:
        self._ledger = ledger
        self._run = run
        self._begun: tuple[int, asyncio.Task[list[Packed]]] | None = None
        self._spared = False
        self.last = 0
        """The last entry of the ledger when the rows were asked for."""

    async def __aenter__(self) -> _ReadAhead:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        if self._spared:
            gc.unfreeze()
        await self._end()

    def begin(self, after: int, most: int) -> None:
        """Reads the next `most` rows meanwhile. From then on until this ends the garbage collector leaves out what is there now: a million rows have it walk through the whole
        program, again and again, for a tenth of the time that they take. Where somebody else has it leave something out, that is left to them.
        """
        if gc.get_freeze_count() == 0:
            gc.freeze()
            self._spared = True
        self._begun = after, asyncio.create_task(self._made(after, most))

    async def rows(self, after: int, most: int) -> list[Packed]:
        """At most `most` rows behind an entry: those that were begun, if they are these. Of few entries they are made here, for a process takes longer to start."""
        if self._begun is not None and self._begun[0] == after:
            (_, task), self._begun = self._begun, None
            return await task
        await self._end()
        return await self._made(after, most)

    async def is_stale(self) -> bool:
        """Whether something was erased since the rows were asked for, which they may still hold."""
        if await _last(self._ledger) == self.last:
            return False
        since = self._ledger.entries(after=self.last, limit=1, kinds=(ERASE,))
        return bool([entry async for entry in since])

    async def _made(self, after: int, most: int) -> list[Packed]:
        last = await _last(self._ledger)
        run = self._run if last - after > MANY else None
        rows = await _packed(self._ledger, after, most, run)
        self.last = last
        return rows

    async def _end(self) -> None:
        if self._begun is not None:
            (_, task), self._begun = self._begun, None
            task.cancel()
            with suppress(asyncio.CancelledError, AttestError):
                await task


def batch_after(size: int, took_s: float) -> int:
    """How many entries to read after a batch of `size` that took so long: twice as many where that was well within `HELD_S`, half as many where it was not."""
    if took_s < HELD_S / 2:
        return min(size * 2, MOST_AT_ONCE)
    return max(size // 2, BATCH) if took_s > HELD_S else size


async def finished(work: Callable[..., T], *arguments: Any, undo: Callable[[T], object] | None = None) -> T:
    """The result of `work` in a thread. Who is cancelled meanwhile waits for its end, and undoes it: SQLite ends the process where a connection is closed that another thread uses."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        if undo is not None and running.exception() is None:
            await finished(undo, running.result())
        raise


async def _packed(ledger: Ledger, after: int, most: int, run: Run | None) -> list[Packed]:
    """At most `most` rows behind an entry, made by `run`, or here where that is None or cannot: no process, or one that died."""
    read = partial(ledger.each, packed_row_of, after=after, limit=most)
    if run is not None:
        with suppress(WorkError, ServiceUnavailable):
            return await read(run=run, at_once=PARTS)
    return await read()


async def _from(ledger: Ledger, mark: SealedAt | None, size: int) -> list[Entry]:
    """The entry that a mark stands on, and at most `size` behind it."""
    after, limit = (mark.seq - 1, size + 1) if mark else (0, size)
    return [entry async for entry in ledger.entries(after=after, limit=limit)]


async def _stands(ledger: Ledger, mark: SealedAt) -> bool:
    found = [entry async for entry in ledger.entries(after=mark.seq - 1, limit=1)]
    return bool(found) and _is(found[0], mark)


def _is(entry: Entry, mark: SealedAt) -> bool:
    return (entry.seq, entry.mac) == (mark.seq, mark.mac)


async def _last(ledger: Ledger) -> int:
    return max([entry.seq async for entry in ledger.entries(newest_first=True, limit=1)], default=0)
