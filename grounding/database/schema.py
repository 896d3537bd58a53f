"""The schema of a PostgreSQL database: numbered steps a part, made by the owner; a start compares a number and makes nothing.

Upgrades expand and then contract: a step that an older program can live with leaves `oldest` as it was, so that workers of both run side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from grounding.database.postgres import state_of
from grounding.database.tables import KeptTable
from grounding.errors import StoreError

LOCK = "schema"
"""The lock under which a database is upgraded."""
_NONE_YET = ("42P01", "3F000")
_COPY = "attest_copy"
"""The table that is there while a copy into the schema is not whole: it says of which ledger's last entry that is."""
_THERE = f"to_regclass(quote_ident(current_schema()) || '.{_COPY}')"
_NUMBERS = text(
    f"SELECT part, number, oldest FROM attest_schema UNION ALL SELECT '{_COPY}', 0, 0 WHERE {_THERE} IS NOT NULL"  # noqa: S608 - names of ours
)
NOT_WHOLE = "a copy into it is not whole yet; the command that began it goes on with it: attest database copy"
"""What is said of a place that is being copied to."""
_TABLE = """
CREATE TABLE IF NOT EXISTS attest_schema (
    part text COLLATE "C" PRIMARY KEY, number integer NOT NULL, oldest integer NOT NULL)"""


@dataclass(frozen=True, slots=True)
class Step:
    """What brings a part from the number before to its own. `{schema}` in a statement is the quoted name of the schema, `{worker}` in one of `SchemaPart.rights` that of the role.

    `oldest`: the lowest number of a program that may use the part afterwards.
    """

    statements: tuple[str, ...]
    oldest: int


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """The tables of a subject. `steps`: that of number 1 first. `rights`: what gives a worker's role all it needs, and can be done again. `tables`: each, as a copy takes it."""

    name: str
    steps: tuple[Step, ...]
    rights: tuple[str, ...]
    tables: tuple[KeptTable, ...] = ()

    @property
    def number(self) -> int:
        """The number that this program knows."""
        return len(self.steps)


def upgrade(
    connection: Connection, parts: Sequence[SchemaPart], worker: str | None = None
) -> dict[str, tuple[int, int]]:
    """Brings `parts` up to what this program knows, in the transaction of `connection`, which holds `LOCK`; the numbers before and now of those that were not.

    `worker`: a role that gets the rights of a worker; without one the owner works too. Raises StoreError for a part that is newer than this program.
    """
    connection.execute(text(_TABLE))
    schema = _quoted(connection, str(connection.execute(text("SELECT current_schema()")).scalar_one()))
    brought = {}
    if worker is not None:
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO {_quoted(connection, worker)}")
    for part in parts:
        before = _number(connection, part)
        if before > part.number:
            raise StoreError(_newer(part, before))
        for number, step in list(enumerate(part.steps, start=1))[before:]:
            for statement in step.statements:
                connection.exec_driver_sql(statement.replace("{schema}", schema).replace("%", "%%"))
            _note(connection, part, number, step.oldest)
        if worker is not None:
            for statement in ("GRANT SELECT ON attest_schema TO {worker}", *part.rights):
                connection.exec_driver_sql(statement.replace("{worker}", _quoted(connection, worker)))
        if before < part.number:
            brought[part.name] = (before, part.number)
    return brought


@dataclass(frozen=True, slots=True)
class PartState:
    """A part as a database has it: its number, 0 where it is not there; that which this program knows; why this program cannot use it, None if it can."""

    name: str
    number: int
    known: int
    why: str | None


def refuse_other(connection: Connection, part: SchemaPart) -> None:
    """Raises StoreError if the part is not there, or is of a number that this program cannot use."""
    (found,) = states(connection, [part])
    if found.why is not None:
        raise StoreError(found.why)


def states(connection: Connection, parts: Sequence[SchemaPart]) -> list[PartState]:
    """What the database has of `parts`, in one look; nothing more can be asked of the transaction if it has none."""
    try:
        rows = connection.execute(_NUMBERS).all()
    except DBAPIError as error:
        if state_of(error) not in _NONE_YET:
            raise
        rows = []
    there = {row.part: (int(row.number), int(row.oldest)) for row in rows}
    return [PartState(part.name, there.get(part.name, (0, 0))[0], part.number, _why(part, there)) for part in parts]


def _why(part: SchemaPart, there: Mapping[str, tuple[int, int]]) -> str | None:
    """Why this program cannot use a part. `there`: by the name of a part its number and that of the oldest program that may use it."""
    if _COPY in there:
        return f"the database cannot be used: {NOT_WHOLE}"
    if part.name not in there:
        return f"the database has no tables for the {part.name} yet; its owner makes them: attest database upgrade"
    number, oldest = there[part.name]
    if number < part.number:
        return (
            f"the {part.name} in the database is of schema {number}, this program needs {part.number}; "
            "its owner brings it up: attest database upgrade"
        )
    return _newer(part, number) if oldest > part.number else None


def begin_copy(connection: Connection, of: str) -> None:
    """Notes that a copy into the schema begins, which nobody may use until it is whole. `of`: the entry that the ledger ends with where it comes from, empty while it has no end."""
    end_copy(connection)
    connection.exec_driver_sql(f"CREATE TABLE {_COPY} (of_entry text NOT NULL)")
    connection.execute(text(f"INSERT INTO {_COPY} (of_entry) VALUES (:of)"), {"of": of})  # noqa: S608 - a name of ours


def hold_copy(connection: Connection, holder: str) -> None:
    """From now on the copy is `holder`'s, a word that nobody else has: whoever had it in hand is refused at the next part."""
    connection.exec_driver_sql(f"ALTER TABLE {_COPY} ADD COLUMN IF NOT EXISTS holder text NOT NULL DEFAULT ''")
    connection.execute(text(f"UPDATE {_COPY} SET holder = :holder"), {"holder": holder})  # noqa: S608 - a name of ours


def refuse_another_copy(connection: Connection, holder: str) -> None:
    """Raises StoreError if the copy is another's by now, or over; if not, it stays this one's until the transaction ends."""
    mine = text(f"SELECT 1 FROM {_COPY} WHERE holder = :holder FOR SHARE")  # noqa: S608 - a name of ours
    there = connection.execute(text(f"SELECT {_THERE}")).scalar() is not None
    if not there or connection.execute(mine, {"holder": holder}).scalar() is None:
        raise StoreError("another attest database copy went on with it; wait for that to end")


def copy_begun(connection: Connection) -> str | None:
    """Of what a copy into the schema was begun that is not whole yet; None where there is none."""
    if connection.execute(text(f"SELECT {_THERE}")).scalar() is None:
        return None
    return str(connection.execute(text(f"SELECT of_entry FROM {_COPY}")).scalar_one())  # noqa: S608 - a name of ours


def end_copy(connection: Connection) -> None:
    """The copy is whole."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_COPY}")


def has_role(connection: Connection, name: str) -> bool:
    """True if the server has a role of this name."""
    found = connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :name"), {"name": name})
    return found.scalar() is not None


def lacking(connection: Connection, parts: Sequence[SchemaPart], worker: str) -> list[str]:
    """What a worker's role cannot do that every worker has to: read each table and add to it."""
    rights = text(
        "SELECT has_table_privilege(:worker, :name, 'SELECT') AND has_table_privilege(:worker, :name, 'INSERT')"
    )
    names = [table.name for part in parts for table in part.tables]
    return [
        f"role {worker} may not read {name} and add to it"
        for name in names
        if not connection.execute(rights, {"worker": worker, "name": _quoted(connection, name)}).scalar_one()
    ]


def _newer(part: SchemaPart, number: int) -> str:
    return (
        f"the {part.name} in the database is of schema {number}, which is newer than this program knows ({part.number})"
    )


def _number(connection: Connection, part: SchemaPart) -> int:
    found = connection.execute(text("SELECT number FROM attest_schema WHERE part = :part"), {"part": part.name})
    return int(found.scalar() or 0)


def _note(connection: Connection, part: SchemaPart, number: int, oldest: int) -> None:
    connection.execute(
        text(
            "INSERT INTO attest_schema (part, number, oldest) VALUES (:part, :number, :oldest) "
            "ON CONFLICT (part) DO UPDATE SET number = excluded.number, oldest = excluded.oldest"
        ),
        {"part": part.name, "number": number, "oldest": oldest},
    )


def _quoted(connection: Connection, name: str) -> str:
    return str(connection.execute(text("SELECT quote_ident(:name)"), {"name": name}).scalar_one())
