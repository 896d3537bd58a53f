"""A search as conditions on the tables of the index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    case,
    false,
    func,
    literal_column,
    select,
    text,
    union_all,
)

from bot.desk.rows import ARRIVED, FEEDBACK, REFUSAL, SAMPLED
from bot.desk.search import ANY, IN_EVIDENCE, NONE, REACTIONS, UNSUPPORTED, DeskSearch, day_after
from bot.desk.tables import ABOUT, CLAIMS, DOCUMENTS, ENTRIES, OPEN, SAID, SORTS, VERSIONS
from bot.events.kinds import EVERY, VERDICT
from rai.records import UNSUPPORTED as WRONG

FEW = 2_000
"""Rows of another table from which on they are not gathered first."""
TEAM_FEW = 5_000
"""Turns of a team that are listed before a search; of more, each entry that is looked at is asked whose it is."""


def conditions(connection: Connection, wanted: DeskSearch, newest: int | None = None) -> list[ColumnElement[bool]]:
    """The search as conditions that all must hold. `newest`: no more than so many of the newest entries are wanted; None wants all."""
    c = ENTRIES.c
    given = {
        "before": c.seq < wanted.before,
        "channel": c.channel == wanted.channel,
        "outcome": c.outcome == wanted.outcome,
        "user": c.user_key == wanted.user.strip().casefold(),
        "product": func.lower(c.product) == wanted.product.lower(),
        "struck": c.struck.is_(True),
        "arrived": c[ARRIVED].not_in(("", "delivered")),
        "entry": func.lower(c.entry_id).contains(wanted.entry.lower(), autoescape=True),
        "feedback": _is(FEEDBACK if wanted.feedback in REACTIONS else REFUSAL, wanted.feedback),
        "verdict": _judged(wanted.verdict),
        "queue": OPEN.get(wanted.queue, false()),
        "sampled": c[SAMPLED] == "yes",
        "words": _has_words(wanted, newest if _by_words_alone(wanted) else None),
    }
    found = [condition for name, condition in given.items() if getattr(wanted, name)]
    if wanted.among is not None:
        turns_alone = wanted.about_turns or wanted.kind == "turn"
        found.append(_among(connection, wanted.among, turns_alone=turns_alone))
    return [*found, *_of_kinds(wanted), *_of_days(connection, wanted), *_elsewhere(connection, wanted)]


def turns_of(people: frozenset[str], what: Column[Any]) -> Select[tuple[Any]]:
    """A column of the turns of these people."""
    # by the index of people: most entries that there are would be turns
    return select(what).where(ENTRIES.c.user_key.in_(people), ENTRIES.c.kind.concat("") == "turn")


def _among(connection: Connection, people: frozenset[str], *, turns_alone: bool) -> ColumnElement[bool]:
    """Turns of these people, and entries that refer to some and to no other, unless only turns are looked for. Few are listed first; where there are many, a page soon finds enough of them among the newest entries."""
    c, turn, other = ENTRIES.c, ENTRIES.alias(), SAID.alias()
    few = select(c.seq).where(c.user_key.in_(people)).limit(TEAM_FEW + 1).subquery()
    if connection.execute(select(func.count()).select_from(few)).scalar_one() <= TEAM_FEW:
        if turns_alone:
            return c.seq.in_(turns_of(people, c.seq))
        theirs = turns_of(people, c.entry_id)
        more = select(other.c.seq).where(other.c.seq == SAID.c.seq, other.c.turn.not_in(theirs)).exists()
        return c.seq.in_(union_all(turns_of(people, c.seq), select(SAID.c.seq).where(SAID.c.turn.in_(theirs), ~more)))
    if turns_alone:
        return case((c.kind == "turn", c.user_key.in_(people)), else_=false())
    is_theirs = select(turn.c.seq).where(
        turn.c.entry_id == other.c.turn, turn.c.kind == "turn", turn.c.user_key.in_(people)
    )
    more = select(other.c.seq).where(other.c.seq == c.seq, ~is_theirs.exists()).correlate(ENTRIES).exists()
    refers = select(SAID.c.seq).where(SAID.c.seq == c.seq).correlate(ENTRIES).exists()
    return case((c.kind == "turn", c.user_key.in_(people)), else_=and_(refers, ~more))


def _of_kinds(wanted: DeskSearch) -> Iterator[ColumnElement[bool]]:
    c = ENTRIES.c
    if wanted.kind not in ("", EVERY):
        yield c.kind == wanted.kind
    elif wanted.about_turns:
        if wanted.queue:
            return  # only turns wait in it, and its own index is the one to use
        yield c.kind == "turn"
    elif not wanted.kind:
        yield c.quiet.is_(False)


def _of_days(connection: Connection, wanted: DeskSearch) -> Iterator[ColumnElement[bool]]:
    """The days, and beside them the numbers between which entries of these days lie, so that no more is looked at: the latest time so far only grows."""
    c = ENTRIES.c
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
        back = timedelta(seconds=float(about(connection, "back_s") or 0))
        with suppress(ValueError, OverflowError):
            beyond = (datetime.fromisoformat(end) + back + timedelta(seconds=1)).isoformat()
            of = select(c.seq).where(c.clock >= beyond).order_by(c.clock, c.seq).limit(1)
            if (first := connection.execute(of).scalar()) is not None:
                yield c.seq < first


def _elsewhere(connection: Connection, wanted: DeskSearch) -> Iterator[ColumnElement[bool]]:
    """What stands in other tables. A few rows there lead to their entries; of many, entries are looked at from the newest on until a page is full."""
    for query in _of_others(wanted):
        inner = query.limit(FEW + 1).subquery()
        some = int(connection.execute(select(func.count()).select_from(inner)).scalar_one())
        (number,) = query.selected_columns
        yield query.where(number == ENTRIES.c.seq).exists() if some > FEW else ENTRIES.c.seq.in_(query)


def _of_others(wanted: DeskSearch) -> Iterator[Select[tuple[Any]]]:
    """Numbers of entries by what stands in other tables."""
    if wanted.document:
        v, d = VERSIONS.c, DOCUMENTS.c
        named = [
            v.doc_id == wanted.document,
            *([v.version.startswith(wanted.version, autoescape=True)] if wanted.version else []),
        ]
        of = [d.of.in_(select(v.id).where(*named))]
        of += [d.quoted.is_(True)] if wanted.use != IN_EVIDENCE else []
        yield select(d.seq).where(*of)
    if wanted.claim or wanted.status or wanted.rule:
        s = SORTS.c
        told = [s.kind == wanted.claim] if wanted.claim else []
        if wanted.status:
            told.append(s.status.in_(sorted(WRONG)) if wanted.status == UNSUPPORTED else s.status == wanted.status)
        told += [s.rule == wanted.rule] if wanted.rule else []
        yield select(CLAIMS.c.seq).where(CLAIMS.c.of.in_(select(s.id).where(*told)))


def _judged(wanted: str) -> ColumnElement[bool]:
    """Turns with this verdict as their newest, or with any, or with none."""
    c = ENTRIES.c
    if wanted in (NONE, ANY):
        return c[VERDICT] == literal_column("''") if wanted == NONE else c[VERDICT] != literal_column("''")
    return _is(VERDICT, wanted)


def _is(name: str, value: str) -> ColumnElement[bool]:
    """That the column has the value; beside it that it is not empty, in the words of its index, which is not used otherwise."""
    return and_(ENTRIES.c[name] != literal_column("''"), ENTRIES.c[name] == value)


def _by_words_alone(wanted: DeskSearch) -> bool:
    """True if nothing but words decides: of an entry without words none is listed, and what is quiet has none."""
    return wanted.among is None and wanted.conditions.keys() == {"words"}


def _has_words(wanted: DeskSearch, newest: int | None) -> ColumnElement[bool]:
    """The words, by the table of words. `newest`: so many of the newest are enough: a word of every entry would be read a million times for a page."""
    phrases = wanted.phrases()
    if not phrases:
        return false()  # nothing that could stand anywhere
    match = " AND ".join(f'"{phrase}"{"*" if begins else ""}' for phrase, begins in phrases)
    some = "AND rowid < :before ORDER BY rowid DESC LIMIT :newest" if newest is not None else ""
    of = text(f"SELECT rowid FROM words WHERE words MATCH :match {some}").bindparams(match=sound(match))  # noqa: S608 - our own words
    if newest is not None:
        of = of.bindparams(before=wanted.before or _NO_END, newest=newest)
    return ENTRIES.c.seq.in_(of.columns(Column("rowid", Integer)))


_NO_END = (1 << 63) - 1


def about(connection: Connection, name: str) -> str | None:
    found = connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == name)).scalar()
    return None if found is None else str(found)


def sound(value: str) -> str:
    """A text that a database takes: a lone half of a surrogate pair is no character."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
