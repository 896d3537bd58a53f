"""Hosts that could be taken for a known one, and hosts that merely share something with it."""

from __future__ import annotations

import pytest

from rai.check.same.lookalike import looks_like, registrable
from rai.claims.contacts.links import parse

ALIKE = [
    ("c0ntoso.com", "contoso.com"), ("cnotoso.com", "contoso.com"), ("contosso.com", "contoso.com"), ("contso.com", "contoso.com"),
    ("rnicrosoft.com", "microsoft.com"), ("vvindows.com", "windows.com"), ("paypa1.com", "paypal.com"), ("paypaI.com".lower(), "paypal.com"),
    ("соntoso.com", "contoso.com"), ("cοntoso.com", "contoso.com"), ("cóntoso.com", "contoso.com"), ("con-toso.com", "contoso.com"),
    ("bestbuy.com", "best-buy.com"), ("contoso.net", "contoso.com"), ("contoso.co", "contoso.com"), ("contoso.uk", "contoso.co.uk"),
    ("paypal.com.evil.io", "paypal.com"), ("paypal.evil.io", "paypal.com"), ("acme-support.com", "acme.com"), ("support-acme.com", "acme.com"),
    ("acmesupport.com", "acme.com"), ("contoso-help.net", "contoso.com"), ("secure.contoso.login.io", "contoso.com"),
    ("support.c0ntoso.com", "help.contoso.com"), ("ibm.com.evil.io", "ibm.com"), ("contoso.github.io", "contoso.com"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "known"), ALIKE)
def test_alike(host: str, known: str) -> None:
    """Confusable signs, other endings, slips of the finger, and the name as bait; in Unicode and in Punycode."""
    assert looks_like(host, [known]) == known
    address = parse(f"https://{host}/")
    assert address is not None
    assert looks_like(address.host, [known]) == known


OTHERS = [
    ("contoso.com", "contoso.com"), ("help.contoso.com", "contoso.com"), ("contoso.com", "help.contoso.com"), ("a.contoso.com", "b.contoso.com"),
    ("www2.contoso.co.uk", "contoso.co.uk"), ("fabrikam.com", "contoso.com"), ("ab.io", "cd.io"), ("acmeindustries.com", "acme.com"),
    ("newsweek.com", "news.com"), ("shop.com", "contoso-shop.com"), ("apple.com", "maple.com"), ("beta.github.io", "acme.github.io"),
    ("192.168.0.1", "192.168.0.2"), ("art-ibis.com", "ibm.com"), ("support.com", "support-desk.fabrikam.com"), ("supporters.org", "contoso.com"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "known"), OTHERS)
def test_not_alike(host: str, known: str) -> None:
    """The same registrable domain, other names that share a short word, and addresses in figures."""
    assert looks_like(host, [known]) is None


@pytest.mark.parametrize(
    ("host", "domain"),
    [("a.b.contoso.com", "contoso.com"), ("a.contoso.co.uk", "contoso.co.uk"), ("contoso.com:8443", "contoso.com"), ("x.acme.github.io", "acme.github.io"), ("10.0.0.1", "10.0.0.1"), ("localhost", "localhost")],
)  # fmt: skip
def test_registrable(host: str, domain: str) -> None:
    """What somebody registers."""
    assert registrable(host) == domain


def test_the_likest_is_named() -> None:
    """Of several, the one of the same shape."""
    assert looks_like("c0ntoso.com", ["contosa.com", "contoso.com", "fabrikam.com"]) == "contoso.com"
