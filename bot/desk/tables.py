"""The tables of the desk's index, and their indexes."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    and_,
    literal_column,
)

from bot.desk.rows import ARRIVED, REPORTED, TOLD

FORM = "5"
"""Of the tables and of what is read from an entry; an index of another form is made anew."""
RANGE = 1_000
"""Numbers of entries that one mark covers."""
METADATA = MetaData()


def _value(text: str) -> ColumnElement[str]:
    """A text of ours written into a condition: a partial index serves only a query that says the same in the same characters."""
    return literal_column(f"'{text}'", String)


ABOUT = Table("about", METADATA, Column("name", String, primary_key=True), Column("value", String, nullable=False))
MARKS = Table(
    "marks",
    METADATA,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, nullable=False),
    Column("mac", String, nullable=False),
    Column("held", Integer, nullable=False),
)
DAILY = Table(
    "daily",
    METADATA,
    Column("day", String, primary_key=True),
    Column("what", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("number", Integer, nullable=False),
)
ENTRIES = Table(
    "entries",
    METADATA,
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
    Column("subject", String, nullable=False),
    *(Column(name, String, nullable=False) for name in TOLD),
    Column("struck", Boolean, nullable=False),
    Column("kept_out", Boolean, nullable=False),
    Column("ms", Integer, nullable=False),
)
VERSIONS = Table(
    "versions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("doc_id", String, nullable=False),
    Column("version", String, nullable=False),
    UniqueConstraint("doc_id", "version"),
)
DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("of", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("quoted", Boolean, nullable=False),
    Column("web", Boolean, nullable=False),
    sqlite_with_rowid=False,
)
"""Which entry used which version of a document, by its id in `versions`: a turn has half a dozen of them, and to write their names each time was a third of the index."""
SORTS = Table(
    "sorts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    Column("status", String, nullable=False),
    Column("rule", String, nullable=False),
    Column("struck", Boolean, nullable=False),
    UniqueConstraint("kind", "status", "rule", "struck"),
)
CLAIMS = Table(
    "claims",
    METADATA,
    Column("of", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
"""Which entry has claims of which sort, by its id in `sorts`."""
SAID = Table(
    "said",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("turn", String, primary_key=True),
    Column("what", String, nullable=False),
    Column("value", String, nullable=False),
)
KEPT = Table(
    "kept",
    METADATA,
    Column("passage", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("decided", Boolean, nullable=False),
)
"""Passages that were kept out of a turn, and with `decided` those that an entry decides on; by the names that a decision is kept by."""
Index("kept_seq", KEPT.c.seq)
Index("kept_decided", KEPT.c.passage, sqlite_where=KEPT.c.decided.is_(True))
Index("entries_clock", ENTRIES.c.clock, ENTRIES.c.seq)
Index("entries_shown", ENTRIES.c.quiet, ENTRIES.c.seq, ENTRIES.c.outcome, ENTRIES.c.kind, ENTRIES.c.user_key)
Index("entries_kind", ENTRIES.c.kind, ENTRIES.c.seq)
Index("entries_outcome", ENTRIES.c.outcome, ENTRIES.c.seq)
Index("entries_user", ENTRIES.c.user_key, ENTRIES.c.seq)
Index("entries_arrived", ENTRIES.c[ARRIVED], ENTRIES.c.seq)
Index("entries_struck", ENTRIES.c.struck, ENTRIES.c.seq, ENTRIES.c.outcome)
Index("documents_seq", DOCUMENTS.c.seq)
Index("claims_seq", CLAIMS.c.seq)
Index("said_turn", SAID.c.turn, SAID.c.what, SAID.c.seq)
Index("entries_feedback", ENTRIES.c.feedback, ENTRIES.c.seq, sqlite_where=ENTRIES.c.feedback != _value(""))
Index("entries_refusal", ENTRIES.c.refusal, ENTRIES.c.seq, sqlite_where=ENTRIES.c.refusal != _value(""))
Index("entries_verdict", ENTRIES.c.verdict, ENTRIES.c.seq, sqlite_where=ENTRIES.c.verdict != _value(""))
TEXTS = ("outcome", "code", "channel", "user", "user_key", "product", "title", "subject", *TOLD)
"""Columns that are emptied with the entry."""
OPEN: Mapping[str, ColumnElement[bool]] = {
    reason: and_(condition, ENTRIES.c.verdict == _value(""))
    for reason, condition in {
        "struck": ENTRIES.c.struck.is_(True),
        "withheld": ENTRIES.c.outcome == _value("withheld"),
        "disliked": ENTRIES.c.feedback == _value("dislike"),
        "sampled": ENTRIES.c.sampled == _value("yes"),
        "refusal": ENTRIES.c.refusal == _value(REPORTED),
        "quarantine": ENTRIES.c.kept_out.is_(True),
        "unanswered": ENTRIES.c.subject != _value(""),
    }.items()
}
"""By reason of the queue the turns that wait in it: those that nobody has judged. An index each holds these alone, so that a queue costs what waits in it."""
Index("entries_subject", ENTRIES.c.seq, sqlite_where=ENTRIES.c.subject != _value(""))
for _reason, _of in OPEN.items():
    Index(f"queue_{_reason}", ENTRIES.c.seq, sqlite_where=_of)
