"""People at the reviewers' desk, each with a browser of their own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from aiohttp import ClientResponse, DummyCookieJar
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request

from bot.desk.bundle import Prove
from bot.review.door import ACCESS
from bot.review.roles import Role
from bot.review.session import COOKIE, Person
from bot.server.app import build_app
from bot.system import no_proofs
from tests.fakes.system import Fake, fake_system

ISSUER = "https://idp.example/tenant"
SIGN_IN: dict[str, Any] = {
    "signin_issuer": ISSUER,
    "signin_client_id": "attest-desk",
    "signin_readers": "desk-readers",
    "signin_reviewers": "desk-reviewers",
    "signin_administrators": "desk-administrators",
}


@dataclass
class Visitor:
    """A browser that keeps one cookie: that of a session, or none."""

    client: TestClient[Request, Application]
    secret: str = ""

    async def get(self, path: str, **more: Any) -> ClientResponse:
        return await self.client.get(path, allow_redirects=False, headers=self._headers(more))

    async def post(self, path: str, **fields: str) -> ClientResponse:
        return await self.client.post(path, data=fields, allow_redirects=False, headers=self._headers({}))

    async def text(self, path: str) -> str:
        response = await self.get(path)
        assert response.status == 200, (path, response.status)
        return await response.text()

    async def form(self, path: str = "/review") -> str:
        """The token of the forms of a page."""
        found = re.search(r'name="form" value="([0-9a-f]{64})"', await self.text(path))
        assert found
        return found.group(1)

    def _headers(self, more: dict[str, Any]) -> dict[str, str]:
        return {"Cookie": f"{COOKIE}={self.secret}", **more}


@dataclass
class ReviewDesk:
    """A running server whose reviewers sign in; `fake`: what it runs over."""

    fake: Fake
    client: TestClient[Request, Application]

    async def visitor(self, role: Role | None, user: str = "rita") -> Visitor:
        """Somebody who signed in with this role; None did not."""
        if role is None:
            return Visitor(self.client)
        assert self.client.app is not None
        person = Person(user, f"{user.title()} Review", "tenant-1")
        session = await self.client.app[ACCESS].enter(person, role)
        return Visitor(self.client, session.secret)


Open = Callable[..., Awaitable[ReviewDesk]]


@pytest.fixture
async def open_desk() -> AsyncIterator[Open]:
    """Starts a desk with these settings beside those of signing in; `prove`: what proves entries there."""
    clients = list[TestClient[Request, Application]]()

    async def run(prove: Prove = no_proofs, **settings: Any) -> ReviewDesk:
        fake = fake_system(**{**SIGN_IN, **settings})
        app = build_app(replace(fake.system, prove=prove))
        client = TestClient[Request, Application](TestServer(app), cookie_jar=DummyCookieJar())
        clients.append(client)
        await client.start_server()
        return ReviewDesk(fake, client)

    yield run
    for client in clients:
        await client.close()
