"""A ledger of many made-up entries, sealed as the program seals them and stored in large parts: what one entry after the other takes minutes for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rai.ledger import sql
from rai.ledger.appending import Growth
from rai.ledger.chain import canonical
from rai.ledger.databases.sqlite import SqliteLedger
from rai.ledger.key import Anchor, Mark, load_key
from rai.ledger.store import SqlLedger

PART = 5_000


async def grown(path: Path, key_file: Path, count: int, body: dict[str, Any]) -> None:
    """The ledger in the file at `path`, begun if it is not there, with `count` entries more, of turns of this body."""
    ledger = SqlLedger(path, key_file)
    ledger_id = ledger.ledger_id or ""
    await ledger.close()
    key = load_key(key_file, make=False)
    database, said = SqliteLedger(path), canonical(body)
    with database.reading() as connection:
        last = sql.Reader().last(connection)
    for begin in range(0, count, PART):
        growth = Growth(key, ledger_id, last)
        for _ in range(min(PART, count - begin)):
            last = growth.add("turn", said)
        with database.writing() as connection:
            sql.insert_rows(connection, growth.rows)
    assert last is not None
    Anchor(key, key_file, path).write(Mark(last.seq, last.mac, ledger_id))
    database.close()
