"""How the chat model's key or token comes about, and what its clients share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from bot.compose.embedder import service_embedder
from bot.compose.resources import Resources
from bot.compose.services import learned, openai_key
from bot.settings.load import load_settings
from grounding.errors import ServiceRejected
from grounding.services.remote import Remote
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.fakes.identity_server import IdentityServer, token

AZURE = "https://contoso.openai.azure.com/openai/v1/"


@pytest.mark.parametrize(
    ("given", "resource"),
    [
        ({}, "https://cognitiveservices.azure.com"),
        ({"openai_scope": "https://ai.azure.com/.default"}, "https://ai.azure.com"),
        (
            {"openai_base_url": "https://contoso.openai.azure.us/openai/v1/", "cloud": "usgov"},
            "https://cognitiveservices.azure.us",
        ),
        (
            {
                "openai_base_url": "https://c.services.ai.azure.cn/openai/v1/",
                "cloud": "china",
                "openai_scope": "https://ai.azure.cn/.default",
            },
            "https://ai.azure.cn",
        ),
    ],
)
async def test_the_token_is_for_the_scope_of_the_settings(
    given: dict[str, str], resource: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with IdentityServer() as server:
        server.install(monkeypatch)
        resources = Resources()
        key = openai_key(load_settings(**{"openai_base_url": AZURE, **given}), resources)
        assert not isinstance(key, str | None)
        bearer: Callable[[], Awaitable[str]] = key
        assert await bearer() == token(resource)
        await resources.close()
    assert dict(server.asked) == {resource: 1}


def test_what_is_learned_of_a_model_is_one_record_for_its_address_and_name() -> None:
    resources, first = Resources(), load_settings(openai_base_url=AZURE)
    known = learned(first, resources)
    assert learned(first, resources) is known
    assert learned(load_settings(openai_base_url=AZURE, openai_model="other"), resources) is not known
    assert learned(first, Resources()) is not known, "another system begins anew"


@pytest.mark.parametrize(("more", "auth"), [({}, "api-key"), ({"embedding_api_key": "own"}, None)])
async def test_vectors_at_the_same_gateway_carry_the_key_in_the_same_header(
    more: dict[str, Any], auth: str | None
) -> None:
    async with EmbeddingsServer(width=256) as server:
        settings = load_settings(
            openai_base_url=server.base_url,
            openai_api_key=KEY,
            openai_auth="api-key",
            embedder="openai",
            embedding_model="embed-1",
            embedding_width=256,
            **more,
        )
        resources = Resources()
        embedder = service_embedder(settings, Remote("embedding service", retries=0), resources)
        with suppress(ServiceRejected):  # this server knows the key as bearer alone
            await embedder.embed(["attest"])
        await resources.close()
    (sent,) = server.headers
    assert ("api-key" in sent, "Authorization" in sent) == ((True, False) if auth else (False, True))
