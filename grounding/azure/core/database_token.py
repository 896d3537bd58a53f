"""The password of a PostgreSQL of Azure's that knows this machine by Microsoft Entra ID: a token, fresh for each new connection."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from azure.core.credentials import AccessTokenInfo
from azure.core.exceptions import ClientAuthenticationError

from grounding.azure.core.identity import EARLY_S, FAILED_S, SIGN_IN_FAILED, Credential, MachineIdentity
from grounding.errors import StoreError
from grounding.services.cloud import DATABASE, CloudName


class DatabaseToken:
    """Gives the token to whoever makes a connection, in any thread. One is held for as long as it lives: a connection goes on when its token has ended, a new one needs another.

    `cloud`, `client_id`, `within_s`, `make` and `clock` are those of `MachineIdentity`.
    """

    def __init__(
        self,
        cloud: CloudName = "public",
        client_id: str | None = None,
        *,
        within_s: float = 10.0,
        make: Callable[[], Credential] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._identity = partial(MachineIdentity, cloud, client_id, within_s=within_s, make=make, clock=clock)
        self._clock = clock
        self._one = threading.Lock()
        self._held: AccessTokenInfo | None = None
        self._failed_at = float("-inf")

    def __call__(self) -> str:
        """The token. Raises StoreError where this machine cannot sign in, which is not tried again for some seconds."""
        with self._one:
            if self._held is None or self._held.expires_on - self._clock() < EARLY_S:
                self._held = self._asked()
            return self._held.token

    def _asked(self) -> AccessTokenInfo:
        told = StoreError(f"the database cannot be used: {SIGN_IN_FAILED}")
        if self._clock() - self._failed_at < FAILED_S:
            raise told
        try:
            with ThreadPoolExecutor(1) as thread:  # a connection may be made where a loop runs already
                return thread.submit(asyncio.run, self._ask()).result()
        except ClientAuthenticationError:
            self._failed_at = self._clock()
            raise told from None

    async def _ask(self) -> AccessTokenInfo:
        async with self._identity() as identity:
            return await identity.get_token_info(DATABASE)
