"""`attest review-link`, over a home that a server has used and one that none has."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.review.session import LINK_SECONDS, ReviewAccess
from bot.settings.load import load_settings
from bot.state import State
from tests.bot.commands.conftest import Attest


@pytest.fixture
def state(attest: Attest) -> Path:
    """The state that a server has left, or keeps open."""
    path = load_settings().files.home / "state.db"

    async def serve() -> None:
        made = State(path)
        await made.open()
        await made.close()

    asyncio.run(serve())
    return path


def opens(path: Path, token: str) -> bool:
    """What the server's door says to a link with that token."""

    async def redeem() -> bool:
        state = State(path)
        await state.open()
        try:
            return await ReviewAccess(state).redeem(token) is not None
        finally:
            await state.close()

    return asyncio.run(redeem())


def token_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["token"][0]


def test_the_link_works_once_and_stands_alone_on_stdout(attest: Attest, state: Path) -> None:
    ran = attest("review-link")
    assert (ran.code, ran.err) == (0, "works once, within 15 minutes\n")
    [link] = ran.out.splitlines()
    assert link.startswith("http://127.0.0.1:3978/review?token=")
    assert opens(state, token_of(link))
    assert not opens(state, token_of(link))


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        ({"PUBLIC_URL": "https://attest.example/"}, "https://attest.example/review?"),
        ({"PORT": "8080"}, "http://127.0.0.1:8080/review?"),
        ({"HOST": "0.0.0.0", "API_KEYS": "k"}, "http://127.0.0.1:3978/review?"),
        ({"PORT": "0", "PUBLIC_URL": "https://attest.example"}, "https://attest.example/review?"),
    ],
)
def test_the_link_leads_to_the_server(
    attest: Attest, state: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], base: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    assert attest("review-link").out.startswith(base)


def test_the_port_of_the_start_may_be_named(attest: Attest, state: Path) -> None:
    assert attest("review-link", "--port", "8081").out.startswith("http://127.0.0.1:8081/review?")


def test_as_json_it_says_until_when(attest: Attest, state: Path) -> None:
    found = attest("review-link", "--json").document
    assert opens(state, token_of(found["review"]))
    until = datetime.fromisoformat(found["until"])
    assert datetime.now(UTC) < until <= datetime.now(UTC) + timedelta(seconds=LINK_SECONDS)


def test_revoking_ends_what_was_given(attest: Attest, state: Path) -> None:
    link = attest("review-link").out.strip()
    assert attest("review-link", "--revoke").code == 0
    assert not opens(state, token_of(link))
    assert attest("review-link", "--revoke", "--json").document == {"revoked": True}


def test_over_a_home_without_a_server_it_makes_nothing(attest: Attest) -> None:
    home = load_settings().files.home
    ran = attest("review-link")
    assert (ran.code, ran.out) == (2, "")
    assert "no server has run over this home" in ran.err
    assert ran.err.count("\n") == 1
    assert not (home / "state.db").exists()


def test_a_port_that_is_picked_must_be_named(attest: Attest, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_PORT", "0")
    ran = attest("review-link")
    assert ran.code == 2
    assert "--port N" in ran.err


def test_where_people_sign_in_it_makes_no_link_and_still_revokes(
    attest: Attest, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ISSUER", "https://idp.example"), ("CLIENT_ID", "c"), ("READERS", "g")):
        monkeypatch.setenv(f"ATTEST_SIGNIN_{name}", value)
    refused = attest("review-link")
    assert refused.code == 2
    assert "ATTEST_REVIEW_LINKS=on" in refused.err
    assert attest("review-link", "--revoke").code == 0
    monkeypatch.setenv("ATTEST_REVIEW_LINKS", "on")
    assert opens(state, token_of(attest("review-link").out.strip()))
