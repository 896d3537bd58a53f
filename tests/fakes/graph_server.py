"""A loopback server that speaks `GET /v1.0/users/{id}/transitiveMemberOf` of Microsoft Graph, with its paging.

Replies hold what a person belongs to: groups, and directory roles and administrative units among them, as the service gives them.
An unknown person is a 404 with Graph's code, a token for something else a 401, a page that is larger than allowed a 400.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer

TOKEN = "canary-token-for-graph.microsoft.com"
ROLE = {"@odata.type": "#microsoft.graph.directoryRole", "id": "729827e3-9c14-49f7-bb1b-9608f156bbb8"}


class GraphServer(FaultyServer):
    """`people`: user (object id or principal name) to object ids of groups. `page`: entries of a reply, at most."""

    def __init__(
        self,
        people: Mapping[str, Sequence[str]],
        *script: Fault,
        otherwise: Fault | None = None,
        page: int = 999,
        token: str = TOKEN,
    ) -> None:
        super().__init__(*script, otherwise=otherwise)
        self.people = {user: list(groups) for user, groups in people.items()}
        self.page = page
        self.token = token
        self.next_root: str | None = None

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return _error(401, "InvalidAuthenticationToken", "Access token validation failure. Invalid audience.")
        parts = request.path.removeprefix("/").split("/")
        if parts[:2] != ["v1.0", "users"] or parts[3:] != ["transitiveMemberOf"]:
            return _error(404, "BadRequest", "Resource not found for the segment.")
        top = int(body.get("$top", 100))
        if not 1 <= top <= 999:
            return _error(400, "Request_UnsupportedQuery", f"Invalid page size specified: '{top}'.")
        if parts[2] not in self.people:
            return _error(404, "Request_ResourceNotFound", f"Resource '{parts[2]}' does not exist.")
        held: list[dict[str, str]] = [
            ROLE,
            *({"@odata.type": "#microsoft.graph.group", "id": group} for group in self.people[parts[2]]),
        ]
        start, size = int(body.get("$skiptoken", 0)), min(top, self.page)
        reply: dict[str, Any] = {
            "@odata.context": f"{self.root}/v1.0/$metadata#directoryObjects(id)",
            "value": held[start : start + size],
        }
        if start + size < len(held):
            root = self.next_root or self.root
            reply["@odata.nextLink"] = f"{root}{request.path}?$select=id&$top={top}&$skiptoken={start + size}"
        return web.json_response(reply)


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message, "innerError": {}}}, status=status)
