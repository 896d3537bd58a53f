"""How SQLite and PostgreSQL say those statements of the store's repositories that are not put together by SQLAlchemy: each search waits for them, and building them took
four times as long as running them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from grounding.database.text import storable


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the two say differently.

    `param`: a parameter. `numbers`, `texts`: those of one parameter, which `given` makes of a sequence, as the column `value` of a table `j`. `then`: joins what is
    looked up for each row of what stands before it. `came`: the column by which rows of a table without a number stand in the order in which they came.
    """

    param: str
    numbers: str
    texts: str
    then: str
    came: str
    given: Callable[[Sequence[Any]], Any]


_DIALECTS = {
    # CROSS JOIN keeps SQLite to the order in which the tables are written
    "sqlite": Dialect("?", "json_each(?) j", "json_each(?) j", "CROSS JOIN", "rowid", lambda v: json.dumps(list(v))),
    "postgresql": Dialect(
        "%s",
        "unnest(CAST(%s AS bigint[])) AS j (value)",
        "unnest(CAST(%s AS text[])) AS j (value)",
        "JOIN",
        "came",
        list,
    ),
}


def of(db: sa.Connection) -> Dialect:
    """The dialect of a connection."""
    return _DIALECTS[db.dialect.name]


def stored(values: Sequence[Any], dialect: str) -> tuple[Any, ...]:
    """Parameters as a driver of the dialect takes them and every database keeps them: text without what some refuse, a list of texts as one parameter."""
    given = _DIALECTS[dialect].given
    return tuple(
        storable(v) if isinstance(v, str) else given([storable(text) for text in v]) if isinstance(v, list) else v
        for v in values
    )


def numbers_changes(db: sa.Connection) -> bool:
    """True where each change of a document has a number, which many word indexes follow; False where marks say what the one index has."""
    return db.dialect.name == "postgresql"


def forms(statement: str, shared: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """A statement in each dialect, by its name: what stands in braces is a field of `Dialect`, or one of the tables `shared`: by the name that each has in a file of its
    own the one that it has in a database, where all subjects lie in one schema.
    """
    tables = shared or {}
    named = {"sqlite": {name: name for name in tables}, "postgresql": tables}
    return {
        name: statement.format(param=d.param, numbers=d.numbers, texts=d.texts, then=d.then, **named[name])
        for name, d in _DIALECTS.items()
    }
