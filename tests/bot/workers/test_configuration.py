"""What servers compare of their configurations: what has to be the same everywhere, and never a value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.settings.load import load_settings
from bot.settings.settings import PLACES, Settings
from bot.workers.configuration import OWN, configuration_of, differing

KEY = "the ledger's key, which every server has"


@pytest.fixture
def server(tmp_path: Path) -> Callable[..., Settings]:
    """The settings of a server with a home of its own; `files` by name are written there."""

    def made(home: str, files: dict[str, str] | None = None, **given: object) -> Settings:
        for name, content in (files or {}).items():
            path = tmp_path / home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
        key = tmp_path / f"{home}.key"
        key.write_text(KEY, "utf-8")
        return load_settings(home=tmp_path / home, ledger_key_file=key, **given)

    return made


def parts(one: Settings, other: Settings) -> list[str]:
    return differing(configuration_of(one), configuration_of(other))


def test_servers_that_differ_only_in_what_is_their_own_have_one(server: Callable[..., Settings]) -> None:
    files = {"off_policy.yaml": "x", "directory.yaml": "users: {}\n", "policies/mine.yaml": "retrieve_k: 40\n"}
    one = server("one", files, port=1, log_level="debug", database_url="postgresql://a:x@db/attest")
    other = server("two", files, port=2, database_url="postgresql://b:y@pooler/attest", database_pool=4)
    assert parts(one, other) == []
    assert parts(one, one.changed(rate_per_minute=60)) == []  # said or not, it is the same


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"rate_per_minute": 7}, "ATTEST_RATE_PER_MINUTE"),
        ({"company": "Another"}, "ATTEST_COMPANY"),
        ({"api_keys": "canary-1"}, "ATTEST_API_KEYS"),
        ({"retention_days": 5}, "ATTEST_RETENTION_DAYS"),
        ({"files": {"off_policy.yaml": "y"}}, "off_policy.yaml"),
        ({"files": {"directory.yaml": "users: {bo: [x]}\n"}}, "the directory's file"),
        ({"files": {"policies/mine.yaml": "retrieve_k: 40\n"}}, "policies"),
    ],
)
def test_what_differs_is_named(server: Callable[..., Settings], given: dict[str, object], named: str) -> None:
    assert parts(server("one"), server("two", **given)) == [named]


def test_of_a_secret_only_that_it_is_set_is_compared(server: Callable[..., Settings]) -> None:
    one, other = (server(home, api_keys=f"canary-{home}") for home in ("one", "two"))
    assert parts(one, other) == []
    told = repr(configuration_of(one))
    assert "canary" not in told
    assert "Another" not in repr(configuration_of(server("three", company="Another")))


def test_a_change_while_a_server_runs_shows_and_what_it_read_at_its_start_does_not(
    server: Callable[..., Settings],
) -> None:
    one, other = (server(home, {"policies/mine.yaml": "retrieve_k: 40\n"}) for home in ("one", "two"))
    assert parts(one, other) == []
    (other.files.home / "off_policy.yaml").write_text("followed while running", "utf-8")
    (other.files.home / "policies" / "mine.yaml").write_text("retrieve_k: 50\n", "utf-8")
    assert parts(one, other) == ["off_policy.yaml"]


def test_what_counts_as_a_machines_own_are_settings() -> None:
    assert PLACES.keys() >= OWN
    paths = {name for name, place in PLACES.items() if "Path" in str(place.info.annotation)}
    assert paths <= OWN
