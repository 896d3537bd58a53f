"""Moves everything that is kept to another place: from a home into a database that servers share, or back.

The ledger at the source is ended first, so that nobody who is at work there can add what would not arrive; then all is taken along in parts, compared, and opened at the
target. Each step is found done by whoever was stopped and begins again.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.compose.database import made_tables, schema_parts, usable_places
from bot.compose.parts import DECISIONS, HYPOTHETICALS, NAMES, SPENT, VERDICTS
from bot.operator import operator
from bot.places import Place, Places, database_at, is_there
from bot.settings.settings import Settings
from grounding.database.copying import CopiedPlace, FileTables, SharedTables, copy_table, is_taken
from grounding.database.postgres import told
from grounding.database.schema import (
    LOCK,
    SchemaPart,
    begin_copy,
    copy_begun,
    end_copy,
    hold_copy,
    refuse_another_copy,
)
from grounding.database.tables import KeptTable
from grounding.errors import InputError, StoreError
from grounding.records import OnProgress, Progress, plain

if TYPE_CHECKING:
    from rai.ledger.moved import Moved
    from rai.ledger.store import SqlLedger

FORMS = "postgresql://user@host/database or sqlite:HOME"
_WHAT = "the database"
_FILE = "sqlite:"
_LOCK = "database-copy.lock"
Tables = Mapping[str, CopiedPlace]
"""Where the tables of each subject lie, by its name."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that is whole. `to`: where; `rows`: by table those that are there; `entry_id`: of the entry that opened the ledger there; None where all had been done before."""

    to: str
    rows: Mapping[str, int]
    entry_id: str | None


async def copied(settings: Settings, to: str, password_file: Path | None, on_progress: OnProgress) -> Copied:
    """Moves everything that the settings' place holds to `to`, or goes on with that. Raises InputError for a target that is none or is not empty, StoreError: the same call goes on."""
    source = await asyncio.to_thread(usable_places, settings)
    if not is_there(source.ledger):
        raise InputError(f"ATTEST_HOME={source.home}: there is no ledger here, so there is nothing to copy")
    target = target_of(to, password_file)
    named = await asyncio.to_thread(name_of, target)
    async with _ledger(settings, source.ledger) as ledger:
        with _alone(settings.files.ledger_key.with_name(_LOCK)):
            moved = await ledger.moved()
            if moved is not None and moved.to != named:
                raise InputError(
                    f"--to {named}: the ledger was moved to {moved.to}; that is to be gone on with, or attest database reopen opens the ledger here again"
                )
            stage = await asyncio.to_thread(_stage, target, moved)
            reason = f"moved from {await asyncio.to_thread(name_of, source)}"
            if stage == "whole":
                await _anchored(settings, target, reason)
                return Copied(named, {}, None)
            await make_files(source)
            if stage == "to begin":
                moved = await _begun_anew(ledger, moved, source, target, on_progress)
            holder = secrets.token_hex(8)
            await asyncio.to_thread(_hold, target, holder)
            with _tables(source) as there, _tables(target, holder=holder) as here:
                rows = await asyncio.to_thread(_copy, there, here, on_progress)
            await asyncio.to_thread(_end, target, holder)
            assert moved is not None  # else the move is to begin
            opened = await _arrived(settings, target, moved, reason, on_progress, ended=ledger.ended(moved))
            return Copied(named, rows, opened)


async def _begun_anew(
    ledger: SqlLedger, moved: Moved | None, source: Places, target: Places, on_progress: OnProgress
) -> Moved:
    """Ends the ledger at the source, unless that was done, once the target is there, holds nothing, and is kept from whoever would use it."""
    named = await asyncio.to_thread(name_of, target)
    await asyncio.to_thread(_refuse_taken, target, named)
    await _prepare(target)
    await asyncio.to_thread(_begin, target, "")  # what it ends with is not known yet
    if moved is None:
        try:
            with _tables(source) as tables:
                moved = await _shut(ledger, tables, named, on_progress)
        except BaseException:
            await asyncio.to_thread(_end, target)
            raise
    await asyncio.to_thread(_begin, target, moved.entry_id)
    return moved


async def reopened(settings: Settings, reason: str) -> str | None:
    """Opens the settings' place for changes again, whose ledger was moved elsewhere; the id of the entry that says so, None where only tables had been shut.

    Raises InputError where nothing was moved, StoreError, also while a copy is at work.
    """
    source = await asyncio.to_thread(usable_places, settings)
    if not is_there(source.ledger):
        raise InputError(f"ATTEST_HOME={source.home}: there is no ledger here, so nothing was moved")
    async with _ledger(settings, source.ledger) as ledger:
        with _alone(settings.files.ledger_key.with_name(_LOCK)):
            await make_files(source)
            with _tables(source) as tables:
                was_shut = await asyncio.to_thread(
                    lambda: [place.open_again(kept) for place, kept in _by_place(tables)]
                )
            if any(was_shut) and await ledger.moved() is None:
                return None
            return (await ledger.reopen(reason, plain(operator()))).entry_id


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Nobody else of this machine moves what has these keys, or opens it again, meanwhile; the kernel lets go of the lock of whoever is killed. Raises StoreError."""
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(
                "another attest database copy, or reopen, is at work with this ledger key; wait for it to end"
            ) from None
        yield


async def _shut(ledger: SqlLedger, source: Tables, named: str, on_progress: OnProgress) -> Moved:
    """Ends the ledger, which holds, and lets nobody change what lies beside it. What cannot be done in whole is not done."""
    whole = await ledger.verify(on_progress)
    if not whole.ok:
        raise StoreError(f"the ledger does not hold, so it is not moved: {whole.why}; see attest ledger verify")
    why = f"it was moved to {named} and takes no changes here; attest database reopen opens it here again"
    try:
        for place, tables in _by_place(source):
            await asyncio.to_thread(place.shut, tables, why)
        return await ledger.shut(named, plain(operator()))
    except BaseException:
        if await ledger.moved() is None:
            for place, tables in _by_place(source):
                await asyncio.to_thread(place.open_again, tables)
        raise


def _copy(source: Tables, target: Tables, on_progress: OnProgress) -> dict[str, int]:
    """The number of rows by table, once all are at both ends."""
    rows = {}
    for part in kept_parts():
        there, here = source[part.name], target[part.name]
        for table in (table for table in part.tables if is_taken(table, there, here)):
            rows[table.name] = copy_table(table, there, here, on_progress)
    return rows


async def _arrived(
    settings: Settings,
    target: Places,
    moved: Moved,
    reason: str,
    on_progress: OnProgress,
    *,
    ended: AbstractContextManager[None],
) -> str:
    """Opens the ledger at the target, where all of it has to be, while it is held as it `ended` at the source."""

    def there(at: Progress) -> None:
        on_progress(replace(at, stage=f"{at.stage} there"))

    async with _ledger(settings, target.ledger) as ledger:
        return (await ledger.arrive(moved, reason, plain(operator()), there, ended=ended)).entry_id


async def _anchored(settings: Settings, target: Places, reason: str) -> None:
    """Anchors the ledger that was opened at the target where nothing here does: whoever opened it was stopped before that, or was another machine."""
    async with _ledger(settings, target.ledger) as ledger:
        if not ledger.is_anchored:
            await ledger.reanchor(reason)


def _stage(target: Places, moved: Moved | None) -> str:
    """How far a move to a place is, of the ledger that ends with `moved`: "to begin", "begun", or "whole". Raises InputError where a part of another is there."""
    of = _begun(target)
    if of and (moved is None or of != moved.entry_id):
        raise InputError("--to: a part of another copy is there; allowed is a place that holds nothing")
    if of:
        return "begun"
    if of is not None or moved is None or not is_there(target.ledger):
        return "to begin"
    entries = next(table for part in kept_parts() for table in part.tables if table.name == "entries")
    with _tables(target, made=False) as here:
        count = here["ledger"].count(entries)
        if count < moved.seq or moved.mac not in next(here["ledger"].rows(entries, moved.seq - 1))[0]:
            return "to begin"
        return "whole" if count > moved.seq else "begun"


def _refuse_taken(target: Places, named: str) -> None:
    """Raises InputError if the target holds anything."""
    with _tables(target, made=False) as here:
        taken = [
            f"{count} rows of {table.name}"
            for place, tables in _by_place(here, every=True)
            for table in tables
            if place.is_shared or not table.shared_alone
            if (count := place.count(table))
        ]
    if taken:
        more = f" and of {len(taken) - 3} other tables" if len(taken) > 3 else ""
        raise InputError(f"--to {named}: it holds {', '.join(taken[:3])}{more}; allowed is a place that holds nothing")


def target_of(to: str, password_file: Path | None) -> Places:
    """The place that `--to` names. Raises InputError, SettingsError, with no password."""
    if to.startswith(_FILE) and to != _FILE:
        if password_file is not None:
            raise InputError("--password-file: a home has no password; it goes with --to postgresql://…")
        return Places(Path(to.removeprefix(_FILE)).expanduser().resolve())
    if to.partition("://")[0] in ("postgresql", "postgres") and "\x00" not in to:
        return Places(Path(), database_at(to, password_file, named="--password-file "))
    raise InputError(f"--to: allowed is {FORMS}")


def name_of(places: Places) -> str:
    """How a place is called in the record and in messages, without a password. Raises StoreError for a database that does not answer."""
    if places.database is None:
        return f"{_FILE}{places.home.resolve()}"
    return f"{places.database.address} (schema {places.database.server().schema or 'none'})"


@asynccontextmanager
async def _ledger(settings: Settings, place: Place) -> AsyncIterator[SqlLedger]:
    from rai.ledger.store import SqlLedger

    files = settings.files
    ledger = await asyncio.to_thread(
        lambda: SqlLedger(place, files.ledger_key, signing_key_file=files.signing_key_path, moved=True)
    )
    try:
        yield ledger
    finally:
        await ledger.close()


def files_of(home: Places) -> dict[str, Path]:
    """The file of each subject in a home."""
    index = home.index
    return {
        "ledger": home.home / "ledger.db",
        "state": home.home / "state.db",
        "quarantine": home.home / DECISIONS,
        "store": index / "store.db",
        "names": index / NAMES,
        "verdicts": index / VERDICTS,
        "hypotheticals": index / HYPOTHETICALS,
        "spending": index / SPENT,
    }


def kept_parts() -> tuple[SchemaPart, ...]:
    """The subjects of which a copy takes something: not what servers over one database tell each other just now."""
    return tuple(part for part in schema_parts() if part.tables)


@contextmanager
def _tables(places: Places, *, made: bool = True, holder: str | None = None) -> Iterator[Tables]:
    """Where each subject's tables are. `made` False leaves out the files that are not there; `holder`: of the copy that adds to them."""
    with ExitStack() as stack:
        if places.database is not None:
            shared = SharedTables(places.database, holder)
            stack.callback(shared.close)
            yield dict.fromkeys((part.name for part in kept_parts()), shared)
            return
        files = {name: FileTables(path, str(path)) for name, path in files_of(places).items() if made or path.exists()}
        for file in files.values():
            stack.callback(file.close)
        yield files


def _by_place(tables: Tables, *, every: bool = False) -> list[tuple[CopiedPlace, list[KeptTable]]]:
    """Each place with the tables that lie there; those of the ledger, which its last entry shuts, only where `every` is wanted."""
    found: dict[int, tuple[CopiedPlace, list[KeptTable]]] = {}
    for part in kept_parts():
        if part.name in tables and (every or part.name != "ledger"):
            place = tables[part.name]
            found.setdefault(id(place), (place, []))[1].extend(part.tables)
    return list(found.values())


async def make_files(places: Places) -> None:
    """Makes the files of a home that are missing, and brings up those of an older form. Raises StoreError."""
    if places.database is not None:
        return
    from bot.review import session  # noqa: F401 - with its tables in state.db
    from bot.state import State
    from grounding.embedded import hypotheticals
    from grounding.embedded.vectors import rationed
    from grounding.store.databases.sqlite import StoreFile
    from grounding.store.side import side_at
    from rai.embedded import name_file, quarantine, verdict_file
    from rai.ledger.databases.sqlite import SqliteLedger, store_errors

    files = files_of(places)
    kept = {
        "names": name_file.KEPT,
        "verdicts": verdict_file.KEPT,
        "quarantine": quarantine.KEPT,
        "hypotheticals": hypotheticals.KEPT,
        "spending": rationed.KEPT,
    }

    def make() -> None:
        if not files["ledger"].exists():
            with store_errors():
                ledger = SqliteLedger(files["ledger"])
                with ledger.writing() as connection:
                    ledger.prepare(connection)
                ledger.close()
        StoreFile(files["store"]).close()
        places.index.chmod(0o700)
        for name, what in kept.items():
            side_at(files[name], what).read(lambda _: None)

    await asyncio.to_thread(make)
    async with AsyncExitStack() as stack:
        state = State(files["state"])
        await state.open()
        stack.push_async_callback(state.close)


async def _prepare(target: Places) -> None:
    """Makes the tables of a target, or the files of a home. Raises InputError for one that cannot be made."""
    if target.database is not None:
        await asyncio.to_thread(made_tables, target.database, None)
        return
    try:
        target.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--to {_FILE}{target.home}: {(error.strerror or 'cannot be made').lower()}; allowed is a folder that you may write to"
        ) from None
    await make_files(target)


def _begin(target: Places, of: str) -> None:
    """Notes at the target that a copy is not whole, which nobody may use until then."""
    if target.database is None:
        draft = target.copying.with_suffix(".new")
        draft.write_text(json.dumps({"of_entry": of}), "utf-8")
        draft.replace(target.copying)
        return
    with told(_WHAT), target.database.writing(LOCK) as connection:
        begin_copy(connection, of)


def _begun(target: Places) -> str | None:
    """Of what a copy was begun that is not whole; None where there is none."""
    if target.database is not None:
        with told(_WHAT):
            return target.database.run(copy_begun)
    try:
        return str(json.loads(target.copying.read_text("utf-8"))["of_entry"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(f"{target.copying} cannot be read; empty the home and begin again") from None


def _hold(target: Places, holder: str) -> None:
    """Whoever is at work at the target from another machine is refused from now on; on this machine nobody is."""
    if target.database is not None:
        with told(_WHAT), target.database.writing(LOCK) as connection:
            hold_copy(connection, holder)


def _end(target: Places, holder: str | None = None) -> None:
    """The copy is whole, or was not begun. Raises StoreError where it is another's than `holder`'s by now."""
    if target.database is None:
        target.copying.unlink(missing_ok=True)
        return
    with told(_WHAT), target.database.writing(LOCK) as connection:
        if holder is not None:
            refuse_another_copy(connection, holder)
        end_copy(connection)
