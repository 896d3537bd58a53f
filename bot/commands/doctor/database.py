"""The check of `attest doctor` on the database that several servers share."""

from __future__ import annotations

from bot.commands.doctor.diagnosis import Diagnosis
from bot.compose.database import DatabaseStatus, database_status
from bot.settings.settings import Settings
from bot.workers.live import differences
from grounding.errors import SettingsError, StoreError

NAME, CONNECTIONS, SERVERS = "database", "connections", "servers"
_NAMED = 8


def check_database(settings: Settings) -> list[Diagnosis]:
    """Whether the server answers, its tables are as needed, it allows the connections, and those who serve over it have one configuration; nothing where all is kept in files
    of the home.
    """
    try:
        found = database_status(settings)
    except SettingsError as error:
        return [Diagnosis(NAME, "fail", str(error), "correct ATTEST_DATABASE_URL and ATTEST_DATABASE_PASSWORD_FILE")]
    except StoreError as error:
        fix = "check ATTEST_DATABASE_URL, and that the server runs and lets this user in"
        return [Diagnosis(NAME, "fail", str(error), fix, service=True)]
    if found is None:
        return []
    if found.why is not None:
        return [Diagnosis(NAME, "fail", found.why, "run attest database upgrade as the owner", service=True)]
    parts = ", ".join(f"{part.name} {part.number}" for part in found.parts)
    server = Diagnosis(NAME, "ok", f"{found.address}, PostgreSQL {found.server.version}; schema: {parts}")
    return [server, _connections(found, settings.database.pool), *_servers(found)]


def _connections(found: DatabaseStatus, pool: int) -> Diagnosis:
    """Whether the server allows what the processes that serve may hold, and one more of these settings."""
    held, allowed, serving = sum(worker.pool for worker in found.serving), found.allowed, len(found.serving)
    said = f"the server allows {allowed}, {serving} {'process serves' if serving == 1 else 'processes serve'} and may hold {held}"
    fix = "lower ATTEST_DATABASE_POOL, raise max_connections or the role's limit, or put a pooler between"
    if held > allowed or pool > allowed:
        return Diagnosis(CONNECTIONS, "fail", f"{said}, one more {pool}: those beyond are refused", fix, service=True)
    room = (allowed - held) // pool
    detail = f"{said}; room for {room} more of {pool}"
    return Diagnosis(CONNECTIONS, "ok" if room else "note", detail, "" if room else fix, service=True)


def _servers(found: DatabaseStatus) -> list[Diagnosis]:
    """Whether the processes that serve have one configuration; nothing where none does."""
    if not found.serving:
        return []
    if differ := list(differences(found.serving)):
        fix = "give every server the same settings, policies and directory; they are the same some seconds later"
        return [Diagnosis(SERVERS, "fail", "; ".join(differ), fix)]
    names = ", ".join(worker.name for worker in found.serving[:_NAMED]) + (", …" if len(found.serving) > _NAMED else "")
    return [Diagnosis(SERVERS, "ok", f"{names}: one configuration")]
