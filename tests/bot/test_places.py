"""Where things lie: one home by itself, or one database for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.places import Places, is_there, places_of
from bot.settings.load import load_settings
from grounding.database.postgres import Postgres
from grounding.errors import SettingsError


def test_without_a_database_all_are_files_of_the_home(tmp_path: Path) -> None:
    places = places_of(load_settings(home=tmp_path))
    assert places == Places(tmp_path)
    assert places.in_home("quarantine.db") == tmp_path / "quarantine.db"
    assert places.in_index("names.db") == tmp_path / "index" / "names.db"
    assert not is_there(places.ledger)
    (tmp_path / "ledger.db").touch()
    assert is_there(places.ledger)


def test_with_one_all_that_servers_share_is_in_it_and_what_is_derived_stays_here(tmp_path: Path) -> None:
    places = places_of(load_settings(home=tmp_path, database_url="postgresql://ada:canary@db.example/attest?x=canary"))
    shared = (places.ledger, places.state, places.store, places.in_home("a.db"), places.in_index("b.db"))
    assert isinstance(places.database, Postgres)
    assert set(map(id, shared)) == {id(places.database)}
    assert (places.index, places.desk) == (tmp_path / "index", tmp_path / "review.db")
    assert is_there(places.ledger)  # nobody is connected to for this
    assert places.database.address == "postgresql://ada@db.example/attest"


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe", b"can\x00ary"])
def test_a_file_without_a_password_is_told_by_its_setting(content: bytes | None, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    if content is not None:
        secret.write_bytes(content)
    url = f"postgresql://ada@/attest?host={tmp_path}"
    database = places_of(load_settings(home=tmp_path, database_url=url, database_password_file=secret)).database
    assert database is not None
    with pytest.raises(SettingsError) as found:
        database.server()
    assert str(found.value).startswith(f"ATTEST_DATABASE_PASSWORD_FILE={str(secret)!r}: ")
    assert str(found.value).endswith("allowed is a file that holds the password alone")
