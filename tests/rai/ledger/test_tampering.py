"""A sound ledger, and everything that somebody with its files but without its key may do to it: what `verify` says of each.

`tampering.yaml` has a row for each change: what is done (`do`, a function below, `using` its parameters), and what is to be said: the place
of the first break among the entries as they stand (`at`), and words of its reason (`says`). `now` is what is said today:

- `found`: as the row says, at the place that it says; what cannot be read at all is refused, which counts as found;
- `found-not-located`: that something is wrong, but elsewhere;
- `missed`: nothing; `passes`: nothing, and nothing is wrong.

`goal` is what is aimed at, `found` unless the row says otherwise; `by-design` is what this ledger cannot show, and `why` says for what reason.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grounding.errors import AttestError
from rai.ledger.chain import GENESIS, SealedRow, canonical, commitment, mac_of
from rai.ledger.export import verify_export
from rai.ledger.key import Anchor, Mark, load_key
from rai.ledger.store import SqlLedger
from rai.records import Verification
from tests.tables import Tables

TABLES = Tables(__file__)
ENTRIES = 12
ERASED, ERASURE = 3, 9
"""The entry whose body was erased, and the one that records it."""
STATES = ("found", "found-not-located", "missed", "passes")
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Held:
    """A ledger's files in a folder: the store with its log, key and anchor."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "home" / "ledger.db"

    @property
    def wal(self) -> Path:
        return self.folder / "home" / "ledger.db-wal"

    @property
    def key_file(self) -> Path:
        return self.folder / "keys" / "ledger.key"

    @property
    def key(self) -> bytes:
        return load_key(self.key_file)

    @property
    def ledger_id(self) -> str:
        with closing(sqlite3.connect(self.store)) as connection:
            return str(connection.execute("SELECT value FROM about WHERE name = 'ledger_id'").fetchone()[0])

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.key, self.key_file, self.store)

    def opened(self, *, read_only: bool = False) -> SqlLedger:
        return SqlLedger(self.store, self.key_file, redact=lambda body, _kind: body, read_only=read_only)

    def copied(self, into: Path) -> Held:
        """The same in another folder, with an anchor as if it had always been there."""
        copy = Held(into)
        copy.store.parent.mkdir(parents=True)
        copy.key_file.parent.mkdir(parents=True)
        shutil.copy(self.key_file, copy.key_file)
        # An anchor is of its place; the copy gets the one that it would have had there.
        mark = self.anchor.read()
        assert mark is not None
        copy.anchor.write(mark)
        for path in (self.store, self.wal):
            if path.exists():
                shutil.copy(path, copy.store.parent)
        return copy


@dataclass(frozen=True)
class World:
    """`sound`: the ledger; `open`: it with two more entries, which stand in the log alone; `older`: it after six entries; `other`: another
    of the same key; `erased`, `salt`: what entry `ERASED` had; `lines`, `foreign`: what `sound` and `other` export.
    """

    sound: Held
    open: Held
    older: Held
    other: Held
    erased: str
    salt: str
    lines: tuple[str, ...]
    foreign: tuple[str, ...]


def body(n: int, word: str) -> dict[str, Any]:
    question = {"question": f"Wann öffnet Schalter {n}?"}
    return {"ask": question, "n": n, "reply": {"answer": f"{word} {n}", "outcome": "answered"}, "score": 0.5}


async def fill(held: Held, upto: int, word: str) -> None:
    """Appends turns until there are as many entries; entry n says `word` n, whatever a ledger begins with."""
    ledger = held.opened()
    there = len([entry async for entry in ledger.entries()])
    for n in range(there + 1, upto + 1):
        await ledger.append("turn", body(n, word))
    await ledger.close()


async def erase(held: Held, number: int) -> None:
    ledger = held.opened()
    (entry,) = [entry async for entry in ledger.entries(after=number - 1, limit=1)]
    await ledger.erase(entry.entry_id, "asked for")
    await ledger.close()


async def exported(held: Held) -> tuple[str, ...]:
    ledger = held.opened(read_only=True)
    return tuple([line async for line in ledger.export()])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("tampering")
    sound, other = Held(root / "sound"), Held(root / "other")

    async def make() -> World:
        await fill(sound, 6, "answer")
        older = sound.copied(root / "older")
        await fill(sound, ERASURE - 1, "answer")
        salt = json.loads((await exported(sound))[ERASED])["salt"]
        await erase(sound, ERASED)
        await fill(sound, ENTRIES, "answer")
        other.key_file.parent.mkdir(parents=True)
        shutil.copy(sound.key_file, other.key_file)
        await fill(other, ENTRIES, "elsewhere")
        grown = sound.copied(root / "grown")
        ledger = grown.opened()
        for n in (13, 14):
            await ledger.append("turn", body(n, "answer"))
        still_open = grown.copied(root / "open")
        await ledger.close()
        erased = canonical(body(ERASED, "answer"))
        lines, foreign = await exported(sound), await exported(other)
        return World(sound, still_open, older, other, erased, salt, lines, foreign)

    return asyncio.run(make())


@contextmanager
def unguarded(held: Held) -> Iterator[sqlite3.Connection]:
    """The store to somebody who puts the triggers back as they were afterwards, so that these do not give the change away."""
    with closing(sqlite3.connect(held.store)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        connection.commit()
        for _, statement in triggers:
            connection.execute(statement)
        connection.commit()


# What is done to a store


def sql(held: Held, world: World, run: list[str]) -> None:
    """Run SQL, the triggers out of the way. `:erased` and `:salt` are the body that was erased and its salt."""
    with unguarded(held) as connection:
        for statement in run:
            connection.execute(statement, {"erased": world.erased, "salt": world.salt})


def schema(held: Held, _: World, run: list[str]) -> None:
    """Run SQL on the store as it is, triggers and all."""
    with closing(sqlite3.connect(held.store)) as connection:
        for statement in run:
            connection.execute(statement)
        connection.commit()


def order(held: Held, _: World, entries: list[int]) -> None:
    """Let the entries stand in another order, numbered anew; who is left out is gone, who is named twice stands twice."""
    with unguarded(held) as connection:
        found = connection.execute("SELECT * FROM entries ORDER BY seq").fetchall()
        connection.execute("DELETE FROM entries")
        twice: set[int] = set()
        for seq, n in enumerate(entries, start=1):
            row = list(found[n - 1])
            row[0] = seq
            if n in twice:
                row[1] = row[1][:-1] + ("X" if row[1][-1] != "X" else "Y")
            twice.add(n)
            connection.execute(f"INSERT INTO entries VALUES ({','.join('?' * len(row))})", row)


def rebuilt(held: Held, _: World, leave_out: str, run: list[str]) -> None:
    """Make the table of entries anew without a part of its definition, then run SQL."""
    with unguarded(held) as connection:
        (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries'").fetchone()
        assert re.search(leave_out, made)
        (index,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_of_kind'").fetchone()
        connection.execute("ALTER TABLE entries RENAME TO before")
        connection.execute(re.sub(leave_out, "", made))
        connection.execute("INSERT INTO entries SELECT * FROM before")
        connection.execute("DROP TABLE before")
        connection.execute(index)
        for statement in run:
            connection.execute(statement)


def bytes_of(held: Held, _: World, old: str, new: str, nth: int = 0) -> None:
    """Change bytes of the file where it holds a text for the `nth` time; `entry_id` and `mac` stand for those of entry 6."""
    with closing(sqlite3.connect(held.store)) as connection:
        if old in ("entry_id", "mac"):
            (old,) = connection.execute(f"SELECT {old} FROM entries WHERE seq = 6").fetchone()
    data = held.store.read_bytes()
    places = [m.start() for m in re.finditer(re.escape(old.encode()), data)]
    at = places[nth]
    held.store.write_bytes(data[:at] + new.encode() + data[at + len(new) :])


def file(held: Held, _: World, name: str, at: int = 0, write: str = "", keep: float = 1.0) -> None:
    """Overwrite bytes of a file, given in hex, then keep a share of it. A negative place counts from the end."""
    path = {"store": held.store, "wal": held.wal, "anchor": held.anchor.path, "key": held.key_file}[name]
    data = bytearray(path.read_bytes())
    at = at if at >= 0 else len(data) + at
    data[at : at + len(write) // 2] = bytes.fromhex(write)
    path.write_bytes(data[: int(len(data) * keep)])


def page(held: Held, _: World, number: int) -> None:
    """Fill a page of the store with zeros."""
    with closing(sqlite3.connect(held.store)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(held.store.read_bytes())
    assert len(data) >= number * size
    data[(number - 1) * size : number * size] = bytes(size)
    held.store.write_bytes(data)


def put(held: Held, _: World, name: str, text: str) -> None:
    """Put other text into a file."""
    {"store": held.store, "anchor": held.anchor.path, "key": held.key_file}[name].write_text(text)


def gone(held: Held, _: World, names: list[str]) -> None:
    """Remove files."""
    paths = {"store": held.store, "wal": held.wal, "anchor": held.anchor.path, "key": held.key_file}
    for path in [paths[name] for name in names]:
        path.unlink()


def anchor_text(held: Held, _: World, old: str, new: str) -> None:
    """Change characters of the anchor."""
    text = held.anchor.path.read_text()
    assert text.count(old) == 1
    held.anchor.path.write_text(text.replace(old, new))


def anchor(held: Held, _: World, change: dict[str, Any]) -> None:
    """Change fields of the anchor and leave its seal."""
    data = json.loads(held.anchor.path.read_text())
    held.anchor.path.write_text(json.dumps(data | change))


def replaced(held: Held, world: World, by: str, names: list[str]) -> None:
    """Put files of another ledger in place: `older` is this one after six entries, `other` another of the same key.

    An anchor is of its place: that of `older` is what stood here then, that of `other` has another place.
    """
    source: Held = getattr(world, by)
    for name in names:
        if name == "anchor" and by == "other":
            shutil.copy(source.anchor.path, held.anchor.path)
        elif name == "anchor":
            mark = source.anchor.read()
            assert mark is not None
            held.anchor.write(mark)
        elif name == "store":
            shutil.copy(source.store, held.store)
        else:
            shutil.copy(source.wal, held.wal)


def readable(held: Held, _: World) -> None:
    """Let others read the key."""
    held.key_file.chmod(0o644)


def other_key(held: Held, world: World) -> None:
    """Replace the key, and what the store notes of it."""
    held.anchor.path.rename(held.folder / "kept")
    held.key_file.write_text("ab" * 32)
    shutil.move(held.folder / "kept", held.anchor.path)
    fresh = Held(held.folder / "fresh")
    fresh.key_file.parent.mkdir(parents=True)
    shutil.copy(held.key_file, fresh.key_file)
    asyncio.run(fresh.opened().close())
    with closing(sqlite3.connect(fresh.store)) as connection:
        (noted,) = connection.execute("SELECT value FROM about WHERE name = 'key_id'").fetchone()
    schema(held, world, [f"UPDATE about SET value = '{noted}' WHERE name = 'key_id'"])


def resealed(held: Held, _: World, entry: int, text: str) -> None:
    """What the key makes possible: give an entry another body, seal it and all that follow anew, and write the anchor."""
    with unguarded(held) as connection:
        prev = GENESIS
        connection.row_factory = sqlite3.Row
        for parts in connection.execute("SELECT * FROM entries ORDER BY seq").fetchall():
            row = SealedRow(**dict(parts))
            kept = canonical({"text": text}) if row.seq == entry else row.body
            digest = row.digest if kept is None or row.salt is None else commitment(row.salt, kept)
            row = replace(row, body=kept, digest=digest, prev=prev)
            prev = mac_of(held.key, row, held.ledger_id)
            values = (kept, digest, row.prev, prev, row.seq)
            connection.execute("UPDATE entries SET body=?, digest=?, prev=?, mac=? WHERE seq=?", values)
        held.anchor.write(Mark(row.seq, prev, held.ledger_id))


# What is done to an export; `lines` are its lines without their ends, the first of them the heading


def text_of(lines: list[str], _: World, line: int, old: str, new: str) -> list[str]:
    """Write something else where a line holds a text first; an empty `old` is its beginning."""
    at = line if line >= 0 else len(lines) + line
    assert old in lines[at]
    return [*lines[:at], lines[at].replace(old, new, 1), *lines[at + 1 :]]


def fields(lines: list[str], _: World, line: int, change: dict[str, Any]) -> list[str]:
    """Give fields of a line other values."""
    return [*lines[:line], json.dumps(json.loads(lines[line]) | change), *lines[line + 1 :]]


def without(lines: list[str], _: World, line: int, field: str) -> list[str]:
    """Leave a field of a line out."""
    data = json.loads(lines[line])
    del data[field]
    return [*lines[:line], json.dumps(data), *lines[line + 1 :]]


def arranged(lines: list[str], _: World, order: list[int]) -> list[str]:
    """Put the lines in another order; who is left out is gone, who is named twice stands twice."""
    return [lines[n] for n in order]


def line_of_other(lines: list[str], world: World, line: int) -> list[str]:
    """Put a line of the other ledger of the same key in place of one."""
    return [*lines[:line], world.foreign[line], *lines[line + 1 :]]


def all_of_other(_lines: list[str], world: World) -> list[str]:
    """Hand in what the other ledger of the same key exports."""
    return list(world.foreign)


def body_back(lines: list[str], world: World, salted: bool = True) -> list[str]:
    """Put the erased body back, with its salt or without."""
    return fields(lines, world, ERASED, {"body": json.loads(world.erased), **({"salt": world.salt} if salted else {})})


def spelled(lines: list[str], _: World, **how: Any) -> list[str]:
    """Write each line as JSON in another spelling."""
    return [json.dumps(json.loads(line), **how) for line in lines]


def reversed_keys(lines: list[str], _: World) -> list[str]:
    """Turn the order of the fields round."""
    return [json.dumps(dict(reversed(json.loads(line).items()))) for line in lines]


def long_line(lines: list[str], _: World, line: int, length: int = 0, digits: int = 0, levels: int = 0) -> list[str]:
    """Make a line very long by a field more of so many letters, or by a body with so many digits or levels."""
    more = (
        ', "more": "' + "x" * length + '"}'
        if length
        else ', "body": {"n": ' + ("9" * digits or "[" * levels + "]" * levels) + "}}"
    )
    return [*lines[:line], lines[line][:-1] + more, *lines[line + 1 :]]


def encoded(lines: list[str], _: World, before: str = "", end: str = "\n", last: str = "\n", **how: Any) -> bytes:
    """Write the file with other ends of lines, in another encoding, or with something before it; `raw` leaves letters unescaped."""
    if how.pop("raw", False):
        lines = spelled(lines, _, ensure_ascii=False)
    return (before + end.join(lines) + last).encode(**how)


def cut(lines: list[str], _: World, line: int) -> list[str]:
    """Cut a line in the middle."""
    return [*lines[:line], lines[line][: len(lines[line]) // 2], *lines[line + 1 :]]


STORE: dict[str, Callable[..., None]] = {
    f.__name__: f
    for f in (
        *(sql, schema, order, rebuilt, bytes_of, file, page, put, gone, anchor, anchor_text, replaced, readable),
        *(other_key, resealed),
    )
}
EXPORT: dict[str, Callable[..., list[str] | bytes]] = {
    f.__name__: f
    for f in (
        *(text_of, fields, without, arranged, line_of_other, all_of_other, body_back, spelled, reversed_keys),
        *(long_line, encoded, cut),
    )
}


def found_in_store(row: dict[str, Any], world: World, folder: Path) -> Verification | AttestError:
    held: Held = getattr(world, row.get("of") or "sound").copied(folder / "held")
    STORE[row["do"]](held, world, **(row.get("using") or {}))
    return verified(held)


def verified(held: Held) -> Verification | AttestError:
    try:
        return asyncio.run(held.opened(read_only=True).verify())
    except AttestError as error:
        return error


def found_in_export(row: dict[str, Any], world: World) -> Verification | AttestError:
    made = EXPORT[row["do"]](list(world.lines), world, **(row.get("using") or {}))
    data = made if isinstance(made, bytes) else "".join(f"{line}\n" for line in made).encode("utf-8", "surrogatepass")
    assert data != "".join(f"{line}\n" for line in world.lines).encode(), "nothing was done"
    try:
        lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        return verify_export(lines, world.sound.key, world.sound.ledger_id)
    except AttestError as error:
        return error


def state_of(row: dict[str, Any], said: Verification | AttestError) -> str:
    """What was said, as one of `STATES`."""
    if isinstance(said, AttestError):
        return "found" if str(row["says"]) in str(said) and row.get("at") is None else "found-not-located"
    if said.ok:
        assert not said.breaks
        return "passes" if row.get("goal") == "passes" else "missed"
    first = next(b for b in said.breaks if (b.entry, b.why) == (said.broken, said.why))
    located = first.at == row.get("at") and str(row.get("says")) in said.why
    return "found" if located else "found-not-located"


def each(*tables: str, short: bool = False) -> pytest.MarkDecorator:
    """Every row, or with `short` those that fall short of their goal; these are to fail until they no longer do."""
    rows = [row for table in tables for row in TABLES.tables[table]]
    fall_short = [row for row in rows if row.get("goal", "found") == "found" and row.get("now", "found") != "found"]
    marks = [pytest.mark.xfail(strict=True, reason="not reached yet")] if short else []
    return pytest.mark.parametrize(
        "row", [pytest.param(row, id=row["id"], marks=marks) for row in (fall_short if short else rows)]
    )


def now_of(row: dict[str, Any]) -> str:
    return str(row.get("now") or "found")


def test_the_ledger_is_sound(world: World, tmp_path: Path) -> None:
    for name, entries in (("sound", ENTRIES), ("open", ENTRIES + 2), ("older", 6), ("other", ENTRIES)):
        said = verified(getattr(world, name).copied(tmp_path / name))
        assert isinstance(said, Verification)
        assert (said.ok, said.entries) == (True, entries)
    assert verify_export(world.lines, world.sound.key).ok


@each("store")
def test_what_is_done_to_a_store(row: dict[str, Any], world: World, tmp_path: Path) -> None:
    said = found_in_store(row, world, tmp_path)
    assert state_of(row, said) == now_of(row), said


@each("export")
def test_what_is_done_to_an_export(row: dict[str, Any], world: World) -> None:
    said = found_in_export(row, world)
    assert state_of(row, said) == now_of(row), said


@each("store", short=True)
def test_stores_whose_goal_is_not_reached(row: dict[str, Any], world: World, tmp_path: Path) -> None:
    assert state_of(row, found_in_store(row, world, tmp_path)) == "found"


@each("export", short=True)
def test_exports_whose_goal_is_not_reached(row: dict[str, Any], world: World) -> None:
    assert state_of(row, found_in_export(row, world)) == "found"


@each("store", "export")
def test_rows_say_what_they_aim_at(row: dict[str, Any]) -> None:
    assert set(row) <= {"id", "of", "do", "using", "at", "says", "now", "goal", "why"}
    assert now_of(row) in STATES
    goal = row.get("goal", "found")
    assert goal in ("found", "passes", "by-design")
    assert goal == "found" or "says" not in row
    assert (goal == "passes") == (now_of(row) == "passes")
    # whatever is not found has its reason beside it
    assert (now_of(row) in ("found", "passes")) or row["why"]


def figures(table: str) -> Counter[str]:
    """How many changes are found at their place, found elsewhere, and not found, by what `now` says."""
    return Counter(now_of(row) for row in TABLES.tables[table] if now_of(row) != "passes")


@pytest.mark.parametrize(("table", "least"), [("store", 64), ("export", 29)])
def test_there_are_enough_changes_and_the_docs_tell_their_number(table: str, least: int) -> None:
    count = figures(table)
    assert count.total() >= least
    said = (ROOT / "docs" / "ledger.md").read_text("utf-8")
    sentence = f"{count['found'] + count['found-not-located']} of {count.total()} changes by {'SQL and file' if table == 'store' else 'export'}"
    assert f"{sentence} are found, {count['found']} of them at their place" in " ".join(said.split())
