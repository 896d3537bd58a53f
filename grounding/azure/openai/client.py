"""Construction of the OpenAI SDK client that chat model and embedder share: address, key, proxy, and the SDK's own habits switched off.

The SDK's own retries are off, for `grounding.services.remote` makes them; redirects are not followed; nothing of the environment's OpenAI
variables is sent; a proxy of the environment is used, except for this machine.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from grounding.errors import AttestError, ServiceRejected, SettingsError
from grounding.services.address import is_this_machine
from grounding.services.cloud import OPENAI_BASE_URL
from grounding.services.key_file import KeyFile
from grounding.services.remote import Remote
from grounding.web.tls import tls_context

CONNECT_S = 5.0
TokenProvider = Callable[[], Awaitable[str]]
"""Asynchronous: a function that returns its token at once is refused, for it would hold up every other turn."""
KeySource = str | KeyFile | TokenProvider | None
"""A key, a file that holds one and may come to hold another, a function that returns a bearer token, or nothing for a local server."""
Auth = Literal["bearer", "api-key", "both"]
"""The header in which a key goes: Authorization, as OpenAI, Azure's `/openai/v1/` and local servers take it, or api-key, as gateways do."""


def make_client(base_url: str | None, api_key: KeySource, remote: Remote, auth: Auth = "bearer") -> AsyncOpenAI:
    """Client of OpenAI, of Azure's `/openai/v1/`, or of any server with that interface.

    `auth`: the header in which a key goes. Its timeout is per read, so whoever calls bounds the whole. Raises SettingsError if `base_url` is not an http or https
    address, or the key cannot be sent.
    """
    url = base_url or OPENAI_BASE_URL
    host = _host(url)
    _check_key(api_key)
    if isinstance(api_key, str | KeyFile) and url.startswith("http://") and not is_this_machine(host):
        raise SettingsError(f"{remote.service}: allowed is https, the key would travel in the clear")
    outside = not is_this_machine(host)
    client = AsyncOpenAI(
        base_url=url,
        # Without a key the SDK would send the environment's to whatever server this is.
        api_key=_sdk_key(api_key, remote.service),
        default_headers=_headers(api_key, auth),
        max_retries=0,
        timeout=Timeout(remote.deadline_s, connect=min(CONNECT_S, remote.deadline_s)),
        # A redirect would carry the prompt to an address that nobody configured; a proxy cannot reach our loopback.
        http_client=DefaultAsyncHttpx2Client(
            verify=tls_context(trust_env=outside),
            trust_env=outside,
            follow_redirects=False,
            event_hooks=_hooks(api_key, auth),
        ),
    )
    client.organization = client.project = client.admin_api_key = None
    return client


def _sdk_key(api_key: KeySource, service: str) -> str | TokenProvider:
    """The key in a form that the SDK takes; of a file it asks for each request."""
    if isinstance(api_key, KeyFile):

        async def current() -> str:
            return api_key.current()

        return current
    return _guarded(api_key, service) if callable(api_key) else api_key or "none"


def _headers(api_key: object, auth: Auth) -> dict[str, str]:
    """Headers beside the SDK's own Authorization; a token goes as bearer whatever `auth` says."""
    return {"api-key": api_key} if isinstance(api_key, str) and auth != "bearer" else {}


def _hooks(api_key: object, auth: Auth) -> dict[str, list[Any]]:
    """Event hooks that set api-key to what a file holds now, and remove Authorization, which the SDK adds to every request, where the key goes
    in api-key alone.
    """

    async def set_key(request: httpx2.Request) -> None:
        if isinstance(api_key, KeyFile):
            request.headers["api-key"] = api_key.current()

    async def without_bearer(request: httpx2.Request) -> None:
        request.headers.pop("Authorization", None)

    if auth == "bearer" or not isinstance(api_key, str | KeyFile):
        return {}
    return {"request": [set_key, without_bearer] if auth == "api-key" else [set_key]}


def _guarded(provider: TokenProvider, service: str) -> TokenProvider:
    async def token() -> str:
        try:
            waiting = provider()
            if not inspect.isawaitable(waiting):
                raise TypeError
            return await waiting
        except AttestError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a provider raises, its words may hold credentials
            raise ServiceRejected(service, f"no token was given ({type(error).__name__})") from None

    return token


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        host = None
    if not host:
        raise SettingsError(
            "ATTEST_OPENAI_BASE_URL: not an http or https address; "
            "allowed: such as http://127.0.0.1:11434/v1 or https://NAME.openai.azure.com/openai/v1/"
        )
    return host


def _check_key(api_key: object) -> None:
    """Raise SettingsError for a key that no header can carry: pasted with a line break or an ellipsis it would fail in the HTTP library,
    its text in the error.
    """
    if isinstance(api_key, str) and re.search(r"[^!-~]", api_key):
        raise SettingsError(
            "ATTEST_OPENAI_API_KEY: holds a space, a line break or a character outside ASCII; no key does"
        )
