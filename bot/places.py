"""Where what is kept lies: in files of the home, or in one PostgreSQL database that several servers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from bot.settings.settings import Settings
from grounding.database.postgres import Postgres
from grounding.errors import SettingsError
from grounding.services.cloud import CloudName

LEDGER, STATE, DESK, INDEX = "ledger.db", "state.db", "review.db", "index"
"""Names of files and of the folder of the index in a home."""
COPYING = "copying.json"
"""The file that is in a home while a copy into it is not whole."""
Place = Path | Postgres


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one deployment. `home`: the folder of this machine; `database`: what several machines share, None where all lies in the home."""

    home: Path
    database: Postgres | None = None

    @property
    def copying(self) -> Path:
        """The file that says that a copy into the home is not whole."""
        return self.home / COPYING

    @property
    def index(self) -> Path:
        """The folder of the search indexes, of this machine alone."""
        return self.home / INDEX

    @property
    def desk(self) -> Path:
        """The index of the reviewers' desk: a file of this machine alone, which follows the ledger."""
        return self.home / DESK

    @property
    def ledger(self) -> Place:
        """Where the ledger lies."""
        return self.in_home(LEDGER)

    @property
    def state(self) -> Place:
        """Where the state of conversations lies."""
        return self.in_home(STATE)

    @property
    def store(self) -> Place:
        """Where the store of record lies."""
        return self.in_index("store.db")

    def in_home(self, name: str) -> Place:
        """The database, or the file of this name in the home."""
        return self.database or self.home / name

    def in_index(self, name: str) -> Place:
        """The database, or the file of this name beside the search indexes."""
        return self.database or self.index / name


def is_there(place: Place) -> bool:
    """False for a file that is not there. A database counts as there: what is wrong with it is said by whoever uses it."""
    return isinstance(place, Postgres) or place.is_file()


def places_of(settings: Settings) -> Places:
    """The places that the settings name; nothing is opened. A process has one database object for an address, and so one set of connections.

    Raises SettingsError for an address that is none, or where the driver is not installed.
    """
    url = settings.database.url
    if url is None:
        return Places(settings.files.home)
    database, identity = settings.database, settings.identity
    signs_in = (identity.cloud, identity.client_id) if database.entra == "on" else None
    return Places(
        settings.files.home, _database(url.get_secret_value(), database.password_file, signs_in, database.pool)
    )


def database_at(url: str, password_file: Path | None = None, *, named: str) -> Postgres:
    """The database at an address. `named`: how a person gave the file with its password. Raises SettingsError for an address that is none."""
    return Postgres(url, password=None if password_file is None else partial(_password_in, password_file, named))


@lru_cache(maxsize=8)
def _database(
    url: str, password_file: Path | None, signs_in: tuple[CloudName, str | None] | None, pool: int
) -> Postgres:
    return Postgres(url, pool=pool, password=_password(password_file, signs_in))


def _password(file: Path | None, signs_in: tuple[CloudName, str | None] | None) -> Callable[[], str] | None:
    """Who is asked for the password at each new connection. `signs_in`: the cloud and the client id of this machine's identity, if that is to be known by the database."""
    if signs_in is not None:
        from grounding.azure.core.database_token import DatabaseToken

        return DatabaseToken(*signs_in)
    return None if file is None else partial(_password_in, file, "ATTEST_DATABASE_PASSWORD_FILE=")


def _password_in(path: Path, named: str) -> str:
    """The password in a file, without the line break at its end. Raises SettingsError, never with the password."""
    try:
        password = path.read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or "unreadable").lower() if isinstance(error, OSError) else "no UTF-8 text"
        raise SettingsError(f"{named}{str(path)!r}: {why}; allowed is a file that holds the password alone") from None
    if not password or "\x00" in password:
        raise SettingsError(f"{named}{str(path)!r}: allowed is a file that holds the password alone")
    return password
