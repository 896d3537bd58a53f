"""What a store says of itself: of which version, key and ledger it is, and where that, or its form, is no longer as it was made."""

from __future__ import annotations

from sqlalchemy import Connection

from grounding.errors import SettingsError, StoreError
from rai.ledger import sql
from rai.ledger.chain import key_id
from rai.ledger.databases.form import LedgerDatabase

VERSION, VERSION_1 = "2", "1"
"""The version of the tables: of those that hold form 2, and of those that hold form 1 alone."""
ANOTHER_KEY = "not the key that the ledger was written with"
OF_ANOTHER_KEY = "the key file, or the store's own note of its key: they no longer belong together"


def form_faults(
    connection: Connection, database: LedgerDatabase, key: bytes, ledger_id: str | None, *, pages: bool
) -> list[str]:
    """What is not as it was made in the store's form and in what it says of itself."""
    salted = ledger_id is not None or database.reader(connection).salted
    faults, said = database.faults(connection, salted=salted, pages=pages), sql.about(connection)
    if not said and not database.makes_keys and sql.Reader().last(connection) is None:
        return list(faults)  # its owner has made the tables, and nobody has begun a ledger in them
    return [*about_faults(said, as_made(key, ledger_id, salted=salted)), *faults]


def as_made(key: bytes, ledger_id: str | None, *, salted: bool = True) -> dict[str, str]:
    """What a store says of itself."""
    named = {} if ledger_id is None else {"ledger_id": ledger_id}
    return {"schema": VERSION if salted else VERSION_1, "key_id": key_id(key), **named}


def about_faults(about: dict[str, str], made: dict[str, str]) -> list[str]:
    """What the store says of itself that is not as it was made."""
    if about.get("schema", made["schema"]) != made["schema"]:
        return [f"changed: the store says that it is of version {about['schema'][:20]!r}, not {made['schema']}"]
    if about.get("key_id", made["key_id"]) != made["key_id"]:
        return [f"changed: {OF_ANOTHER_KEY}"]
    if about.get("ledger_id", made.get("ledger_id")) != made.get("ledger_id"):
        return ["changed: the store's note of which ledger it is"]
    gone = [f"changed: the store's note of its {name} is gone" for name in made if name not in about]
    return gone + [f"changed: the store's note has {name[:20]!r}, which is none" for name in about if name not in made]


def check_about(about: dict[str, str], key: bytes) -> None:
    """Raises StoreError for a store of another version, SettingsError for one that another key was used for."""
    if about.get("schema") not in (VERSION, VERSION_1):
        raise StoreError(f"the ledger is of version {about.get('schema')}; this program reads version {VERSION}")
    if about.get("key_id") != key_id(key):
        raise SettingsError(f"ATTEST_LEDGER_KEY_FILE: this is {ANOTHER_KEY}")
