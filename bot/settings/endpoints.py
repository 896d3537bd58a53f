"""The addresses of services, and the rules on which of them may be given a key or a token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import SecretStr

from bot.settings.group import Conflicts
from grounding.services.address import is_loopback
from grounding.services.cloud import CloudName, cloud_of


class Endpoint(NamedTuple):
    """The address of a service, and what travels to it.

    `key`: the one that is given for it. `open`: a server there may be asked without any. `azure`: without a key a token of this machine's
    identity is sent, if the address is Azure's.
    """

    variable: str
    url: str | None
    key: SecretStr | None
    open: bool = False
    azure: bool = True


def clear_text_conflicts(endpoints: Iterable[Endpoint]) -> Conflicts:
    """A key or a token over plain http can be read by whoever is on the way: it may only go to this machine so."""
    for endpoint in endpoints:
        url = endpoint.url or ""
        clear = url.lower().startswith("http://") and not is_loopback(url)
        sent = endpoint.key is not None or not endpoint.open
        yield clear and sent, f"{endpoint.variable}: allowed is https, the key would travel in the clear"


def cloud_conflicts(endpoints: Iterable[Endpoint], cloud: CloudName) -> Conflicts:
    """A token is for one cloud: an endpoint of another would get one that it refuses, and that is not its to see."""
    for endpoint in endpoints:
        signs_in = endpoint.azure and endpoint.key is None
        found = cloud_of(endpoint.url) if endpoint.url and signs_in else None
        yield found not in (None, cloud), f"{endpoint.variable} without a key needs ATTEST_CLOUD={found}"
