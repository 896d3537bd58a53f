"""Everything that is kept, moved to another place and back: whole, while others write, and by whoever was killed in between."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from bot.compose.database import schema_parts, usable_places
from bot.compose.moving import copied, files_of, make_files, reopened
from bot.compose.record import open_record
from bot.places import Places
from bot.records import Ask
from bot.settings.settings import Settings
from grounding.database.copying import FileTables, SharedTables
from grounding.database.postgres import Postgres
from grounding.errors import InputError, StoreError
from grounding.records import OnProgress, Progress
from rai.ledger.key import Anchor
from rai.ledger.store import SqlLedger
from rai.records import Outcome, Verification
from tests.e2e.processes import ROOT, environment_of, settings_over
from tests.knowledge_base import running, take_in_page
from tests.many_entries import grown
from tests.postgres.faults import run
from tests.postgres.server import own_schema
from tests.postgres.shared import made, server_over

TABLES = {table.name: table for part in schema_parts() for table in part.tables}
BESIDE = {
    "inbox": ("teams", "19:a", "1", "received", 2, 1, 1, 2.5, 3.5, '{"text": "hallo é"}'),
    "turns": (7, "teams", "19:a", "customer", "I am Ada", 3.5, None),
    "sent": ("teams", "19:a", "1", "01JD", 4.5, "7"),
    "undelivered": (9, "teams", "19:a", "1", "{}", 1.0, 2.0, 3),
    "sweeps": ("retention", 5.5),
    "review_passes": ("aa", "link", 6.5),
    "review_sessions": ("bb", "link", 3, None, "Ada", None, 1.0, 2.0, 3.0, 4.0),
    "hypotheticals": ("c1", '["how long?"]', 1),
    "embedded_tokens": ("2026-11-29", 4711),
    "quarantine_decisions": ("k1", "released", "2026-11-29", "a note"),
    "screen_versions": ("screen-1",),
    "screened_documents": ("plans.md", "v1"),
    "screen_verdicts": ("v", None),
    "vectors": ("c1", "f1", b"\x00\x01\xff"),
    "changes": (3, 1, True),
}
"""A row of what taking in a page and asking about it leaves empty."""


async def filled(settings: Settings, folder: Path) -> None:
    """A place with something in every table."""
    await take_in_page(settings, folder / "kb", lexical_only=True)
    async with running(settings) as system:
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert reply.outcome is Outcome.ANSWERED
    await make_files(usable_places(settings))
    there = sides(usable_places(settings))
    for name, row in BESIDE.items():
        side = there(name)
        if not side.count(TABLES[name]):
            side.add(TABLES[name], [row])
    for name in TABLES:
        if name != "recorded_turns":
            assert there(name).count(TABLES[name]), name


def sides(places: Places) -> Callable[[str], FileTables | SharedTables]:
    """Where the table of a name lies."""
    of = {table.name: part.name for part in schema_parts() for table in part.tables}
    if places.database is not None:
        shared = SharedTables(places.database)
        return lambda _: shared
    files = files_of(places)
    return lambda name: FileTables(files[of[name]], name)


def contents(places: Places) -> dict[str, list[tuple[Any, ...]]]:
    """All rows that a copy takes along, as a file has them."""
    found = {}
    for name, table in TABLES.items():
        if name == "recorded_turns":  # no file has it
            continue
        rows = [row for part in sides(places)(name).rows(table, 0) for row in part]
        found[name] = [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in rows]
    return found


@pytest.fixture
def other_url(postgres: str) -> Iterator[str]:
    with own_schema(postgres) as url:
        yield url


Copy = tuple[Settings, str, Settings]
"""The settings over the source, the target as one gives it, and the settings over that."""


@pytest.fixture(params=["home to database", "database to home", "home to home", "database to database"])
def copy(request: pytest.FixtureRequest, tmp_path: Path, database_url: str, other_url: str) -> Copy:
    before, _, after = request.param.split(" ")
    made(database_url, tmp_path)
    home = server_home(tmp_path, "one")
    source = home if before == "home" else server_over(database_url, tmp_path / "one", tmp_path)
    if after == "home":
        return source, f"sqlite:{tmp_path / 'two'}", server_home(tmp_path, "two")
    return source, other_url, server_over(other_url, tmp_path / "two", tmp_path)


def server_home(folder: Path, name: str) -> Settings:
    return settings_over(folder / name).changed(ledger_key_file=folder / "keys" / "ledger.key")


def quiet(_at: Progress) -> None:
    """Nobody looks on."""


MADE_ANEW = frozenset(
    "leases workers rates outbox ingest_runs ingest_batches ingest_items ingest_gone run_tokens".split()
)
"""Tables of what goes on just now, and of what an index elsewhere was told: a place that was moved begins anew with them."""


def test_each_table_and_column_is_taken_along(database_url: str, tmp_path: Path) -> None:
    """Whoever adds one says how a copy takes it, or that it makes it anew."""
    made(database_url, tmp_path)
    columns = run(
        database_url,
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'attest_schema'",
    )
    taken = {(name, column) for name, table in TABLES.items() for column in table.columns.split()}
    assert {(t, c) for t, c in columns if t not in MADE_ANEW} - taken == {
        ("documents", "changed"),
        ("versions", "came"),
    }
    assert taken <= set(columns)


async def test_all_arrives_and_goes_on_there(copy: Copy, tmp_path: Path) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    before = contents(usable_places(source))
    steps: list[Progress] = []
    done = await copied(source, to, None, steps.append)
    after = contents(usable_places(target))
    for name in before.keys() - {"entries"}:
        assert after[name] == before[name], name
    kinds = [row[2 + 1] for row in after["entries"]]
    assert (kinds[-2:], after["entries"][: len(before["entries"])]) == (["moved", "opened"], before["entries"])
    assert done.rows["entries"] == len(before["entries"]) + 1
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert (stages[:2], stages[-1]) == (["chain", "entries"], "chain there")
    assert (steps[0].done, steps[-1].done) == (0, steps[-1].total)
    async with open_record(target) as record:
        assert (await record.verify()).ok
        opened = await record.get(done.entry_id or "")
        assert opened is not None
        assert (opened.kind, "actor" in opened.body) == ("opened", True)
    async with running(target) as system:
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert (reply.outcome, await system.ready()) == (Outcome.ANSWERED, {})
    await take_in_page(target, tmp_path / "kb", "# Other\n\nWatch Air costs $5 a month.\n", lexical_only=True)
    with suppress(StoreError):  # ids that the database gives come behind those that arrived
        sides(usable_places(target))("turns").settle(TABLES["turns"])
    async with open_record(target) as record:
        assert (await record.verify()).ok
    again = await copied(source, to, None, quiet)
    assert (again.entry_id, again.rows) == (None, {})  # it is there, and in use


async def test_the_source_refuses_and_can_be_opened_again(copy: Copy, tmp_path: Path) -> None:
    source, to, _ = copy
    await filled(source, tmp_path)
    async with running(source) as system:
        await copied(source, to, None, quiet)
        told = r"the ledger was moved to .* and takes no entries here; attest database reopen opens it here again"
        assert re.search(told, (await system.ready())["ledger"])
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert (reply.outcome, reply.code) == (Outcome.FAILED, "ledger_unavailable")
        with pytest.raises(StoreError, match=r"the store cannot be (written|used): it was moved to "):
            await system.library.remove("plans.md")
        with pytest.raises(StoreError, match=told):
            await take_in_page(source, tmp_path / "kb", "# New\n", lexical_only=True)
    with pytest.raises(StoreError, match=told):
        async with running(source):
            pass
    places = usable_places(source)
    for name, row in BESIDE.items():
        side = sides(places)(name)
        with pytest.raises(StoreError, match=r"it was moved to .*; attest database reopen opens it here again"):
            side.add(TABLES[name], [row])
    async with open_record(source) as record:  # to read it is what it was
        assert (await record.verify()).ok
    assert await reopened(source, "the other was given up")
    with pytest.raises(InputError, match="was not moved"):
        await reopened(source, "again")
    async with running(source) as system:
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert (reply.outcome, await system.ready()) == (Outcome.ANSWERED, {})
        assert await system.library.remove("plans.md")
        assert (await system.ledger.verify()).ok


@pytest.mark.parametrize("kept", ["entries", "review_passes"])
async def test_a_target_that_holds_something_is_refused_and_nothing_is_changed(
    copy: Copy, tmp_path: Path, kept: str
) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    before = contents(usable_places(source))
    (tmp_path / "keys").mkdir(exist_ok=True)
    if target.database.url is None:
        await filled(target, tmp_path)
        for name, path in files_of(usable_places(target)).items():
            if kept not in [t.name for p in schema_parts() if p.name == name for t in p.tables]:
                path.unlink()
    else:
        made(to, tmp_path)
        row = before[kept][0]
        Postgres(to).close()
        sides(usable_places(target))(kept).add(TABLES[kept], [row])
    with pytest.raises(InputError, match=r"--to .*: it holds .*rows of .*; allowed is a place that holds nothing"):
        await copied(source, to, None, quiet)
    assert contents(usable_places(source)) == before
    async with running(source) as system:
        assert await system.ready() == {}


async def test_a_record_that_does_not_hold_is_not_moved(tmp_path: Path, database_url: str) -> None:
    source = server_home(tmp_path, "one")
    await filled(source, tmp_path)
    with closing(sqlite3.connect(source.files.home / "ledger.db")) as db:
        (guard,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
        db.execute("DROP TRIGGER entries_no_update")
        db.execute("UPDATE entries SET at = '2020' WHERE seq = 2")
        db.execute(guard)
        db.commit()
    with pytest.raises(StoreError, match="the ledger does not hold, so it is not moved: changed: entry 2"):
        await copied(source, database_url, None, quiet)
    async with running(source) as system:
        assert await system.ready() == {}
    with pytest.raises(InputError, match="was not moved"):
        await reopened(source, "x")


async def test_a_target_is_kept_from_others_before_the_source_is_shut(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever began to use it while the source is verified would begin another record in it."""
    source, to, target = copy
    await filled(source, tmp_path)

    async def fails(_self: SqlLedger, _on_progress: OnProgress) -> Verification:
        with pytest.raises(StoreError, match="a copy into it is not whole yet"):
            usable_places(target)
        with pytest.raises(
            StoreError, match="another attest database copy, or reopen, is at work with this ledger key"
        ):
            await copied(source, to, None, quiet)
        return Verification(False, 0, "", why="changed: by the test")

    with monkeypatch.context() as patched:
        patched.setattr(SqlLedger, "verify", fails)
        with pytest.raises(StoreError, match="is not moved: changed: by the test"):
            await copied(source, to, None, quiet)
    async with running(source) as system:
        assert await system.ready() == {}
    usable_places(target)
    assert (await copied(source, to, None, quiet)).entry_id


class Killed(Exception):
    """Whoever copied is gone."""


@pytest.mark.parametrize("at", ["entries", "chunks"])
async def test_whoever_is_stopped_goes_on_and_nobody_uses_a_part(
    copy: Copy, tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, to, target = copy
    monkeypatch.setattr("grounding.database.copying.BATCH", 1)
    await filled(source, tmp_path)

    def stop(now: Progress) -> None:
        if now.stage == at and now.done == 1:
            raise Killed

    with pytest.raises(Killed):
        await copied(source, to, None, stop)
    for opened in (running(target), open_record(target)):
        with pytest.raises(
            StoreError, match="a copy into it is not whole yet; the command that began it goes on with it"
        ):
            async with opened:
                pass
    elsewhere = f"sqlite:{tmp_path / 'three'}"
    with pytest.raises(
        InputError, match=r"the ledger was moved to .*; that is to be gone on with, or attest database reopen"
    ):
        await copied(source, elsewhere, None, quiet)
    assert not (tmp_path / "three").exists()
    starts: dict[str, int] = {}

    def note(now: Progress) -> None:
        starts.setdefault(now.stage, now.done)

    done = await copied(source, to, None, note)
    assert (done.entry_id is not None, starts[at]) == (True, 1)
    async with running(target) as system:
        assert (await system.ledger.verify()).ok
    for name in TABLES.keys() - {"entries", "recorded_turns"}:
        assert sides(usable_places(target))(name).count(TABLES[name]) == done.rows[name]


async def test_whoever_is_stopped_before_the_anchor_is_there_makes_it_with_the_next_call(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    publish = Anchor.publish

    def stop(self: Anchor, prepared: Path) -> None:
        if self.path.exists():  # that of the source
            publish(self, prepared)
            return
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Anchor, "publish", stop)
        with pytest.raises(Killed):
            await copied(source, to, None, quiet)
    for _ in range(2):
        assert (await copied(source, to, None, quiet)).entry_id is None
    async with open_record(target) as record:
        assert (await record.verify()).ok
        assert [entry.kind async for entry in record.entries(newest_first=True, limit=3)] == [
            "anchor",
            "opened",
            "moved",
        ]


@pytest.mark.parametrize("at", ["entries", "turns", "hypotheticals"])
async def test_of_two_copies_from_two_machines_one_goes_on_and_the_other_ends_in_a_line(
    tmp_path: Path, database_url: str, other_url: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has the keys in a folder of its own, as another machine has; whoever came last has the copy, whole and once."""
    monkeypatch.setattr("grounding.database.copying.BATCH", 1)
    made(database_url, tmp_path)
    source = server_over(database_url, tmp_path / "one", tmp_path)
    await filled(source, tmp_path)
    shutil.copytree(tmp_path / "keys", tmp_path / "there" / "keys")
    second = server_over(database_url, tmp_path / "there" / "home", tmp_path / "there")
    came: list[str | None] = []

    def meanwhile(now: Progress) -> None:
        if now.stage == at and now.done == 1 and not came:
            came.append(asyncio.run(copied(second, other_url, None, quiet)).entry_id)

    with pytest.raises(StoreError, match="another attest database copy went on with it; wait for that to end") as said:
        await copied(source, other_url, None, meanwhile)
    assert "\n" not in str(said.value)
    assert came[0]
    target = server_over(other_url, tmp_path / "there" / "home", tmp_path / "there")
    async with running(target) as system:
        assert (await system.ledger.verify()).ok
    for name in TABLES.keys() - {"entries", "recorded_turns"}:
        assert sides(usable_places(target))(name).count(TABLES[name]) == sides(usable_places(source))(name).count(
            TABLES[name]
        )


async def test_a_place_that_is_being_copied_is_not_opened_again_by_another_terminal(copy: Copy, tmp_path: Path) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    refused: list[str] = []

    def meanwhile(now: Progress) -> None:
        if now.stage == "chain there" and not refused:
            with pytest.raises(StoreError, match="attest database copy, or reopen, is at work") as said:
                asyncio.run(reopened(source, "given up"))
            refused.append(str(said.value))

    assert (await copied(source, to, None, meanwhile)).entry_id
    assert refused
    with pytest.raises(StoreError, match="the ledger was moved to"):
        async with running(source):
            pass
    async with open_record(target) as record:
        assert (await record.verify()).ok


@pytest.mark.parametrize("at", ["turns", "chain there"])
async def test_a_place_that_another_machine_opens_again_meanwhile_is_the_only_one_that_goes_on(
    copy: Copy, tmp_path: Path, at: str
) -> None:
    """The other machine has the keys in a folder of its own, so that no lock of this one is seen there."""
    source, to, target = copy
    await filled(source, tmp_path)
    shutil.copytree(tmp_path / "keys", tmp_path / "there" / "keys")
    other = source.changed(ledger_key_file=tmp_path / "there" / "keys" / "ledger.key")
    came: list[str | None] = []

    def meanwhile(now: Progress) -> None:
        if now.stage == at and not came:
            came.append(asyncio.run(reopened(other, "given up")))

    with pytest.raises(StoreError, match="the ledger went on where it was, so it is not opened where it was copied to"):
        await copied(source, to, None, meanwhile)
    assert came[0]
    async with running(source) as system:
        assert (await system.ready(), (await system.ledger.verify()).ok) == ({}, True)
    with pytest.raises(StoreError, match="the ledger was moved to"):
        async with running(target):
            pass
    with pytest.raises(InputError, match="allowed is a place that holds nothing"):
        await copied(source, to, None, quiet)


async def test_a_part_of_another_copy_is_refused(tmp_path: Path, database_url: str) -> None:
    source = server_home(tmp_path, "one")
    await filled(source, tmp_path)

    def stop(now: Progress) -> None:
        if now.stage == "turns":
            raise Killed

    with pytest.raises(Killed):
        await copied(source, database_url, None, stop)
    await reopened(source, "given up")
    with pytest.raises(InputError, match="a part of another copy is there; allowed is a place that holds nothing"):
        await copied(source, database_url, None, quiet)


async def test_what_is_lost_or_changed_on_the_way_is_found(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain is compared at the target, and rows are counted."""
    source, to, target = copy
    await filled(source, tmp_path)
    for kind in (FileTables, SharedTables):
        add = kind.add

        def worse(self: Any, table: Any, rows: Any, add: Any = add) -> None:
            if table.name == "entries":
                rows = [(*row[:2], "2020", *row[3:]) if row[0] == 2 else row for row in rows]
            add(self, table, rows)

        monkeypatch.setattr(kind, "add", worse)
    with pytest.raises(StoreError, match="the ledger does not hold, so it is not opened here: changed: entry 2"):
        await copied(source, to, None, quiet)
    with pytest.raises(StoreError, match="the ledger was moved to"):
        async with running(target):
            pass


async def test_fewer_rows_at_the_target_are_told(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    for kind in (FileTables, SharedTables):
        add = kind.add

        def fewer(self: Any, table: Any, rows: Any, add: Any = add) -> None:
            if table.name != "versions":
                add(self, table, rows)

        monkeypatch.setattr(kind, "add", fewer)
    with pytest.raises(StoreError, match="the copy is not whole: of versions 0 rows arrived of 1"):
        await copied(source, to, None, quiet)
    with pytest.raises(StoreError, match="a copy into it is not whole yet"):
        async with running(target):
            pass


async def test_what_others_write_meanwhile_arrives_or_is_refused(copy: Copy, tmp_path: Path) -> None:
    source, to, target = copy
    await filled(source, tmp_path)
    places = usable_places(source)
    ledger = SqlLedger(places.ledger, source.files.ledger_key)
    acknowledged, refused, enough = list[str](), list[str](), asyncio.Event()

    async def write(client: int) -> None:
        for n in range(10_000):
            try:
                acknowledged.append((await ledger.append("turn", {"n": f"{client}-{n}"})).entry_id)
                if n == 5:
                    enough.set()
            except StoreError as error:
                refused.append(str(error))
                return

    writers = [asyncio.create_task(write(n)) for n in range(4)]
    await enough.wait()
    await copied(source, to, None, quiet)
    await asyncio.gather(*writers)
    assert len(refused) == 4
    assert all("the ledger was moved to" in why for why in refused)
    async with open_record(target) as record:
        assert (await record.verify()).ok
        for name in acknowledged:
            assert await record.get(name) is not None
    await ledger.close()


MANY = 10_000


def test_a_copy_that_is_killed_goes_on(tmp_path: Path, database_url: str) -> None:
    """By the command itself, killed while it takes entries along, in both directions."""
    keys = tmp_path / "keys" / "ledger.key"
    source = server_home(tmp_path, "one")
    asyncio.run(filled(source, tmp_path))
    asyncio.run(grown(source.files.home / "ledger.db", keys, MANY, {"n": "x" * 500}))
    more: dict[str, Any] = {"ATTEST_LEDGER_KEY_FILE": str(keys)}
    _copied_in_pieces(environment_of(source.files.home, **more), database_url, lambda: _count(database_url))
    there, file = environment_of(tmp_path / "two", ATTEST_DATABASE_URL=database_url, **more), tmp_path / "three"
    _copied_in_pieces(there, f"sqlite:{file}", lambda: _count(file / "ledger.db"))
    before, after = (contents(usable_places(server_home(tmp_path, name))) for name in ("one", "three"))
    assert after["entries"][:-3] == before["entries"]
    assert [row[3] for row in after["entries"][-4:]] == ["moved", "opened", "moved", "opened"]
    assert {**after, "entries": []} == {**before, "entries": []}


def _count(place: str | Path) -> int:
    """The entries that have arrived."""
    if isinstance(place, str):
        there = run(place, "SELECT to_regclass('entries')")
        return int(run(place, "SELECT count(*) FROM entries")[0][0]) if there != [(None,)] else 0
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM entries").fetchone()[0])
    return 0


def _copied_in_pieces(env: dict[str, str], to: str, count: Callable[[], int]) -> None:
    """Kills the command while it has taken a part of the entries along, and lets it come to its end."""
    command = [sys.executable, "-m", "bot", "database", "copy", "--to", to, "--json"]
    kills = 0
    for least in (1, None):
        with subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            while least is not None and process.poll() is None and count() < least:
                time.sleep(0.002)
            if least is not None and process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += count() < MANY
            out, err = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), err
    assert kills
    assert json.loads(out)["to"].startswith(to.partition(":")[0])
