"""URLs and e-mail addresses as people, pages and tricksters write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.links import find_email, find_url, parse, unicode_host

URLS = [
    # text, characters, normal form
    ("see https://contoso.com/help.", "https://contoso.com/help", "https://contoso.com/help"),
    ("see http://www.Contoso.com:80/help/", "http://www.Contoso.com:80/help/", "https://contoso.com/help"),
    ("see contoso.com/help, then", "contoso.com/help", "https://contoso.com/help"),
    ("HTTPS://CONTOSO.COM/Help", "HTTPS://CONTOSO.COM/Help", "https://contoso.com/Help"),
    ("(https://contoso.com/a_(b))", "https://contoso.com/a_(b)", "https://contoso.com/a_(b)"),
    ("<https://contoso.com/a>", "https://contoso.com/a", "https://contoso.com/a"),
    ("**https://contoso.com/a**", "https://contoso.com/a", "https://contoso.com/a"),
    ("https://contoso.com/a[1].", "https://contoso.com/a", "https://contoso.com/a"),
    ("https://contoso.com/a—then", "https://contoso.com/a", "https://contoso.com/a"),
    ("https://contoso.com:8443/a", "https://contoso.com:8443/a", "https://contoso.com:8443/a"),
    ("https://contoso.com/%7euser/%c3%a9", "https://contoso.com/%7euser/%c3%a9", "https://contoso.com/~user/%C3%A9"),
    ("https://contoso.com/é", "https://contoso.com/é", "https://contoso.com/%C3%A9"),
    ("https://contoso.com/a/../b/./c", "https://contoso.com/a/../b/./c", "https://contoso.com/b/c"),
    ("https://contoso.com/?q=1&utm_source=mail", "https://contoso.com/?q=1&utm_source=mail", "https://contoso.com?q=1"),
    ("https://contoso.com/?gclid=9", "https://contoso.com/?gclid=9", "https://contoso.com"),
    ("https://contoso.com/?utmost=1", "https://contoso.com/?utmost=1", "https://contoso.com?utmost=1"),
    ("https://contoso.com/a#b", "https://contoso.com/a#b", "https://contoso.com/a#b"),
    ("https://bücher.example/x", "https://bücher.example/x", "https://xn--bcher-kva.example/x"),
    ("https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x"),
    ("ftp://contoso.com/a", "ftp://contoso.com/a", "ftp://contoso.com/a"),
    ("http://intranet/wiki", "http://intranet/wiki", "https://intranet/wiki"),
    ("https://192.168.0.1:8443/admin", "https://192.168.0.1:8443/admin", "https://192.168.0.1:8443/admin"),
    ("http://3232235521/", "http://3232235521/", "https://3232235521"),
    ("http://[::1]/a", "http://[::1]/a", "https://[::1]/a"),
    # tricks
    ("https://bank.com@evil.com/x", "https://bank.com@evil.com/x", "https://bank.com@evil.com/x"),
    ("https://user:pw@contoso.com/a", "https://user:pw@contoso.com/a", "https://user:pw@contoso.com/a"),
    ("https://bank.com%40evil.com/", "https://bank.com%40evil.com/", "https://bank.com%40evil.com/"),
    ("hxxps://evil[.]com/a", "hxxps://evil[.]com/a", "https://evil.com/a"),
    ("hxxp://evil.com/a", "hxxp://evil.com/a", "https://evil.com/a"),
    ("contoso (dot) com", "contoso (dot) com", "https://contoso.com"),
    ("visit contoso dot com slash help now", "contoso dot com slash help", "https://contoso.com/help"),
    ("find us at contoso dot com", "contoso dot com", "https://contoso.com"),
    ("javascript:alert(1).", "javascript:alert(1)", "javascript:alert(1)"),
    ("data:text/html,hello", "data:text/html,hello", "data:text/html,hello"),
    ("file:///etc/passwd", "file:///etc/passwd", "file:///etc/passwd"),
]


@pytest.mark.parametrize(("text", "characters", "value"), URLS)
def test_urls(text: str, characters: str, value: str) -> None:
    """One URL, its characters without what only surrounds it, and its normal form."""
    assert [(text[f.start : f.end], f.value) for f in find_url(text)] == [(characters, value)]


def test_text_and_target_of_a_markdown_link_are_both_urls() -> None:
    """What the reader sees and where it leads are two claims."""
    found = find_url("[contoso.com/help](https://evil.com/x) and [help](https://contoso.com/a)")
    assert [f.value for f in found] == ["https://contoso.com/help", "https://evil.com/x", "https://contoso.com/a"]


NO_URLS = [
    "main.py", "README.md and setup.sh", "e.g.this", "me@contoso.com", "1.2.3.4", "5 days.Call us", "node.js", "and/or", "24/7", "v1.2.3",
    "the data: as given", "JavaScript: the good parts", "a polka dot it is", "connect the dots", "dot com boom", "file: report", "A. B", "...", "a://",
    "mail help at contoso dot com",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_URLS)
def test_no_urls(text: str) -> None:
    """Files, words, addresses and versions are no URLs."""
    assert [f.value for f in find_url(text)] == []


EMAILS = [
    ("mail Help@Contoso.com.", "Help@Contoso.com", "help@contoso.com"),
    ("mailto:help@contoso.com?subject=x", "help@contoso.com", "help@contoso.com"),
    ("Maria Lopez <maria@contoso.com>,", "maria@contoso.com", "maria@contoso.com"),
    ("maria+vip@contoso.com", "maria+vip@contoso.com", "maria+vip@contoso.com"),
    ("(help@contoso.co.uk)", "help@contoso.co.uk", "help@contoso.co.uk"),
    ("maria@bücher.example", "maria@bücher.example", "maria@xn--bcher-kva.example"),
    ("mail help at contoso dot com now", "help at contoso dot com", "help@contoso.com"),
    ("help (at) contoso (dot) com", "help (at) contoso (dot) com", "help@contoso.com"),
    ("help[at]contoso.com", "help[at]contoso.com", "help@contoso.com"),
    ("first.last at mail dot contoso dot com", "first.last at mail dot contoso dot com", "first.last@mail.contoso.com"),
]


@pytest.mark.parametrize(("text", "characters", "value"), EMAILS)
def test_emails(text: str, characters: str, value: str) -> None:
    """One address, however it is written."""
    assert [(text[f.start : f.end], f.value) for f in find_email(text)] == [(characters, value)]


@pytest.mark.parametrize(
    "text", ["a@b", "@contoso.com", "a@b..com", "meet at noon", "find us at contoso dot com", "look at this", "https://a:b@contoso.com/x", "5 at 10"]
)  # fmt: skip
def test_no_emails(text: str) -> None:
    """Handles, half addresses, invitations and URLs with a user are no e-mail addresses."""
    assert find_email(text) == []


@pytest.mark.parametrize(
    ("url", "host", "page"),
    [
        ("https://bank.com@evil.com/x", "evil.com", "/x"),
        ("https://evil.com#@bank.com", "evil.com", ""),
        ("https://a.com\\@evil.com", "evil.com", ""),
        ("a.com/b?x=1#frag", "a.com", "/b?x=1"),
        ("a.com/b#/route", "a.com", "/b#/route"),
    ],
)
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


@pytest.mark.parametrize("value", sorted({v for *_, v in URLS}))
def test_a_normal_form_is_found_again(value: str) -> None:
    """The finder reads its own normal form as itself."""
    assert [f.value for f in find_url(value)] == [value]


@pytest.mark.parametrize("value", sorted({v for *_, v in EMAILS}))
def test_a_normal_email_is_found_again(value: str) -> None:
    """The finder reads its own normal form as itself."""
    assert [f.value for f in find_email(value)] == [value]
