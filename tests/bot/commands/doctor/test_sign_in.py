"""What `attest doctor` says of the provider that reviewers sign in at."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.doctor.sign_in import check_sign_in
from bot.settings.load import load_settings
from tests.fakes.identity_provider import CLIENT, SECRET, FakeProvider


def settings_of(root: str, **more: Any) -> Any:
    return load_settings(
        signin_issuer=root, signin_client_id=CLIENT, signin_client_secret=SECRET, signin_readers="g", **more
    )


async def test_a_provider_that_answers() -> None:
    async with FakeProvider() as provider:
        found = await check_sign_in(settings_of(provider.root))
    assert (found.status, found.service) == ("ok", True)
    assert "answers with 1 key; one signs out there too" in found.detail


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"issuer": "https://login.example/tenant"}, "'https://login.example/tenant'"),
        ({"jwks_uri": None}, "jwks_uri"),
        ({"jwks_uri": "http://127.0.0.1:9/keys"}, "does not answer"),
    ],
)
async def test_a_provider_that_is_another_or_says_too_little(metadata: dict[str, Any], said: str) -> None:
    async with FakeProvider() as provider:
        provider.metadata = metadata
        found = await check_sign_in(settings_of(provider.root))
    assert (found.status, found.service) == ("fail", True)
    assert said in found.detail
    assert "ATTEST_SIGNIN_ISSUER" in found.fix
    assert SECRET not in found.detail + found.fix


async def test_no_provider() -> None:
    assert (await check_sign_in(load_settings())).status == "ok"
