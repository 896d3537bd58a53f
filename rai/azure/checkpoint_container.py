"""Checkpoints in a container of Azure Blob Storage, by the URL with which its owner lets it be written to (a SAS).

Put Blob with `If-None-Match: *`, so that no blob is ever written over; Get Blob, and List Blobs where the SAS allows it (REST, version 2023-11-03).
The SAS is a secret and stands in no message.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit
from xml.etree import ElementTree as ET

from azure.core import AsyncPipelineClient
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from grounding.azure.core.faults import translated
from grounding.azure.core.options import transport_options
from grounding.errors import ServiceRejected, ServiceReplyInvalid, SettingsError
from grounding.services.address import check_address
from grounding.services.remote import Remote
from rai.records import KeptCheckpoint

SERVICE = "checkpoints"
"""The service's name in errors, figures and `/readyz`."""
VERSION = "2023-11-03"
CONTAINER = "https://NAME.blob.core.windows.net/CONTAINER"
EXAMPLE = f"{CONTAINER}?sv=…&sp=rcl&sig=…"
MOST_PAGES = 200
"""Pages of a listing, 5,000 names each; an hourly checkpoint fills two in a year."""
_TAKEN = (409, 412)
_MEBIBYTE = 1 << 20


class ContainerSink:
    """A `rai.ports.CheckpointSink` in a blob container. `url`: of the container, with its SAS, which needs the right to create (c); to read (r) and list (l) let it
    see what is there. `setting`: the name of the variable that holds it. Raises SettingsError for what is no such address.
    """

    def __init__(self, url: str, remote: Remote, *, setting: str) -> None:
        check_address(url, setting, EXAMPLE)
        parts = urlsplit(url)
        if not parts.path.strip("/") or "sig" not in dict(parse_qsl(parts.query)) or parts.username or parts.fragment:
            raise SettingsError(f"{setting}: allowed is the address of a container with a SAS, such as {EXAMPLE}")
        self._base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self._sas = parts.query
        self._remote = remote
        self._client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
            self._base, policies=[], transport=AioHttpTransport(**transport_options(url, remote.deadline_s))
        )

    @property
    def place(self) -> str:
        """The address of the container without its SAS."""
        return self._base

    async def put(self, name: str, note: str) -> str | None:
        """Makes a blob; of one that is there already, its text."""
        return await self._remote.call(lambda: self._put(name, note))

    async def read(self, name: str) -> str | None:
        """The text of that blob."""
        return await self._remote.call(lambda: self._read_alone(name))

    async def newest(self, prefix: str) -> KeptCheckpoint | None:
        """The last blob whose name begins with `prefix`, of a listing page by page."""
        return await self._remote.call(lambda: self._newest(prefix))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _put(self, name: str, note: str) -> str | None:
        headers = {
            "x-ms-blob-type": "BlockBlob",
            "If-None-Match": "*",
            "Content-Type": "text/plain; charset=utf-8",
        }
        with translated(SERVICE, endpoint=CONTAINER):
            response = await self._send("PUT", quote(name), headers=headers, content=note.encode())
            if response.status_code == 201:
                return note
            if response.status_code not in _TAKEN:
                raise self._fault(response)
            return await self._read(name)

    async def _read_alone(self, name: str) -> str | None:
        with translated(SERVICE, endpoint=CONTAINER):
            return await self._read(name)

    async def _read(self, name: str) -> str | None:
        """The text of a blob; None where the SAS does not let it be read."""
        response = await self._send("GET", quote(name))
        if response.status_code in (403, 404):
            return None
        if response.status_code != 200:
            raise self._fault(response)
        return response.content[:_MEBIBYTE].decode("utf-8", "replace")

    async def _newest(self, prefix: str) -> KeptCheckpoint | None:
        newest: KeptCheckpoint | None = None
        marker = ""
        with translated(SERVICE, endpoint=CONTAINER):
            for _ in range(MOST_PAGES):
                query = {"restype": "container", "comp": "list", "prefix": prefix, "marker": marker}
                response = await self._send("GET", "", query={k: v for k, v in query.items() if v})
                if response.status_code != 200:
                    raise self._fault(response)
                found, marker = _page(response.content, prefix)
                newest = max([*([newest] if newest else []), *found], key=lambda kept: kept.name, default=None)
                if not marker:
                    return newest
        raise ServiceReplyInvalid(SERVICE, f"more than {MOST_PAGES} pages of names")

    async def _send(
        self,
        method: str,
        name: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> AsyncHttpResponse:
        asked = "&".join(part for part in (urlencode(query or {}), self._sas) if part)
        url = f"{self._base}/{name}".rstrip("/") + f"?{asked}"
        request = HttpRequest(method, url, headers={"x-ms-version": VERSION, **(headers or {})}, content=content)
        return await self._client.send_request(request)

    @staticmethod
    def _fault(response: AsyncHttpResponse) -> Exception:
        if response.status_code in (401, 403):
            return ServiceRejected(
                SERVICE, f"the SAS does not allow this, or has ended (status {response.status_code})"
            )
        return HttpResponseError(response=response)


def _page(raw: bytes, prefix: str) -> tuple[list[KeptCheckpoint], str]:
    """The names of one page of a listing that begin with `prefix`, and the marker of the next, empty on the last."""
    try:
        root = ET.fromstring(raw)  # noqa: S314 - of the service that the operator named, and expat bounds what it expands
    except ET.ParseError:
        raise ServiceReplyInvalid(SERVICE, "the listing cannot be read") from None
    if root.tag != "EnumerationResults":
        raise ServiceReplyInvalid(SERVICE, "the listing cannot be read")
    found = [
        KeptCheckpoint(name, _time(blob.findtext("Properties/Last-Modified")))
        for blob in root.iterfind("Blobs/Blob")
        if (name := blob.findtext("Name") or "").startswith(prefix)
    ]
    return found, root.findtext("NextMarker") or ""


def _time(text: str | None) -> datetime:
    return parsedate_to_datetime(text or "")
