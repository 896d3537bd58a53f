"""The ledger in PostgreSQL: who may change what, what an erasure leaves, and what becomes of an append whose connection is lost."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import Postgres
from grounding.errors import InputError, SettingsError, StoreError
from rai.ledger.appending import grow
from rai.ledger.databases.postgres import LOCK, PART
from rai.ledger.key import Anchor, load_key
from rai.ledger.store import SqlLedger
from tests.postgres.door import door
from tests.postgres.faults import LosesAnAnswer, ended, run
from tests.postgres.ledger import keys_in, ledger_in, made

TEXT = "the canary in entry two sings"


async def test_a_worker_appends_reads_and_erases_on_record_and_can_change_nothing_else(
    database_url: str, worker_url: str, tmp_path: Path
) -> None:
    made(database_url, make_url(worker_url).username).close()
    ledger = SqlLedger(Postgres(worker_url), keys_in(tmp_path))
    first = await ledger.append("turn", {"reply": {"answer": "Open until 18:00."}})
    kept = await ledger.append("turn", {"n": 2})
    await ledger.erase(first.entry_id, "asked for")
    for statement in (
        "UPDATE entries SET body = NULL, salt = NULL",
        "DELETE FROM entries",
        "TRUNCATE entries",
        "UPDATE about SET value = 'x'",
        "DELETE FROM about",
        "DELETE FROM recorded_turns",
        "ALTER TABLE entries DISABLE TRIGGER entries_no_update",
        "DROP TRIGGER entries_no_delete ON entries",
        "CREATE OR REPLACE FUNCTION attest_refuse() RETURNS trigger LANGUAGE sql AS ''",
        "DROP TABLE entries",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)
    # the function empties what the last entry names, and nothing else; not even what one of before has named
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        run(worker_url, f"SELECT attest_erase(ARRAY['{kept.entry_id}'])")
    found = await ledger.verify()
    assert (found.ok, found.entries) == (True, 4)
    await ledger.close()


def test_the_owner_too_is_refused_and_so_is_a_session_that_calls_itself_a_replica(
    database_url: str, tmp_path: Path
) -> None:
    asyncio.run(ledger_in(database_url, tmp_path).close())
    for statement in ("UPDATE entries SET at = ''", "DELETE FROM entries", "TRUNCATE entries", "DELETE FROM about"):
        for role in ("origin", "replica"):
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                run(database_url, f"SET session_replication_role = {role}", statement)


async def test_an_erasure_whose_reason_repeats_an_id_empties_what_it_names_alone(
    database_url: str, tmp_path: Path
) -> None:
    ledger = ledger_in(database_url, tmp_path, redact=lambda body, _: body)
    first, other = [await ledger.append("turn", {"n": n}) for n in range(2)]
    await ledger.erase(first.entry_id, other.entry_id)
    await ledger.erase(first.entry_id, f'x"entry_ids":["{other.entry_id}"]')
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        run(database_url, f"UPDATE entries SET body = NULL, salt = NULL WHERE entry_id = '{other.entry_id}'")
    assert (await ledger.verify()).ok
    await ledger.close()


async def test_what_was_erased_is_in_no_row_sample_or_file_of_a_table(database_url: str, tmp_path: Path) -> None:
    ledger = ledger_in(database_url, tmp_path)
    entries = [await ledger.append("turn", {"reply": {"answer": f"{n} {TEXT}"}}) for n in range(4)]
    run(database_url, "ANALYZE entries", "CHECKPOINT")
    assert _files_with(database_url, f"2 {TEXT}"), "it would be found in no file before: nothing is tested"
    await ledger.erase(entries[2].entry_id, "asked for")
    run(database_url, "CHECKPOINT")
    assert _files_with(database_url, f"2 {TEXT}") == []
    assert _files_with(database_url, f"3 {TEXT}")
    samples = run(
        database_url, "SELECT attname FROM pg_stats WHERE schemaname = current_schema() AND attname IN ('body', 'salt')"
    )
    assert samples == []
    assert (await ledger.verify()).ok
    await ledger.close()


def _files_with(url: str, text: str) -> list[Path]:
    """The files of tables in the server's folder that hold a text; skips where that folder is not on this machine, or not ours to read."""
    base = Path(run(url, "SHOW data_directory")[0][0]) / "base"
    try:
        return [path for path in base.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    except OSError:
        pytest.skip("the files of this server cannot be read from here")


async def test_an_erasure_that_a_reader_holds_up_leaves_no_trace_and_readers_see_the_whole_ledger(
    database_url: str, tmp_path: Path
) -> None:
    """The table is written anew: a snapshot from before would find it empty, so who reads keeps it from that."""
    ledger = ledger_in(database_url, tmp_path)
    entry = await ledger.append("turn", {"n": 1})
    with Postgres(database_url).reading("entries", "about") as connection:
        with pytest.raises(StoreError, match="another process holds it locked"):
            await ledger.erase(entry.entry_id, "asked for")
        assert connection.exec_driver_sql("SELECT count(*) FROM entries").scalar() == 2
    assert await ledger.get(entry.entry_id) == entry
    await ledger.erase(entry.entry_id, "asked for")
    assert (await ledger.verify()).entries == 3
    await ledger.close()


async def test_a_turn_is_recorded_once_whoever_records_it(database_url: str, tmp_path: Path) -> None:
    one, other = ledger_in(database_url, tmp_path), ledger_in(database_url, tmp_path)
    body = {"reply": {"answer": "Open until 18:00.", "turn_id": "0123456789abcdef"}}
    both = await asyncio.gather(one.append("turn", body), other.append("turn", body))
    assert both[0] == both[1]
    assert await one.append("turn", {**body, "n": 2}) == both[0]  # repeated by a worker that went on with it
    delivery = await one.append("delivery", body)
    assert delivery.entry_id != both[0].entry_id
    assert [e.seq async for e in one.entries(kinds=("turn",))] == [2]
    assert (await one.verify()).ok
    await one.close()
    await other.close()


async def test_who_follows_by_numbers_misses_nothing_that_is_committed_later(database_url: str, tmp_path: Path) -> None:
    """A number is given under a lock that is held until the commit: nobody gets a higher one meanwhile."""
    first, second = ledger_in(database_url, tmp_path), ledger_in(database_url, tmp_path)
    database, held, seen = Postgres(database_url), threading.Event(), threading.Event()

    def hold() -> None:
        with database.writing(LOCK):
            held.set()
            assert seen.wait(30)

    holding = asyncio.create_task(asyncio.to_thread(hold))
    assert await asyncio.to_thread(held.wait, 30)
    both = [asyncio.create_task(ledger.append("turn", {"n": n})) for n, ledger in enumerate((first, second))]
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory' "
        "AND objid::bigint = hashtextextended(current_schema() || '.ledger', 0) & 4294967295"
    )
    while await asyncio.to_thread(run, database_url, waiting) != [(2,)]:
        pass  # until both ask for the lock
    assert [e.seq async for e in second.entries()] == [1]
    seen.set()
    await holding
    assert sorted(e.seq for e in await asyncio.gather(*both)) == [2, 3]
    assert [e.seq async for e in first.entries(after=1)] == [2, 3]
    for ledger in (first, second):
        await ledger.close()
    database.close()


async def test_lost_connections_are_made_anew(database_url: str, tmp_path: Path) -> None:
    name = f"lost_{make_url(database_url).database}_{tmp_path.name}"
    ledger = ledger_in(f"{database_url}&application_name={name}", tmp_path)
    first = await ledger.append("turn", {"n": 1})
    works: tuple[Callable[[], Awaitable[Any]], ...] = (
        lambda: ledger.append("turn", {"n": 2}),
        lambda: ledger.get(first.entry_id),
        lambda: ledger.holds(first.entry_id),
        ledger.probe,
        ledger.look,
    )
    for work in works:
        ended(database_url, name)
        await work()
    assert (await ledger.look()).ok
    assert (await ledger.verify()).entries == 3
    await ledger.close()


async def test_a_server_without_room_for_an_entry_is_not_ready_until_one_fits_or_some_time_has_passed(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_in(database_url, tmp_path)
    await ledger.append("turn", {"n": 1})
    full = "LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END$$"
    run(
        database_url,
        f"CREATE FUNCTION full_disk() RETURNS trigger {full}",
        "CREATE TRIGGER no_room BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION full_disk()",
    )
    await ledger.probe()  # nothing has been refused yet
    with pytest.raises(StoreError, match=r"^the ledger cannot be used: the disk is full$"):
        await ledger.append("turn", {"n": 2})
    with pytest.raises(StoreError, match="the disk of its server is full"):
        await ledger.probe()
    with monkeypatch.context() as later:
        later.setattr("rai.ledger.databases.postgres.FULL_S", 0.0)
        await ledger.probe()  # turns come again, and find out
    with pytest.raises(StoreError, match="the disk is full"):
        await ledger.append("turn", {"n": 2})
    run(database_url, "DROP TRIGGER no_room ON entries")
    await ledger.append("turn", {"n": 2})
    await ledger.probe()
    assert (await ledger.verify()).entries == 3
    await ledger.close()


@pytest.mark.parametrize("stored", [True, False])
async def test_an_append_whose_commit_gave_no_answer_is_looked_for_before_it_is_tried_again(
    database_url: str, tmp_path: Path, stored: bool
) -> None:
    """The server is ended behind the COMMIT, or in front of it."""
    made(database_url).close()
    database = LosesAnAnswer(database_url, stored=stored)
    ledger = SqlLedger(database, keys_in(tmp_path))
    database.armed = True
    entry = await ledger.append("turn", {"n": 1})
    assert [e async for e in ledger.entries(kinds=("turn",))] == [entry]
    found = await ledger.verify()
    assert (found.ok, found.entries) == (True, 2)
    anchor = Anchor(load_key(tmp_path / "keys" / "ledger.key"), tmp_path / "keys" / "ledger.key", _place(database_url))
    mark = anchor.read()
    assert mark is not None
    assert mark.count == 2
    assert [path.suffix for path in anchor.path.parent.iterdir() if path.suffix == ".new"] == []
    await ledger.close()


async def test_a_server_that_is_cut_off_in_the_middle_of_an_append_stops_no_other_and_appends_when_it_is_back(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_url(database_url)
    if "host" not in url.query:
        pytest.skip("the server is not one of a socket")
    other, passing, asked = ledger_in(database_url, tmp_path), threading.Event(), threading.Event()
    passing.set()
    with door(Path(str(url.query["host"])) / ".s.PGSQL.5432", passing=passing) as port:
        wire = url.difference_update_query(["host"]).set(host="127.0.0.1", port=port)
        database = Postgres(wire.render_as_string(hide_password=False), idle_s=1.0)
        ledger = SqlLedger(database, keys_in(tmp_path))

        def cut(*given: Any) -> Any:
            monkeypatch.undo()
            passing.clear()
            asked.set()
            return grow(*given)

        monkeypatch.setattr("rai.ledger.store.grow", cut)
        waits = asyncio.create_task(ledger.append("turn", {"n": 1}))
        await asyncio.to_thread(asked.wait, 30)
        began = time.monotonic()
        second = await other.append("turn", {"n": 2})
        assert time.monotonic() - began < 8
        assert not waits.done()
        passing.set()
        first = await waits
        assert [e async for e in other.entries(kinds=("turn",))] == [second, first]
        assert (await other.verify()).ok
        for each in (ledger, other):
            await each.close()


def _place(url: str) -> str:
    name, schema = run(url, "SELECT current_database(), current_schema()")[0]
    return f"postgresql/{name}/{schema}"


@pytest.mark.parametrize("missing", ["ledger.key", "ledger-signing.key"])
def test_a_key_that_is_not_there_is_told_and_not_made(database_url: str, tmp_path: Path, missing: str) -> None:
    key = keys_in(tmp_path)
    key.with_name(missing).unlink()
    with pytest.raises(SettingsError, match=rf"{missing} is missing, and where several machines .* never made") as said:
        SqlLedger(made(database_url), key)
    assert "\n" not in str(said.value)
    assert not key.with_name(missing).exists()
    assert run(database_url, "SELECT count(*) FROM entries") == [(0,)]


def test_a_database_without_tables_or_of_another_schema_is_one_line(database_url: str, tmp_path: Path) -> None:
    key = keys_in(tmp_path)
    with pytest.raises(StoreError, match="has no tables for the ledger yet"):
        SqlLedger(Postgres(database_url), key)
    made(database_url)
    run(database_url, f"UPDATE attest_schema SET number = {PART.number + 1}, oldest = {PART.number + 1}")
    with pytest.raises(StoreError, match="newer than this program knows"):
        SqlLedger(Postgres(database_url), key)
    # one that a later program brought up so that this may go on
    run(database_url, f"UPDATE attest_schema SET oldest = {PART.number}")
    asyncio.run(SqlLedger(Postgres(database_url), key).close())


async def test_what_a_later_schema_has_is_no_fault_and_what_it_took_away_is(database_url: str, tmp_path: Path) -> None:
    ledger = ledger_in(database_url, tmp_path)
    await ledger.append("turn", {"n": 1})
    run(database_url, "CREATE INDEX later ON entries (entry_id)")
    assert ["foreign" in found.why for found in (await ledger.verify()).breaks] == [True]
    run(database_url, f"UPDATE attest_schema SET number = {PART.number + 1} WHERE part = 'ledger'")
    assert (await ledger.verify()).ok
    (trigger, *_) = run(
        database_url, "SELECT tgname FROM pg_trigger WHERE tgrelid = 'entries'::regclass AND NOT tgisinternal"
    )
    run(database_url, f"DROP TRIGGER {trigger[0]} ON entries")
    assert ["is gone" in found.why for found in (await ledger.verify()).breaks] == [True]
    await ledger.close()


async def test_an_emptied_ledger_gets_no_new_anchor(database_url: str, tmp_path: Path) -> None:
    ledger = ledger_in(database_url, tmp_path)
    await ledger.append("turn", {"n": 1})
    await ledger.close()
    away = [f"ALTER TABLE {t} DISABLE TRIGGER ALL" for t in ("entries", "about")]
    back = [s for t in ("entries", "about") for s in (f"ALTER TABLE {t} ENABLE TRIGGER ALL",)]
    run(database_url, *away, "TRUNCATE entries, about, recorded_turns", *back)
    again = ledger_in(database_url, tmp_path)
    found = await again.verify()
    assert not found.ok
    assert any("the anchor" in b.why for b in found.breaks)
    await again.close()


async def test_a_ledger_without_its_anchor_is_anchored_anew(database_url: str, tmp_path: Path) -> None:
    """What verifies the chain in the same transaction reads it by a cursor, which is to write nothing."""
    ledger = ledger_in(database_url, tmp_path)
    await ledger.append("turn", {"n": 1})
    for anchor in (tmp_path / "keys").glob("*.anchor"):
        anchor.unlink()
    assert (await ledger.reanchor("restored")).kind == "anchor"
    assert (await ledger.verify()).ok
    await ledger.close()


async def test_an_anchor_stays_behind_where_another_machine_writes_and_holds(database_url: str, tmp_path: Path) -> None:
    here = ledger_in(database_url, tmp_path / "here")
    await here.append("turn", {"n": 1})
    for path in (tmp_path / "here" / "keys").iterdir():  # as it was when the other machine was set up
        (tmp_path / "there" / "keys").mkdir(parents=True, exist_ok=True)
        (tmp_path / "there" / "keys" / path.name).write_bytes(path.read_bytes())
        (tmp_path / "there" / "keys" / path.name).chmod(0o600)
    there = ledger_in(database_url, tmp_path / "there")
    for n in range(3):
        await there.append("turn", {"n": n})
    assert (await here.verify()).ok
    assert (await here.look()).ok
    with pytest.raises(InputError, match="in its place and holds"):
        await here.reanchor("moved")
    await here.append("turn", {"n": 4})
    assert (await there.verify()).ok
    await here.close()
    await there.close()


def cut_behind(url: str, seq: int) -> None:
    """As where a dump of then was put back, or somebody cut the chain: the two look the same."""
    run(
        url,
        "ALTER TABLE entries DISABLE TRIGGER entries_no_delete",
        f"DELETE FROM entries WHERE seq > {seq}",
        "ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_no_delete",
    )


def joined(url: str, folder: Path, like: Path) -> SqlLedger:
    """The ledger on a machine that was given the two keys and nothing else."""
    (folder / "keys").mkdir(parents=True)
    for name in ("ledger.key", "ledger-signing.key"):
        shutil.copy2(like / "keys" / name, folder / "keys" / name)
    return ledger_in(url, folder)


async def test_a_machine_without_an_anchor_tells_it_until_it_is_anchored_by_hand(
    database_url: str, tmp_path: Path
) -> None:
    first = ledger_in(database_url, tmp_path / "first")
    await first.append("turn", {"n": 1})
    second = joined(database_url, tmp_path / "second", tmp_path / "first")
    await second.append("turn", {"n": 2})
    for found in ((await second.verify()).why, (await second.look()).why):
        assert "the anchor is missing" in found
    assert (await second.reanchor("joined")).kind == "anchor"
    for each in (first, second):
        assert (await each.verify()).ok
    cut_behind(database_url, 2)
    assert "truncated" in (await second.verify()).why
    for each in (first, second):
        await each.close()


async def test_where_an_older_state_was_put_back_each_machine_that_had_seen_more_says_so_until_it_is_anchored_by_hand(
    database_url: str, tmp_path: Path
) -> None:
    here = ledger_in(database_url, tmp_path / "here")
    await here.append("turn", {"n": 1})
    there = joined(database_url, tmp_path / "there", tmp_path / "here")
    kept = (await there.reanchor("joined")).seq
    for n in range(4):
        await there.append("turn", {"n": n})
    await there.close()
    cut_behind(database_url, kept)
    await here.restored("the disk failed", 0, {})
    assert (await here.verify()).ok
    there = ledger_in(database_url, tmp_path / "there")
    assert f"the anchor has seen {kept + 4}" in (await there.verify()).why  # `here` knew nothing of these
    for n in range(4):
        await here.append("turn", {"n": n})
    assert f"entry {kept + 4} is not the one" in (await there.verify()).why
    said = await there.reanchor("restored on the other machine")
    assert said.body["before"]["count"] == kept + 4
    for each in (here, there):
        assert (await each.verify()).ok
    cut_behind(database_url, kept + 2)  # behind the entry that says what was restored: that excuses nothing later
    assert "truncated" in (await there.verify()).why
    for each in (here, there):
        await each.close()
