"""A running server over the fake system."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from aiohttp.test_utils import TestClient
from aiohttp.web import Application, Request
from pytest_aiohttp.plugin import AiohttpClient

from bot.server.app import build_app
from tests.fakes.system import Fake, fake_system

KEYS = "first-key,second-key"
Client = TestClient[Request, Application]
Start = Callable[[Fake], Awaitable[Client]]


@pytest.fixture
def fake() -> Fake:
    """In local mode."""
    return fake_system()


@pytest.fixture
def shared() -> Fake:
    """Outside local mode: there are keys."""
    return fake_system(api_keys=KEYS)


@pytest.fixture
async def client(aiohttp_client: AiohttpClient, fake: Fake) -> Client:
    return await aiohttp_client(build_app(fake.system))


@pytest.fixture
async def served(aiohttp_client: AiohttpClient, shared: Fake) -> Client:
    return await aiohttp_client(build_app(shared.system))


@pytest.fixture
def start(aiohttp_client: AiohttpClient) -> Start:
    async def run(fake: Fake) -> Client:
        return await aiohttp_client(build_app(fake.system))

    return run
