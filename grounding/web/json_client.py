"""HTTP client for search services that take a key in a header and answer JSON.

The vendors' own packages bring a second HTTP library each and put keys or questions into messages; what is needed of them is one request.
So nothing of an error of the library below is taken over or chained, for it holds address and headers, and its log of addresses, questions
in them, is held at WARNING.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

import httpx2

from grounding.errors import AttestError, ServiceReplyInvalid, ServiceUnavailable
from grounding.records import WebResult
from grounding.services.address import check_address, check_key, is_loopback
from grounding.services.remote import Remote
from grounding.web.replies import MAX_BYTES, json_object, status_fault, too_long
from grounding.web.tls import tls_context

CONNECT_S = 5.0
Read = Callable[[str, dict[str, Any]], Iterable[WebResult]]
"""Service and JSON object to results; raises ServiceReplyInvalid if the object is no reply of that service."""


class HeaderKey(httpx2.Auth):
    """HTTP authentication that puts a key into a header as a request leaves; no dictionary of the client holds it."""

    __slots__ = ("_header", "_value")

    def __init__(self, header: str, key: str, setting: str, *, scheme: str = "") -> None:
        """Raises SettingsError, naming `setting`, for a key that no header can carry."""
        check_key(key, setting)
        self._header = header
        self._value = f"{scheme} {key}".strip()

    def __repr__(self) -> str:
        return f"HeaderKey({self._header!r})"

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Put the key into the header of `request` (httpx's hook for authentication)."""
        request.headers[self._header] = self._value
        yield request


class JsonClient:
    """HTTP client of one service. `setting` names the address in errors. Raises SettingsError for an address that cannot be used."""

    def __init__(
        self, address: str, remote: Remote, *, setting: str, example: str, key: HeaderKey | None = None
    ) -> None:
        check_address(address, setting, example)
        for name in ("httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._address = address
        self._remote = remote
        outside = not is_loopback(address)
        self._client = httpx2.AsyncClient(
            auth=key,
            timeout=httpx2.Timeout(remote.deadline_s, connect=min(CONNECT_S, remote.deadline_s)),
            follow_redirects=False,  # a redirect could carry question and key elsewhere
            verify=tls_context(trust_env=outside),
            trust_env=outside,  # a proxy cannot reach our loopback
            headers={"Accept": "application/json"},
        )

    async def get(self, params: Mapping[str, str | int], read: Read) -> tuple[WebResult, ...]:
        """Send a GET and return what `read` makes of the JSON reply. Raises ServiceError."""
        return await self._remote.call(lambda: self._attempt(read, "GET", params=dict(params)))

    async def post(self, body: Mapping[str, Any], read: Read) -> tuple[WebResult, ...]:
        """POST `body` as JSON and return what `read` makes of the JSON reply. Raises ServiceError."""
        return await self._remote.call(lambda: self._attempt(read, "POST", json=dict(body)))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _attempt(self, read: Read, method: str, **content: Any) -> tuple[WebResult, ...]:
        service = self._remote.service
        fault: AttestError
        try:
            return tuple(read(service, json_object(service, await self._body(method, content))))
        except httpx2.TimeoutException:
            fault = ServiceUnavailable(service, "did not answer in time")
        except httpx2.DecodingError:
            fault = ServiceReplyInvalid(service, "the reply cannot be unpacked")
        except httpx2.TransportError as error:
            fault = ServiceUnavailable(service, f"cannot be reached ({type(error).__name__})")
        raise fault  # outside the handlers: the error that holds the request is no part of this one's context

    async def _body(self, method: str, content: Mapping[str, Any]) -> bytes:
        service = self._remote.service
        self._client.cookies.clear()  # they would tie one person's question to another's
        async with self._client.stream(method, self._address, **content) as reply:
            if not reply.is_success:
                raise status_fault(service, reply.status_code, reply.headers.get("Retry-After"))
            read = bytearray()
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > MAX_BYTES:
                    raise too_long(service)
            return bytes(read)
