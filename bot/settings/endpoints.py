"""Where keys and tokens may go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from grounding.services.address import is_loopback
from grounding.services.cloud import CloudName, cloud_of


class Endpoint(NamedTuple):
    """Where a service is reached: its variable, its address, and whether a key is given for it."""

    variable: str
    url: str | None
    keyed: bool


def in_the_clear(endpoints: Iterable[Endpoint]) -> Iterator[tuple[bool, str]]:
    """A key or a token over plain http can be read by whoever is on the way. A server without a key may be reached so."""
    for variable, url, keyed in endpoints:
        clear = url is not None and url.lower().startswith("http://") and not is_loopback(url)
        yield clear and keyed, f"{variable}: allowed is https, the key would travel in the clear"


def of_another_cloud(endpoints: Iterable[Endpoint], cloud: CloudName) -> Iterator[tuple[bool, str]]:
    """A token is for one cloud: an endpoint of another would get one that it refuses, and that is not its to see."""
    for variable, url, keyed in endpoints:
        found = cloud_of(url) if url and not keyed else None
        yield found not in (None, cloud), f"{variable} without a key needs ATTEST_CLOUD={found}"
