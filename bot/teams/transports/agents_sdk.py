"""The Microsoft 365 Agents SDK 1.9 behind `Transport`: the extra `agents`, chosen by `ATTEST_BOT_SDK=agents`. The only module that knows it.

Its connector, tokens and validator are used; its adapter and middleware are not: they answer 500 to many hostile requests, and make a token more for
each send. What it gets wrong is put right here, each point with a test that fails when it changes: its model loses fields of what is sent
(`_Verbatim`), an id goes into the path as it is and is cut at 150 characters (`_path`, `ID_MAX`), redirects are followed with the token
(`_stop`), a first token blocks the loop (`_token`), any issuer and any channel's key is accepted (`authenticate`), keys are fetched as often as a stranger likes (`ChannelKeys`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import jwt
from microsoft_agents.authentication.msal import MsalAuth
from microsoft_agents.hosting.core import AgentAuthConfiguration, AuthenticationConstants, JwtTokenValidator
from microsoft_agents.hosting.core.authorization.auth_types import AuthTypes
from microsoft_agents.hosting.core.connector.client.connector_client import ConversationsOperations
from pydantic import ValidationError

from bot.settings.settings import Settings
from bot.teams.ports import Json, KeysUnavailable, SendFailed, Unauthorized
from bot.teams.transports.signing_keys import SigningKeys, seconds

log = logging.getLogger(__name__)

CHANNEL = AuthenticationConstants.AGENTS_SDK_TOKEN_ISSUER
"""Who signs what comes from the channel; also the resource that outgoing tokens are for."""
CHANNEL_KEYS = AuthenticationConstants.PUBLIC_ABS_OPENID_METADATA_URL
SCOPE = f"{CHANNEL}/.default"
SEND_TIMEOUT_S = 15.0
TOKEN_KEPT_S = 240.0
"""Seconds that a token is used without asking MSAL, which gives none that ends within five minutes: a thread and a loop for each send cost as much as the send."""
ID_MAX = 4_096
"""Characters of a conversation's id in the path; the SDK cuts them at 150, and sends to another conversation then."""
_TAKEN = (ValidationError, UnicodeDecodeError, json.JSONDecodeError, aiohttp.ContentTypeError)
"""What the SDK raises where the channel took an activity, and what it answered is none of the forms that there are."""
OLD_TENANT = "botframework.com"
"""Where a registration of many tenants gets its tokens."""


class Tokens(Protocol):
    """Where tokens for the channel come from: `MsalAuth`, or a test's own."""

    async def get_access_token(self, resource_url: str, scopes: list[str], force_refresh: bool = False) -> str: ...


class AgentsTransport:
    """`Transport` over the connector of the Agents SDK.

    `openid_url` replaces the address of the channel's signing keys, `tokens` the way to outbound tokens: for tests.
    """

    def __init__(self, settings: Settings, *, openid_url: str = CHANNEL_KEYS, tokens: Tokens | None = None) -> None:
        # it logs ids of conversations, and what an identity provider answers
        logging.getLogger("microsoft_agents").setLevel(logging.CRITICAL)
        self._app_id = settings.bot.app_id
        configuration = auth_configuration(settings)
        self._tokens: Tokens | None = tokens or (MsalAuth(configuration) if self._app_id else None)
        self._asking = asyncio.Lock()
        self._kept, self._kept_until = "", 0.0
        self._keys = SigningKeys(openid_url)
        validator: Any = JwtTokenValidator(configuration)
        validator._jwk_client_manager = ChannelKeys(self._keys)  # noqa: SLF001  # it takes no other
        self._validator: JwtTokenValidator = validator
        self._connector: aiohttp.TCPConnector | None = None
        self._watch = aiohttp.TraceConfig()
        self._watch.on_request_redirect.append(_stop)

    async def start(self) -> None:
        self._connector = aiohttp.TCPConnector()

    async def close(self) -> None:
        if self._connector is not None:
            connector, self._connector = self._connector, None
            await connector.close()

    async def authenticate(self, activity: Json, authorization: str) -> None:
        """Beside what the SDK looks at: an end, the channel as the issuer, its address, and a key that may sign for it."""
        if self._app_id is None:
            if authorization:
                raise Unauthorized("a token for a bot without registration")
            return
        scheme, _, token = authorization.partition(" ")
        if scheme != "Bearer" or not token or " " in token:
            raise Unauthorized("no bearer token")
        try:
            claims = (await self._validator.validate_token(token)).claims
            key = await self._keys.get(jwt.get_unverified_header(token).get("kid"))
        except (Unauthorized, KeysUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  # whatever is wrong with a token
            raise Unauthorized(type(error).__name__) from None
        if "exp" not in claims:
            raise Unauthorized("token that never expires")
        if claims.get("iss") != CHANNEL:
            raise Unauthorized("issuer")
        if claims.get(AuthenticationConstants.SERVICE_URL_CLAIM) != activity["serviceUrl"]:
            raise Unauthorized("service address")
        if activity["channelId"] not in key.endorsements:
            raise Unauthorized("a key that may not sign for this channel")

    async def send(self, activity: Json) -> str | None:
        return await self._deliver(activity, update=False)

    async def update(self, activity: Json) -> None:
        await self._deliver(activity, update=True)

    async def _deliver(self, activity: Json, *, update: bool) -> str | None:
        conversation, body = _path(activity["conversation"]["id"]), _Verbatim.of(activity)
        try:
            async with await self._session(activity["serviceUrl"]) as session:
                to = ConversationsOperations(session, max_conversation_id_length=ID_MAX)
                if update:
                    await to.update_activity(conversation, _path(activity["id"]), body)
                    return None
                if reply_to := activity.get("replyToId"):
                    return (await to.reply_to_activity(conversation, _path(reply_to), body)).id or None
                return (await to.send_to_conversation(conversation, body)).id or None
        except _TAKEN:
            return None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _failure(error) from None

    async def _session(self, service_url: str) -> aiohttp.ClientSession:
        if self._connector is None:
            raise SendFailed(None, unsent=True)
        headers = {"Accept": "application/json"}
        if self._tokens is not None:
            headers["Authorization"] = f"Bearer {await self._token(self._tokens)}"
        return aiohttp.ClientSession(
            base_url=service_url if service_url.endswith("/") else f"{service_url}/",
            connector=self._connector,
            connector_owner=False,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=SEND_TIMEOUT_S),
            trace_configs=[self._watch],
            proxy=_proxy(service_url),
        )

    async def _token(self, tokens: Tokens) -> str:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S), self._asking:
                if not self._kept or time.monotonic() > self._kept_until:
                    # in a loop of its own: MSAL looks for its authority with a blocking call before it says anything
                    asked = asyncio.to_thread(lambda: asyncio.run(tokens.get_access_token(CHANNEL, [SCOPE])))
                    self._kept, self._kept_until = await asked, time.monotonic() + TOKEN_KEPT_S
                return self._kept
        except Exception as error:  # noqa: BLE001  # MSAL, requests and the SDK each have their own
            log.warning("no token for the channel: %s", type(error).__name__)
            raise SendFailed(None, unsent=True) from None


class ChannelKeys:
    """In place of the SDK's own cache: the channel's keys alone, whoever a token says that it is from, each kept for a day."""

    def __init__(self, keys: SigningKeys) -> None:
        self._keys = keys

    async def get_signing_key(self, _: str, header: dict[str, Any]) -> Any:
        return (await self._keys.get(header.get("kid"))).public_key


@dataclass(frozen=True, slots=True)
class _Verbatim:
    """An activity as the connector takes it, and sends it as it was made: of entities the SDK's own model drops the id of a sensitivity label and the type of a picture, and adds what nobody said."""

    given: Json
    type: str
    channel_id: str
    id: str | None = None
    from_property: None = None

    @classmethod
    def of(cls, activity: Json) -> Any:
        return cls(activity, activity["type"], activity["channelId"], activity.get("id"))

    def is_targeted_activity(self) -> bool:
        return False

    def model_dump(self, **_: Any) -> Json:
        return self.given


async def _stop(*_: Any) -> None:
    """A channel sends nobody elsewhere; the token would go along."""
    raise aiohttp.ClientPayloadError("redirected")


def auth_configuration(settings: Settings) -> AgentAuthConfiguration:
    bot = settings.bot
    secret = bot.app_password.get_secret_value() if bot.app_password else None
    managed = bot.app_type == "UserAssignedMSI"
    return AgentAuthConfiguration(
        AuthTypes.user_managed_identity if managed else AuthTypes.client_secret,
        bot.app_id,
        OLD_TENANT if bot.app_type == "MultiTenant" else bot.tenant_id,
        secret,
        validate_issuer=True,
        issuers=[CHANNEL],
    )


@lru_cache(maxsize=64)
def _proxy(service_url: str) -> str | None:
    """The proxy of the environment, as botbuilder takes it. Told to trust the environment, the client would read `.netrc` for every send."""
    address = urlsplit(service_url)
    return None if proxy_bypass(address.hostname or "") else getproxies().get(address.scheme)


def _path(name: str) -> str:
    return quote(name, safe="")


def _failure(error: Exception) -> SendFailed:
    if isinstance(error, aiohttp.ClientResponseError):
        said = _said(error.message)
        wait = seconds(error.headers.get("Retry-After") if error.headers else None)
        return SendFailed(
            error.status, code=str(said.get("code") or ""), detail=str(said.get("message") or ""), retry_after=wait
        )
    log.warning("send failed: %s", type(error).__name__)
    never = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    return SendFailed(None, unsent=never)


def _said(body: str) -> Json:
    """What the channel says of its refusal."""
    try:
        told = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
