"""Passages that were kept out of turns as planted orders, and which of them somebody has decided on: a turn waits for a reviewer while one of its own is undecided."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, exists, insert, not_, select, update

from bot.desk.conditions import sound
from bot.desk.rows import DeskRow
from bot.desk.tables import ENTRIES, KEPT

_ASKED = 500


def add(connection: Connection, rows: Sequence[DeskRow]) -> None:
    """Adds what the rows of a batch tell of passages; the rows stand in `entries` already."""
    lost = [{"seq": r.seq, "passage": sound(p), "decided": False} for r in rows for p in dict.fromkeys(r.kept_out)]
    said = [{"seq": r.seq, "passage": sound(p), "decided": True} for r in rows for p in dict.fromkeys(r.decides)]
    if lost:
        connection.execute(insert(KEPT), lost)
        _weigh(
            connection, KEPT.c.seq >= rows[0].seq
        )  # a passage that ten thousand turns lost is not looked at for each
    if said:
        connection.execute(insert(KEPT), said)
        _weigh(connection, KEPT.c.passage.in_({str(each["passage"]) for each in said}))


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Takes away what these entries lost. What they decided stays: it holds as long as the quarantine keeps it, and is a hash that says nothing."""
    connection.execute(delete(KEPT).where(KEPT.c.seq.in_(numbers), KEPT.c.decided.is_(False)))


def drop_after(connection: Connection, seq: int) -> None:
    """Takes away what all entries above `seq` tell; turns whose passage nobody else has decided on wait again."""
    of = KEPT.c.seq > seq
    decided = sorted(set(connection.scalars(select(KEPT.c.passage).where(of, KEPT.c.decided.is_(True)).distinct())))
    connection.execute(delete(KEPT).where(of))
    for at in range(0, len(decided), _ASKED):
        _weigh(connection, KEPT.c.passage.in_(decided[at : at + _ASKED]))


def _weigh(connection: Connection, of: ColumnElement[bool]) -> None:
    """Says anew of every turn that lost a passage of which `of` holds whether it waits."""
    own, other = KEPT.alias("own"), KEPT.alias("other")
    decided = exists().where(other.c.passage == own.c.passage, other.c.decided.is_(True))
    waits = exists().where(own.c.seq == ENTRIES.c.seq, own.c.decided.is_(False), not_(decided))
    turns = select(KEPT.c.seq).where(of, KEPT.c.decided.is_(False))
    changed = ENTRIES.c.seq.in_(turns) & (ENTRIES.c.kept_out != waits)
    connection.execute(update(ENTRIES).where(changed).values(kept_out=waits))
