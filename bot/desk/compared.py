"""What the index holds of an entry beside what the ledger says of it: all that no later entry changes, read back from the tables."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, text

from bot.desk.conditions import sound
from bot.desk.rows import DeskRow
from bot.desk.sql import COLUMNS, entry_columns
from bot.desk.tables import CLAIMS, DOCUMENTS, ENTRIES, SORTS, VERSIONS

_WORDS_BETWEEN = "SELECT rowid, asked, answered, beside FROM words WHERE rowid > :after AND rowid <= :until"
Facts = tuple[tuple[Any, ...], tuple[str, str, str], frozenset[tuple[Any, ...]], frozenset[tuple[Any, ...]]]
"""What the index holds of one entry and no later one changes: columns of `_KEPT`, words, documents, sorts of claims."""
_KEPT = tuple(
    ENTRIES.c[name]
    for name in "entry_id at kind erased outcome code channel user product title subject struck ms".split()
)


def facts(connection: Connection, after: int, until: int) -> dict[int, Facts]:
    """What is held of the entries above `after` and up to `until`, by number."""
    e, d, v, c, s = ENTRIES.c, DOCUMENTS.c, VERSIONS.c, CLAIMS.c, SORTS.c
    found = {r[0]: tuple(r[1:]) for r in connection.execute(select(e.seq, *_KEPT).where(e.seq > after, e.seq <= until))}
    documents: dict[int, set[tuple[Any, ...]]] = {}
    of = select(d.seq, v.doc_id, v.version, d.quoted, d.web).join(VERSIONS, v.id == d.of)
    for seq, *told in connection.execute(of.where(d.seq > after, d.seq <= until)):
        documents.setdefault(seq, set()).add(tuple(told))
    claims: dict[int, set[tuple[Any, ...]]] = {}
    of_claims = select(c.seq, s.kind, s.status, s.rule, s.struck).join(SORTS, s.id == c.of)
    for seq, *told in connection.execute(of_claims.where(c.seq > after, c.seq <= until)):
        claims.setdefault(seq, set()).add(tuple(told))
    words = {
        r[0]: (str(r[1]), str(r[2]), str(r[3]))
        for r in connection.execute(text(_WORDS_BETWEEN), {"after": after, "until": until})
    }
    return {
        seq: (kept, words.get(seq, ("", "", "")), frozenset(documents.get(seq, ())), frozenset(claims.get(seq, ())))
        for seq, kept in found.items()
    }


def facts_of(row: DeskRow) -> Facts:
    """What the index is to hold of an entry."""
    written = dict(zip(COLUMNS, entry_columns(row, ""), strict=True))
    return (
        tuple(written[column.name] for column in _KEPT),
        (sound(row.words.asked), sound(row.words.answered), sound(row.words.beside)),
        frozenset((sound(d.doc_id), sound(d.version), d.quoted, d.web) for d in row.documents),
        frozenset((sound(c.kind), sound(c.status), sound(c.rule), c.struck) for c in row.claims),
    )
