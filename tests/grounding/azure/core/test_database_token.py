"""A token as the password of a database: asked for when a connection is made, over a real PostgreSQL whose password it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from azure.core.credentials import AccessTokenInfo, TokenRequestOptions
from sqlalchemy import URL, make_url

from bot.places import places_of
from grounding.azure.core.database_token import DatabaseToken
from grounding.azure.core.identity import EARLY_S, FAILED_S, SIGN_IN_FAILED
from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from tests.e2e.processes import settings_over
from tests.postgres.faults import ended, run

NOW, LIVES_S = 1_000_000.0, 3600


class Signs:
    """As azure-identity's credentials; `token` is what it gives now, None where it cannot sign in. Every loop gets another, which is closed with it."""

    def __init__(self) -> None:
        self.token: str | None = "worker"
        self.asked: list[str] = []
        self.open = 0
        self.now = NOW

    def clock(self) -> float:
        return self.now

    def made(self) -> Signs:
        self.open += 1
        return self

    async def get_token_info(self, *scopes: str, options: TokenRequestOptions | None = None) -> AccessTokenInfo:
        assert not options
        self.asked.append(scopes[0])
        if self.token is None:
            raise RuntimeError("canary: the user ada@contoso.example is not signed in")
        return AccessTokenInfo(self.token, int(self.now) + LIVES_S)

    async def close(self) -> None:
        self.open -= 1


@pytest.fixture
def signs() -> Signs:
    return Signs()


def bare(url: str) -> str:
    """The address without its password."""
    whole = make_url(url)
    return URL.create(
        whole.drivername, whole.username, None, whole.host, whole.port, whole.database, whole.query
    ).render_as_string()


def who(database: Postgres) -> object:
    return database.ask(lambda connection: connection.exec_driver_sql("SELECT current_user").scalar())


def test_each_new_connection_has_a_token_that_lives(worker_url: str, database_url: str, signs: Signs) -> None:
    name = f"entra_{database_url[-12:]}"
    token = DatabaseToken(make=signs.made, clock=signs.clock)
    database = Postgres(f"{bare(worker_url)}&application_name={name}", password=token)
    role = make_url(worker_url).username
    assert who(database) == role
    assert signs.asked == ["https://ossrdbms-aad.database.windows.net/.default"]
    run(database_url, f"ALTER ROLE {role} PASSWORD 'another token'")
    signs.token = "another token"
    signs.now += LIVES_S - EARLY_S - 1
    assert who(database) == role  # a connection goes on, whatever became of its token
    signs.now += 2
    ended(database_url, name)
    assert who(database) == role  # it was lost, and the one that was held is about to end
    assert (len(signs.asked), signs.open) == (2, 0)
    database.close()


async def test_it_is_given_where_a_loop_runs_and_once_for_many_threads(signs: Signs) -> None:
    token = DatabaseToken(make=signs.made, clock=signs.clock)
    assert token() == "worker"
    other = DatabaseToken("usgov", make=signs.made, clock=signs.clock)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: other(), range(16))) == {"worker"}
    assert signs.asked[1:] == ["https://ossrdbms-aad.database.usgovcloudapi.net/.default"]


def test_a_machine_that_cannot_sign_in_is_told_in_a_line_and_not_asked_at_each_try(
    worker_url: str, signs: Signs
) -> None:
    signs.token = None
    database = Postgres(bare(worker_url), password=DatabaseToken(make=signs.made, clock=signs.clock))
    for _ in range(3):
        with pytest.raises(StoreError) as told:
            who(database)
        assert str(told.value) == f"the database cannot be used: {SIGN_IN_FAILED}"
    assert len(signs.asked) == 1
    signs.token = "worker"
    signs.now += FAILED_S
    assert who(database) == make_url(worker_url).username
    database.close()


def test_a_token_that_the_database_refuses_is_told_without_it(worker_url: str, signs: Signs) -> None:
    signs.token = "canary-token"
    settings_of = Postgres(bare(worker_url), password=DatabaseToken(make=signs.made, clock=signs.clock))
    with pytest.raises(StoreError, match="it refuses the user or the password") as told:
        settings_of.server()
    assert "canary" not in str(told.value)
    settings_of.close()


def test_the_settings_switch_it_on(
    worker_url: str, tmp_path: Path, signs: Signs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grounding.azure.core.identity.default_credential", lambda _options: signs.made())
    settings = settings_over(tmp_path, database_url=bare(worker_url), database_entra="on")
    database = places_of(settings).database
    assert database is not None
    assert database.server().user == make_url(worker_url).username
    assert len(signs.asked) == 1
    database.close()
