"""Hosts that could be taken for a known one, and hosts that merely share something with it."""

from __future__ import annotations

from rai.check.comparison.lookalike_host import looks_like, registrable
from rai.claims.contacts.links import parse
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("alike")
def test_alike(host: str, known: str) -> None:
    """Confusable signs, other endings, slips of the finger, and the name as bait; in Unicode and in Punycode."""
    assert looks_like(host, [known]) == known
    address = parse(f"https://{host}/")
    assert address is not None
    assert looks_like(address.host, [known]) == known


@TABLES.each("not_alike")
def test_not_alike(host: str, known: str) -> None:
    """The same registrable domain, other names that share a short word, and addresses in figures."""
    assert looks_like(host, [known]) is None


@TABLES.each("registrable")
def test_registrable(host: str, domain: str) -> None:
    """What somebody registers."""
    assert registrable(host) == domain


def test_the_likest_is_named() -> None:
    """Of several, the one of the same shape."""
    assert looks_like("c0ntoso.com", ["contosa.com", "contoso.com", "fabrikam.com"]) == "contoso.com"
