"""The database that several servers share: whether this program can use it, and the tables that its owner makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from bot.places import Places, places_of
from bot.settings.settings import Settings
from bot.workers.live import LiveWorker, live_workers
from grounding.database.postgres import NOW, Postgres, Server, refuse_unfit, retried, told
from grounding.database.schema import LOCK, NOT_WHOLE, PartState, SchemaPart, has_role, lacking, states, upgrade
from grounding.errors import InputError, SettingsError, StoreError
from grounding.records import OnProgress
from rai.ledger.checkpoints.checkpoint import load_signing_seed
from rai.ledger.key import TO_BE_GIVEN, load_key
from rai.ledger.watched_store import NO_ANCHOR

_WHAT = "the database"
NO_DATABASE = "ATTEST_DATABASE_URL is not set: everything is kept in files of ATTEST_HOME, which need no upgrade"
_AGAIN_S = (0.0,)
"""A connection that the server ended while nobody used it is made anew at once; one that cannot be made is told."""


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """What the database of the settings is like. `address`: without password; `parts`: what it has of each subject; `allowed`: connections that the server allows in all;
    `serving`: the processes that serve over it.
    """

    address: str
    server: Server
    parts: tuple[PartState, ...]
    allowed: int
    serving: tuple[LiveWorker, ...] = ()

    @property
    def why(self) -> str | None:
        """Why this program cannot use it, by the first part that is not as needed; None if it can."""
        return next((part.why for part in self.parts if part.why is not None), None)


def schema_parts() -> tuple[SchemaPart, ...]:
    """The tables of every subject."""
    from bot.state_schema import PART as STATE
    from bot.state_schema import WORKERS
    from grounding.embedded.hypotheticals import PART as HYPOTHETICALS
    from grounding.embedded.vectors.rationed import PART as SPENDING
    from grounding.store.databases.postgres import PART as STORE
    from rai.embedded.name_file import PART as NAMES
    from rai.embedded.quarantine import PART as QUARANTINE
    from rai.embedded.verdict_file import PART as VERDICTS
    from rai.ledger.databases.postgres import PART as LEDGER

    return (LEDGER, STATE, WORKERS, STORE, NAMES, VERDICTS, QUARANTINE, HYPOTHETICALS, SPENDING)


def usable_places(settings: Settings) -> Places:
    """The places of the settings, a database among them looked at first: before anything is made on this machine it is known whether the server answers, is new
    enough, takes writes, and has every table in a form that this program can use; and that the keys, which are the same on every machine, are here.

    Raises SettingsError, StoreError.
    """
    places = places_of(settings)
    if places.database is None and places.copying.exists():
        raise StoreError(f"ATTEST_HOME={places.home}: {NOT_WHOLE}")
    if places.database is not None:
        database = places.database

        def look() -> list[PartState]:
            with told(_WHAT), database.reading() as connection:
                return states(connection, schema_parts())

        found = retried(look, _AGAIN_S)
        if why := next((part.why for part in found if part.why is not None), None):
            raise StoreError(why)
        load_key(settings.files.ledger_key, make=False, why=TO_BE_GIVEN)
        load_signing_seed(settings.files.signing_key_path, make=False, why=TO_BE_GIVEN)
    return places


def database_status(settings: Settings) -> DatabaseStatus | None:
    """What the database of the settings is like; None where there is none. Raises SettingsError, StoreError where it cannot be reached."""
    database = places_of(settings).database
    if database is None:
        return None
    with told(_WHAT), database.reading() as connection:
        parts = tuple(states(connection, schema_parts()))
    found = DatabaseStatus(database.address, database.server(), parts, database.allowed())
    if found.why is not None:
        return found
    with told(_WHAT):
        return replace(found, serving=tuple(database.ask(partial(live_workers, now=NOW))))


def upgraded(settings: Settings, worker: str | None) -> dict[str, tuple[int, int]]:
    """Brings every table up to what this program knows, as the user of the address, in one transaction; the numbers before and now of the parts that were not. `worker`:
    a role that gets a worker's rights.

    Raises SettingsError where no database is set, InputError for a role that is not there, StoreError: then nothing was changed.
    """
    database = places_of(settings).database
    if database is None:
        raise SettingsError(NO_DATABASE)
    return made_tables(database, worker)


@dataclass(frozen=True, slots=True)
class CheckedDatabase:
    """What was found of a database that is in use. `faults`: guards of the record, or rights, that are not as they were made; `entries`: those that hold; `why`: what keeps the
    record from holding, None if it does; `unread`: why it was not verified here, None if it was.
    """

    faults: tuple[str, ...]
    entries: int = 0
    why: str | None = None
    unread: str | None = None

    @property
    def ok(self) -> bool:
        return not self.faults and self.why is None


async def checked(settings: Settings, worker: str | None, on_progress: OnProgress | None = None) -> CheckedDatabase:
    """Looks whether what guards the record stands, and whether it holds, with the key of the settings, where that is here. `worker`: a role whose rights are looked at too. Raises StoreError."""
    from rai.ledger.databases.postgres import PostgresLedger, excess
    from rai.ledger.store import SqlLedger

    database = places_of(settings).database
    if database is None:
        raise SettingsError(NO_DATABASE)
    look = PostgresLedger(database)
    with look.errors(), look.reading() as connection:
        faults = list(look.faults(connection, salted=True, pages=False))
        if worker is not None:
            faults += lacking(connection, schema_parts(), worker) + excess(connection, worker)
    try:
        ledger = SqlLedger(database, settings.files.ledger_key, read_only=True)
    except SettingsError as error:
        return CheckedDatabase(tuple(faults), unread=str(error))
    found = await ledger.verify(on_progress)
    await ledger.close()
    others = [one.why for one in found.breaks if one.why not in faults]
    if found.ok or not others:  # what guards it is told already
        return CheckedDatabase(tuple(faults), found.entries)
    if [why.startswith(NO_ANCHOR) for why in others] == [True]:
        return CheckedDatabase(
            tuple(faults), found.entries, unread="no anchor on this machine says where it should end"
        )
    return CheckedDatabase(tuple(faults), found.entries, others[0])


def made_tables(database: Postgres, worker: str | None) -> dict[str, tuple[int, int]]:
    """As `upgraded`, of that database."""

    def work(connection: Connection) -> dict[str, tuple[int, int]]:
        refuse_unfit(connection)
        if worker is not None and not has_role(connection, worker):
            raise InputError(f"--worker {worker!r}: the database has no such role; CREATE ROLE makes one")
        return upgrade(connection, schema_parts(), worker)

    with told(_WHAT):
        return database.run(work, lock=LOCK)
