"""The known traps of the Microsoft 365 Agents SDK 1.9, each closed, and each watched: if the SDK changes, a test says so."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from microsoft_agents.activity import Activity
from microsoft_agents.hosting.core import AgentAuthConfiguration, JwtTokenValidator
from microsoft_agents.hosting.core.authorization.auth_types import AuthTypes
from microsoft_agents.hosting.core.connector.client.connector_client import ConversationsOperations

from bot.settings.load import load_settings
from bot.teams.ports import KeysUnavailable, SendFailed, Unauthorized
from bot.teams.transports import agents_sdk, chosen
from bot.teams.transports.agents_sdk import CHANNEL, AgentsTransport, ChannelKeys, auth_configuration
from bot.teams.transports.chosen import transport_for
from bot.teams.transports.signing_keys import SigningKeys
from grounding.errors import SettingsError
from tests.bot.teams.transports.test_tokens import APP, OpenId, SomeToken, token
from tests.contracts.test_transport import ENTITIES, outgoing
from tests.fakes.channel import FakeChannel, Fault

KEPT = "_jwk_client_manager"
"""Where the validator keeps the keys."""
REGISTERED = {"bot_sdk": "agents", "bot_app_id": APP, "bot_app_password": "a secret", "bot_tenant_id": "tenant-1"}


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """The level of the SDK's log, which the transport sets."""
    logger = logging.getLogger("microsoft_agents")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture
async def channel() -> AsyncIterator[FakeChannel]:
    async with FakeChannel() as running:
        yield running


@pytest.fixture
async def openid() -> AsyncIterator[OpenId]:
    running = OpenId()
    await running.start()
    yield running
    assert running.server is not None
    await running.server.close()


async def stock(channel: FakeChannel, activity: dict[str, Any]) -> None:
    """Send as the SDK does by itself."""
    async with ClientSession(base_url=f"{activity['serviceUrl']}/", headers={"Authorization": "Bearer t"}) as session:
        body = Activity.model_validate(activity)
        await ConversationsOperations(session).send_to_conversation(activity["conversation"]["id"], body)


async def test_the_model_still_loses_a_label_and_the_type_of_a_picture(channel: FakeChannel) -> None:
    """What is sent instead is in tests/contracts/test_transport.py."""
    await stock(channel, outgoing(channel, entities=ENTITIES))
    root = channel.taken[0].body["entities"][0]
    assert "@id" not in root["usageInfo"], "the SDK keeps a label's id now: _Verbatim may go"
    assert "@type" not in root["citation"][0]["appearance"]["image"]


async def test_an_id_is_still_cut_and_put_into_the_path_as_it_is(channel: FakeChannel) -> None:
    await stock(channel, outgoing(channel, conversation={"id": "a:" + "x" * 300}))
    await stock(channel, outgoing(channel, conversation={"id": "19:a%2fb@thread.tacv2"}))
    assert [len(channel.taken[0].conversation), channel.taken[1].conversation] == [150, "19:a/b@thread.tacv2"]


async def test_a_redirect_is_still_followed(channel: FakeChannel) -> None:
    channel.faults.append(Fault(307, location="/elsewhere"))
    with pytest.raises(Exception, match="404"):
        await stock(channel, outgoing(channel))
    assert channel.taken[1].authorization == "Bearer t"


async def test_by_itself_the_validator_still_takes_any_issuer(
    channel: FakeChannel, openid: OpenId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a token without an end; what is taken here is in test_tokens.py."""
    validator = JwtTokenValidator(AgentAuthConfiguration(client_id=APP))
    own = getattr(validator, KEPT, None)
    assert own is not None, "the validator keeps its keys elsewhere: it would fetch them by itself"
    assert list(inspect.signature(own.get_signing_key).parameters) == ["jwks_uri", "header"]
    monkeypatch.setattr(validator, KEPT, ChannelKeys(SigningKeys(openid.url)))
    evil = token(channel, iss="https://evil.example", exp=None)
    assert (await validator.validate_token(evil)).claims["iss"] == "https://evil.example"


@pytest.mark.parametrize("issuer", ["https://sts.windows.net/d6d49420-f39b-4df7-a1dc-d59a935871db/", CHANNEL + "/"])
async def test_the_channel_alone_may_sign(channel: FakeChannel, openid: OpenId, issuer: str) -> None:
    """The SDK trusts tenants of Microsoft beside it; ours signs with the channel's keys, whoever a token names."""
    transport = AgentsTransport(load_settings(**REGISTERED), openid_url=openid.url, tokens=SomeToken())
    with pytest.raises(Unauthorized):
        await transport.authenticate(channel.inbound(), f"Bearer {token(channel, iss=issuer)}")
    await transport.authenticate(channel.inbound(), f"Bearer {token(channel)}")
    assert openid.fetched == 1


async def test_keys_that_cannot_be_had_are_no_reason_to_refuse(channel: FakeChannel, openid: OpenId) -> None:
    openid.fail = True
    transport = AgentsTransport(load_settings(**REGISTERED), openid_url=openid.url, tokens=SomeToken())
    with pytest.raises(KeysUnavailable):
        await transport.authenticate(channel.inbound(), f"Bearer {token(channel)}")


@pytest.mark.parametrize(
    ("kind", "needed", "made"),
    [
        ("SingleTenant", {"bot_app_password": "s", "bot_tenant_id": "t"}, (AuthTypes.client_secret, "t", "s")),
        ("MultiTenant", {"bot_app_password": "s"}, (AuthTypes.client_secret, "botframework.com", "s")),
        ("UserAssignedMSI", {"bot_tenant_id": "t"}, (AuthTypes.user_managed_identity, "t", None)),
    ],
)
def test_each_kind_of_registration_gets_its_tokens_its_way(
    kind: str, needed: dict[str, str], made: tuple[AuthTypes, str, str | None]
) -> None:
    settings = load_settings(bot_sdk="agents", bot_app_id=APP, bot_app_type=kind, **needed)
    found = auth_configuration(settings)
    assert made == (found.AUTH_TYPE, found.TENANT_ID, found.CLIENT_SECRET)
    assert (found.CLIENT_ID, found.VALIDATE_ISSUER, found.ANONYMOUS_ALLOWED) == (APP, True, False)


class NoToken:
    async def get_access_token(self, resource_url: str, scopes: list[str], force_refresh: bool = False) -> str:
        raise ValueError(f"the identity provider's words about {APP}")


async def test_without_a_token_nothing_goes_out_and_no_word_of_it_is_logged(
    channel: FakeChannel, caplog: pytest.LogCaptureFixture
) -> None:
    transport = AgentsTransport(load_settings(**REGISTERED), tokens=NoToken())
    await transport.start()
    try:
        with pytest.raises(SendFailed) as failed:
            await transport.send(outgoing(channel))
    finally:
        await transport.close()
    assert failed.value.unsent
    assert channel.taken == []
    assert [r.getMessage() for r in caplog.records] == ["no token for the channel: ValueError"]


class SlowToken:
    """Blocks, as MSAL does while it looks for its authority; `may_end` is set on the server's loop."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()
        self.asked = 0

    async def get_access_token(self, resource_url: str, scopes: list[str], force_refresh: bool = False) -> str:
        self.asked += 1
        self.began.set()
        assert self.may_end.wait(30)
        return f"number {self.asked}"


async def test_a_token_that_is_long_in_coming_holds_up_nobody_else_and_is_kept_for_a_while(
    channel: FakeChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = SlowToken()
    transport = AgentsTransport(load_settings(**REGISTERED), tokens=tokens)
    await transport.start()
    sends = [asyncio.create_task(transport.send(outgoing(channel))) for _ in range(3)]
    assert await asyncio.to_thread(tokens.began.wait, 30)
    tokens.may_end.set()
    await asyncio.gather(*sends)
    assert [t.authorization for t in channel.taken] == ["Bearer number 1"] * 3, "one asks, the others wait for it"
    monkeypatch.setattr(agents_sdk, "TOKEN_KEPT_S", -1.0)
    fresh = AgentsTransport(load_settings(**REGISTERED), tokens=tokens)
    await fresh.start()
    for _ in range(2):
        await fresh.send(outgoing(channel))
    assert [t.authorization for t in channel.taken[3:]] == ["Bearer number 2", "Bearer number 3"], "kept for a while"
    for made in (transport, fresh):
        await made.close()


async def test_the_sdk_logs_no_conversation(
    channel: FakeChannel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    transport = transport_for(load_settings(home=tmp_path, bot_sdk="agents"))
    await transport.start()
    channel.faults.append(Fault(500))
    with pytest.raises(SendFailed):
        await transport.send(outgoing(channel))
    await transport.send(outgoing(channel))
    await transport.close()
    said = [r.getMessage() for r in caplog.records if r.name.startswith(("microsoft_agents", "bot."))]
    assert not any("chat-1" in line for line in said)


def test_without_its_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"^ATTEST_BOT_SDK=agents needs its extra: .*\[agents\]"):
        transport_for(load_settings(bot_sdk="agents"))
