"""The ledger in a SQL database: append-only, chained with a key, durable before it returns.

Any number of threads and processes may append; what waits in a process is stored under one lock of the store and with one commit. The body is redacted
here, in the one writer, so that no caller can forget it. What one database does otherwise than another lies in `databases/`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from grounding.bounded.pool import Run
from grounding.database.postgres import ConnectionLost, Postgres, retried
from grounding.errors import InputError, SettingsError, StoreError
from grounding.records import OnProgress
from rai.entry_schema import NAME, SCHEMA
from rai.ledger import sql
from rai.ledger.about import ANOTHER_KEY, as_made, check_about
from rai.ledger.appending import Growth, Waiting, grow, ready
from rai.ledger.chain import (
    ANCHOR,
    ERASE,
    GENESIS_ENTRY,
    GUARD,
    LASTING,
    MOVED,
    OPENED,
    RESTORED,
    UPGRADE,
    SealedRow,
    canonical,
    is_same,
    ledger_named,
    mac_of,
    new_ledger_id,
)
from rai.ledger.checkpoints.checkpoint import (
    Checkpoint,
    SigningKey,
    load_signing_seed,
    origin_of,
    parse_checkpoint,
    parse_note,
)
from rai.ledger.checkpoints.proof_file import Proven, proof_document
from rai.ledger.checkpoints.signing import Proof, SignedTree
from rai.ledger.checkpoints.signing_keys import SigningKeys
from rai.ledger.databases.form import LedgerDatabase, RecordedTurn, RecordedTwice
from rai.ledger.databases.postgres import PostgresLedger
from rai.ledger.databases.sqlite import BUSY_SECONDS, SqliteLedger, store_errors
from rai.ledger.export import export_lines
from rai.ledger.key import TO_BE_GIVEN, Anchor, Mark, discard, load_key, signing_key_beside
from rai.ledger.moved import Moved, moved_by, refuse_moved
from rai.ledger.stored_contents import StoredContents, entries_of, entry_of, made_of
from rai.ledger.stored_ledger import StoredLedger, is_of_key
from rai.ledger.together import Together
from rai.ledger.veto import Veto
from rai.ledger.watch import LOOK_S, LedgerWatch, Watched
from rai.ledger.watched_store import WatchedStore, against
from rai.personal.redact import redact_entry
from rai.records import Entry, Verification

ERASED_AT_ONCE = 1_000
"""Entries that one record of an erasure names."""
_LEFTOVERS_S = 0.2
"""Seconds that opening a ledger may wait for others who read it, to fold what a killed process left in the log."""
T = TypeVar("T")
Redaction = Callable[[dict[str, Any], str], dict[str, Any]]
"""From a body and the kind of its entry to the body that is kept."""


class SqlLedger:
    """A `rai.ports.Ledger` in the SQLite file `place`, sealed with the key in `key_file` (made on first use); or in the database `place`, whose keys must be there.

    `redact` maps a body to the body that is kept. `signing_key_file`: of the key that checkpoints are signed with, also made on first use; beside `key_file`
    unless it is said. Raises SettingsError for a key that is missing, readable by others or of another ledger, StoreError for a
    store that cannot be opened.

    `read_only`: nothing is made, put back or written, and `verify` tells what would else be raised at the start. `moved`: one that was moved may be opened, to be opened for entries.
    """

    def __init__(
        self,
        place: Path | Postgres,
        key_file: Path,
        *,
        signing_key_file: Path | None = None,
        redact: Redaction = redact_entry,
        busy_s: float = BUSY_SECONDS,
        read_only: bool = False,
        moved: bool = False,
    ) -> None:
        self._redact = redact
        self._signing_key_file = signing_key_file or signing_key_beside(key_file)
        self._writing = threading.Lock()
        self._contents = StoredContents()
        self._together = Together(self._store)
        self._read_only = read_only
        self._ledger_id: str | None = None
        database: LedgerDatabase = (
            PostgresLedger(place) if isinstance(place, Postgres) else _sqlite(place, busy_s, read_only=read_only)
        )
        self._database = database
        with database.errors():
            if read_only:
                self._open_to_read(key_file)
                self._stored = self._as_stored()
            else:
                retried(lambda: self._open(key_file, moved=moved))
        stored = WatchedStore(database, self._key, self._anchor, self._ledger_id)
        self._watch = LedgerWatch(self._key, stored, ledger_id=self._ledger_id)
        self._tree = SignedTree(self._key, self._ledger_id or "", stored)

    @property
    def ledger_id(self) -> str | None:
        """The id that the ledger was given when it was begun; None where there is none yet, or it was begun by an older program and opened to be read."""
        return self._ledger_id

    @property
    def is_anchored(self) -> bool:
        """True if the store has an anchor beside the key; whether that holds is for `verify` to tell."""
        return self._anchor.path.exists()

    def _open(self, key_file: Path, *, moved: bool) -> None:
        row = self._open_to_write(key_file, moved=moved)
        self._stored = self._as_stored()
        if row is not None:
            self._advance(self._mark(row), self._anchor.reserve())
        # Whoever was killed behind an erasure has not folded the erased text out of the log; those who are at work do it themselves.
        self._database.flush(_LEFTOVERS_S)

    def _as_stored(self) -> StoredLedger:
        return StoredLedger(self._database, self._key, self._anchor, self._ledger_id, read_only=self._read_only)

    def _open_to_write(self, key_file: Path, *, moved: bool) -> SealedRow | None:
        """The entry that the anchor is to be moved to, if there is one."""
        with self._database.errors(), self._database.writing() as connection:
            put_back = self._database.prepare(connection)
            reader = self._database.reader(connection)
            last = reader.last(connection)
            if not moved:
                refuse_moved(connection, reader, last)
            self._key = self._load_key(key_file, make=last is None)
            self._anchor = Anchor(self._key, key_file, self._database.place)
            self._anchor.tidy()
            about = sql.about(connection)
            if about:
                check_about(about, self._key)
            self._ledger_id = self._settled(connection, reader, about)
            if last is not None and not about:
                if not is_of_key(connection, reader, self._key, self._ledger_id):
                    raise SettingsError(f"ATTEST_LEDGER_KEY_FILE: this is {ANOTHER_KEY}")
                sql.note(connection, as_made(self._key, self._ledger_id, salted=reader.salted))
                put_back.append("about")
            elif about.get("ledger_id", self._ledger_id) != self._ledger_id:
                raise StoreError("the ledger's note of which ledger it is was changed; see attest ledger verify")
            row = self._begin(connection, last) if self._ledger_id is None else None
            if put_back and last is not None and last.kind != MOVED:  # nothing is said behind that
                # What was gone and is there again must not look as if it had always been there.
                row = self._insert(connection, GUARD, canonical({NAME: SCHEMA, "put_back": put_back}))
            if row is None and last is not None and not self._is_anchor_up():
                row = last
        return row

    def _begin(self, connection: Connection, last: SealedRow | None) -> SealedRow:
        """Gives the ledger its id, in an entry of its own: of one that was begun by an older program behind its last entry, of a new one as its first."""
        if not self._database.reader(connection).salted:
            self._database.bring_up(connection)
        self._ledger_id = new_ledger_id()
        sql.note_anew(connection, as_made(self._key, self._ledger_id))
        if last is None:
            self._anchor.start(self._ledger_id)
        seed = load_signing_seed(self._signing_key_file, make=self._database.makes_keys, why=TO_BE_GIVEN)
        public = SigningKey(origin_of(self._ledger_id), seed).verifier().line()
        said = {NAME: SCHEMA, "ledger_id": self._ledger_id, "verifier_key": public}
        return self._insert(connection, UPGRADE if last else GENESIS_ENTRY, canonical(said))

    def _settled(self, connection: Connection, reader: sql.Reader, about: dict[str, str]) -> str | None:
        """The id of the ledger: of those that anchor, store and entries tell the first that an entry is sealed with. None if it has none yet."""
        if not reader.salted:
            return None
        mark = self._told_mark()
        beginning = reader.newest_of(connection, (GENESIS_ENTRY, UPGRADE))
        ends = [row for row in (reader.first(connection), reader.last(connection)) if row is not None]
        told = (
            mark.ledger_id if mark else None,
            about.get("ledger_id"),
            ledger_named(beginning) if beginning else None,
        )
        names = [name for name in told if name] if ends else []
        sealed = (name for name in names if any(is_same(mac_of(self._key, row, name), str(row.mac)) for row in ends))
        return next(sealed, next(iter(names), None))

    def _told_mark(self) -> Mark | None:
        """The mark of the anchor, or None if that is missing or was altered, which `verify` tells."""
        try:
            return self._anchor.read()
        except StoreError:
            return None

    def _is_anchor_up(self) -> bool:
        """False if the anchor does not name the ledger although that has an id: it was to be moved when the id was given."""
        mark = self._told_mark()
        return mark is None or mark.ledger_id is not None

    def _load_key(self, path: Path, *, make: bool) -> bytes:
        if self._database.makes_keys:
            return load_key(path, make=make)
        return load_key(path, make=False, why=TO_BE_GIVEN)

    def _open_to_read(self, key_file: Path) -> None:
        there = self._database.exists
        never = not there and not key_file.exists() and not any(key_file.parent.glob(f"{key_file.name}.*"))
        self._key = b"" if never else self._load_key(key_file, make=False)
        self._anchor = Anchor(self._key, key_file, self._database.place)
        if not there:  # an empty one in memory, which reads like one that was opened to write and holds nothing
            with self._database.make_empty() as connection:
                sql.note(connection, as_made(self._key, None))
            return
        with self._database.reading() as connection:
            try:
                self._ledger_id = self._settled(connection, self._database.reader(connection), sql.about(connection))
            except (SQLAlchemyError, ValueError):
                self._ledger_id = None  # what is wrong with the file is told where it is read

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        """Redacts `body`, writes the entry durably, then returns it. Raises StoreError: then no answer may leave."""
        self._refuse_to_write()
        told: Future[Entry] = Future()
        told.set_running_or_notify_cancel()  # who no longer waits does not keep it from being stored
        # not to be waited for: the thread goes on with what others wait for
        asyncio.get_running_loop().run_in_executor(None, copy_context().run, self._append, kind, body, told)
        return await asyncio.wrap_future(told)

    async def get(self, entry_id: str) -> Entry | None:
        """The entry with that id, or None. The body of an erased entry is `{"erased": true}`."""
        return await asyncio.to_thread(self._stored.get, entry_id)

    async def holds(self, entry_id: str) -> bool:
        """True if what is stored under that id is what was sealed."""
        return await asyncio.to_thread(self._stored.holds, entry_id)

    async def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        """The entries with `seq` > `after`, at most `limit`, oldest first unless `newest_first`, of these `kinds` alone if they are given; read in batches. Contents are no entries of their own here: those who refer to them have them."""
        left, bound = limit, None

        def read(after: int, bound: int | None, size: int) -> list[Entry]:
            return list(entries_of(self._stored.part(after, bound, size, newest_first=newest_first, kinds=kinds)))

        while left is None or left > 0:
            size = sql.BATCH if left is None else min(sql.BATCH, left)
            found = await asyncio.to_thread(read, after, bound, size)
            for entry in found:
                yield entry
            if len(found) < size:
                return
            left = None if left is None else left - len(found)
            if newest_first:
                bound = found[-1].seq
            else:
                after = found[-1].seq

    async def each(
        self,
        make: Callable[[Entry], T],
        *,
        after: int = 0,
        limit: int,
        run: Run = asyncio.to_thread,
        at_once: int = 1,
    ) -> list[T]:
        """What `make` gives of each of the oldest `limit` entries with `seq` > `after`, called by `run` on one entry at a time, in `at_once` parts at once."""
        made, begun = list[T](), deque[asyncio.Future[list[T]]]()
        try:
            while limit > 0:
                part = await asyncio.to_thread(self._stored.part, after, None, min(sql.BATCH, limit))
                if not part.rows:
                    break
                after, limit = part.rows[-1].seq, limit - len(part.rows)
                if len(begun) == at_once:
                    made += await begun.popleft()
                begun.append(asyncio.ensure_future(run(made_of, make, part)))
            while begun:
                made += await begun.popleft()
            return made
        finally:
            for left in begun:
                left.cancel()

    async def verify(self, on_progress: OnProgress | None = None) -> Verification:
        """Checks the whole chain with the key, then compares it with the anchor."""
        return await asyncio.to_thread(self._stored.verify, on_progress)

    async def probe(self) -> None:
        """Finds out whether an entry could be written now. Raises StoreError with the reason if not: another holds the store locked, the disk is full, the anchor's folder cannot be written."""
        await asyncio.to_thread(retried, self._probe)

    async def look(self, budget_s: float = LOOK_S) -> Watched:
        """Verifies what is new since the last look, and goes on with a round over all for `budget_s` seconds: what a server does while it serves."""
        return await asyncio.to_thread(self._watch.look, budget_s)

    async def export(self) -> AsyncIterator[str]:
        """The whole ledger as lines for `verify_export`, from one snapshot, in bounded memory."""
        if not self._key:
            raise InputError("there is no ledger yet: its first entry makes store and key")
        with self._stored.reading() as connection:
            reader = self._database.reader(connection)
            named = self._stored.verifier_key(connection, reader)
            lines = export_lines(self._key, reader.rows(connection), self._ledger_id, named)
            while (line := await asyncio.to_thread(next, lines, None)) is not None:
                yield line

    async def checkpoint(self, published: Checkpoint | None = None) -> str:
        """The signed note of a checkpoint over all entries that are stored now, each of which this ledger object has verified.

        The first takes as long as a verification, the next what was added since. Raises StoreError where something does not hold: then
        nothing is signed, nor where `published`, a checkpoint of before, is over other entries; SettingsError where the signing key is missing or
        is not the one that the ledger names.
        """
        return await asyncio.to_thread(self._checkpoint, published)

    async def compare(self, published: Checkpoint) -> None:
        """Raises StoreError if `published`, a checkpoint of before, is over other entries than these, or one of these does not hold. The first time takes as long as a verification."""
        with self._database.errors():
            await asyncio.to_thread(self._tree.compare, published)

    async def verifier_key(self) -> str | None:
        """The public key of checkpoints that the ledger named last, on one line; None while it names none."""
        return await asyncio.to_thread(self._stored.named_key)

    async def proof(self, entry_id: str, size: int | None = None) -> Proof:
        """What proves that an entry stands among the first `size` entries, or all. Raises InputError if it does not, StoreError if the chain does not hold."""
        return await asyncio.to_thread(self._proof, entry_id, size)

    async def proven(self, entry_ids: Collection[str]) -> Proven:
        """These entries with what proves each of them to who has the public key alone: a checkpoint over all that are stored now, signed for it, and their proofs, in the order of the ledger.

        Raises as `checkpoint` and `proof` do.
        """
        note = await self.checkpoint()
        size = parse_checkpoint(parse_note(note.encode())[0]).size
        proofs = await asyncio.to_thread(self._proofs, entry_ids, size)
        documents = [
            proof_document(
                proof.ledger_id,
                proof.size,
                [step.hex() for step in proof.hashes],
                {**asdict(proof.row), "body": None if proof.row.body is None else json.loads(proof.row.body)},
            )
            for proof in proofs
        ]
        return Proven(note, await self.verifier_key() or "", tuple(documents))

    async def erase(
        self,
        entry_ids: str | Sequence[str],
        reason: str,
        actor: Mapping[str, Any] | None = None,
        *,
        veto: Veto | None = None,
    ) -> Entry:
        """Empties the bodies of entries and appends one record of that, which it returns. `actor`: who erases, as other entries have it.

        All or none: raises InputError if one is not there or may not be erased, what `veto` raises, or if there are more than `ERASED_AT_ONCE`; with none it records an erasure that
        was beside the ledger. Raises StoreError, with
        the record's id, where somebody who reads kept the erased text in the write-ahead log; it goes with `flush`, or when the last reader leaves.
        """
        names = [entry_ids] if isinstance(entry_ids, str) else entry_ids
        return await asyncio.to_thread(self._erase, names, reason, actor, veto)

    async def reanchor(self, reason: str) -> Entry:
        """Anchors a ledger anew that was moved or restored, and records that in an entry, which it returns.

        The whole chain is verified first, and nothing else is written meanwhile. Raises StoreError if it does not hold, InputError if the anchor does.
        """
        return await asyncio.to_thread(self._reanchor, reason)

    async def moved(self) -> Moved | None:
        """Where the ledger is, if it was moved; None if it is here."""
        return await asyncio.to_thread(self._stored.read, self._moved)

    async def shut(self, to: str, actor: Mapping[str, Any] | None = None) -> Moved:
        """Ends the chain with an entry that says where it goes on; from then on whoever writes here is refused, in every process. Raises StoreError if it was moved before."""
        return await asyncio.to_thread(self._shut, to, actor)

    async def reopen(self, reason: str, actor: Mapping[str, Any] | None = None) -> Entry:
        """Opens a ledger here again that was moved. Raises InputError if it was not."""
        return await asyncio.to_thread(self._reopen, reason, actor)

    async def arrive(
        self,
        whole: Moved,
        reason: str,
        actor: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        *,
        ended: AbstractContextManager[None],
    ) -> Entry:
        """Opens a ledger where it was moved to: verifies that the whole chain is here, as `verify` does, up to the entry that it ended with where it was, and anchors it here.
        `ended`: what `ended` of the ledger where it was gives, entered once the chain is verified and left when it is open here.

        Raises StoreError if it does not hold or ends otherwise, or went on where it was, or if the anchor that is here is of another ledger.
        """
        return await asyncio.to_thread(self._arrive, whole, reason, actor, on_progress, ended=ended)

    @contextmanager
    def ended(self, whole: Moved) -> Iterator[None]:
        """A block in which the ledger ends with `whole` and nobody adds anything behind that. Raises StoreError if somebody did. Blocking; for a thread."""
        with self._write() as connection:
            if not _ends_with(sql.Reader().last(connection), whole):
                raise StoreError(
                    "the ledger went on where it was, so it is not opened where it was copied to; begin another copy into a place that holds nothing"
                )
            yield

    async def restored(
        self, reason: str, known: int, dropped: Mapping[str, int], actor: Mapping[str, Any] | None = None
    ) -> Entry:
        """Anchors a ledger anew of which an older state was put back, and records which entries are missing: those up to the number that the anchor has seen, or `known`, one that was published.
        `dropped`: what was taken away beside the ledger. Raises StoreError if the chain does not hold, InputError if the anchor is of another ledger.
        """
        return await asyncio.to_thread(self._restored, reason, known, dropped, actor)

    async def flush(self) -> bool:
        """Folds what was erased out of the write-ahead log. False if somebody who reads still keeps it there."""
        with self._database.errors():
            return await asyncio.to_thread(self._database.flush)

    async def close(self) -> None:
        """Closes the connections to the store."""
        await asyncio.to_thread(self._database.close)

    def _append(self, kind: str, body: dict[str, Any], told: Future[Entry]) -> None:
        """Makes an entry ready in this thread, and has it stored with those that wait."""
        try:
            entry = ready(kind, self._redact(body, kind))
        except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
            told.set_exception(error)
        else:
            self._together.add(Waiting(entry, told))

    def _store(self, group: list[Waiting], *, alone: bool = False) -> None:
        """Stores what waits, and what has come until the lock was had, under one lock and one commit. Where something is refused then, for which one of them may be the
        reason, each is stored `alone`.
        """
        begun, stored = False, list[SealedRow]()

        def make(connection: Connection, growth: Growth) -> list[RecordedTurn]:
            nonlocal begun, stored
            begun = True
            if not alone:
                group.extend(self._together.more(len(group)))
            stored, turns = grow(connection, self._contents, growth, [one.entry for one in group])
            return turns

        try:
            self._sealed(make)
        except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
            if not begun or len(group) == 1 or isinstance(error, ConnectionLost):
                self._refused(group, error)
                return
        else:
            for one, row in zip(group, stored, strict=True):
                one.told.set_result(Entry(row.entry_id, row.seq, row.at, row.kind, one.entry.whole, row.prev, row.mac))
            return
        for one in group:
            self._store([one], alone=True)

    def _refused(self, group: Sequence[Waiting], error: BaseException) -> None:
        """Tells whoever waits what became of it: of a turn that is recorded already, the entry that it has."""
        for one in group:
            try:
                if not isinstance(error, RecordedTwice):
                    raise error
                one.told.set_result(self._recorded(one.entry.turn or "", one.entry.kind))
            except BaseException as refused:  # noqa: BLE001 - it is theirs
                one.told.set_exception(refused)

    def _recorded(self, turn: str, kind: str) -> Entry:
        """The entry that a turn has already."""
        found = self._stored.read(lambda connection: self._database.recorded(connection, turn, kind))
        entry = None if found is None else self._stored.get(found)
        if entry is None:
            raise StoreError(f"turn {turn} is noted as recorded, and its entry is not there; see attest ledger verify")
        return entry

    def _probe(self) -> None:
        self._refuse_to_write()
        with self._write() as connection:
            refuse_moved(connection, sql.Reader(), sql.Reader().last(connection))
            discard(self._anchor.reserve())
            self._database.refuse_full(connection)

    def _sealed(
        self,
        make: Callable[[Connection, Growth], Sequence[RecordedTurn]],
        then: Callable[[Connection], None] | None = None,
        *,
        opens: bool = False,
    ) -> SealedRow:
        """Stores the entries that `make` makes, one or more, with the turns that it returns, does what comes `then` in the same transaction, and moves the anchor to the last of
        them, which is returned. Where the anchor cannot be written, the entries are not: nothing is stored as answered that could not leave. `opens`: a ledger that was moved is opened by them.
        """
        with self._database.errors():
            reserved = self._anchor.reserve()
        tried: list[tuple[SealedRow, Mark | None]] = []

        def once() -> tuple[SealedRow, Mark | None]:
            if tried:  # the connection was lost behind them: perhaps they are stored, and the answer alone did not come
                with self._write() as connection:
                    stored = sql.holds(connection, self._mark(tried[-1][0]))
                if stored:
                    return tried[-1]
                tried.clear()
            with self._write() as connection:
                before = self._told_mark()
                last, marked = sql.Reader().last_and(connection, before.count if before else 0)
                if not opens:
                    refuse_moved(connection, sql.Reader(), last)
                growth = Growth(self._key, self._ledger_id or "", last)
                turns = make(connection, growth)
                row = growth.rows[-1]
                tried.append((row, before if self._follows(connection, before, marked, row) else None))
                self._database.add(connection, growth.rows, turns, last=then is None)
                if then is not None:
                    then(connection)
            return tried[-1]

        try:
            row, before = retried(once)
        except BaseException:
            discard(reserved)
            raise
        self._advance(self._mark(row), reserved, before)
        return row

    def _follows(self, connection: Connection, before: Mark | None, marked: SealedRow | None, row: SealedRow) -> bool:
        """True if `row` stands in the chain that the anchor's mark stands on. `marked`: the entry of the mark's number."""
        if before is None or before.count >= row.seq:
            return False
        if before.ledger_id != self._ledger_id:
            return not against(connection, self._ledger_id, before, row.seq)
        return before.count == 0 or (marked is not None and is_same(marked.mac, before.head))

    def _mark(self, row: SealedRow) -> Mark:
        return Mark(row.seq, row.mac, self._ledger_id)

    def _refuse_to_write(self) -> None:
        if self._read_only:
            raise StoreError("the ledger was opened to be read alone")

    def _erase(
        self, entry_ids: Sequence[str], reason: str, actor: Mapping[str, Any] | None, veto: Veto | None
    ) -> Entry:
        self._refuse_to_write()
        names = list(dict.fromkeys(entry_ids))
        if len(names) > ERASED_AT_ONCE:
            raise InputError(f"{len(names)} entries cannot be erased at once; allowed are up to {ERASED_AT_ONCE}")
        said = canonical(self._redact({NAME: SCHEMA, "entry_ids": names, "reason": reason, **_by(actor)}, ERASE))

        def make(connection: Connection, growth: Growth) -> Sequence[RecordedTurn]:
            if veto is not None:
                later = sql.Reader().batch(connection, veto.after, None, None, kinds=veto.kinds)
                veto.refuse([entry_of(row) for row in later], names)
            for name in names:
                target = sql.Reader().find(connection, name)
                if target is None or target.kind in LASTING:
                    raise InputError(f"entry {name!r} is not in the ledger, or is one that is never erased")
            growth.add(ERASE, said)
            return ()

        row = self._sealed(make, lambda connection: self._database.empty_bodies(connection, names))
        with self._writing, self._database.errors():  # else those who write here could keep it from that
            if not self._database.flush():
                raise StoreError(
                    f"erased on record as entry {row.entry_id}, but somebody who reads the ledger keeps the text in its write-ahead log until then"
                )
        return entry_of(row)

    def _moved(self, connection: Connection) -> Moved | None:
        reader = self._database.reader(connection)
        return moved_by(connection, reader, reader.last(connection))

    def _shut(self, to: str, actor: Mapping[str, Any] | None) -> Moved:
        self._refuse_to_write()
        said = canonical(self._redact({NAME: SCHEMA, "to": to, **_by(actor)}, MOVED))

        def make(_connection: Connection, growth: Growth) -> Sequence[RecordedTurn]:
            growth.add(MOVED, said)
            return ()

        row = self._sealed(make)
        return Moved(row.seq, row.entry_id, row.mac, to)

    def _opened(self, moved: Moved, reason: str, actor: Mapping[str, Any] | None) -> str:
        said = {NAME: SCHEMA, "moved": moved.entry_id, "place": self._database.place, "reason": reason, **_by(actor)}
        return canonical(self._redact(said, OPENED))

    def _reopen(self, reason: str, actor: Mapping[str, Any] | None) -> Entry:
        self._refuse_to_write()

        def make(connection: Connection, growth: Growth) -> Sequence[RecordedTurn]:
            moved = self._moved(connection)
            if moved is None:
                raise InputError("the ledger was not moved: it takes entries here")
            growth.add(OPENED, self._opened(moved, reason, actor))
            return ()

        return entry_of(self._sealed(make, opens=True))

    def _arrive(
        self,
        whole: Moved,
        reason: str,
        actor: Mapping[str, Any] | None,
        on_progress: OnProgress | None,
        *,
        ended: AbstractContextManager[None],
    ) -> Entry:
        def body(connection: Connection) -> str:
            last = sql.Reader().last(connection)
            if last is None or not _ends_with(last, whole):
                raise StoreError(
                    f"the copy is not whole: it ends with entry {last.seq if last else 0}, the ledger with entry {whole.seq}"
                )
            self._refuse_anchor_of_another()
            self._refuse_broken(connection, last, "opened here", on_progress)
            held.enter_context(ended)  # not before: nobody is to wait there while the chain is verified
            return self._opened(whole, reason, actor)

        with ExitStack() as held:
            return self._anchored(OPENED, body)

    def _restored(self, reason: str, known: int, dropped: Mapping[str, int], actor: Mapping[str, Any] | None) -> Entry:
        def body(connection: Connection) -> str:
            last = sql.Reader().last(connection)
            if last is None:
                raise InputError("the ledger is empty: there is nothing to be anchored")
            refuse_moved(connection, sql.Reader(), last)
            before = self._refuse_anchor_of_another()
            self._refuse_broken(connection, last, "anchored anew")
            upto = max(before.count if before else 0, known)
            said: dict[str, Any] = {NAME: SCHEMA, "count": last.seq, "head": last.mac, "reason": reason, **_by(actor)}
            said["before"] = None if before is None else {"count": before.count, "head": before.head}
            said["missing"] = {"first": last.seq + 1, "last": upto} if upto > last.seq else None
            return canonical(self._redact({**said, "dropped": dict(dropped)}, RESTORED))

        return self._anchored(RESTORED, body)

    def _reanchor(self, reason: str) -> Entry:
        return self._anchored(ANCHOR, lambda connection: self._reanchored(connection, reason))

    def _anchored(self, kind: str, body: Callable[[Connection], str]) -> Entry:
        """Adds an entry, and puts the anchor on it whatever that said before."""
        self._refuse_to_write()
        prepared: Path | None = None
        try:
            with self._write() as connection:
                row = self._insert(connection, kind, body(connection))
                prepared = self._anchor.prepare(self._mark(row))
        except BaseException:
            if prepared is not None:
                prepared.unlink(missing_ok=True)
            raise
        with self._write():
            self._anchor.publish(prepared)
        return entry_of(row)

    def _reanchored(self, connection: Connection, reason: str) -> str:
        """The body of the entry that says so: what was found in the anchor's place, how far that had come, and how far the chain goes, which holds."""
        last = sql.Reader().last(connection)
        if last is None:
            raise InputError("the ledger is empty: there is nothing to be anchored")
        refuse_moved(connection, sql.Reader(), last)
        before = self._refuse_anchor_of_another()
        try:
            self._anchor.read()
            found = against(connection, self._ledger_id, before, last.seq)
        except StoreError as error:
            found = [f"changed: {error}"]
        if not found:
            raise InputError("the anchor is in its place and holds: nothing is to be anchored anew")
        self._refuse_broken(connection, last, "anchored anew")
        said = {NAME: SCHEMA, "found": found[0], "count": last.seq, "head": last.mac, "reason": reason}
        was = None if before is None else {"count": before.count, "head": before.head}
        return canonical(self._redact({**said, "before": was}, ANCHOR))

    def _refuse_anchor_of_another(self) -> Mark | None:
        """The mark of the anchor, if it can be read. Raises InputError if it is that of another ledger."""
        before = self._told_mark()
        if before is not None and before.ledger_id not in (None, self._ledger_id):
            raise InputError(
                f"the anchor here is that of ledger {before.ledger_id}, and this is {self._ledger_id}: another ledger was put in its "
                f"place; put it back, or move {self._anchor.path} away if this one is to stay here"
            )
        return before

    def _refuse_broken(
        self, connection: Connection, last: SealedRow, done: str, on_progress: OnProgress | None = None
    ) -> None:
        """Raises StoreError if the chain up to `last` does not hold, so that it is not `done`."""
        whole = self._stored.verified(connection, self._mark(last), [], on_progress)
        if not whole.ok:
            raise StoreError(f"the ledger does not hold, so it is not {done}: {whole.why}; see attest ledger verify")

    def _insert(self, connection: Connection, kind: str, body: str) -> SealedRow:
        row = Growth(self._key, self._ledger_id or "", sql.Reader().last(connection)).add(kind, body)
        self._database.add(connection, [row], ())
        return row

    def _advance(self, mark: Mark, reserved: Path, before: Mark | None = None) -> None:
        """Moves the anchor to entries that are stored. Where it cannot be moved it lags, as after a crash, and the next entry moves it: the entries
        are durable by now, and an error would keep back an answer that is on record as given. What is wrong with the anchor is for `verify` to tell.

        `before`: a mark that is known to stand in the chain of `mark`.
        """

        # It moves only along the chain it already stands on: a store that was cut or replaced cannot pull the anchor after it, and the evidence stays.
        def follows(now: Mark) -> bool:
            return now == before or self._stored.read(
                lambda connection: (
                    not against(connection, self._ledger_id, now, mark.count) and sql.holds(connection, mark)
                )
            )

        with suppress(StoreError):
            self._anchor.move(reserved, mark, follows)

    def _checkpoint(self, published: Checkpoint | None) -> str:
        keys = self._signing_keys()
        with self._database.errors():
            return self._tree.checkpoint(keys, published)

    def _signing_keys(self) -> list[SigningKey]:
        named = self._stored.named_key()
        if self._ledger_id is None or named is None:
            raise StoreError(
                "this ledger has no id yet, so no checkpoint of it can be signed; opening it to write gives it one"
            )
        return SigningKeys(self._signing_key_file, self._ledger_id).signers(named)

    def _proof(self, entry_id: str, size: int | None) -> Proof:
        with self._database.errors():
            return self._tree.proof(entry_id, size)

    def _proofs(self, entry_ids: Collection[str], size: int) -> list[Proof]:
        with self._database.errors():
            return self._tree.proofs(entry_ids, size)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._writing, self._database.errors(), self._database.writing() as connection:
            yield connection


def _ends_with(last: SealedRow | None, whole: Moved) -> bool:
    return last is not None and (last.seq, last.mac) == (whole.seq, whole.mac)


def _by(actor: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if actor is None else {"actor": dict(actor)}


def _sqlite(path: Path, busy_s: float, *, read_only: bool) -> SqliteLedger:
    with store_errors():
        return SqliteLedger(path, busy_s=busy_s, read_only=read_only)
