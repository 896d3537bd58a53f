"""Links that expire, and that nobody can make or change."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.source_links import SourceLinks, link_key, source_link
from bot.settings.load import load_settings


def key() -> bytes:
    return b"k" * 32


def parts(link: str) -> tuple[str, str]:
    query = parse_qs(urlsplit(link).query)
    return query["exp"][0], query["sig"][0]


def test_a_link_is_good_until_it_expires() -> None:
    now = [1000.0]
    links = SourceLinks(key, "https://attest.example/", clock=lambda: now[0])
    link = links.link("e1", 2, "alice", seconds=60)
    assert link.startswith("https://attest.example/source/e1/2?exp=1060&sig=")
    assert "alice" not in link
    assert links.check("e1", 2, "alice", *parts(link)) is None
    now[0] = 1061
    assert links.check("e1", 2, "alice", *parts(link)) == "expired"


@pytest.mark.parametrize(
    ("entry", "n", "user"), [("e2", 1, "alice"), ("e1", 2, "alice"), ("e1", 1, "bob"), ("e1", 1, None), ("e1", 1, "-")]
)
def test_a_link_opens_nothing_else(entry: str, n: int, user: str | None) -> None:
    links = SourceLinks(key)
    assert links.check(entry, n, user, *parts(links.link("e1", 1, "alice"))) == "invalid"


def test_a_stranger_is_not_the_user_called_dash() -> None:
    links = SourceLinks(key)
    assert links.check("e1", 1, "-", *parts(links.link("e1", 1, None))) == "invalid"


def test_the_expiry_cannot_be_moved() -> None:
    links = SourceLinks(key)
    expiry, signature = parts(links.link("e1", 1, None))
    assert links.check("e1", 1, None, str(int(expiry) + 1), signature) == "invalid"


@given(st.text(), st.text())
def test_any_text_in_place_of_expiry_and_signature_is_invalid(expiry: str, signature: str) -> None:
    assert SourceLinks(key).check("e1", 1, None, expiry, signature) == "invalid"


def test_the_key_comes_from_the_key_file_but_is_not_it(tmp_path: Path) -> None:
    file = tmp_path / "ledger.key"
    file.write_bytes(b"secret")
    assert link_key(file) == link_key(file) != b"secret"
    assert link_key(file) != link_key(tmp_path / "absent")
    assert link_key(tmp_path / "absent") == link_key(tmp_path / "absent")


def test_the_link_of_a_reply_uses_the_public_url(tmp_path: Path) -> None:
    settings = load_settings(public_url="https://attest.example", ledger_key_file=tmp_path / "none")
    assert source_link(settings, "e1", 1, None).startswith("https://attest.example/source/e1/1?")


def test_workers_agree_as_soon_as_the_ledgers_key_is_there(tmp_path: Path) -> None:
    """It is made with the first entry, after every worker has started."""
    settings = load_settings(ledger_key_file=tmp_path / "ledger.key")
    workers = [SourceLinks.of(settings) for _ in range(2)]
    early = workers[0].link("e1", 1, None)
    settings.files.ledger_key.write_bytes(b"secret")
    link = workers[0].link("e1", 1, None)
    assert parts(link)[1] != parts(early)[1]
    assert workers[1].check("e1", 1, None, *parts(link)) is None
    assert SourceLinks(lambda: link_key(settings.files.ledger_key)).check("e1", 1, None, *parts(link)) is None
