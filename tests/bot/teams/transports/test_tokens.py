"""Tokens of the channel: a local OpenID server, real RS256 signatures, each SDK's public-cloud path."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from botframework.connector.auth import (
    MicrosoftAppCredentials,
    PasswordServiceClientCredentialFactory,
    ServiceClientCredentialsFactory,
)
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.http.source_links import SourceLinks
from bot.settings.settings import Settings
from bot.teams.ports import KeysUnavailable, Transport, Unauthorized
from bot.teams.shown.message_limits import MESSAGE
from bot.teams.transports.agents_sdk import AgentsTransport
from bot.teams.transports.botbuilder import BotbuilderTransport
from bot.teams.transports.signing_keys import FAILURE_WAIT_S, MAX_AGE_S, UNKNOWN_KEY_WAIT_S, SigningKeys
from tests.bot.teams.conftest import Bots, RunningBot
from tests.fakes.channel import FakeChannel

APP = "11111111-2222-3333-4444-555555555555"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class NoOutboundToken(PasswordServiceClientCredentialFactory):  # type: ignore[misc]  # the SDK carries no types
    """Checks inbound tokens as always; the fake channel asks for none outbound."""

    async def create_credentials(self, *_: Any, **__: Any) -> MicrosoftAppCredentials:
        return MicrosoftAppCredentials.empty()


class SomeToken:
    """The way to outbound tokens that the other SDK takes."""

    async def get_access_token(self, resource_url: str, scopes: list[str], force_refresh: bool = False) -> str:
        return f"for {resource_url}"


@dataclass
class OpenId:
    """Serves OpenID metadata and keys; `kids` are those it publishes, `fail` makes it answer 500."""

    kids: list[str] = field(default_factory=lambda: ["k1"])
    endorsements: list[str] = field(default_factory=lambda: ["msteams"])
    fail: bool = False
    fetched: int = 0
    server: TestServer | None = None

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{self.server.port}/openid"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/openid", self._metadata)
        app.router.add_get("/keys", self._keys)
        self.server = TestServer(app)
        await self.server.start_server()

    async def _metadata(self, _: web.Request) -> web.Response:
        if self.fail:
            return web.Response(status=500)
        assert self.server is not None
        return web.json_response({"jwks_uri": f"http://127.0.0.1:{self.server.port}/keys"})

    async def _keys(self, _: web.Request) -> web.Response:
        self.fetched += 1
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        keys = [{**public, "kid": kid, "use": "sig", "endorsements": self.endorsements} for kid in self.kids]
        return web.json_response({"keys": keys})


@pytest.fixture
async def openid() -> AsyncIterator[OpenId]:
    running = OpenId()
    await running.start()
    yield running
    assert running.server is not None
    await running.server.close()


def token(channel: FakeChannel, *, key: Any = KEY, kid: str | None = "k1", alg: str = "RS256", **claims: Any) -> str:
    """A token as the channel signs it; a claim of None is left out."""
    now = int(time.time())
    body = {
        "iss": "https://api.botframework.com",
        "aud": APP,
        "exp": now + 600,
        "nbf": now - 60,
        "serviceurl": channel.service_url,
    } | claims
    headers = {"kid": kid} if kid else {}
    return jwt.encode({k: v for k, v in body.items() if v is not None}, key, algorithm=alg, headers=headers)


async def registered(bots: Bots, openid: OpenId, **settings: Any) -> RunningBot:
    def transport(made: Settings) -> Transport:
        if made.bot.sdk == "agents":
            return AgentsTransport(made, openid_url=openid.url, tokens=SomeToken())
        credentials: ServiceClientCredentialsFactory = NoOutboundToken(APP, "not-a-secret")
        return BotbuilderTransport(made, openid_url=openid.url, credentials=credentials)

    chosen = {"bot_app_id": APP, "bot_app_type": "MultiTenant", "tenants": "tenant-1"} | settings
    return await bots.start(transport=transport, **chosen)


async def test_the_matrix_of_tokens(bots: Bots, openid: OpenId, channel: FakeChannel) -> None:
    bot = await registered(bots, openid)
    now = int(time.time())
    good = token(channel)
    unsigned = jwt.encode({"iss": "https://api.botframework.com", "aud": APP}, "", algorithm="none")
    cases: list[tuple[str, str | None, int]] = [
        ("valid", f"Bearer {good}", 202),
        ("expired within the leeway", f"Bearer {token(channel, exp=now - 200)}", 202),
        ("no header", None, 401),
        ("scheme only", "Bearer", 401),
        ("basic", "Basic dXNlcjpwYXNz", 401),
        ("garbage", "garbage", 401),
        ("not a token", "Bearer not.a.jwt", 401),
        ("three parts", f"Bearer {good} x", 401),
        ("lower-case scheme", f"bearer {good}", 401),
        ("no exp", f"Bearer {token(channel, exp=None)}", 401),
        ("expired", f"Bearer {token(channel, exp=now - 3600)}", 401),
        ("not yet valid", f"Bearer {token(channel, nbf=now + 3600)}", 401),
        ("wrong aud", f"Bearer {token(channel, aud='someone-else')}", 401),
        ("no aud", f"Bearer {token(channel, aud=None)}", 401),
        ("list of aud", f"Bearer {token(channel, aud=[APP])}", 401),
        ("wrong iss", f"Bearer {token(channel, iss='https://evil.example')}", 401),
        ("no iss", f"Bearer {token(channel, iss=None)}", 401),
        ("other service url", f"Bearer {token(channel, serviceurl='https://evil.example')}", 401),
        ("service url with a slash more", f"Bearer {token(channel, serviceurl=channel.service_url + '/')}", 401),
        ("no service url", f"Bearer {token(channel, serviceurl=None)}", 401),
        ("wrong key", f"Bearer {token(channel, key=OTHER)}", 401),
        ("unknown kid", f"Bearer {token(channel, kid='k9')}", 401),
        ("no kid", f"Bearer {token(channel, kid=None)}", 401),
        ("RS384", f"Bearer {token(channel, alg='RS384')}", 401),
        ("RS512", f"Bearer {token(channel, alg='RS512')}", 401),
        ("HS256", f"Bearer {token(channel, key='k' * 64, alg='HS256')}", 401),
        ("alg none", f"Bearer {unsigned}", 401),
        ("tampered", f"Bearer {good[:-8]}AAAAAAAA", 401),
    ]
    wrong = []
    for name, header, status in cases:
        headers = {"Authorization": header} if header is not None else {}
        reply = await bot.post(channel.inbound(name), headers=headers)
        if reply.status != status:
            wrong.append((name, reply.status, status))
    assert wrong == []
    await channel.until_messages(2)
    assert [a.question for a in bot.answer.asked] == ["valid", "expired within the leeway"]


async def test_a_key_that_is_not_endorsed_for_the_channel_is_refused(
    bots: Bots, openid: OpenId, channel: FakeChannel
) -> None:
    openid.endorsements = ["webchat"]
    bot = await registered(bots, openid)
    reply = await bot.post(channel.inbound(), headers={"Authorization": f"Bearer {token(channel)}"})
    assert reply.status == 401


async def test_an_outage_of_the_keys_is_503_and_over_when_they_are_back(
    bots: Bots, openid: OpenId, channel: FakeChannel
) -> None:
    openid.fail = True
    bot = await registered(bots, openid)
    headers = {"Authorization": f"Bearer {token(channel)}"}
    reply = await bot.post(channel.inbound(), headers=headers)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
    assert bot.answer.asked == []


@pytest.mark.parametrize(
    ("tenants", "came_from"),
    [
        ({"tenants": "tenant-1"}, ("tenant-1", 202)),
        ({"tenants": "tenant-1"}, ("tenant-2", 403)),
        ({"tenants": "tenant-1"}, (None, 403)),
        ({"tenants": "", "bot_tenant_id": "tenant-1"}, ("tenant-1", 202)),
        ({"tenants": "", "bot_tenant_id": "tenant-9"}, ("tenant-1", 403)),
        ({"tenants": ""}, ("tenant-1", 403)),
    ],
)
async def test_only_listed_tenants_are_served(
    bots: Bots, openid: OpenId, channel: FakeChannel, tenants: dict[str, str], came_from: tuple[str | None, int]
) -> None:
    conversation, status = came_from
    bot = await registered(bots, openid, **tenants)
    place = {"id": "a:1", "conversationType": "personal", "tenantId": conversation}
    data = {"tenant": {"id": conversation}} if conversation else None
    activity = channel.inbound(conversation=place, channelData=data)
    reply = await bot.post(activity, headers={"Authorization": f"Bearer {token(channel)}"})
    assert reply.status == status
    await channel.until_messages(1 if status == 202 else 0)


async def test_off_loopback_a_sender_without_object_id_is_a_stranger(
    bots: Bots, openid: OpenId, channel: FakeChannel
) -> None:
    from_bot = "https://smba.trafficmanager.net/emea/"
    bot = await registered(bots, openid, host="0.0.0.0")
    sender = {"id": "29:user", "name": "Ada"}
    inbound = channel.inbound(serviceUrl=from_bot, deliveryMode="expectReplies", **{"from": sender})
    headers = {"Authorization": f"Bearer {token(channel, serviceurl=from_bot)}"}
    assert (await bot.post(inbound, headers=headers)).status == 200
    assert bot.answer.asked[0].user is None


@pytest.mark.parametrize("kind", ["personal", "groupChat"])
async def test_a_source_without_an_address_is_linked_for_who_asked(
    bots: Bots, openid: OpenId, channel: FakeChannel, kind: str
) -> None:
    """The link is signed and expires: outside local mode /source opens for no other."""
    bot = await registered(bots, openid, public_url="https://attest.example/")
    inbound = channel.inbound(conversation={"id": "a:1", "conversationType": kind, "tenantId": "tenant-1"})
    await bot.post(inbound, headers={"Authorization": f"Bearer {token(channel)}"})
    [message] = await channel.until_messages(1)
    [root] = [e for e in message["entities"] if e["type"] == MESSAGE]
    first, second = (urlsplit(c["appearance"]["url"]) for c in root["citation"])
    assert first.netloc == "example.com"
    assert (second.netloc, second.path) == ("attest.example", "/source/entry-1/2")
    query = parse_qs(second.query)
    links = SourceLinks.of(bot.settings)
    asked, other = bot.answer.asked[0].user, "somebody else"
    assert links.check("entry-1", 2, asked, query["exp"][0], query["sig"][0]) is None
    assert links.check("entry-1", 2, other, query["exp"][0], query["sig"][0]) == "invalid"


async def test_the_token_goes_to_the_channel_alone(bots: Bots, openid: OpenId, channel: FakeChannel) -> None:
    bot = await registered(bots, openid)
    await bot.post(channel.inbound(), headers={"Authorization": f"Bearer {token(channel)}"})
    await channel.until_messages(1)
    sent = {t.authorization for t in channel.taken}
    assert sent == ({"Bearer for https://api.botframework.com"} if bot.settings.bot.sdk == "agents" else {None})


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_keys_are_fetched_once_a_day_and_when_an_unknown_one_appears(openid: OpenId) -> None:
    clock = Clock()
    keys = SigningKeys(openid.url, clock=clock)
    for _ in range(3):
        await keys.get("k1")
    assert openid.fetched == 1
    openid.kids = ["k1", "k2"]
    for _ in range(3):  # a stranger cannot make us fetch at will
        with pytest.raises(Unauthorized):
            await keys.get("k2")
    assert openid.fetched == 1
    clock.now += UNKNOWN_KEY_WAIT_S + 1
    await keys.get("k2")
    assert openid.fetched == 2
    clock.now += MAX_AGE_S + 1
    await keys.get("k1")
    assert openid.fetched == 3


async def test_known_keys_survive_an_outage(openid: OpenId) -> None:
    clock = Clock()
    keys = SigningKeys(openid.url, clock=clock)
    await keys.get("k1")
    openid.fail = True
    clock.now += MAX_AGE_S + 1
    await keys.get("k1")


async def test_without_keys_an_outage_is_said_and_tried_again(openid: OpenId) -> None:
    clock = Clock()
    openid.fail = True
    keys = SigningKeys(openid.url, clock=clock)
    for _ in range(2):
        with pytest.raises(KeysUnavailable):
            await keys.get("k1")
    openid.fail = False
    clock.now += FAILURE_WAIT_S + 1
    assert (await keys.get("k1")).endorsements == ["msteams"]
