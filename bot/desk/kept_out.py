"""Passages that were kept out of turns as planted orders, and which of them somebody has decided on: a turn waits for a reviewer while one of its own is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, delete, exists, insert, not_, select, update

from bot.desk.conditions import sound
from bot.desk.rows import DeskRow
from bot.desk.tables import ENTRIES, KEPT

_ASKED = 500


def add(connection: Connection, rows: Sequence[DeskRow]) -> None:
    """Adds what the rows of a batch tell of passages, which stand in `entries` already."""
    told = [{"seq": r.seq, "passage": sound(p), "decided": False} for r in rows for p in dict.fromkeys(r.kept_out)]
    told += [{"seq": r.seq, "passage": sound(r.decides), "decided": True} for r in rows if r.decides]
    if told:
        connection.execute(insert(KEPT), told)
        _weigh(connection, {str(each["passage"]) for each in told})


def drop(connection: Connection, of: ColumnElement[bool]) -> None:
    """Takes away what these entries tell; `of` is a condition on the table `KEPT`. Turns whose passage nobody else has decided on wait again."""
    decided = set(connection.scalars(select(KEPT.c.passage).where(of, KEPT.c.decided.is_(True)).distinct()))
    connection.execute(delete(KEPT).where(of))
    _weigh(connection, decided)


def _weigh(connection: Connection, passages: Iterable[str]) -> None:
    """Says anew of every turn that lost one of these passages whether it waits."""
    named = sorted(set(passages))
    own, other = KEPT.alias("own"), KEPT.alias("other")
    decided = exists().where(other.c.passage == own.c.passage, other.c.decided.is_(True))
    waits = exists().where(own.c.seq == ENTRIES.c.seq, own.c.decided.is_(False), not_(decided))
    for at in range(0, len(named), _ASKED):
        turns = select(KEPT.c.seq).where(KEPT.c.passage.in_(named[at : at + _ASKED]), KEPT.c.decided.is_(False))
        connection.execute(update(ENTRIES).where(ENTRIES.c.seq.in_(turns)).values(kept_out=waits))
