"""The channel's signing keys, fetched without blocking, kept for a day, refreshed when an unknown key appears.

Stands in for the SDK's own cache, which fetches with a blocking call without a deadline, fails with an IndexError on
an unknown key before it would refresh, and so refuses genuine traffic for up to a day after a key rollover.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import jwt

from bot.teams.ports import KeysUnavailable, Unauthorized

log = logging.getLogger(__name__)

MAX_AGE_S = 24 * 3600
UNKNOWN_KEY_WAIT_S = 300
"""An unknown key id causes at most one refresh in this time, so a stranger cannot make us fetch at will."""
FAILURE_WAIT_S = 10
TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key and the channels that it may sign for. The SDK reads both fields by name."""

    public_key: Any
    endorsements: list[str]


class SigningKeys:
    """The keys behind one OpenID metadata address. Used on one event loop only."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._keys: dict[str, SigningKey] = {}
        self._fetched: float | None = None
        self._tried: float | None = None
        self._lock = asyncio.Lock()

    async def get(self, key_id: str | None) -> SigningKey:
        """The key named in a token's header. Raises Unauthorized if there is none, KeysUnavailable on an outage."""
        if not key_id:
            raise Unauthorized("token without key id")
        async with self._lock:
            age = None if self._fetched is None else self._clock() - self._fetched
            if age is None or age > MAX_AGE_S or (key_id not in self._keys and age > UNKNOWN_KEY_WAIT_S):
                await self._refresh()
        key = self._keys.get(key_id)
        if key is None:
            raise Unauthorized("unknown signing key")
        return key

    async def _refresh(self) -> None:
        now = self._clock()
        if self._tried is not None and now - self._tried < FAILURE_WAIT_S:
            if not self._keys:
                raise KeysUnavailable("the last fetch failed a moment ago")
            return
        self._tried = now
        try:
            self._keys = await self._fetch()
            self._fetched = now
            self._tried = None
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("signing keys cannot be fetched: %s", type(error).__name__)
            if not self._keys:
                raise KeysUnavailable(type(error).__name__) from None

    async def _fetch(self) -> dict[str, SigningKey]:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True, raise_for_status=True) as session:
            async with session.get(self._url) as reply:
                address = (await reply.json(content_type=None))["jwks_uri"]
            async with session.get(address) as reply:
                listed = (await reply.json(content_type=None))["keys"]
        return {key["kid"]: _read(key) for key in listed if key.get("kty") == "RSA" and key.get("kid")}


def _read(key: dict[str, Any]) -> SigningKey:
    public = jwt.PyJWK.from_dict(key, algorithm="RS256").key
    return SigningKey(public, [str(channel) for channel in key.get("endorsements") or ()])


def seconds(value: str | None) -> float | None:
    """A `Retry-After`; None for a date, where our own back-off serves as well."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None
