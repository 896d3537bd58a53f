"""`attest database`: makes the tables, says what the database is like, and tells what is wrong in one line without a secret."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from bot.cli import main
from bot.settings.load import load_settings
from grounding.database import schema
from grounding.database.postgres import Postgres
from rai.ledger.databases.postgres import PART
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Attest
from tests.postgres.faults import run
from tests.postgres.ledger import keys_in
from tests.postgres.ledger import made as made_ledger
from tests.postgres.older import put_back, taken
from tests.postgres.shared import made


@pytest.fixture
def over(
    attest: Attest,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], None]:
    """Sets the address of the database for the runs that follow."""
    return lambda url: monkeypatch.setenv("ATTEST_DATABASE_URL", url)


def test_without_a_database_nothing_is_to_be_made(attest: Attest) -> None:
    ran = attest("database", "status")
    assert (ran.code, ran.out) == (0, "")
    assert "no database: everything is kept in files of" in ran.err
    assert attest("database", "status", "--json").document == {"database": None}
    ran = attest("database", "upgrade")
    assert (ran.code, ran.err.startswith("attest: ATTEST_DATABASE_URL is not set")) == (2, True)


def test_it_is_made_and_brought_up_and_says_so(
    attest: Attest, over: Callable[[str], None], database_url: str, worker_url: str
) -> None:
    over(database_url)
    ran = attest("database", "status")
    assert ran.code == 3
    assert "the database has no tables for the ledger yet" in ran.out
    role = str(make_url(worker_url).username)
    ran = attest("database", "upgrade", "--worker", role)
    assert ran.code == 0
    assert "state: made, schema 4\n" in ran.err
    unread = "the record is not verified to its end here: ATTEST_LEDGER_KEY_FILE"
    stand = "triggers, functions and rights that guard the record stand"
    assert f"role {role} has the rights of a server\n{stand}\n{unread}" in ran.err
    assert attest("database", "upgrade").err.startswith(f"every table is as this program needs it\n{stand}\n{unread}")
    over(worker_url)
    ran = attest("database", "status")
    assert (ran.code, ran.out.count("as needed")) == (0, 9)
    document = attest("database", "status", "--json").document
    assert (document["usable"], document["database"]["user"]) == (True, role)
    assert document["database"]["version"].split(".")[0].isdigit()
    ran = attest("database", "upgrade", "--json")
    assert (ran.code, ran.err) == (
        3,
        "attest: the database cannot be used: its user lacks a right that the owner has\n",
    )
    over(database_url)
    run(
        database_url,
        "UPDATE attest_schema SET number = 1 WHERE part = 'state'",
        "DROP TABLE review_passes, review_sessions",
        "ALTER TABLE inbox DROP COLUMN deaths, DROP COLUMN begun",
        "ALTER TABLE sent DROP COLUMN asked",
    )
    document = attest("database", "upgrade", "--json").document
    assert (document["upgraded"], document["checked"]["ok"]) == ({"state": {"from": 1, "to": 4}}, True)


def port_of_nobody() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda url: url.set(password="wrong-secret"),
            (3, "the database cannot be used: it refuses the user or the password"),
        ),
        (
            lambda url: url.difference_update_query(["host"]).set(host="127.0.0.1", port=port_of_nobody()),
            (3, "the database cannot be used: nobody listens at its address"),
        ),
        (lambda url: url.set(database="gone"), (3, "the database cannot be used: there is no such database or user")),
        (
            lambda url: url.update_query_dict({"options": "-c default_transaction_read_only=on"}),
            (3, "the database cannot be used: it is read-only"),
        ),
        (
            lambda url: url.update_query_dict({"options": "-csearch_path=nowhere"}),
            (3, "the database cannot be used: there is no such schema"),
        ),
        (
            lambda url: url.set(drivername="mysql"),
            (2, "ATTEST_DATABASE_URL (environment): allowed is postgresql://user@host/database, with"),
        ),
        (
            lambda url: URL.create("postgresql", password=url.password, username="u", host="db"),
            (2, "ATTEST_DATABASE_URL (environment): allowed is postgresql://user@host/database, with"),
        ),
    ],
    ids=["password", "nobody", "database", "read-only", "schema", "another kind", "no database"],
)
def test_what_is_wrong_is_one_line_without_a_secret(
    attest: Attest, over: Callable[[str], None], database_url: str, change: Callable[[URL], URL], said: tuple[int, str]
) -> None:
    code, line = said
    url = change(make_url(database_url))
    over(url.render_as_string(hide_password=False))
    ran = attest("database", "upgrade")
    assert (ran.code, ran.err.count("\n"), ran.out) == (code, 1, "")
    assert ran.err.startswith(f"attest: {line}")
    assert str(url.password) not in ran.err


def test_a_server_that_is_too_old_and_a_driver_that_is_missing_are_told(
    attest: Attest, over: Callable[[str], None], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(f"{database_url}&application_name=old")
    monkeypatch.setattr("grounding.database.postgres.OLDEST", 99)
    ran = attest("database", "status")
    assert (ran.code, ran.err.endswith("; this program needs 99 or newer\n")) == (3, True)
    monkeypatch.setattr("grounding.database.postgres.DRIVER", "postgresql+pg8000")  # a driver that nobody installed
    over(f"{database_url}&application_name=bare")
    ran = attest("database", "status")
    assert (ran.code, ran.err) == (2, "attest: PostgreSQL needs its driver: pip install 'attest-copilot[postgres]'\n")


def test_a_password_file_needs_an_address(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_DATABASE_PASSWORD_FILE", "secret")
    ran = attest("database", "status")
    assert (ran.code, ran.err) == (
        2,
        "attest: ATTEST_DATABASE_PASSWORD_FILE needs ATTEST_DATABASE_URL; without it there is no database\n",
    )


def test_the_address_is_shown_nowhere(attest: Attest, over: Callable[[str], None]) -> None:
    over("postgresql://ada:canary-4711@db/attest")
    ran = attest("settings", "database", "--json")
    assert "canary" not in ran.out + ran.err
    assert {row["env"] for row in ran.document["settings"]} >= {"ATTEST_DATABASE_URL"}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A home with a record."""
    settings = load_settings()
    home = settings.files.home

    async def write() -> None:
        ledger = SqlLedger(home / "ledger.db", settings.files.ledger_key)
        await ledger.append("remove", {"doc_id": "a"})
        await ledger.close()

    asyncio.run(write())
    return home


def test_a_home_is_moved_and_says_where_to(
    attest: Attest, recorded: Path, database_url: str, tmp_path: Path, over: Callable[[str], None]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{make_url(database_url).password}\n")
    bare = make_url(database_url).set(password=None).render_as_string()
    ran = attest("database", "copy", "--to", bare, "--password-file", str(secret))
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"entries +3\n", ran.out)
    assert re.search(
        r"moved to postgresql://owner@\S+ \(schema \w+\) in \d+ s; the chain is whole there, entry ", ran.out
    )
    again = attest("database", "copy", "--to", bare, "--password-file", str(secret))
    assert (again.code, again.out) == (0, "")
    assert again.err.startswith("all of it is at postgresql://owner@")
    ran = attest("privacy", "hold", "--person", "ada", "--reason", "x")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "the ledger was moved to postgresql://owner@" in ran.err
    assert main(["ledger", "verify"]) == 0  # by the program itself, over the real record
    ran = attest("database", "reopen", "--reason", "given up", "--json")
    assert (ran.code, list(ran.document)) == (0, ["entry_id"])
    assert (
        attest("database", "reopen", "--reason", "x").err == "attest: the ledger was not moved: it takes entries here\n"
    )
    over(database_url)
    back = attest("database", "copy", "--to", f"sqlite:{tmp_path / 'back'}", "--json")
    assert (back.code, back.document["rows"]["entries"]) == (0, 5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--to", "mysql://u@h/d"), "--to: allowed is postgresql://user@host/database or sqlite:HOME\n"),
        (("--to", "sqlite:"), "--to: allowed is postgresql://user@host/database or sqlite:HOME\n"),
        (("--to", "sqlite:x", "--password-file", "y"), "--password-file: a home has no password; it goes with --to "),
        (
            ("--to", "postgresql://u@h/d", "--password-file", "missing"),
            "--password-file 'missing': no such file or directory; allowed is a file that holds the password alone\n",
        ),
        (("--to", "sqlite:/proc/nothing"), "--to sqlite:/proc/nothing: no such file or directory; allowed is a folder"),
    ],
)
def test_a_target_that_is_none_is_one_line(attest: Attest, recorded: Path, given: tuple[str, ...], said: str) -> None:
    ran = attest("database", "copy", *given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"attest: {said}")
    assert main(["ledger", "verify"]) == 0
    assert attest("database", "reopen", "--reason", "x").code == 2  # nothing was shut


def test_where_there_is_nothing_nothing_is_moved(attest: Attest, tmp_path: Path) -> None:
    ran = attest("database", "copy", "--to", f"sqlite:{tmp_path / 'two'}")
    assert (ran.code, ran.err.endswith("there is no ledger here, so there is nothing to copy\n")) == (2, True)
    assert not (tmp_path / "two").exists()


def test_a_database_that_was_put_back_goes_on_and_says_what_is_missing(
    attest: Attest,
    over: Callable[[str], None],
    database_url: str,
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made(database_url, tmp_path)
    key = keys_in(tmp_path)
    over(database_url)
    monkeypatch.setenv("ATTEST_LEDGER_KEY_FILE", str(key))

    async def write(count: int) -> None:
        ledger = SqlLedger(Postgres(database_url), key)
        for n in range(count):
            await ledger.append("remove", {"doc_id": str(n)})
        await ledger.close()

    asyncio.run(write(1))
    taken(database_url)
    asyncio.run(write(2))
    put_back(database_url)
    assert main(["ledger", "verify"]) == 1
    capsys.readouterr()
    ran = attest("database", "restored", "--reason", "dump of 03:00")
    assert (ran.code, ran.err) == (0, "")
    assert re.match(r"anchored after 2 entries, by entry \w+; entries 3 to 4 are missing\n", ran.out)
    assert "dropped: 0 unsent answers, 0 messages in hand, 0 sessions and links\n" in ran.out
    assert main(["ledger", "verify"]) == 0
    ran = attest("database", "restored", "--reason", "again", "--json")
    assert (ran.code, ran.document["missing"], ran.document["repeated"]["erasures"]) == (0, None, 0)
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"at": 1.5, "entr')
    ran = attest("database", "restored", "--reason", "once more", "--erasures", str(torn))
    assert (ran.code, f"{torn}: line 1 breaks off, " in ran.out) == (0, True)
    ran = attest("database", "restored", "--reason", "x", "--erasures", str(tmp_path / "gone"))
    assert (ran.code, ran.err) == (2, f"attest: {tmp_path / 'gone'}: there is no such list of erasures\n")
    for command in ("restored", "reopen"):
        ran = attest("database", command, "--reason", "  ")
        assert (ran.code, ran.err) == (2, "attest: --reason: allowed is a text of 1 to 500 characters\n")
    run(database_url, "INSERT INTO workers VALUES ('a', 'host-1', extract(epoch FROM clock_timestamp()), 10, '{}')")
    ran = attest("database", "restored", "--reason", "x")
    assert ran.code == 2
    assert ran.err.startswith("attest: 1 servers are at work over this database (host-1): stop them first")
    monkeypatch.delenv("ATTEST_DATABASE_URL")
    ran = attest("database", "restored", "--reason", "x")
    assert (ran.code, ran.err.startswith("attest: ATTEST_DATABASE_URL is not set; of files")) == (2, True)


def test_an_upgrade_ends_with_the_record_verified_and_its_guards_and_rights_looked_at(
    attest: Attest,
    over: Callable[[str], None],
    database_url: str,
    worker_url: str,
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    role = str(make_url(worker_url).username)
    key = keys_in(tmp_path)
    over(database_url)
    monkeypatch.setenv("ATTEST_LEDGER_KEY_FILE", str(key))
    assert attest("database", "upgrade").err.endswith("the record holds: 0 entries\n")

    async def write() -> None:
        ledger = SqlLedger(Postgres(database_url), key)
        await ledger.append("remove", {"doc_id": "a"})
        await ledger.close()

    asyncio.run(write())
    ran = attest("database", "upgrade", "--worker", role)
    assert (ran.code, ran.err.endswith("guard the record stand\nthe record holds: 2 entries\n")) == (0, True)
    for anchor in key.parent.glob("*.anchor"):
        anchor.rename(anchor.with_suffix(".aside"))
    ran = attest("database", "upgrade")
    told = "the record is not verified to its end here: 2 entries hold; no anchor on this machine says where it should end\n"
    assert (ran.code, ran.err.endswith(told)) == (0, True)
    for anchor in key.parent.glob("*.aside"):
        anchor.rename(anchor.with_suffix(".anchor"))

    run(database_url, "DROP TRIGGER entries_no_delete ON entries", f"GRANT UPDATE ON entries TO {role}")
    ran = attest("database", "upgrade", "--worker", role)
    assert ran.code == 1
    assert "attest: changed: the trigger entries_no_delete is gone\n" in ran.err
    assert f"attest: role {role} may UPDATE entries: a server needs a role that is neither the owner" in ran.err
    assert "the record holds: 2 entries" in ran.err
    run(
        database_url,
        "CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION attest_refuse()",
        "ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_no_delete",
        f"REVOKE UPDATE ON entries FROM {role}",
        "ALTER TABLE entries DISABLE TRIGGER entries_no_update",
        "UPDATE entries SET at = '2020' WHERE seq = 2",
        "ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_no_update",
    )
    ran = attest("database", "upgrade", "--json")
    assert (ran.code, ran.document["checked"]["ok"], ran.document["checked"]["faults"]) == (1, False, [])
    assert ran.document["checked"]["why"].startswith("changed: entry 2 does not match its seal")


def test_a_worker_that_can_do_more_than_a_server_may_is_told(
    attest: Attest, over: Callable[[str], None], database_url: str
) -> None:
    over(database_url)
    ran = attest("database", "upgrade", "--worker", str(make_url(database_url).username))
    assert (ran.code, ran.err.count("a server needs a role that is neither the owner, nor a member")) == (1, 9)


def test_a_role_that_lacks_a_right_is_told(database_url: str, worker_url: str) -> None:
    role = str(make_url(worker_url).username)
    database = made_ledger(database_url, role)
    with database.reading() as connection:
        assert schema.lacking(connection, [PART], role) == []
    run(database_url, f"REVOKE INSERT ON about FROM {role}")
    with database.reading() as connection:
        assert schema.lacking(connection, [PART], role) == [f"role {role} may not read about and add to it"]
    database.close()
