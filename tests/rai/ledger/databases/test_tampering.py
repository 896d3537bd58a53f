"""What somebody may do to a ledger in PostgreSQL who owns the schema and has no key, and what `verify` says of each.

The rows of `tests/rai/ledger/tampering.yaml` whose SQL any database takes come to what they come to over a file; those of the table beside this change the
catalogue. What is done to key and anchor is done to files and tried there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from grounding.database.postgres import Postgres
from grounding.errors import AttestError
from rai.ledger.chain import canonical
from rai.ledger.databases.postgres import PART
from rai.ledger.store import SqlLedger
from rai.records import Verification
from tests.postgres.ledger import keys_in, ledger_in
from tests.postgres.server import own_schema
from tests.rai.ledger.test_tampering import ENTRIES, ERASED, ERASURE, body, now_of, state_of
from tests.tables import Tables

TABLES = Tables(__file__)
OVER_A_FILE = Tables(str(Path(__file__).parents[1] / "test_tampering.py")).tables["store"]
OF_SQLITE = ("BLOB", "x'", "char(", "PRAGMA", "sqlite_master")
"""What stands in statements that are SQLite's own: bytes in place of text, which PostgreSQL refuses, and pages."""
KEPT = ("entries", "about")


def portable(row: dict[str, Any]) -> bool:
    """True for a row that is about the entries or the note, in SQL of any database."""
    if row["do"] == "order":
        return True
    statements = row["using"]["run"] if row["do"] in ("sql", "schema") else ["PRAGMA"]
    of_the_note = all(s.startswith(("DELETE FROM about", "UPDATE about", "INSERT INTO about")) for s in statements)
    return (row["do"] == "sql" or of_the_note) and not any(part in s for part in OF_SQLITE for s in statements)


ROWS = [row for row in OVER_A_FILE if portable(row)]


@dataclass(frozen=True)
class Kept:
    """A ledger of which the rows stand in tables beside it too. `erased`, `salt`: what entry `ERASED` had."""

    url: str
    database: Postgres
    key_file: Path
    erased: str
    salt: str

    def run(self, statements: Sequence[str], **values: str) -> None:
        """Run statements in one transaction."""
        with psycopg.connect(self.url) as connection:
            for statement in statements:
                connection.execute(statement.encode(), values or None)

    def verified(self) -> Verification | AttestError:
        try:
            return asyncio.run(SqlLedger(self.database, self.key_file, read_only=True).verify())
        except AttestError as error:
            return error


def unguarded(statements: Sequence[str]) -> list[str]:
    """The statements by somebody who puts the triggers back as they were afterwards, so that these do not give the change away."""
    guards = [s for step in PART.steps for s in step.statements if "ENABLE ALWAYS TRIGGER" in s]
    return [*(f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in KEPT), *statements, *guards]


@pytest.fixture(scope="module")
def kept(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("tampering")
    with own_schema(postgres) as url:
        ledger = ledger_in(url, folder, redact=lambda said, _: said)

        async def make() -> None:
            for n in range(2, ERASURE):
                await ledger.append("turn", body(n, "answer"))
            (entry,) = [e async for e in ledger.entries(after=ERASED - 1, limit=1)]
            salts.append(_salt(url))
            await ledger.erase(entry.entry_id, "asked for")
            for n in range(ERASURE + 1, ENTRIES + 1):
                await ledger.append("turn", body(n, "answer"))
            await ledger.close()

        salts: list[str] = []
        asyncio.run(make())
        made = Kept(url, Postgres(url), keys_in(folder), canonical(body(ERASED, "answer")), salts[0])
        made.run([f"CREATE TABLE kept_{table} AS TABLE {table}" for table in KEPT])
        yield made
        made.database.close()


def _salt(url: str) -> str:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT salt FROM entries WHERE seq = %s", [ERASED]).fetchone()
    assert found is not None
    return str(found[0])


@pytest.fixture
def changed(kept: Kept) -> Iterator[Kept]:
    """The ledger, whose rows are put back afterwards."""
    yield kept
    kept.run(unguarded([s for t in KEPT for s in (f"TRUNCATE {t}", f"INSERT INTO {t} SELECT * FROM kept_{t}")]))


def reordered(entries: Sequence[int]) -> list[str]:
    """Statements that let entries stand in another order, numbered anew; who is named twice stands twice, under another id."""
    columns, statements = "at, kind, salt, body, digest, prev, mac", ["DELETE FROM entries"]
    for seq, n in enumerate(entries, start=1):
        name = "entry_id" if n not in entries[: seq - 1] else "left(entry_id, 25) || 'U'"
        statements.append(
            f"INSERT INTO entries (seq, entry_id, {columns}) SELECT {seq}, {name}, {columns} FROM kept_entries WHERE seq = {n}"
        )
    return statements


def test_the_ledger_is_sound(kept: Kept) -> None:
    said = kept.verified()
    assert isinstance(said, Verification)
    assert (said.ok, said.entries, said.why) == (True, ENTRIES, "")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_what_is_done_to_the_rows(row: dict[str, Any], changed: Kept) -> None:
    if row["do"] == "order":
        changed.run(unguarded(reordered(row["using"]["entries"])))
    else:
        statements = [s.replace(":erased", "%(erased)s").replace(":salt", "%(salt)s") for s in row["using"]["run"]]
        changed.run(unguarded(statements), erased=changed.erased, salt=changed.salt)
    said = changed.verified()
    assert state_of(row, said) == now_of(row), said


def test_most_rows_are_tried_over_both() -> None:
    assert len(ROWS) > 85


@pytest.mark.parametrize("row", TABLES.tables["schema"], ids=lambda row: row["id"])
def test_what_is_done_to_the_schema(row: dict[str, Any], database_url: str, kept: Kept) -> None:
    made = asyncio.run(_begun(database_url, kept.key_file))
    made.run(row["run"])
    said = made.verified()
    made.database.close()
    assert isinstance(said, Verification), said
    assert said.ok == (not row["says"]), said
    assert said.ok == ("why" in row)
    assert any(said.why.startswith(words) for words in str(row["says"]).split("|")), said


async def _begun(url: str, key_file: Path) -> Kept:
    ledger = ledger_in(url, key_file.parents[1])
    await ledger.close()
    return Kept(url, Postgres(url), key_file, "", "")
