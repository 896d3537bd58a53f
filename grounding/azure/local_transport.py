"""A transport of azure-core that reaches this machine, and its metadata service, past every proxy, and the rest as the environment says."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from azure.core.pipeline.transport import AioHttpTransport, AsyncHttpTransport


class LocalTransport(AsyncHttpTransport[Any, Any]):
    """Managed identities are asked for at 127.0.0.1 or 169.254.169.254: a proxy cannot reach them, and must not see the token."""

    def __init__(self) -> None:
        self._direct = AioHttpTransport(use_env_settings=False)
        self._usual = AioHttpTransport()

    async def send(self, request: Any, **options: Any) -> Any:
        """The response to `request`."""
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
