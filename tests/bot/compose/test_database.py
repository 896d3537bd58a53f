"""One database under several servers: what is looked at before anything is made, and a whole system over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url

from bot.compose.database import database_status, schema_parts, upgraded, usable_places
from bot.compose.ingest import open_history
from bot.compose.privacy import open_stores
from bot.compose.record import open_ledger, open_record
from bot.places import Places, places_of
from bot.records import Ask
from grounding.database.postgres import POOL
from grounding.database.schema import Step
from grounding.errors import InputError, SettingsError, StoreError
from rai.records import Outcome
from tests.e2e.processes import settings_over
from tests.knowledge_base import PAGE, running, take_in, take_in_page
from tests.postgres.faults import run
from tests.postgres.server import running as cluster
from tests.postgres.shared import made, server_over


def test_without_an_address_everything_lies_in_the_home(tmp_path: Path) -> None:
    places = usable_places(settings_over(tmp_path / "home"))
    home = tmp_path / "home"
    assert places == Places(home)
    assert (places.ledger, places.state, places.store) == (
        home / "ledger.db",
        home / "state.db",
        home / "index" / "store.db",
    )
    assert list(tmp_path.iterdir()) == []
    assert database_status(settings_over(home)) is None
    with pytest.raises(SettingsError, match="ATTEST_DATABASE_URL is not set"):
        upgraded(settings_over(home), None)


def test_tables_are_made_once_and_of_every_subject(database_url: str, tmp_path: Path) -> None:
    settings = settings_over(tmp_path / "home", database_url=database_url)
    names = {part.name: (0, part.number) for part in schema_parts()}
    assert len(names) == len(schema_parts()) == 9
    assert upgraded(settings, None) == names
    assert upgraded(settings, None) == {}
    status = database_status(settings)
    assert status is not None
    assert (status.why, [part.name for part in status.parts]) == (None, list(names))
    assert make_url(database_url).password not in (status.address, str(status))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("done", "told"),
    [
        ("DROP TABLE attest_schema", "the database has no tables for the ledger yet"),
        ("DELETE FROM attest_schema WHERE part = 'spending'", "the database has no tables for the spending yet"),
        ("UPDATE attest_schema SET number = 99, oldest = 99 WHERE part = 'store'", "is of schema 99, which is newer"),
        ("UPDATE attest_schema SET number = 1 WHERE part = 'state'", "is of schema 1, this program needs 4"),
    ],
)
async def test_tables_that_do_not_fit_are_told_before_anything_is_made(
    database_url: str, tmp_path: Path, done: str, told: str
) -> None:
    made(database_url, tmp_path)
    settings = server_over(database_url, tmp_path / "home", tmp_path)
    run(database_url, done)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match=told):
        async with running(settings):
            pass
    for opened in (open_record(settings), open_ledger(settings, writes=True), open_stores(settings)):
        with pytest.raises(StoreError, match=told):
            async with opened:
                pass
    with pytest.raises(StoreError, match=told):
        await take_in(settings, tmp_path)
    with pytest.raises(StoreError, match=told):
        open_history(settings)
    assert sorted(tmp_path.iterdir()) == before


def test_a_newer_schema_is_not_upgraded_and_nothing_is_half_made(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_over(tmp_path / "home", database_url=database_url)
    upgraded(settings, None)
    run(database_url, "DELETE FROM attest_schema WHERE part = 'hypotheticals'", "DROP TABLE hypotheticals")
    run(database_url, "UPDATE attest_schema SET number = 99 WHERE part = 'spending'")
    with pytest.raises(StoreError, match="newer than this program knows"):
        upgraded(settings, None)
    broken = schema_parts()[-1]
    run(database_url, f"UPDATE attest_schema SET number = {broken.number} WHERE part = '{broken.name}'")
    worse = type(broken)(broken.name, (*broken.steps, Step(("SELECT 1/0",), oldest=1)), broken.rights)
    monkeypatch.setattr("bot.compose.database.schema_parts", lambda: (*schema_parts()[:-1], worse))
    with pytest.raises(StoreError, match="22012"):
        upgraded(settings, None)
    assert run(database_url, "SELECT to_regclass('hypotheticals')") == [(None,)]


def test_a_role_that_is_not_there_gets_nothing(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--worker 'nobody_here': the database has no such role"):
        upgraded(settings_over(tmp_path / "home", database_url=database_url), "nobody_here")
    assert run(database_url, "SELECT to_regclass('attest_schema')") == [(None,)]


@pytest.mark.parametrize("missing", ["ledger.key", "ledger-signing.key"])
async def test_a_key_that_is_missing_is_told_and_not_made(database_url: str, tmp_path: Path, missing: str) -> None:
    made(database_url, tmp_path)
    (tmp_path / "keys" / missing).unlink()
    settings = server_over(database_url, tmp_path / "home", tmp_path)
    with pytest.raises(SettingsError, match=f"{missing} is missing, and where several machines share a database"):
        async with running(settings):
            pass
    assert not (tmp_path / "keys" / missing).exists()
    assert not (tmp_path / "home").exists()


async def test_what_one_server_took_in_another_answers_as_a_worker(
    database_url: str, worker_url: str, tmp_path: Path
) -> None:
    """With the rights of a worker alone, from homes of their own; one chain, which holds, and one history."""
    made(database_url, tmp_path, make_url(worker_url).username)
    one, other = (server_over(worker_url, tmp_path / name, tmp_path) for name in ("one", "other"))
    async with running(other) as system:
        assert "empty" in (await system.ready())["knowledge base"]
        await take_in_page(one, tmp_path / "kb", lexical_only=True)
        assert system.keep_up is not None
        await system.keep_up()
        reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
        assert (reply.outcome, await system.ready()) == (Outcome.ANSWERED, {})
        assert "$9.99" in reply.answer
        assert await system.library.remove("plans.md")
    async with open_record(one) as record:
        assert (await record.verify()).ok
        assert await record.get(reply.entry_id) is not None
    (gone,) = open_history(one).tombstones()
    assert (gone.doc_id, gone.by_hand) == ("plans.md", True)
    async with open_stores(other) as stores:
        assert stores.state is not None
    for home in (tmp_path / "one", tmp_path / "other"):
        assert not [path.name for path in home.rglob("*.db")]


async def test_a_database_that_stops_is_not_ready(database_url: str, worker_url: str, tmp_path: Path) -> None:
    made(database_url, tmp_path, make_url(worker_url).username)
    settings = server_over(worker_url, tmp_path / "home", tmp_path)
    await take_in_page(settings, tmp_path / "kb", PAGE, lexical_only=True)
    async with running(settings) as system:
        assert await system.ready() == {}
        worker = make_url(worker_url).username
        run(database_url, f"ALTER ROLE {worker} NOLOGIN")
        run(database_url, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{worker}'")
        why = "cannot be used: it refuses the user or the password"
        assert (await system.ready()).keys() == {"ledger", "knowledge base"}  # a session that was ended is told as such
        assert await system.ready() == {"ledger": f"the ledger {why}", "knowledge base": f"the store {why}"}
        run(database_url, f"ALTER ROLE {worker} LOGIN")
        assert await system.ready() == {}


async def test_a_server_that_goes_read_only_is_not_ready_and_says_why(tmp_path: Path) -> None:
    """As a managed one does whose disk runs full: it goes on with the sessions that it has."""
    with cluster() as url:
        made(url, tmp_path)
        settings = server_over(url, tmp_path / "home", tmp_path)
        await take_in_page(settings, tmp_path / "kb", PAGE, lexical_only=True)
        async with running(settings) as system:
            assert await system.ready() == {}
            run(url, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
            while (found := await system.ready()) == {}:
                pass  # until it has read its configuration
            assert found == {"ledger": "the database is read-only"}
            reply = await system.answer(Ask("What does Watch Plus cost a month?"), None)
            assert (reply.outcome, reply.code) == (Outcome.FAILED, "ledger_unavailable")
            run(url, "SET default_transaction_read_only = off", "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
            while await system.ready() != {}:
                pass
            assert (await system.answer(Ask("What does Watch Plus cost a month?"), None)).outcome is Outcome.ANSWERED
        places_of(settings).database.close()  # type: ignore[union-attr]


@pytest.mark.parametrize("pool", [2, 9])
def test_the_connections_are_those_of_the_settings(database_url: str, tmp_path: Path, pool: int) -> None:
    database = places_of(settings_over(tmp_path, database_url=database_url, database_pool=pool)).database
    assert database is not None
    assert database.pool == pool
    usual = places_of(settings_over(tmp_path, database_url=database_url)).database
    assert usual is not None
    assert usual.pool == POOL


def test_one_process_has_one_set_of_connections(database_url: str, tmp_path: Path) -> None:
    first, second = (settings_over(tmp_path / name, database_url=database_url) for name in "ab")
    assert places_of(first).database is places_of(second).database
    assert (
        places_of(first).database is not places_of(settings_over(tmp_path, database_url=f"{database_url}&x=1")).database
    )


def test_a_password_is_read_from_its_file_at_each_new_connection(database_url: str, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    bare = make_url(database_url).set(password=None).render_as_string()
    settings = settings_over(tmp_path / "home", database_url=bare, database_password_file=secret)
    with pytest.raises(SettingsError, match="no such file or directory; allowed is a file that holds the password"):
        usable_places(settings)
    secret.write_text("wrong\n")
    with pytest.raises(StoreError, match="it refuses the user or the password"):
        usable_places(settings)
    secret.write_text(f"{make_url(database_url).password}\n")
    with pytest.raises(StoreError, match="no tables"):
        usable_places(settings)
