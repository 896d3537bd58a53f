"""What `attest doctor` says of a database that servers share."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url

from bot.commands.doctor.database import check_database
from bot.commands.doctor.machine import check_machine
from tests.e2e.processes import settings_over
from tests.postgres.shared import made, server_over


def test_files_of_the_home_are_no_line(tmp_path: Path) -> None:
    assert check_database(settings_over(tmp_path / "home")) == []


def test_it_is_told_with_its_version_and_schema(database_url: str, tmp_path: Path) -> None:
    settings = settings_over(tmp_path / "home", database_url=database_url)
    (bare,) = check_database(settings)
    assert (bare.status, bare.service, bare.fix) == ("fail", True, "run attest database upgrade as the owner")
    made(database_url, tmp_path)
    found, connections = check_database(settings)
    assert found.status == "ok"
    assert (connections.name, connections.status) == ("connections", "ok")  # nobody serves, so nobody is compared
    assert "PostgreSQL 1" in found.detail
    assert found.detail.endswith("hypotheticals 1, spending 2")
    assert str(make_url(database_url).password) not in found.detail


def test_one_that_does_not_let_us_in_is_told_with_the_fix(database_url: str, tmp_path: Path) -> None:
    url = make_url(database_url).set(password="wrong-secret").render_as_string(hide_password=False)
    (found,) = check_database(settings_over(tmp_path / "home", database_url=url))
    assert (found.status, found.detail) == ("fail", "the database cannot be used: it refuses the user or the password")
    assert "ATTEST_DATABASE_URL" in found.fix
    gone = settings_over(tmp_path / "home", database_url=database_url, database_password_file=tmp_path / "gone")
    (found,) = check_database(gone)
    assert (found.status, found.service) == ("fail", False)


def test_a_key_that_is_missing_is_made_for_a_home_and_not_for_a_database(database_url: str, tmp_path: Path) -> None:
    def key(url: str | None = None) -> tuple[str, str]:
        settings = settings_over(tmp_path / "home", None, **({} if url is None else {"database_url": url}))
        (found,) = (line for line in check_machine(settings) if line.name == "ledger key")
        return found.status, found.fix

    assert key() == ("ok", "")
    assert key(database_url) == ("fail", "put the key there that every server of this database has")
    made(database_url, tmp_path)
    (found,) = (
        line
        for line in check_machine(server_over(database_url, tmp_path / "home", tmp_path))
        if line.name == "ledger key"
    )
    assert found.status == "ok"
