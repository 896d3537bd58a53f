"""A credential that gives one token for everything, and tells what it was asked for."""

from __future__ import annotations

import time

from azure.core.credentials import AccessToken

from tests.fakes.graph_server import TOKEN


class Token:
    """An AsyncTokenCredential."""

    def __init__(self, token: str = TOKEN) -> None:
        self.token = token
        self.scopes: list[str] = []

    async def get_token(self, *scopes: str, **_: object) -> AccessToken:
        self.scopes += scopes
        return AccessToken(self.token, int(time.time()) + 3600)

    async def close(self) -> None:
        """Nothing is open."""

    async def __aenter__(self) -> Token:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
