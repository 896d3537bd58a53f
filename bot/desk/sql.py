"""Every statement on the tables of the desk's index. What is SQLite's own stands at the end, beside the table of words: another database has its own."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    create_engine,
    delete,
    event,
    func,
    insert,
    literal_column,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from bot.desk import kept_out
from bot.desk.conditions import about, conditions, sound, turns_of
from bot.desk.daily import rounded_up, tally
from bot.desk.rows import ARRIVED, REPORTED, TOLD, DeskRow
from bot.desk.search import DeskSearch
from bot.desk.tables import (
    ABOUT,
    CLAIMS,
    DOCUMENTS,
    ENTRIES,
    FORM,
    MARKS,
    METADATA,
    OPEN,
    RANGE,
    SAID,
    SORTS,
    TEXTS,
    VERSIONS,
)
from bot.events.kinds import QUIET
from grounding.database.sqlite import tell
from grounding.errors import StoreError

BUSY_S = 15.0
FLUSH_MS = 2_000
_ASKED = 500
COUNTED_TABLES = (ENTRIES, CLAIMS, SAID)
_PAIRS = 200
"""Versions of documents that one query names."""


class DamagedError(StoreError):
    """The file of the index cannot be read, or holds what contradicts itself: it is to be made anew from the ledger."""


@dataclass(frozen=True, slots=True)
class SealedAt:
    """Up to where a part of the index was read: number and seal of the entry, and how many rows the part has."""

    seq: int
    mac: str
    count: int


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry as the list shows it. `documents`: those that its answer quotes, or could have quoted."""

    seq: int
    entry_id: str
    at: str
    kind: str
    erased: bool
    outcome: str
    code: str
    channel: str
    user: str
    product: str
    title: str
    arrived: str
    struck: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class QuotedVersion:
    """A version of a document, and how many turns quote it."""

    doc_id: str
    version: str
    turns: int


COLUMNS = tuple(ENTRIES.columns.keys())
_NOTHING_TOLD = ("",) * len(TOLD)
_WAITING = tuple("recorded" if name == ARRIVED else "" for name in TOLD)
"""What is told of an entry when it is written, and of a turn whose delivery is to follow."""
_LISTED = tuple(ENTRIES.c[name] for name in FoundEntry.__slots__)


def last_mark(connection: Connection) -> SealedAt | None:
    """Up to where the index goes; None while it is empty."""
    return _mark(connection.execute(select(MARKS).order_by(MARKS.c.part.desc()).limit(1)).first())


def marks(connection: Connection) -> list[SealedAt]:
    """All marks, the oldest first."""
    return [SealedAt(r.seq, r.mac, r.held) for r in connection.execute(select(MARKS).order_by(MARKS.c.part))]


def counted(connection: Connection, after: int, until: int) -> int:
    """How many rows stand above `after` and up to `until`."""
    of = (ENTRIES.c.seq > after) & (ENTRIES.c.seq <= until)
    return int(connection.execute(select(func.count()).select_from(ENTRIES).where(of)).scalar_one())


def drop_after(connection: Connection, seq: int) -> None:
    """Takes away all rows above `seq`, which must be that of a mark or 0."""
    connection.execute(delete(MARKS).where(MARKS.c.seq > seq))
    told = _told(connection, SAID.c.seq > seq)
    tally(connection, {table.name: table.c.seq > seq for table in COUNTED_TABLES}, -1)
    for table in (ENTRIES, DOCUMENTS, CLAIMS, SAID):
        connection.execute(delete(table).where(table.c.seq > seq))
    _drop_unused(connection)
    kept_out.drop_after(connection, seq)
    _tell_again(connection, told)
    _drop_words_after(connection, seq)


def add(connection: Connection, rows: Sequence[DeskRow]) -> list[str]:
    """Adds the rows of a batch, in the order of the ledger, with its mark. Returns the ids of entries whose text these rows say is gone."""
    clock, back = _clock(connection), timedelta()
    entries, words = [], []
    for row in rows:
        clock, back = _later(clock, row.at, back)
        entries.append(entry_columns(row, clock))
        if row.words:
            words.append((row.seq, sound(row.words.asked), sound(row.words.answered), sound(row.words.beside)))
    if not entries:
        return []
    _insert(connection, ENTRIES.name, COLUMNS, entries)
    _note_back(connection, back)
    _add_beside(connection, rows)
    kept_out.add(connection, rows)
    first, last = rows[0].seq, rows[-1].seq
    tally(connection, {table.name: table.c.seq.between(first, last) for table in COUNTED_TABLES}, 1)
    if words:
        _add_words(connection, words)
    _note_mark(connection, rows)
    return [name for row in rows for name in row.erases]


def forget(connection: Connection, entry_ids: Sequence[str]) -> int:
    """Empties what the index holds of these entries, and says how many had something. `tidy` must follow, before the transaction ends, where any had."""
    found: list[int] = []
    for at in range(0, len(entry_ids), _ASKED):
        part = entry_ids[at : at + _ASKED]
        wanted = select(ENTRIES.c.seq).where(ENTRIES.c.entry_id.in_(part), ENTRIES.c.erased.is_(False))
        found += [r.seq for r in connection.execute(wanted)]
    for at in range(0, len(found), _ASKED):
        part_ = found[at : at + _ASKED]
        told = _told(connection, SAID.c.seq.in_(part_))
        tally(connection, {table.name: table.c.seq.in_(part_) for table in COUNTED_TABLES}, -1)
        for table in (DOCUMENTS, CLAIMS, SAID):
            connection.execute(delete(table).where(table.c.seq.in_(part_)))
        emptied = {**dict.fromkeys(TEXTS, ""), "erased": True, "struck": False, "kept_out": False, "ms": -1}
        kept_out.forget(connection, part_)
        connection.execute(update(ENTRIES).where(ENTRIES.c.seq.in_(part_)).values(emptied))
        _tell_again(connection, told)
        _drop_words(connection, part_)
    if found:
        _drop_unused(connection)
    return len(found)


def listed(connection: Connection, wanted: DeskSearch, size: int) -> list[FoundEntry]:
    """The newest entries of a search, at most `size`."""
    query = select(*_LISTED).where(*conditions(connection, wanted, size)).order_by(ENTRIES.c.seq.desc()).limit(size)
    return [FoundEntry(*row) for row in connection.execute(query)]


def documents_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    """By number of an entry the documents that its answer quotes."""
    found: dict[int, list[str]] = {}
    for at in range(0, len(numbers), _ASKED):
        query = (
            select(DOCUMENTS.c.seq, VERSIONS.c.doc_id)
            .join(VERSIONS, VERSIONS.c.id == DOCUMENTS.c.of)
            .where(DOCUMENTS.c.seq.in_(numbers[at : at + _ASKED]), DOCUMENTS.c.quoted.is_(True))
            .distinct()
        )
        for row in connection.execute(query.order_by(VERSIONS.c.doc_id)):
            found.setdefault(row.seq, []).append(row.doc_id)
    return found


def counts(connection: Connection, wanted: DeskSearch, most: int) -> dict[str, int]:
    """How many entries of each outcome a search finds, the newest `most` of them; "" for what is no turn."""
    of = select(ENTRIES.c.outcome).where(*conditions(connection, wanted, most))
    of = of.order_by(ENTRIES.c.seq.desc()).limit(most)
    inner = of.subquery()
    query = select(inner.c.outcome, func.count()).group_by(inner.c.outcome)
    return {str(name): int(number) for name, number in connection.execute(query)}


def strata(connection: Connection, wanted: DeskSearch, by: str) -> Iterator[tuple[int, str]]:
    """Number and stratum of each entry of a search, streamed. `by`: the name of a column."""
    query = select(ENTRIES.c.seq, ENTRIES.c[by]).where(*conditions(connection, wanted)).order_by(ENTRIES.c.seq)
    for row in connection.execution_options(stream_results=True).execute(query).yield_per(_ASKED):
        yield int(row[0]), str(row[1])


def numbered(connection: Connection, numbers: Sequence[int]) -> list[FoundEntry]:
    """The entries of these numbers, the newest first."""
    found = []
    for at in range(0, len(numbers), _ASKED):
        query = select(*_LISTED).where(ENTRIES.c.seq.in_(numbers[at : at + _ASKED]))
        found += [FoundEntry(*row) for row in connection.execute(query)]
    return sorted(found, key=lambda row: -row.seq)


def waiting(connection: Connection, most: int, among: frozenset[str] | None = None) -> dict[str, int]:
    """By reason of the queue how many turns wait in it, at most `most` of each; those of some people alone if `among` is given."""
    found = {}
    for reason in OPEN:
        of = conditions(connection, DeskSearch(queue=reason, among=among))
        inner = select(ENTRIES.c.seq).where(*of).limit(most).subquery()
        found[reason] = int(connection.execute(select(func.count()).select_from(inner)).scalar_one())
    return found


def reasons(connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    """By number of an entry the reasons for which it waits in the queue."""
    found: dict[int, list[str]] = {}
    for reason, of in OPEN.items():
        for at in range(0, len(numbers), _ASKED):
            for seq in connection.scalars(
                select(ENTRIES.c.seq).where(ENTRIES.c.seq.in_(numbers[at : at + _ASKED]), of)
            ):
                found.setdefault(seq, []).append(reason)
    return found


def place_of(connection: Connection, entry_id: str) -> int:
    """The number of an entry; 0 for one that is not known."""
    return int(connection.execute(select(ENTRIES.c.seq).where(ENTRIES.c.entry_id == entry_id)).scalar() or 0)


def said_of(connection: Connection, turn: str, most: int) -> list[str]:
    """The newest entries that say something of a turn, by id, the oldest first; at most `most`."""
    of = select(ENTRIES.c.entry_id).join(SAID, SAID.c.seq == ENTRIES.c.seq)
    query = of.where(SAID.c.turn == turn, ENTRIES.c.erased.is_(False)).order_by(SAID.c.seq.desc()).limit(most)
    return list(connection.scalars(query))[::-1]


def unanswered(connection: Connection, wanted: DeskSearch, most: int) -> list[tuple[int, str, str, str, str, bool]]:
    """The newest unanswered turns of a search: number, id, time, question, what was searched for, and whether nobody has judged it."""
    c = ENTRIES.c
    query = select(c.seq, c.entry_id, c.at, c.title, c.subject, c.verdict == "")
    of = query.where(*conditions(connection, wanted), c.subject != literal_column("''"))
    return [
        (int(r[0]), str(r[1]), str(r[2]), str(r[3]), str(r[4]), bool(r[5]))
        for r in connection.execute(of.order_by(c.seq.desc()).limit(most))
    ]


def people(connection: Connection) -> list[str]:
    """Everybody who asked or acted, each once, as the first of their entries has it: of each a step along the index, however many entries there are."""
    c = ENTRIES.c
    first = select(func.min(c.user_key).label("key")).where(c.user_key > "")
    keys = first.cte("keys", recursive=True)
    after = select(func.min(c.user_key)).where(c.user_key > keys.c.key).scalar_subquery()
    keys = keys.union_all(select(after).where(keys.c.key.is_not(None)))
    said = select(c.user).where(c.user_key == keys.c.key).order_by(c.seq).limit(1).scalar_subquery()
    return list(connection.scalars(select(said).where(keys.c.key.is_not(None))))


def similar_documents(connection: Connection, part: str, most: int) -> list[str]:
    """Ids of documents that hold these characters, whatever their case; none where a document has just this id."""
    d = VERSIONS.c
    if connection.execute(select(d.doc_id).where(d.doc_id == sound(part)).limit(1)).first() is not None:
        return []
    of = select(d.doc_id).where(func.lower(d.doc_id).contains(sound(part).lower(), autoescape=True)).distinct()
    return list(connection.scalars(of.order_by(d.doc_id).limit(most)))


def began(connection: Connection) -> str:
    """The time of the first entry; "" while there is none."""
    return str(connection.execute(select(ENTRIES.c.at).order_by(ENTRIES.c.seq).limit(1)).scalar() or "")


def quoted(connection: Connection, document: str = "", among: frozenset[str] | None = None) -> list[QuotedVersion]:
    """Every version of a document of the knowledge base that an answer quotes, or those of one document, in all turns or those of some people."""
    d, v = DOCUMENTS.c, VERSIONS.c
    of: list[ColumnElement[bool]] = [
        d.quoted.is_(True),
        d.web.is_(False),
        *([v.doc_id == document] if document else []),
        *([d.seq.in_(turns_of(among, ENTRIES.c.seq))] if among is not None else []),
    ]
    turns = select(d.of, func.count().label("turns")).join(VERSIONS, v.id == d.of).where(*of).group_by(d.of).subquery()
    query = select(v.doc_id, v.version, turns.c.turns).join(turns, turns.c.of == v.id).order_by(v.doc_id, v.version)
    return [QuotedVersion(*row) for row in connection.execute(query)]


def quoting(
    connection: Connection,
    versions: Sequence[tuple[str, str]],
    before: int,
    size: int,
    among: frozenset[str] | None = None,
) -> list[FoundEntry]:
    """The newest turns that quote one of these versions of documents, at most `size`. `before`: only entries with a smaller number; 0 begins at the newest; `among`: those of
    some people.
    """
    d, v, found = DOCUMENTS.c, VERSIONS.c, set[int]()
    for at in range(0, len(versions), _PAIRS):
        of: list[ColumnElement[bool]] = [
            d.quoted.is_(True),
            d.of.in_(select(v.id).where(tuple_(v.doc_id, v.version).in_(versions[at : at + _PAIRS]))),
        ]
        of += [d.seq < before] if before else []
        of += [d.seq.in_(turns_of(among, ENTRIES.c.seq))] if among is not None else []
        found |= set(connection.scalars(select(d.seq).where(*of).distinct().order_by(d.seq.desc()).limit(size)))
    return numbered(connection, sorted(found, reverse=True)[:size])


def erased_to(connection: Connection) -> int:
    """The number of the last erasure that was followed apart from the rest."""
    return int(about(connection, "erased_to") or 0)


def note_erased_to(connection: Connection, seq: int) -> None:
    """Keeps that number."""
    _note(connection, "erased_to", str(seq))


def entry_columns(row: DeskRow, clock: str) -> tuple[Any, ...]:
    """The columns of `entries`, in their order."""
    user = sound(row.user)
    return (
        row.seq,
        sound(row.entry_id),
        sound(row.at),
        clock,
        sound(row.kind),
        row.kind in QUIET,
        row.erased,
        sound(row.outcome),
        sound(row.code),
        sound(row.channel),
        user,
        user.strip().casefold(),
        sound(row.product),
        sound(row.title),
        sound(row.subject),
        *(_WAITING if row.waits else _NOTHING_TOLD),
        any(claim.struck for claim in row.claims),
        bool(row.kept_out),
        rounded_up(row.ms),
    )


def _add_beside(connection: Connection, rows: Sequence[DeskRow]) -> None:
    versions = _ids(connection, VERSIONS, {d[:2] for row in rows for d in row.documents})
    sorts = _ids(connection, SORTS, {claim for row in rows for claim in row.claims})
    documents = [
        (versions[doc_id, version], row.seq, quoted, web)
        for row in rows
        for doc_id, version, quoted, web in row.documents
    ]
    claims = [(sorts[claim], row.seq) for row in rows for claim in row.claims]
    if len(set(versions.values())) < len(versions):  # two texts that no database takes are stored as the same
        documents = list({document[:2]: document for document in documents}.values())
    if len(set(sorts.values())) < len(sorts):
        claims = list(dict.fromkeys(claims))
    said = [
        {"seq": r.seq, "turn": sound(each.turn), "what": each.what, "value": sound(each.value)}
        for r in rows
        for each in r.said
    ]
    if documents:
        _insert(connection, DOCUMENTS.name, DOCUMENTS.columns.keys(), sorted(documents))
    if claims:
        _insert(connection, CLAIMS.name, CLAIMS.columns.keys(), sorted(claims))
    if said:
        connection.execute(insert(SAID), said)
    for each in said:
        _tell(connection, str(each["turn"]), str(each["what"]), str(each["value"]))


def _ids(connection: Connection, table: Table, keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """By key the id under which it stands in `table`; those that do not stand there yet are added. A key has the values of all columns but the id."""
    stored = {key: tuple(sound(value) if isinstance(value, str) else value for value in key) for key in keys}
    known = _known(connection, table, stored.values())
    missing = [key for key in dict.fromkeys(stored.values()) if key not in known]
    if missing:
        names = [c.name for c in table.columns if c.name != "id"]
        connection.execute(insert(table), [dict(zip(names, key, strict=True)) for key in missing])
        known |= _known(connection, table, missing)
    return {key: known[as_stored] for key, as_stored in stored.items()}


def _known(connection: Connection, table: Table, keys: Collection[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    columns, wanted = [c for c in table.columns if c.name != "id"], list(keys)
    found: dict[tuple[Any, ...], int] = {}
    for at in range(0, len(wanted), _PAIRS):
        query = select(table.c.id, *columns).where(tuple_(*columns).in_(wanted[at : at + _PAIRS]))
        found |= {tuple(key): int(number) for number, *key in connection.execute(query)}
    return found


def _drop_unused(connection: Connection) -> None:
    """Takes away versions of documents and sorts of claims that no entry has any more."""
    for names, uses in ((VERSIONS, DOCUMENTS), (SORTS, CLAIMS)):
        connection.execute(delete(names).where(~select(uses.c.seq).where(uses.c.of == names.c.id).exists()))


def _insert(connection: Connection, table: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows with a value for each of the columns `names`, handed to the driver as they are: an index of a million entries has
    ten million of them, and to read each one's names again took a third of the time that making it takes.
    """
    columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    connection.exec_driver_sql(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(rows))  # noqa: S608 - our own names


def _tell(connection: Connection, turn: str, what: str, value: str) -> None:
    """Keeps beside a turn what was said of it last. A second report of a refusal changes nothing: what is known then is the decision, or that it was reported."""
    of = (ENTRIES.c.entry_id == turn) & (ENTRIES.c.kind == "turn") & ENTRIES.c.erased.is_(False)
    if value == REPORTED:
        of &= ENTRIES.c[what] == ""
    connection.execute(update(ENTRIES).where(of).values({what: value}))


def _told(connection: Connection, of: ColumnElement[bool]) -> set[tuple[str, str]]:
    """Of which turns these entries say what."""
    return {(r.turn, r.what) for r in connection.execute(select(SAID.c.turn, SAID.c.what).where(of))}


def _tell_again(connection: Connection, told: Iterable[tuple[str, str]]) -> None:
    """What is known of these turns once entries that told it are gone: what was said before, or nothing; of a reply that it was recorded."""
    for turn, what in sorted(told):
        _tell(connection, turn, what, "recorded" if what == ARRIVED else "")
        of = select(SAID.c.value).where(SAID.c.turn == turn, SAID.c.what == what).order_by(SAID.c.seq)
        for value in connection.scalars(of).all():
            _tell(connection, turn, what, str(value))


def _note_mark(connection: Connection, rows: Sequence[DeskRow]) -> None:
    ends: dict[int, DeskRow] = {row.seq // RANGE: row for row in rows}
    for part, row in ends.items():
        before = connection.execute(select(MARKS.c.held).where(MARKS.c.part == part)).scalar()
        count = (before or 0) + sum(r.seq // RANGE == part for r in rows)
        connection.execute(delete(MARKS).where(MARKS.c.part == part))
        connection.execute(insert(MARKS).values(part=part, seq=row.seq, mac=row.mac, held=count))


def _mark(row: Any) -> SealedAt | None:
    return None if row is None else SealedAt(row.seq, row.mac, row.held)


def _clock(connection: Connection) -> str:
    """The latest time of all entries so far: it only ever grows, so a time leads to a number."""
    return str(connection.execute(select(ENTRIES.c.clock).order_by(ENTRIES.c.seq.desc()).limit(1)).scalar() or "")


def _later(clock: str, at: str, back: timedelta) -> tuple[str, timedelta]:
    """The latest time with that of the next entry, and by how much the clock was set back at most."""
    if at >= clock:
        return at, back
    with suppress(ValueError):
        return clock, max(back, datetime.fromisoformat(clock) - datetime.fromisoformat(at))
    return clock, max(back, timedelta(days=1))


def _note_back(connection: Connection, back: timedelta) -> None:
    known = float(about(connection, "back_s") or 0)
    if back.total_seconds() > known:
        _note(connection, "back_s", str(back.total_seconds()))


def _note(connection: Connection, name: str, value: str) -> None:
    connection.execute(delete(ABOUT).where(ABOUT.c.name == name))
    connection.execute(insert(ABOUT).values(name=name, value=value))


# What follows is SQLite's own: the file, its log, and the table of words.

_WORDS = "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(asked, answered, beside, tokenize='unicode61 remove_diacritics 2')"


def engine_for(path: Path) -> Engine:
    """An engine on the file, which is made with mode 0600 where it is missing. A file that is none of ours, is damaged or of another form is made anew: all that it
    holds stands in the ledger. Raises StoreError.
    """
    with store_errors():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        engine = _engine(path)
        try:
            fits = _prepared(engine)
        except OperationalError:
            engine.dispose()
            raise
        except DatabaseError:  # not a database, or damaged
            fits = False
        if not fits:
            engine.dispose()
            remove(path)
            engine = _engine(path)
            _prepared(engine)
        return engine


def remove(path: Path) -> None:
    """Takes the file away, with its log. Raises StoreError."""
    with store_errors():
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(name).unlink(missing_ok=True)


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _engine(path: Path) -> Engine:
    with suppress(FileExistsError):  # to open and close one that is there would drop this process's locks on it
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_S})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        # what a crash takes from it is read from the ledger again; what is erased is overwritten
        tell(connection, ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"), BUSY_S)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _prepared(engine: Engine) -> bool:
    """Makes the tables that are missing; False if the file is of another form."""
    with engine.execution_options(immediate=True).begin() as connection:
        if connection.dialect.has_table(connection, "about"):
            return about(connection, "form") == FORM
        METADATA.create_all(connection)
        connection.execute(text(_WORDS))
        _note(connection, "form", FORM)
        return True


def tidy(connection: Connection) -> None:
    """Writes the table of words anew without what was deleted: until then it keeps deleted words beside a mark that they are gone."""
    connection.execute(text("INSERT INTO words(words) VALUES ('optimize')"))


def flush(engine: Engine) -> bool:
    """Folds the write-ahead log into the file and empties it, so that erased text does not live on there. False if somebody who reads keeps it from that."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        (usual,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute(f"PRAGMA busy_timeout={min(usual, FLUSH_MS)}")
        (busy, *_) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        cursor.execute(f"PRAGMA busy_timeout={usual}")
        return not busy
    finally:
        raw.close()


def _add_words(connection: Connection, rows: Sequence[tuple[int, str, str, str]]) -> None:
    _insert(connection, "words", ("rowid", "asked", "answered", "beside"), rows)


def _drop_words(connection: Connection, numbers: Iterable[int]) -> None:
    gone = [{"seq": number} for number in numbers]
    if gone:
        connection.execute(text("DELETE FROM words WHERE rowid = :seq"), gone)


def _drop_words_after(connection: Connection, seq: int) -> None:
    connection.execute(text("DELETE FROM words WHERE rowid > :seq"), {"seq": seq})


def words_of(connection: Connection, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
    """By number of an entry its question and its answer."""
    found = {}
    for number in numbers:
        row = connection.execute(text("SELECT asked, answered FROM words WHERE rowid = :seq"), {"seq": number}).first()
        if row is not None:
            found[number] = (str(row[0]), str(row[1]))
    return found


@contextmanager
def store_errors() -> Iterator[None]:
    """Raises StoreError, on one line and without the statement, for whatever the database or the disk says; DamagedError where that is of the file itself."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig)
        kind = DamagedError if any(sign in said for sign in _OF_DAMAGE) else StoreError
        raise kind(f"the index of the reviewers' desk cannot be used: {_plain(said)}") from None
    except (SQLAlchemyError, OSError) as error:
        raise StoreError(f"the index of the reviewers' desk cannot be used ({type(error).__name__})") from None


_OF_DAMAGE = ("malformed", "not a database", "constraint failed", "no such table", "no such column")


def _plain(message: str) -> str:
    if "locked" in message or "busy" in message:
        return "another process holds it locked"
    if "full" in message:
        return "the disk is full"
    if any(sign in message for sign in _OF_DAMAGE):
        return "it is damaged, and is made anew from the ledger"
    return message.splitlines()[0][:120]
