"""botbuilder 4.17.1 behind `Transport`. The only module that knows the SDK.

The SDK is archived, so what it gets wrong is put right here, each point with a test that fails when it changes:
entities lose their fields (`_patch`), every client scans a list half a million times (`_patch`), sends block a thread
of the loop's small default pool and tokens block the loop itself (`_OwnLoop`), each send asks Entra for a new token
(`KeptCredentials`), signing keys (`signing_keys.py`), its own retries hide the channel's answer (`_configure`).
`CloudAdapter.process` is not used at all: it answers 500 to most hostile requests and to every invoke with a body.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from types import SimpleNamespace
from typing import Any, TypeVar

import requests
from botbuilder.core import BotAdapter, TurnContext
from botbuilder.integration.aiohttp import (
    CloudAdapter,
    ConfigurationBotFrameworkAuthentication,
    ConfigurationServiceClientCredentialFactory,
)
from botbuilder.schema import Activity, ChannelAccount, ConversationReference, Entity
from botframework.connector.auth import AuthenticationConstants, JwtTokenExtractor, ServiceClientCredentialsFactory
from msrest.exceptions import (  # type: ignore[attr-defined]  # one of them is handed on from another package
    ClientRequestError,
    DeserializationError,
    HttpOperationError,
)
from msrest.universal_http.requests import ClientRetryPolicy

from bot.settings.settings import Settings
from bot.teams.ports import Json, KeysUnavailable, SendFailed, Unauthorized
from bot.teams.transports.signing_keys import SigningKeys, seconds
from grounding.errors import SettingsError

log = logging.getLogger(__name__)

CHANNEL_KEYS = AuthenticationConstants.TO_BOT_FROM_CHANNEL_OPENID_METADATA_URL
EMULATOR_KEYS = AuthenticationConstants.TO_BOT_FROM_EMULATOR_OPENID_METADATA_URL
SENDERS = 64
"""Sends that can wait for the channel at the same time; each holds a thread, not a core."""
SEND_TIMEOUT_S = 15.0

T = TypeVar("T")


def _patch() -> None:
    # Without this every key of an entity but `type` is dropped on the wire: citations, AI label and stream info vanish.
    Entity.enable_additional_properties_sending()
    # A list of 500 codes is searched for each of 999 codes whenever a client is built, twice a turn: 5 ms each time.
    codes: Any = frozenset(ClientRetryPolicy.safe_codes)
    ClientRetryPolicy.safe_codes = codes


_patch()


class KeptCredentials(ConfigurationServiceClientCredentialFactory):  # type: ignore[misc]  # the SDK carries no types
    """Keeps credentials, because the SDK makes new ones, with an empty token cache, for every single send."""

    def __init__(self, configuration: SimpleNamespace) -> None:
        super().__init__(configuration)
        self._kept: dict[tuple[str, str], Any] = {}

    async def create_credentials(
        self, app_id: str, oauth_scope: str, login_endpoint: str, validate_authority: bool
    ) -> Any:
        key = (app_id, oauth_scope)
        if key not in self._kept:
            self._kept[key] = await super().create_credentials(app_id, oauth_scope, login_endpoint, validate_authority)
        return self._kept[key]


class _OwnLoop:
    """An event loop in a thread of its own, with a wide pool: the SDK blocks both, and must not block the server's."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(SENDERS, thread_name_prefix="channel-send")
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(self._pool)
        self._thread = Thread(target=self._loop.run_forever, name="channel", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=SEND_TIMEOUT_S)
        self._pool.shutdown(wait=False, cancel_futures=True)
        if not self._thread.is_alive():
            self._loop.close()


class BotbuilderTransport:
    """`Transport` over the Bot Framework connector.

    `openid_url` replaces the address of the channel's signing keys, `credentials` the way to outbound tokens: for
    sovereign clouds and tests. Raises SettingsError when the registration is incomplete.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        openid_url: str = CHANNEL_KEYS,
        credentials: ServiceClientCredentialsFactory | None = None,
    ) -> None:
        self._app_id = settings.bot.app_id or ""
        self._openid_url = openid_url
        secret = settings.bot.app_password
        registration = SimpleNamespace(
            APP_ID=self._app_id,
            APP_PASSWORD=secret.get_secret_value() if secret else "",
            APP_TYPE=settings.bot.app_type if self._app_id else "MultiTenant",
            APP_TENANTID=settings.bot.tenant_id or "",
        )
        try:
            factory = credentials or KeptCredentials(registration)
        except Exception as error:  # the SDK raises bare Exception for a missing field
            raise SettingsError(
                f"ATTEST_BOT_APP_ID: a {settings.bot.app_type} bot also needs its password and tenant"
            ) from error
        self._authentication = ConfigurationBotFrameworkAuthentication(registration, credentials_factory=factory)
        self._adapter = CloudAdapter(self._authentication)
        self._loop: _OwnLoop | None = None
        self._keys: SigningKeys | None = None

    async def start(self) -> None:
        self._loop = _OwnLoop()
        await self._loop.run(self._install_keys())

    async def close(self) -> None:
        if self._loop is not None:
            loop, self._loop = self._loop, None
            await asyncio.to_thread(loop.close)

    async def authenticate(self, activity: Json, authorization: str) -> None:
        await self._run(self._authenticate(activity, authorization))

    async def send(self, activity: Json) -> str | None:
        return await self._run(self._deliver(activity, update=False))

    async def update(self, activity: Json) -> None:
        await self._run(self._deliver(activity, update=True))

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise SendFailed(None, unsent=True)
        return await self._loop.run(work)

    async def _install_keys(self) -> None:
        self._keys = SigningKeys(self._openid_url)
        JwtTokenExtractor.metadataCache[CHANNEL_KEYS] = self._keys
        JwtTokenExtractor.metadataCache[EMULATOR_KEYS] = SigningKeys(EMULATOR_KEYS)

    async def _authenticate(self, activity: Json, authorization: str) -> None:
        probe = Activity(
            channel_id=activity["channelId"],
            service_url=activity["serviceUrl"],
            recipient=ChannelAccount(id=activity["recipient"]["id"]),
        )
        try:
            result = await self._authentication.authenticate_request(probe, authorization)
        except KeysUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  # the SDK has no type for a bad token: KeyError, bare Exception, …
            raise Unauthorized(type(error).__name__) from None
        if self._app_id and "exp" not in result.claims_identity.claims:
            raise Unauthorized("token that never expires")

    async def _deliver(self, activity: Json, *, update: bool) -> str | None:
        ids: list[str | None] = []
        outgoing, place = Activity.deserialize(activity), _reference(activity)

        async def logic(context: TurnContext) -> None:
            await _configure(context)
            if update:
                await self._adapter.update_activity(context, outgoing)
            else:
                ids.extend(r.id for r in await self._adapter.send_activities(context, [outgoing]))

        try:
            await self._adapter.continue_conversation(place, logic, self._app_id)
        except (HttpOperationError, ClientRequestError, PermissionError, requests.RequestException) as error:
            raise _failure(error) from None
        except DeserializationError:
            return None  # it was taken, and what came back is none of the forms that there are
        except TypeError:  # what requests and msrest make of a redirect that is not to be followed
            log.warning("send failed: redirected")
            raise SendFailed(None) from None
        return ids[0] if ids and ids[0] else None


def _reference(activity: Json) -> ConversationReference:
    return ConversationReference.deserialize(
        {
            "channelId": activity["channelId"],
            "serviceUrl": activity["serviceUrl"],
            "conversation": activity["conversation"],
            "bot": activity["from"],
            "user": activity["recipient"],
        }
    )


async def _configure(context: TurnContext) -> None:
    config = context.turn_state[BotAdapter.BOT_CONNECTOR_CLIENT_KEY].config
    config.connection.timeout = SEND_TIMEOUT_S
    config.redirect_policy.allow = False
    # msrest would retry for 10 s on its own and then hide the status; `outbox.py` retries by the channel's rules.
    config.retry_policy.retries = 0
    config.retry_policy.policy.status_forcelist = frozenset()
    credentials = config.credentials
    if credentials.microsoft_app_id:
        # The pipeline would fetch the token with a blocking call; after this it finds it in the cache.
        await asyncio.to_thread(credentials.get_access_token)


def _failure(error: Exception) -> SendFailed:
    if isinstance(error, HttpOperationError):
        response = error.response
        body = getattr(getattr(error, "error", None), "error", None)
        return SendFailed(
            response.status_code,
            code=str(getattr(body, "code", "") or ""),
            detail=str(getattr(body, "message", "") or ""),
            retry_after=seconds(response.headers.get("Retry-After")),
        )
    inner = getattr(error, "inner_exception", error)
    timed_out = isinstance(inner, requests.exceptions.ReadTimeout)
    log.warning("send failed: %s", type(inner).__name__)
    return SendFailed(None, unsent=isinstance(inner, requests.exceptions.ConnectionError) and not timed_out)
