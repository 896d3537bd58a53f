"""The ledger in PostgreSQL: the tables that its owner makes, what may be done to them, and what `verify` looks at.

A worker may SELECT and INSERT. Triggers refuse UPDATE, DELETE and TRUNCATE, to the owner too; `attest_erase` alone empties bodies, and only those that the
last entry, of kind `erase`, names.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Connection, TextClause, bindparam, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.types import Text

from grounding.database.postgres import FULL, Postgres, refuse_unfit, state_of, told, why
from grounding.database.schema import SchemaPart, Step, refuse_other, states
from grounding.database.tables import KeptTable
from grounding.errors import StoreError
from rai.ledger import sql
from rai.ledger.chain import SealedRow
from rai.ledger.databases.form import RecordedTurn, RecordedTwice

LOCK = "ledger"
"""The lock of whoever alone writes now."""
FULL_S = 30.0
"""Seconds for which a server that had no room for an entry counts as full: nothing but an entry finds out whether it still is, so others are sent again then."""
ERASE_WAIT_S = 2
"""Seconds that an erasure waits for those who read: no turn can be recorded meanwhile."""
DAMAGED = frozenset({"42P01", "42703", "42883", "XX001", "XX002"})
"""What an SQLSTATE says of what is stored: a table, a column or a function is gone, or a page cannot be read."""
_REFUSE = """
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END
"""
_REFUSE_UPDATE = """
DECLARE
    said text;
BEGIN
    SELECT substring(e.body FROM '"entry_ids":\\[([^]]*)\\]') INTO said FROM entries e
        WHERE e.seq = (SELECT max(seq) FROM entries) AND e.kind = 'erase' AND e.seq > OLD.seq;
    IF NEW.salt IS NULL AND NEW.body IS NULL AND NEW.seq = OLD.seq AND NEW.entry_id = OLD.entry_id
        AND NEW.at = OLD.at AND NEW.kind = OLD.kind AND NEW.digest = OLD.digest AND NEW.prev = OLD.prev
        AND NEW.mac = OLD.mac AND position('"' || OLD.entry_id || '"' IN said) > 0
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the ledger is append-only';
END
"""
_ERASE = """
DECLARE
    emptied integer;
BEGIN
    UPDATE entries SET body = NULL, salt = NULL WHERE entry_id = ANY (ids);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- the table anew, without what it held: an UPDATE leaves the old row in its page, VACUUM its bytes in the hole
    ALTER TABLE entries ALTER COLUMN body TYPE text COLLATE "C" USING body || '';
    RETURN emptied;
END
"""
_FUNCTIONS = {
    "attest_refuse": ("() RETURNS trigger", _REFUSE, ()),
    "attest_refuse_update": ("() RETURNS trigger", _REFUSE_UPDATE, ()),
    "attest_erase": (
        "(ids text[]) RETURNS integer",
        _ERASE,
        ("SECURITY DEFINER", f"SET lock_timeout = '{ERASE_WAIT_S}s'"),
    ),
}
"""Of each function what it takes and gives, its text, and how it is run."""
_TRIGGERS = {
    "entries_no_update": "BEFORE UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION attest_refuse_update()",
    "entries_no_delete": "BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION attest_refuse()",
    "entries_no_truncate": "BEFORE TRUNCATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION attest_refuse()",
    "about_no_update": "BEFORE DELETE OR UPDATE ON about FOR EACH ROW EXECUTE FUNCTION attest_refuse()",
    "about_no_truncate": "BEFORE TRUNCATE ON about FOR EACH STATEMENT EXECUTE FUNCTION attest_refuse()",
}
_TABLES = (
    """
CREATE TABLE entries (
    seq bigint CONSTRAINT entries_pkey PRIMARY KEY,
    entry_id text COLLATE "C" NOT NULL CONSTRAINT entries_entry_id_key UNIQUE,
    at text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    salt text COLLATE "C",
    body text COLLATE "C",
    digest text COLLATE "C" NOT NULL,
    prev text COLLATE "C" NOT NULL,
    mac text COLLATE "C" NOT NULL)""",
    "CREATE INDEX entries_of_kind ON entries (kind, seq)",
    # no samples of what may be erased: they would keep it in the catalogue
    "ALTER TABLE entries ALTER COLUMN salt SET STATISTICS 0, ALTER COLUMN body SET STATISTICS 0",
    """
CREATE TABLE about (
    name text COLLATE "C" CONSTRAINT about_pkey PRIMARY KEY,
    value text COLLATE "C" NOT NULL)""",
    """
CREATE TABLE recorded_turns (
    turn text COLLATE "C",
    kind text COLLATE "C",
    entry_id text COLLATE "C" NOT NULL,
    CONSTRAINT recorded_turns_pkey PRIMARY KEY (turn, kind))""",
)

_ONCE = "recorded_turns_pkey"


def _arrays(statement: str) -> TextClause:
    """A statement whose parameters are columns, each an array: one round trip, however many rows."""
    found = text(statement)
    return found.bindparams(
        *(bindparam(n, type_=ARRAY(BigInteger() if n == "seq" else Text())) for n in found.compile().params)
    )


_ADD = _arrays(
    "INSERT INTO entries (seq, entry_id, at, kind, salt, body, digest, prev, mac) "
    "SELECT * FROM unnest(:seq, :entry_id, :at, :kind, :salt, :body, :digest, :prev, :mac)"
)
_ADD_WITH_TURNS = _arrays(
    "WITH noted AS (INSERT INTO recorded_turns (turn, kind, entry_id) SELECT * FROM unnest(:of_turn, :of_kind, :of_entry_id)) "
    "INSERT INTO entries (seq, entry_id, at, kind, salt, body, digest, prev, mac) "
    "SELECT * FROM unnest(:seq, :entry_id, :at, :kind, :salt, :body, :digest, :prev, :mac)"
)


def _functions() -> Iterator[str]:
    for name, (signature, body, how) in _FUNCTIONS.items():
        settings = " ".join((*how, "SET search_path = {schema}, pg_temp"))
        yield f"CREATE FUNCTION {name}{signature} LANGUAGE plpgsql {settings} AS $of${body}$of$"
    yield "REVOKE ALL ON FUNCTION attest_erase FROM PUBLIC"


def _triggers() -> Iterator[str]:
    for name, what in _TRIGGERS.items():
        yield f"CREATE TRIGGER {name} {what}"
        yield f"ALTER TABLE {name.partition('_')[0]} ENABLE ALWAYS TRIGGER {name}"


LOG = logging.getLogger("attest")
PART = SchemaPart(
    "ledger",
    (Step((*_TABLES, *_functions(), *_triggers()), oldest=1),),
    rights=(
        "GRANT SELECT, INSERT ON entries, about, recorded_turns TO {worker}",
        "GRANT EXECUTE ON FUNCTION attest_erase TO {worker}",
    ),
    tables=(
        KeptTable("entries", "seq entry_id at kind salt body digest prev mac", "seq"),
        KeptTable("about", "name value", "name"),
        KeptTable("recorded_turns", "turn kind entry_id", "turn kind", shared_alone=True),
    ),
)
"""The tables of the ledger, with what guards them."""

_AS_THEY_ARE = text(
    """
WITH made AS (
    SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace
        AND relname IN ('entries', 'about', 'recorded_turns') AND relkind NOT IN ('i', 'I', 'c'))
SELECT 'table' AS what, relname::text AS name, concat_ws(' ', relkind, relpersistence, relrowsecurity,
        relforcerowsecurity, relispartition, (SELECT amname FROM pg_am WHERE oid = relam)) AS said FROM made
UNION ALL
SELECT 'column', made.relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod),
        (SELECT collname FROM pg_collation WHERE oid = attcollation), CASE WHEN attnotnull THEN 'needed' END,
        pg_get_expr(adbin, adrelid), nullif(attgenerated, ''), nullif(attidentity, ''), coalesce(attstattarget, -1))
    FROM made JOIN pg_attribute ON attrelid = made.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'constraint', made.relname || '.' || conname, concat_ws(' ', pg_get_constraintdef(c.oid), convalidated)
    FROM made JOIN pg_constraint c ON conrelid = made.oid WHERE contype <> 'n'
UNION ALL
SELECT 'index', x.relname, concat_ws(' ', replace(pg_get_indexdef(indexrelid), quote_ident(current_schema()) || '.', ''), indisvalid)
    FROM made JOIN pg_index ON indrelid = made.oid JOIN pg_class x ON x.oid = indexrelid
UNION ALL
SELECT 'trigger', tgname, concat_ws(' ', tgenabled, pg_get_triggerdef(t.oid, true))
    FROM made JOIN pg_trigger t ON tgrelid = made.oid WHERE NOT tgisinternal
UNION ALL
SELECT 'function', p.oid::regprocedure::text, concat_ws(' ', pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), lanname, prosecdef,
        array_to_string(proconfig, ' '), prosrc)
    FROM pg_proc p JOIN pg_language l ON l.oid = prolang
    WHERE pronamespace = current_schema()::regnamespace AND proname IN ('attest_refuse', 'attest_refuse_update', 'attest_erase')
UNION ALL
SELECT 'rule', rulename, pg_get_ruledef(r.oid) FROM made JOIN pg_rewrite r ON ev_class = made.oid
UNION ALL
SELECT 'policy', polname, polcmd::text FROM made JOIN pg_policy ON polrelid = made.oid
UNION ALL
SELECT 'table below or above', inhrelid::regclass || ' ' || inhparent::regclass, ''
    FROM made JOIN pg_inherits ON made.oid IN (inhrelid, inhparent)
UNION ALL
SELECT 'right', concat_ws(' ', privilege_type, 'on', made.relname, 'of', coalesce((SELECT rolname FROM pg_roles WHERE oid = grantee), 'everybody')), ''
    FROM made, aclexplode(relacl) WHERE grantee <> relowner AND privilege_type NOT IN ('SELECT', 'INSERT')
UNION ALL
SELECT 'right', concat_ws(' ', privilege_type, 'on', made.relname || '.' || attname), ''
    FROM made JOIN pg_attribute ON attrelid = made.oid, aclexplode(attacl)
    WHERE grantee <> relowner AND privilege_type NOT IN ('SELECT', 'INSERT')
"""
)


def excess(connection: Connection, worker: str) -> list[str]:
    """What a worker's role may do with the ledger's tables, by whatever way, that no worker may: such a role can have it written anew."""
    may = text("SELECT has_table_privilege(:worker, :name, :right)")
    return [
        f"role {worker} may {right} {table.name}: a server needs a role that is neither the owner, nor a member of it, nor a superuser"
        for table in PART.tables
        for right in ("UPDATE", "DELETE", "TRUNCATE")
        if connection.execute(may, {"worker": worker, "name": table.name, "right": right}).scalar_one()
    ]


def _as_made(schema: str) -> dict[tuple[str, str], str]:
    """What `_AS_THEY_ARE` says of tables that nobody changed. `schema`: its quoted name."""
    long = {
        "entries": "entry_id at kind salt body digest prev mac",
        "about": "name value",
        "recorded_turns": "turn kind entry_id",
    }
    made = {("table", name): "r p f f f heap" for name in long}
    for table, names in long.items():
        for name in names.split():
            free = name in ("salt", "body")
            made["column", f"{table}.{name}"] = "text C 0" if free else "text C needed -1"
    made["column", "entries.seq"] = "bigint needed -1"
    for table, name, kind, columns in (
        ("entries", "entries_pkey", "PRIMARY KEY", "seq"),
        ("entries", "entries_entry_id_key", "UNIQUE", "entry_id"),
        ("about", "about_pkey", "PRIMARY KEY", "name"),
        ("recorded_turns", "recorded_turns_pkey", "PRIMARY KEY", "turn, kind"),
    ):
        made["constraint", f"{table}.{name}"] = f"{kind} ({columns}) t"
        made["index", name] = f"CREATE UNIQUE INDEX {name} ON {table} USING btree ({columns}) t"
    made["index", "entries_of_kind"] = "CREATE INDEX entries_of_kind ON entries USING btree (kind, seq) t"
    for name, what in _TRIGGERS.items():
        made["trigger", name] = f"A CREATE TRIGGER {name} {what}"
    for name, (signature, body, how) in _FUNCTIONS.items():
        taken, _, given = signature.partition(" RETURNS ")
        waits = [f"lock_timeout={ERASE_WAIT_S}s"] if len(how) > 1 else []
        settings = " ".join([*waits, f"search_path={schema}, pg_temp"])
        parts = [taken.strip("()"), given, "plpgsql", "t" if how else "f", settings, body]
        kinds = ",".join(part.split(" ")[1] for part in taken.strip("()").split(", ") if part)
        made["function", f"{name}({kinds})"] = " ".join(part for part in parts if part or part is parts[0])
    return made


def _constraint(error: IntegrityError) -> str | None:
    """The constraint that was not kept."""
    diagnosis: Any = getattr(error.orig, "diag", None)
    found = getattr(diagnosis, "constraint_name", None)
    return None if found is None else str(found)


class PostgresLedger:
    """The schema of `database` as a `LedgerDatabase`. Nothing of it is made: that is its owner's."""

    makes_keys = False
    exists = True

    def __init__(self, database: Postgres) -> None:
        self._database = database
        self._full_at: float | None = (
            None  # of the last entry that the server had no room for; None behind one that it took
        )
        with self.errors(), database.reading() as connection:
            refuse_other(connection, PART)
            name, self._schema = connection.execute(
                text("SELECT current_database(), quote_ident(current_schema())")
            ).one()
        self.place = f"postgresql/{name}/{self._schema}"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._database.reading("entries", "about") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._database.writing(LOCK) as connection:
            yield connection

    @contextmanager
    def errors(self) -> Iterator[None]:
        with told("the ledger"):
            yield

    def prepare(self, connection: Connection) -> list[str]:
        refuse_unfit(connection)
        return []

    def make_empty(self) -> AbstractContextManager[Connection]:
        raise NotImplementedError("a database that is shared is there, or cannot be used")

    def reader(self, connection: Connection) -> sql.Reader:  # noqa: ARG002
        return sql.Reader()

    def bring_up(self, connection: Connection) -> None:
        """Nothing: no older program wrote here."""

    def add(
        self, connection: Connection, rows: Sequence[SealedRow], turns: Sequence[RecordedTurn], *, last: bool = False
    ) -> None:
        entries = {name: [getattr(row, name) for row in rows] for name in SealedRow.__slots__}
        noted = {f"of_{name}": [getattr(turn, name) for turn in turns] for name in RecordedTurn._fields}
        try:
            with self._database.committing(connection) if last else nullcontext():
                connection.execute(_ADD_WITH_TURNS if turns else _ADD, entries | noted if turns else entries)
        except IntegrityError as error:
            if _constraint(error) == _ONCE:
                raise RecordedTwice from None
            raise
        except DBAPIError as error:
            self._full_at = time.monotonic() if state_of(error) == FULL else None
            raise
        self._full_at = None

    def recorded(self, connection: Connection, turn: str, kind: str) -> str | None:
        found = connection.execute(
            text("SELECT entry_id FROM recorded_turns WHERE turn = :turn AND kind = :kind"),
            {"turn": turn, "kind": kind},
        ).scalar()
        return None if found is None else str(found)

    def empty_bodies(self, connection: Connection, entry_ids: Sequence[str]) -> None:
        erase = text("SELECT attest_erase(:ids)").bindparams(bindparam("ids", type_=ARRAY(Text())))
        connection.execute(erase, {"ids": list(entry_ids)})

    def faults(self, connection: Connection, *, salted: bool, pages: bool) -> Iterator[str]:  # noqa: ARG002
        found = {(row.what, row.name): row.said for row in connection.execute(_AS_THEY_ARE)}
        made = _as_made(self._schema)
        for (what, name), said in made.items():
            if (what, name) not in found:
                yield f"changed: the {what} {name} is gone"
            elif found[what, name] != said:
                yield f"changed: the {what} {name} is not as it was made"
        (state,) = states(connection, [PART])
        if state.number > PART.number:  # what the next release put there cannot be told from what somebody else did
            LOG.warning(
                "the ledger's schema %d is newer than this program's %d: nothing is said of what it does not know there",
                state.number,
                PART.number,
            )
            return
        for what, name in sorted(found.keys() - made.keys()):
            yield f"changed: the store holds a foreign {what}, {name[:60]!r}"

    def damage(self, error: DBAPIError) -> str | None:
        return why(error) if state_of(error) in DAMAGED else None

    def refuse_another(self) -> None:
        """Nothing: a database that was put in another's place has ended the connections of that."""

    def refuse_full(self, connection: Connection) -> None:
        refuse_unfit(connection)
        if self._full_at is not None and time.monotonic() - self._full_at < FULL_S:
            raise StoreError("the ledger cannot be used: the disk of its server is full")

    def flush(self, wait_s: float | None = None) -> bool:  # noqa: ARG002
        """True: erased text has left the tables with the erasure. The server's own log keeps it as long as its owner says."""
        return True

    def close(self) -> None:
        self._database.close()
