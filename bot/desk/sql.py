"""The tables of the desk's index and every statement on them. What is SQLite's own stands at the end, beside the table of words: another database has its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    and_,
    case,
    create_engine,
    delete,
    event,
    false,
    func,
    insert,
    select,
    text,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from bot.desk.rows import ARRIVED, REPORTED, DeskRow
from bot.desk.search import IN_EVIDENCE, UNSUPPORTED, DeskSearch, day_after
from bot.events.kinds import EVERY, QUIET
from grounding.errors import StoreError
from rai.records import UNSUPPORTED as WRONG

FORM = "2"
"""Of the tables and of what is read from an entry; an index of another form is made anew."""
RANGE = 1_000
"""Numbers of entries that one mark covers."""
BUSY_S = 15.0
FLUSH_MS = 2_000
_ASKED = 500
_FEW = 5_000
"""Turns of a team that are listed before a search; of more, each entry that is looked at is asked whose it is."""
_PAIRS = 200
"""Versions of documents that one query names."""
_METADATA = MetaData()
_ABOUT = Table("about", _METADATA, Column("name", String, primary_key=True), Column("value", String, nullable=False))
_MARKS = Table(
    "marks",
    _METADATA,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, nullable=False),
    Column("mac", String, nullable=False),
    Column("held", Integer, nullable=False),
)
_ENTRIES = Table(
    "entries",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("entry_id", String, nullable=False, unique=True),
    Column("at", String, nullable=False),
    Column("clock", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("quiet", Boolean, nullable=False),
    Column("erased", Boolean, nullable=False),
    Column("outcome", String, nullable=False),
    Column("code", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("user", String, nullable=False),
    Column("user_key", String, nullable=False),
    Column("product", String, nullable=False),
    Column("title", String, nullable=False),
    Column(ARRIVED, String, nullable=False),
    Column("struck", Boolean, nullable=False),
)
_DOCUMENTS = Table(
    "documents",
    _METADATA,
    Column("doc_id", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("version", String, primary_key=True),
    Column("quoted", Boolean, nullable=False),
    Column("web", Boolean, nullable=False),
)
_CLAIMS = Table(
    "claims",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, primary_key=True),
    Column("status", String, primary_key=True),
    Column("rule", String, primary_key=True),
    Column("struck", Boolean, primary_key=True),
)
_SAID = Table(
    "said",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("turn", String, nullable=False),
    Column("what", String, nullable=False),
    Column("value", String, nullable=False),
)
Index("entries_clock", _ENTRIES.c.clock, _ENTRIES.c.seq)
Index("entries_shown", _ENTRIES.c.quiet, _ENTRIES.c.seq, _ENTRIES.c.outcome, _ENTRIES.c.kind, _ENTRIES.c.user_key)
Index("entries_kind", _ENTRIES.c.kind, _ENTRIES.c.seq)
Index("entries_outcome", _ENTRIES.c.outcome, _ENTRIES.c.seq)
Index("entries_user", _ENTRIES.c.user_key, _ENTRIES.c.seq)
Index("entries_arrived", _ENTRIES.c[ARRIVED], _ENTRIES.c.seq)
Index("entries_struck", _ENTRIES.c.struck, _ENTRIES.c.seq, _ENTRIES.c.outcome)
Index("documents_seq", _DOCUMENTS.c.seq)
Index("claims_status", _CLAIMS.c.status, _CLAIMS.c.seq)
Index("claims_kind", _CLAIMS.c.kind, _CLAIMS.c.seq)
Index("claims_rule", _CLAIMS.c.rule, _CLAIMS.c.seq)
Index("said_turn", _SAID.c.turn, _SAID.c.what, _SAID.c.seq)
Index("said_value", _SAID.c.what, _SAID.c.value, _SAID.c.turn)
_TEXTS = ("outcome", "code", "channel", "user", "user_key", "product", "title", ARRIVED)
"""Columns that are emptied with the entry."""


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


@dataclass(frozen=True, slots=True)
class QuotedVersion:
    """A version of a document, and how many turns quote it."""

    doc_id: str
    version: str
    turns: int


_LISTED = tuple(_ENTRIES.c[name] for name in FoundEntry.__slots__)


def last_mark(connection: Connection) -> SealedAt | None:
    """Up to where the index goes; None while it is empty."""
    return _mark(connection.execute(select(_MARKS).order_by(_MARKS.c.part.desc()).limit(1)).first())


def marks(connection: Connection) -> list[SealedAt]:
    """All marks, the oldest first."""
    return [SealedAt(r.seq, r.mac, r.held) for r in connection.execute(select(_MARKS).order_by(_MARKS.c.part))]


def counted(connection: Connection, after: int, until: int) -> int:
    """How many rows stand above `after` and up to `until`."""
    of = (_ENTRIES.c.seq > after) & (_ENTRIES.c.seq <= until)
    return int(connection.execute(select(func.count()).select_from(_ENTRIES).where(of)).scalar_one())


def drop_after(connection: Connection, seq: int) -> None:
    """Takes away all rows above `seq`, which must be that of a mark or 0."""
    gone = [r.seq for r in connection.execute(select(_ENTRIES.c.seq).where(_ENTRIES.c.seq > seq))]
    connection.execute(delete(_MARKS).where(_MARKS.c.seq > seq))
    turns = [r.turn for r in connection.execute(select(_SAID.c.turn).where(_SAID.c.seq > seq, _SAID.c.what == ARRIVED))]
    for table in (_ENTRIES, _DOCUMENTS, _CLAIMS, _SAID):
        connection.execute(delete(table).where(table.c.seq > seq))
    for turn in turns:
        _arrived_again(connection, turn)
    _drop_words(connection, gone)


def add(connection: Connection, rows: Sequence[DeskRow]) -> list[str]:
    """Adds the rows of a batch, in the order of the ledger, with its mark. Returns the ids of entries whose text these rows say is gone."""
    clock, back = _clock(connection), timedelta()
    entries, words = [], []
    for row in rows:
        clock, back = _later(clock, row.at, back)
        entries.append(_entry(row, clock))
        if row.words:
            words.append({"seq": row.seq, **{n: _sound(getattr(row.words, n)) for n in row.words.__slots__}})
    if not entries:
        return []
    connection.execute(insert(_ENTRIES), entries)
    _note_back(connection, back)
    _add_beside(connection, rows)
    if words:
        _add_words(connection, words)
    _note_mark(connection, rows)
    return [name for row in rows for name in row.erases]


def forget(connection: Connection, entry_ids: Sequence[str]) -> int:
    """Empties what the index holds of these entries, and says how many had something. `tidy` must follow, before the transaction ends, where any had."""
    found: list[int] = []
    for at in range(0, len(entry_ids), _ASKED):
        part = entry_ids[at : at + _ASKED]
        wanted = select(_ENTRIES.c.seq).where(_ENTRIES.c.entry_id.in_(part), _ENTRIES.c.erased.is_(False))
        found += [r.seq for r in connection.execute(wanted)]
    for at in range(0, len(found), _ASKED):
        part_ = found[at : at + _ASKED]
        said = connection.execute(select(_SAID.c.turn).where(_SAID.c.seq.in_(part_), _SAID.c.what == ARRIVED))
        turns = [r.turn for r in said]
        for table in (_DOCUMENTS, _CLAIMS, _SAID):
            connection.execute(delete(table).where(table.c.seq.in_(part_)))
        emptied = {**dict.fromkeys(_TEXTS, ""), "erased": True, "struck": False}
        connection.execute(update(_ENTRIES).where(_ENTRIES.c.seq.in_(part_)).values(emptied))
        for turn in turns:
            _arrived_again(connection, turn)
        _drop_words(connection, part_)
    return len(found)


def listed(connection: Connection, wanted: DeskSearch, size: int) -> list[FoundEntry]:
    """The newest entries of a search, at most `size`."""
    query = select(*_LISTED).where(*_conditions(connection, wanted)).order_by(_ENTRIES.c.seq.desc()).limit(size)
    return [FoundEntry(*row) for row in connection.execute(query)]


def documents_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    """By number of an entry the documents that its answer quotes."""
    found: dict[int, list[str]] = {}
    for at in range(0, len(numbers), _ASKED):
        query = (
            select(_DOCUMENTS.c.seq, _DOCUMENTS.c.doc_id)
            .where(_DOCUMENTS.c.seq.in_(numbers[at : at + _ASKED]), _DOCUMENTS.c.quoted.is_(True))
            .distinct()
        )
        for row in connection.execute(query.order_by(_DOCUMENTS.c.doc_id)):
            found.setdefault(row.seq, []).append(row.doc_id)
    return found


def counts(connection: Connection, wanted: DeskSearch, most: int) -> dict[str, int]:
    """How many entries of each outcome a search finds, the newest `most` of them; "" for what is no turn."""
    of = select(_ENTRIES.c.outcome).where(*_conditions(connection, wanted)).order_by(_ENTRIES.c.seq.desc()).limit(most)
    inner = of.subquery()
    query = select(inner.c.outcome, func.count()).group_by(inner.c.outcome)
    return {str(name): int(number) for name, number in connection.execute(query)}


def strata(connection: Connection, wanted: DeskSearch, by: str) -> Iterator[tuple[int, str]]:
    """Number and stratum of each entry of a search, streamed. `by`: the name of a column."""
    query = select(_ENTRIES.c.seq, _ENTRIES.c[by]).where(*_conditions(connection, wanted)).order_by(_ENTRIES.c.seq)
    for row in connection.execution_options(stream_results=True).execute(query).yield_per(_ASKED):
        yield int(row[0]), str(row[1])


def numbered(connection: Connection, numbers: Sequence[int]) -> list[FoundEntry]:
    """The entries of these numbers, the newest first."""
    found = []
    for at in range(0, len(numbers), _ASKED):
        query = select(*_LISTED).where(_ENTRIES.c.seq.in_(numbers[at : at + _ASKED]))
        found += [FoundEntry(*row) for row in connection.execute(query)]
    return sorted(found, key=lambda row: -row.seq)


def people(connection: Connection) -> list[str]:
    """Everybody who asked or acted, each once, as the first of their entries has it: of each a step along the index, however many entries there are."""
    c = _ENTRIES.c
    first = select(func.min(c.user_key).label("key")).where(c.user_key > "")
    keys = first.cte("keys", recursive=True)
    after = select(func.min(c.user_key)).where(c.user_key > keys.c.key).scalar_subquery()
    keys = keys.union_all(select(after).where(keys.c.key.is_not(None)))
    said = select(c.user).where(c.user_key == keys.c.key).order_by(c.seq).limit(1).scalar_subquery()
    return list(connection.scalars(select(said).where(keys.c.key.is_not(None))))


def quoted(connection: Connection, document: str = "", among: frozenset[str] | None = None) -> list[QuotedVersion]:
    """Every version of a document of the knowledge base that an answer quotes, or those of one document, in all turns or those of some people."""
    d = _DOCUMENTS.c
    of: list[ColumnElement[bool]] = [
        d.quoted.is_(True),
        d.web.is_(False),
        *([d.doc_id == document] if document else []),
        *([d.seq.in_(_turns_of(among, _ENTRIES.c.seq))] if among is not None else []),
    ]
    query = select(d.doc_id, d.version, func.count()).where(*of).group_by(d.doc_id, d.version)
    return [QuotedVersion(*row) for row in connection.execute(query.order_by(d.doc_id, d.version))]


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
    d, found = _DOCUMENTS.c, set[int]()
    for at in range(0, len(versions), _PAIRS):
        of: list[ColumnElement[bool]] = [
            d.quoted.is_(True),
            tuple_(d.doc_id, d.version).in_(versions[at : at + _PAIRS]),
        ]
        of += [d.seq < before] if before else []
        of += [d.seq.in_(_turns_of(among, _ENTRIES.c.seq))] if among is not None else []
        found |= set(connection.scalars(select(d.seq).where(*of).distinct().order_by(d.seq.desc()).limit(size)))
    return numbered(connection, sorted(found, reverse=True)[:size])


def erased_to(connection: Connection) -> int:
    """The number of the last erasure that was followed apart from the rest."""
    return int(_about(connection, "erased_to") or 0)


def note_erased_to(connection: Connection, seq: int) -> None:
    """Keeps that number."""
    _note(connection, "erased_to", str(seq))


def _entry(row: DeskRow, clock: str) -> dict[str, Any]:
    texts = {name: _sound(getattr(row, name)) for name in ("outcome", "code", "channel", "user", "product", "title")}
    return {
        **texts,
        "seq": row.seq,
        "entry_id": _sound(row.entry_id),
        "at": _sound(row.at),
        "clock": clock,
        "kind": _sound(row.kind),
        "quiet": row.kind in QUIET,
        "erased": row.erased,
        "user_key": texts["user"].strip().casefold(),
        ARRIVED: "recorded" if row.waits else "",
        "struck": any(claim.struck for claim in row.claims),
    }


def _add_beside(connection: Connection, rows: Sequence[DeskRow]) -> None:
    documents = [
        {"seq": r.seq, "doc_id": _sound(d.doc_id), "version": _sound(d.version), "quoted": d.quoted, "web": d.web}
        for r in rows
        for d in r.documents
    ]
    claims = {(r.seq, _sound(c.kind), _sound(c.status), _sound(c.rule), c.struck): None for r in rows for c in r.claims}
    said = [
        {"seq": r.seq, "turn": _sound(r.said.turn), "what": r.said.what, "value": _sound(r.said.value)}
        for r in rows
        if r.said is not None
    ]
    if documents:
        connection.execute(insert(_DOCUMENTS), documents)
    if claims:
        names = ("seq", "kind", "status", "rule", "struck")
        connection.execute(insert(_CLAIMS), [dict(zip(names, key, strict=True)) for key in claims])
    if said:
        connection.execute(insert(_SAID), said)
    for each in said:
        if each["what"] == ARRIVED:
            _set_arrived(connection, str(each["turn"]), str(each["value"]))


def _set_arrived(connection: Connection, turn: str, value: str) -> None:
    of = (_ENTRIES.c.entry_id == turn) & (_ENTRIES.c.kind == "turn") & _ENTRIES.c.erased.is_(False)
    connection.execute(update(_ENTRIES).where(of).values({ARRIVED: value}))


def _arrived_again(connection: Connection, turn: str) -> None:
    """What is known of a reply once a delivery is gone: the one before it, or that it was recorded."""
    of = select(_SAID.c.value).where(_SAID.c.turn == turn, _SAID.c.what == ARRIVED).order_by(_SAID.c.seq.desc())
    _set_arrived(connection, turn, str(connection.execute(of.limit(1)).scalar() or "recorded"))


def _note_mark(connection: Connection, rows: Sequence[DeskRow]) -> None:
    ends: dict[int, DeskRow] = {row.seq // RANGE: row for row in rows}
    for part, row in ends.items():
        before = connection.execute(select(_MARKS.c.held).where(_MARKS.c.part == part)).scalar()
        count = (before or 0) + sum(r.seq // RANGE == part for r in rows)
        connection.execute(delete(_MARKS).where(_MARKS.c.part == part))
        connection.execute(insert(_MARKS).values(part=part, seq=row.seq, mac=row.mac, held=count))


def _mark(row: Any) -> SealedAt | None:
    return None if row is None else SealedAt(row.seq, row.mac, row.held)


def _clock(connection: Connection) -> str:
    """The latest time of all entries so far: it only ever grows, so a time leads to a number."""
    return str(connection.execute(select(_ENTRIES.c.clock).order_by(_ENTRIES.c.seq.desc()).limit(1)).scalar() or "")


def _later(clock: str, at: str, back: timedelta) -> tuple[str, timedelta]:
    """The latest time with that of the next entry, and by how much the clock was set back at most."""
    if at >= clock:
        return at, back
    with suppress(ValueError):
        return clock, max(back, datetime.fromisoformat(clock) - datetime.fromisoformat(at))
    return clock, max(back, timedelta(days=1))


def _note_back(connection: Connection, back: timedelta) -> None:
    known = float(_about(connection, "back_s") or 0)
    if back.total_seconds() > known:
        _note(connection, "back_s", str(back.total_seconds()))


def _about(connection: Connection, name: str) -> str | None:
    found = connection.execute(select(_ABOUT.c.value).where(_ABOUT.c.name == name)).scalar()
    return None if found is None else str(found)


def _note(connection: Connection, name: str, value: str) -> None:
    connection.execute(delete(_ABOUT).where(_ABOUT.c.name == name))
    connection.execute(insert(_ABOUT).values(name=name, value=value))


def _conditions(connection: Connection, wanted: DeskSearch) -> list[ColumnElement[bool]]:
    """The search as conditions that all must hold."""
    c = _ENTRIES.c
    given = {
        "before": c.seq < wanted.before,
        "channel": c.channel == wanted.channel,
        "outcome": c.outcome == wanted.outcome,
        "user": c.user_key == wanted.user.strip().casefold(),
        "product": func.lower(c.product) == wanted.product.lower(),
        "struck": c.struck.is_(True),
        "arrived": c[ARRIVED].not_in(("", "delivered")),
        "entry": func.lower(c.entry_id).contains(wanted.entry.lower(), autoescape=True),
        "feedback": c.entry_id.in_(_told(wanted.feedback)),
        "words": _has_words(wanted),
    }
    found = [condition for name, condition in given.items() if getattr(wanted, name)]
    if wanted.among is not None:
        found.append(_among(connection, wanted.among))
    return [*found, *_of_kinds(wanted), *_of_days(connection, wanted), *(c.seq.in_(of) for of in _elsewhere(wanted))]


def _among(connection: Connection, people: frozenset[str]) -> ColumnElement[bool]:
    """Turns of these people, and entries that refer to one. Few are listed first; where there are many, a page soon finds enough of them among the newest entries."""
    c, turn = _ENTRIES.c, _ENTRIES.alias()
    few = select(c.seq).where(c.user_key.in_(people)).limit(_FEW + 1).subquery()
    if connection.execute(select(func.count()).select_from(few)).scalar_one() <= _FEW:
        referring = select(_SAID.c.seq).where(_SAID.c.turn.in_(_turns_of(people, _ENTRIES.c.entry_id)))
        return c.seq.in_(union_all(_turns_of(people, _ENTRIES.c.seq), referring))
    theirs = and_(turn.c.entry_id == _SAID.c.turn, turn.c.kind == "turn", turn.c.user_key.in_(people))
    refers = select(_SAID.c.seq).join(turn, theirs).where(_SAID.c.seq == c.seq).correlate(_ENTRIES).exists()
    return case((c.kind == "turn", c.user_key.in_(people)), else_=refers)


def _turns_of(people: frozenset[str], what: Column[Any]) -> Select[tuple[Any]]:
    # by the index of people: most entries that there are would be turns
    return select(what).where(_ENTRIES.c.user_key.in_(people), _ENTRIES.c.kind.concat("") == "turn")


def _of_kinds(wanted: DeskSearch) -> Iterator[ColumnElement[bool]]:
    c = _ENTRIES.c
    if wanted.kind not in ("", EVERY):
        yield c.kind == wanted.kind
    elif wanted.about_turns:
        yield c.kind == "turn"
    elif not wanted.kind:
        yield c.quiet.is_(False)


def _of_days(connection: Connection, wanted: DeskSearch) -> Iterator[ColumnElement[bool]]:
    """The days, and beside them the numbers between which entries of these days lie, so that no more is looked at: the latest time so far only grows."""
    c = _ENTRIES.c
    if wanted.since:
        yield c.at >= wanted.since
        yield c.clock >= wanted.since
        first = connection.execute(
            select(c.seq).where(c.clock >= wanted.since).order_by(c.clock, c.seq).limit(1)
        ).scalar()
        yield c.seq >= (first or 0)
    if wanted.until:
        end = day_after(wanted.until)
        yield c.at < end
        back = timedelta(seconds=float(_about(connection, "back_s") or 0))
        with suppress(ValueError, OverflowError):
            beyond = (datetime.fromisoformat(end) + back + timedelta(seconds=1)).isoformat()
            of = select(c.seq).where(c.clock >= beyond).order_by(c.clock, c.seq).limit(1)
            if (first := connection.execute(of).scalar()) is not None:
                yield c.seq < first


def _elsewhere(wanted: DeskSearch) -> Iterator[Select[tuple[Any]]]:
    """Numbers of entries by what stands in other tables."""
    if wanted.document:
        d = _DOCUMENTS.c
        of = [d.doc_id == wanted.document]
        of += [d.version == wanted.version] if wanted.version else []
        of += [d.quoted.is_(True)] if wanted.use != IN_EVIDENCE else []
        yield select(d.seq).where(*of)
    if wanted.claim or wanted.status or wanted.rule:
        m = _CLAIMS.c
        of = [m.kind == wanted.claim] if wanted.claim else []
        if wanted.status:
            of.append(m.status.in_(sorted(WRONG)) if wanted.status == UNSUPPORTED else m.status == wanted.status)
        of += [m.rule == wanted.rule] if wanted.rule else []
        yield select(m.seq).where(*of)


def _told(value: str) -> Select[tuple[Any]]:
    """Turns of which the newest word of that sort is `value`; a refusal is undecided only while there is no decision."""
    said, later = _SAID.alias(), _SAID.alias()
    what = "feedback" if value in ("like", "dislike") else "refusal"
    newer = and_(later.c.turn == said.c.turn, later.c.what == what, later.c.seq > said.c.seq)
    if value == REPORTED:  # a second report changes nothing
        newer = and_(later.c.turn == said.c.turn, later.c.what == what, later.c.value != REPORTED)
    elif what == "refusal":
        newer = and_(newer, later.c.value != REPORTED)
    of = select(said.c.turn).where(said.c.what == what, said.c.value == value)
    return of.where(~select(later.c.seq).where(newer).exists())


def _sound(value: str) -> str:
    """A text that a database takes: a lone half of a surrogate pair is no character."""
    return value.encode("utf-8", "replace").decode("utf-8")


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
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
            engine = _engine(path)
            _prepared(engine)
        return engine


def _engine(path: Path) -> Engine:
    with suppress(FileExistsError):  # to open and close one that is there would drop this process's locks on it
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_S})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        # what a crash takes from it is read from the ledger again; what is erased is overwritten
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _prepared(engine: Engine) -> bool:
    """Makes the tables that are missing; False if the file is of another form."""
    with engine.execution_options(immediate=True).begin() as connection:
        if connection.dialect.has_table(connection, "about"):
            return _about(connection, "form") == FORM
        _METADATA.create_all(connection)
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


def _add_words(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(
        text("INSERT INTO words(rowid, asked, answered, beside) VALUES (:seq, :asked, :answered, :beside)"), list(rows)
    )


def _drop_words(connection: Connection, numbers: Iterable[int]) -> None:
    gone = [{"seq": number} for number in numbers]
    if gone:
        connection.execute(text("DELETE FROM words WHERE rowid = :seq"), gone)


def words_of(connection: Connection, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
    """By number of an entry its question and its answer."""
    found = {}
    for number in numbers:
        row = connection.execute(text("SELECT asked, answered FROM words WHERE rowid = :seq"), {"seq": number}).first()
        if row is not None:
            found[number] = (str(row[0]), str(row[1]))
    return found


def _has_words(wanted: DeskSearch) -> ColumnElement[bool]:
    phrases = wanted.phrases()
    if not phrases:
        return false()  # nothing that could stand anywhere
    match = " AND ".join(f'"{phrase}"{"*" if begins else ""}' for phrase, begins in phrases)
    of = text("SELECT rowid FROM words WHERE words MATCH :match").bindparams(match=_sound(match))
    return _ENTRIES.c.seq.in_(of.columns(Column("rowid", Integer)))


@contextmanager
def store_errors() -> Iterator[None]:
    """Raises StoreError, on one line and without the statement, for whatever the database or the disk says."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the index of the reviewers' desk cannot be used: {_plain(str(error.orig))}") from None
    except (SQLAlchemyError, OSError) as error:
        raise StoreError(f"the index of the reviewers' desk cannot be used ({type(error).__name__})") from None


def _plain(message: str) -> str:
    if "locked" in message or "busy" in message:
        return "another process holds it locked"
    if "full" in message:
        return "the disk is full"
    if "malformed" in message or "not a database" in message:
        return "it is damaged; delete review.db, and it is made anew from the ledger"
    return message.splitlines()[0][:120]
