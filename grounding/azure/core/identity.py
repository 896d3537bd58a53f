"""Sign-in to Microsoft Entra ID without a key: managed identity, workload identity, or a developer's own sign-in.

One identity serves every service that has no key. azure-identity chooses how to sign in, by the variables that it reads itself
(AZURE_TOKEN_CREDENTIALS, AZURE_CLIENT_ID, AZURE_TENANT_ID, IDENTITY_ENDPOINT and others). It takes most of a second to import, so that is
done in a thread at the first need.
"""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import urlsplit

from azure.core.credentials import AccessToken, AccessTokenInfo, TokenRequestOptions
from azure.core.exceptions import ClientAuthenticationError
from azure.core.pipeline.transport import AioHttpTransport, AsyncHttpTransport

from grounding.errors import ServiceRejected
from grounding.services.cloud import CLOUDS, COGNITIVE, CloudName, own_scope
from grounding.services.single_flight import SingleFlight

SIGN_IN_FAILED = "this machine could not sign in (Microsoft Entra ID)"
EARLY_S = 300
"""Seconds before its end from which a token is replaced; as azure-core does it."""
FAILED_S = 10.0
"""Seconds for which a failed sign-in is not tried again: a turn makes several calls, and each would wait for it."""


class Credential(Protocol):
    """The part of an azure-identity credential that is used here (see azure-core's `AsyncSupportsTokenInfo`)."""

    async def get_token_info(self, *scopes: str, options: TokenRequestOptions | None = None) -> AccessTokenInfo:
        """An access token for `scopes`, with its expiry."""
        ...

    async def close(self) -> None:
        """Close the credential's connections."""
        ...


class MachineIdentity:
    """Token credential (azure-core's AsyncTokenCredential) that all clients of one system share; it imports and asks nothing before the
    first token.

    Clients ask for the scopes of the public cloud, as their SDKs do; the token is for the same service of `cloud`. `client_id`: of a
    user-assigned managed or workload identity. `within_s`: seconds for one sign-in. `make` and `clock` (seconds since the epoch) are given
    by tests. Its owner closes it, after the clients that use it.
    """

    def __init__(
        self,
        cloud: CloudName = "public",
        client_id: str | None = None,
        *,
        within_s: float = 10.0,
        make: Callable[[], Credential] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._cloud = cloud
        options: dict[str, Any] = {"managed_identity_client_id": client_id} if client_id else {}
        if cloud != "public":  # else azure-identity's own AZURE_AUTHORITY_HOST counts
            options["authority"] = CLOUDS[cloud].authority
        self._make = make or (lambda: default_credential(options))
        self.within_s = within_s
        self._clock = clock
        self._credential: Credential | None = None
        self._opening = SingleFlight[None, Credential]()
        self._asking = SingleFlight[str, AccessTokenInfo]()
        self._held: dict[str, AccessTokenInfo] = {}
        self._failed: dict[str, float] = {}

    async def get_token_info(self, *scopes: str, options: TokenRequestOptions | None = None) -> AccessTokenInfo:
        """An access token, held or fresh, for the first of `scopes`. Raises ClientAuthenticationError whose only text is SIGN_IN_FAILED."""
        scope = own_scope(scopes[0], self._cloud)
        claims = (options or {}).get("claims")  # the service wants a newer token than the one held
        held = None if claims else self._held.get(scope)
        if held is not None and not self._is_due(held):
            return held
        try:
            if not claims and self._clock() - self._failed.get(scope, float("-inf")) < FAILED_S:
                raise ClientAuthenticationError(SIGN_IN_FAILED)
            return await self._asking(f"{scope} {claims or ''}", lambda: self._ask(scope, claims))
        except ClientAuthenticationError:
            if held is not None and held.expires_on > self._clock():
                return held
            raise

    async def get_token(
        self, *scopes: str, claims: str | None = None, tenant_id: str | None = None, enable_cae: bool = False, **_: Any
    ) -> AccessToken:
        """The same as `get_token_info`, in azure-core's older form."""
        del tenant_id, enable_cae  # one tenant; tokens are as long as the service gives them
        info = await self.get_token_info(*scopes, options={"claims": claims} if claims else None)
        return AccessToken(info.token, info.expires_on)

    def bearer(self, service: str, scope: str = COGNITIVE) -> Callable[[], Awaitable[str]]:
        """An async function that returns a bearer token, for clients that take a function. It raises ServiceRejected in the name of
        `service`.
        """

        async def token() -> str:
            try:
                return (await self.get_token_info(scope)).token
            except ClientAuthenticationError:
                raise ServiceRejected(service, SIGN_IN_FAILED, here_alone=True) from None

        return token

    async def close(self) -> None:
        """Close the connections, if there are any."""
        credential, self._credential = self._credential, None
        if credential is not None:
            await credential.close()

    async def __aenter__(self) -> MachineIdentity:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, scope: str, claims: str | None) -> AccessTokenInfo:
        try:
            async with asyncio.timeout(self.within_s):
                credential = await self._opening(None, self._open)
                found = await credential.get_token_info(scope, options={"claims": claims} if claims else {})
        except Exception:  # noqa: BLE001  # whatever it is, its words may name tenants, people and commands
            self._failed[scope] = self._clock()
            raise ClientAuthenticationError(SIGN_IN_FAILED) from None
        self._failed.pop(scope, None)
        self._held[scope] = found
        return found

    async def _open(self) -> Credential:
        if self._credential is None:
            self._credential = await asyncio.to_thread(self._make)
        return self._credential

    def _is_due(self, token: AccessTokenInfo) -> bool:
        now = self._clock()
        return token.expires_on - now < EARLY_S or (token.refresh_on is not None and token.refresh_on <= now)


class LocalTransport(AsyncHttpTransport[Any, Any]):
    """HTTP transport of azure-core that bypasses every proxy for this machine and its metadata service, and follows the environment for the
    rest.

    Managed identities are asked for at 127.0.0.1 or 169.254.169.254: a proxy cannot reach them, and must not see the token.
    """

    def __init__(self) -> None:
        self._direct = AioHttpTransport(use_env_settings=False)
        self._usual = AioHttpTransport()

    async def send(self, request: Any, **options: Any) -> Any:
        """Send `request`, past the proxy where its host is local, and return the response."""
        host = urlsplit(request.url).hostname or ""
        return await (self._direct if _is_local(host) else self._usual).send(request, **options)

    async def open(self) -> None:
        """Nothing to do: connections are opened as they are needed."""

    async def close(self) -> None:
        """Close the connections; a credential of many parts does it once for each."""
        await self._direct.close()
        await self._usual.close()

    async def __aenter__(self) -> LocalTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_link_local


def default_credential(options: dict[str, Any]) -> Credential:
    """How azure-identity signs this machine in. `options`: of its DefaultAzureCredential."""
    # its warnings repeat what every way of signing in had to say, names of people and tenants included
    logging.getLogger("azure.identity").setLevel(logging.CRITICAL)
    made: Credential = importlib.import_module("azure.identity.aio").DefaultAzureCredential(
        transport=LocalTransport(), **options
    )
    return made
