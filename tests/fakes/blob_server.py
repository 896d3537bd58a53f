"""A loopback server that speaks Put Blob, Get Blob and List Blobs of Azure Blob Storage, with a SAS, as the published contract says.

A SAS with another signature is a 403 AuthenticationFailed, a right that it lacks a 403 AuthorizationPermissionMismatch; a blob that is there already is
a 409 BlobAlreadyExists to `If-None-Match: *`. Errors are XML with a code, and carry it in `x-ms-error-code`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

SIGNATURE = "canary-sas/signature+with="
CONTAINER = "audit"


class BlobServer(FaultyServer):
    """One container. `page`: names of a page of a listing, at most; `rights`: of the SAS; `clock`: tells when a blob is written."""

    def __init__(self, *script: Fault, otherwise: Fault | None = None, page: int = 5000, rights: str = "rcl") -> None:
        super().__init__(*script, otherwise=otherwise)
        self.blobs: dict[str, tuple[bytes, datetime]] = {}
        self.page = page
        self.rights = rights
        self.now = datetime.now(UTC)

    @property
    def url(self) -> str:
        """The address of the container with its SAS."""
        return (
            f"{self.root}/{CONTAINER}?sv=2023-11-03&sr=c&sp={self.rights}&se=2030-01-01&sig={quote(SIGNATURE, safe='')}"
        )

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.query.get("sig") != SIGNATURE:
            return _error(403, "AuthenticationFailed")
        if request.headers.get("x-ms-version") != "2023-11-03":
            return _error(400, "InvalidHeaderValue")
        folder, _, name = request.path.removeprefix("/").partition("/")
        if folder != CONTAINER:
            return _error(404, "ContainerNotFound")
        if request.method == "PUT":
            return await self._put(request, name)
        if request.method != "GET":
            return _error(405, "UnsupportedHttpVerb")
        return self._get(name) if name else self._list(request)

    async def _put(self, request: web.Request, name: str) -> web.StreamResponse:
        if "c" not in self.rights:
            return _error(403, "AuthorizationPermissionMismatch")
        if request.headers.get("x-ms-blob-type") != "BlockBlob":
            return _error(400, "MissingRequiredHeader")
        if name in self.blobs:
            # a SAS that may create alone never writes over
            return (
                _error(409, "BlobAlreadyExists")
                if request.headers.get("If-None-Match") == "*"
                else _error(403, "UnauthorizedBlobOverwrite")
            )
        self.blobs[name] = await request.read(), self.now
        return web.Response(status=201)

    def _get(self, name: str) -> web.StreamResponse:
        if "r" not in self.rights:
            return _error(403, "AuthorizationPermissionMismatch")
        if name not in self.blobs:
            return _error(404, "BlobNotFound")
        return web.Response(body=self.blobs[name][0], content_type="text/plain", charset="utf-8")

    def _list(self, request: web.Request) -> web.StreamResponse:
        if "l" not in self.rights:
            return _error(403, "AuthorizationPermissionMismatch")
        asked = request.query
        if (asked.get("restype"), asked.get("comp")) != ("container", "list"):
            return _error(400, "InvalidQueryParameterValue")
        names = sorted(n for n in self.blobs if n.startswith(asked.get("prefix", "")) and n > asked.get("marker", ""))
        shown, more = names[: self.page], len(names) > self.page
        blobs = "".join(
            f"<Blob><Name>{escape(n)}</Name><Properties><Last-Modified>{format_datetime(self.blobs[n][1], usegmt=True)}</Last-Modified></Properties></Blob>"
            for n in shown
        )
        text = f"<?xml version='1.0' encoding='utf-8'?><EnumerationResults ContainerName='{CONTAINER}'><Blobs>{blobs}</Blobs>"
        text += f"<NextMarker>{shown[-1] if more else ''}</NextMarker></EnumerationResults>"
        return web.Response(text="\ufeff" + text, content_type="application/xml", charset="utf-8")


def _error(status: int, code: str) -> web.Response:
    text = f"\ufeff<?xml version='1.0' encoding='utf-8'?><Error><Code>{code}</Code><Message>{code} at {SIGNATURE}</Message></Error>"
    return web.Response(status=status, text=text, content_type="application/xml", headers={"x-ms-error-code": code})
