"""URLs and e-mail addresses as people, pages and tricksters write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.links import find_email, find_url, parse, unicode_host
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("urls")
def test_urls(text: str, characters: str, value: str) -> None:
    """One URL, its characters without what only surrounds it, and its normal form."""
    assert [(text[f.start : f.end], f.value) for f in find_url(text)] == [(characters, value)]


def test_text_and_target_of_a_markdown_link_are_both_urls() -> None:
    """What the reader sees and where it leads are two claims."""
    found = find_url("[contoso.com/help](https://evil.com/x) and [help](https://contoso.com/a)")
    assert [f.value for f in found] == ["https://contoso.com/help", "https://evil.com/x", "https://contoso.com/a"]


@TABLES.each("no_urls")
def test_no_urls(text: str) -> None:
    """Files, words, addresses and versions are no URLs."""
    assert [f.value for f in find_url(text)] == []


@TABLES.each("emails")
def test_emails(text: str, characters: str, value: str) -> None:
    """One address, however it is written."""
    assert [(text[f.start : f.end], f.value) for f in find_email(text)] == [(characters, value)]


@TABLES.each("no_emails")
def test_no_emails(text: str) -> None:
    """Handles, half addresses, invitations and URLs with a user are no e-mail addresses."""
    assert find_email(text) == []


@TABLES.each("host_and_page")
def test_host_and_page(url: str, host: str, page: str) -> None:
    """Where a URL leads: the host is what follows the last @ before the path."""
    address = parse(url)
    assert address is not None
    assert (address.host, address.page) == (host, page)


def test_broken_punycode_is_itself() -> None:
    """A host that cannot be decoded is shown as it is."""
    assert unicode_host("xn--bcher-kva.de") == "bücher.de"
    assert unicode_host("xn--0.com") == "xn--0.com"


PARTS = st.sampled_from(
    ["a", "B", "/", ".", "..", "%7e", "%2F", "%", "é", "?", "&", "=", "#", "utm_x=1", "~", ":", "@", "-", "www."]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=12).map("".join))
def test_normal_forms_are_fixed_points(rest: str) -> None:
    """Canonical once is canonical for good."""
    first = parse(f"https://contoso.com/{rest}")
    if first is not None:
        assert parse(first.value) == first


@pytest.mark.parametrize("value", sorted({row["value"] for row in TABLES.rows("urls")}))
def test_a_normal_form_is_found_again(value: str) -> None:
    """The finder reads its own normal form as itself."""
    assert [f.value for f in find_url(value)] == [value]


@pytest.mark.parametrize("value", sorted({row["value"] for row in TABLES.rows("emails")}))
def test_a_normal_email_is_found_again(value: str) -> None:
    """The finder reads its own normal form as itself."""
    assert [f.value for f in find_email(value)] == [value]
