"""Settings of the server: who is served, and under which address."""

from __future__ import annotations

import ipaddress
from functools import cached_property
from typing import Literal

from pydantic import Field, field_validator

from bot.settings.forms import CommaList, Keys, Url, is_network
from bot.settings.group import Conflicts, Group
from bot.settings.groups.bot import Bot

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Serving(Group):
    """The server's address and keys, local mode, proxies, and how much a person may ask."""

    host: str = Field("127.0.0.1", alias="host", description="address that serve listens on")
    port: int = Field(3978, alias="port", ge=0, le=65535, description="port that serve listens on; 0 picks a free one")
    public_url: Url | None = Field(
        None,
        alias="public_url",
        description="base URL under which people reach this server, for links to sources; ends local mode",
    )
    api_keys: Keys = Field(
        (), alias="api_keys", description="bearer keys of /api and /metrics, comma-separated; end local mode"
    )
    local: Literal["auto", "on", "off"] = Field(
        "auto",
        alias="local",
        description="local mode: /chat, asking as anyone and an anonymous bot, for this machine alone; auto: unless a bot id, keys, a public URL or an outer host is set",
    )
    proxies: CommaList = Field(
        (),
        alias="proxies",
        description="addresses or networks of your reverse proxies, comma-separated; headers that tell of a forwarded request count from these alone",
    )
    rate_per_minute: int = Field(60, alias="rate_per_minute", ge=1, description="turns a user may ask in a minute")

    @field_validator("proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_network(v) for v in value):
            raise ValueError("addresses or networks such as 10.0.0.7,10.1.0.0/16")
        return value

    @property
    def on_loopback(self) -> bool:
        """True if the server listens to this machine alone; a reverse proxy on it may let in anyone all the same."""
        return self.host in LOOPBACK

    @cached_property
    def proxy_networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The networks of the reverse proxies whose headers count."""
        return tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)


def serves_others(serving: Serving, bot: Bot) -> tuple[str, ...]:
    """The settings, as a person would name them, by which others than this machine are served; none in local mode."""
    said = {
        "ATTEST_BOT_APP_ID": bot.app_id is not None,
        "ATTEST_API_KEYS": bool(serving.api_keys),
        "ATTEST_PUBLIC_URL": serving.public_url is not None,
        f"ATTEST_HOST={serving.host}": not serving.on_loopback,
    }
    return tuple(name for name, given in said.items() if given)


def serving_conflicts(serving: Serving, bot: Bot) -> Conflicts:
    """Rules on local mode: nothing that serves others beside it, and no proxies in it."""
    others = serves_others(serving, bot)
    both = f"ATTEST_LOCAL=on beside {' and '.join(others)}: local mode serves this machine alone; leave one of them out"
    yield serving.local == "on" and bool(others), both
    alone = "ATTEST_PROXIES needs ATTEST_LOCAL=off, ATTEST_PUBLIC_URL, ATTEST_API_KEYS or ATTEST_BOT_APP_ID: local mode refuses what a proxy passes on"
    yield bool(serving.proxies) and serving.local != "off" and not others, alone
