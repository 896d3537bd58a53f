"""The check of `attest doctor` on the database that several servers share."""

from __future__ import annotations

from bot.commands.doctor.diagnosis import Diagnosis
from bot.compose.database import database_status
from bot.settings.settings import Settings
from grounding.errors import SettingsError, StoreError

NAME = "database"


def check_database(settings: Settings) -> list[Diagnosis]:
    """Whether the server answers and its tables are as needed; nothing where all is kept in files of the home."""
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
    return [Diagnosis(NAME, "ok", f"{found.address}, PostgreSQL {found.server.version}; schema: {parts}")]
