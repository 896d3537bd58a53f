"""A loopback server that hands out tokens as the managed identity endpoint of App Service does (api-version 2019-08-01)."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest
from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

HEADER = "canary-identity-header"


class IdentityServer(FaultyServer):
    """`asked` counts the tokens of each resource; the token of a resource is `token(resource)`, as often as it is asked for."""

    def __init__(self, *script: Fault, otherwise: Fault | None = None, lives_s: int = 86_400) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.lives_s = lives_s
        self.asked: Counter[str] = Counter()
        self.clients: set[str | None] = set()

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make this the managed identity of the process: nothing else is tried."""
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{self.root}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", HEADER)
        monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path != "/msi/token" or body.get("api-version") != "2019-08-01":
            return web.json_response({"statusCode": 404, "message": "no such endpoint"}, status=404)
        if request.headers.get("X-IDENTITY-HEADER") != HEADER:
            return web.json_response({"statusCode": 401, "message": "header"}, status=401)
        resource = body["resource"]
        self.asked[resource] += 1
        self.clients.add(body.get("client_id"))
        expires = int(time.time()) + self.lives_s
        return web.json_response(
            {"access_token": token(resource), "expires_on": str(expires), "resource": resource, "token_type": "Bearer"}
        )


def token(resource: str) -> str:
    """The token that the server gives for `resource`."""
    return "canary-token-for-" + resource.removeprefix("https://")
