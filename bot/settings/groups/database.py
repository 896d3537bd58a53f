"""Settings of the database that several servers share."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, SecretStr, field_validator

from bot.settings.group import Conflicts, Group
from grounding.services.address import is_this_machine

_ALLOWED = "postgresql://user@host/database, with libpq's parameters behind a ? (sslmode=verify-full)"


class Database(Group):
    """Where what several servers share is kept: without an address in files of the home."""

    url: SecretStr | None = Field(
        None,
        alias="database_url",
        description="PostgreSQL that holds what several servers share, postgresql://user@host/database; without it SQLite files in ATTEST_HOME; see docs/scale.md",
    )
    password_file: Path | None = Field(
        None,
        alias="database_password_file",
        description="file with the password for ATTEST_DATABASE_URL, read at each new connection; default: that of the address, or what libpq finds",
    )
    erasures_file: Path | None = Field(
        None,
        alias="database_erasures_file",
        description="file, outside of ATTEST_DATABASE_URL, that each erasure is noted in, so that attest database restored can repeat it; default: ledger-erasures.jsonl beside the ledger key",
    )
    backup_days: int | None = Field(
        None,
        alias="database_backup_days",
        ge=0,
        le=36_500,
        description="days for which backups, replicas and the log (WAL) of ATTEST_DATABASE_URL are kept; an erasure says by it until when they may hold what was erased",
    )

    entra: Literal["on", "off"] = Field(
        "off",
        alias="database_entra",
        description="on: the password for ATTEST_DATABASE_URL is a token of this machine's identity (Microsoft Entra ID), for Azure Database for PostgreSQL",
    )
    pool: int = Field(
        10,
        alias="database_pool",
        ge=2,
        le=100,
        description="connections to ATTEST_DATABASE_URL that a process holds at most; attest doctor compares them with what the server allows",
    )

    @field_validator("url")
    @classmethod
    def _url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _is_postgres(value.get_secret_value()):
            raise ValueError(_ALLOWED)
        return value


def _is_postgres(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.path.strip("/")) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return parts.scheme in ("postgresql", "postgres") and named and "\x00" not in url


def database_conflicts(database: Database) -> Conflicts:
    """A password needs somebody who asks for it, connections somebody who makes them, and backups something that they are of."""
    yield (
        database.password_file is not None and database.url is None,
        "ATTEST_DATABASE_PASSWORD_FILE needs ATTEST_DATABASE_URL; without it there is no database",
    )
    yield from _entra_conflicts(database)
    yield (
        database.erasures_file is not None and database.url is None,
        "ATTEST_DATABASE_ERASURES_FILE needs ATTEST_DATABASE_URL; without it nothing is noted in it",
    )
    yield (
        database.backup_days is not None and database.url is None,
        "ATTEST_DATABASE_BACKUP_DAYS needs ATTEST_DATABASE_URL; files of a home have no log that outlasts an erasure",
    )
    yield (
        "pool" in database.model_fields_set and database.url is None,
        "ATTEST_DATABASE_POOL needs ATTEST_DATABASE_URL; without it there is no database",
    )


def _entra_conflicts(database: Database) -> Conflicts:
    """A token is the one password, and goes only to whom it is for: a server that is asked for its certificate, or this machine."""
    on = database.entra == "on"
    yield (
        on and database.url is None,
        "ATTEST_DATABASE_ENTRA=on needs ATTEST_DATABASE_URL; without it there is no database",
    )
    url = "" if database.url is None else database.url.get_secret_value()
    parts = urlsplit(url)
    yield (
        on and (database.password_file is not None or parts.password is not None),
        "ATTEST_DATABASE_ENTRA=on takes the place of a password: leave out that of ATTEST_DATABASE_URL, and ATTEST_DATABASE_PASSWORD_FILE",
    )
    query = parse_qs(parts.query)
    hosts = [host for host in (parts.hostname or "", *query.get("host", [])) if host]
    here = all(host.startswith("/") or is_this_machine(host) for host in hosts)
    yield (
        on and not here and query.get("sslmode", [""])[-1] not in ("verify-ca", "verify-full"),
        "ATTEST_DATABASE_ENTRA=on needs sslmode=verify-full (or verify-ca) in ATTEST_DATABASE_URL: a token goes to no server that anyone could be",
    )
