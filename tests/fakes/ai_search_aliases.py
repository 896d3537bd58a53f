"""Aliases, the list of indexes, and statistics, api-version 2026-04-01, as far as the adapter uses them.

As the published contract has it an alias names one index that is there, bears the name of none, and stands for it in requests for documents and in
those that read or change its definition; neither can it be deleted as an index, nor can a knowledge source name it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fakes.ai_search_knowledge import refusal

if TYPE_CHECKING:
    from tests.fakes.ai_search_server import AiSearchServer

_PATH = re.compile(r"/aliases\('([a-z0-9][a-z0-9\-]{0,126}[a-z0-9])'\)")
_BYTES = {"Collection(Edm.Half)": 2, "Collection(Edm.Single)": 4}
"""Bytes that a number of a vector takes in an index."""


class Aliases:
    """Of one server. `held`: definitions by name; `most_storage`, `most_vectors`: bytes that the service has room for, None without bound; `closed`: who asks may
    not read statistics of the service.
    """

    def __init__(self, server: AiSearchServer) -> None:
        self.server = server
        self.held: dict[str, dict[str, Any]] = {}
        self.most_storage: int | None = None
        self.most_vectors: int | None = None
        self.closed = False
        self._etag = 0

    def resolved(self, name: str) -> str:
        """The index that `name` stands for."""
        return str(self.held[name]["indexes"][0]) if name in self.held else name

    async def answer(self, request: web.Request) -> web.Response:
        """`/aliases`, `/indexes`, `/servicestats` and what of a single index is no matter of documents."""
        if request.path == "/servicestats":
            return web.Response(status=403) if self.closed else web.json_response(self._statistics())
        if request.path == "/indexes":
            return web.json_response({"value": [{"name": name} for name in sorted(self.server.indexes)]})
        if request.path == "/aliases":
            return web.json_response({"value": list(self.held.values())})
        match = _PATH.fullmatch(request.path)
        if match is None:
            return refusal(404, "ResourceNotFound")
        name = match[1]
        if request.method == "PUT":
            return self._put(name, await request.json(), request)
        if name not in self.held:
            return refusal(404, "ResourceNotFound", f"No alias with the name '{name}' was found")
        return web.json_response(self.held[name])

    def _put(self, name: str, wanted: dict[str, Any], request: web.Request) -> web.Response:
        self.server.before_put()
        found = self.held.get(name)
        if found and request.headers.get("If-None-Match") == "*":
            return refusal(412, "ResourceNameAlreadyInUse")
        if (asked := request.headers.get("If-Match")) and (found is None or asked != found["@odata.etag"]):
            return refusal(412, "PreconditionFailed")
        indexes = wanted.get("indexes") or []
        if set(wanted) - {"name", "indexes", "@odata.etag"} or wanted.get("name") != name or len(indexes) != 1:
            return refusal(400, "InvalidRequestParameter", "an alias has a name and one index")
        if indexes[0] not in self.server.indexes or name in self.server.indexes:
            return refusal(400, "InvalidRequestParameter", "no such index, or an index of the alias's name")
        self._etag += 1
        self.held[name] = {**wanted, "@odata.etag": f'"0xa{self._etag}"'}
        return web.json_response(self.held[name], status=200 if found else 201)

    def sizes(self, index: str) -> dict[str, int]:
        """Statistics of one index: the text of its rows as JSON, and its vectors."""
        documents = self.server.documents[index]
        kind = next((f["type"] for f in self.server.indexes[index]["fields"] if f["name"] == "vector"), "")
        vectors = sum(
            _BYTES[kind] * len(v) for key in documents if (v := self.server.vectors.get((index, key))) is not None
        )
        text = sum(len(json.dumps(d)) for d in documents.values())
        return {"documentCount": len(documents), "storageSize": text + vectors, "vectorIndexSize": vectors}

    def _statistics(self) -> dict[str, Any]:
        sizes = [self.sizes(index) for index in self.server.indexes]
        used = {name: sum(size[name] for size in sizes) for name in ("documentCount", "storageSize", "vectorIndexSize")}
        others = (
            "aliasesCount indexersCount dataSourcesCount synonymMaps skillsetCount".split()  # each with its usage
        )
        return {
            "counters": {
                **{name: {"usage": 0, "quota": None} for name in others},
                "indexesCount": {"usage": len(sizes), "quota": 50},
                "documentCount": {"usage": used["documentCount"], "quota": None},
                "storageSize": {"usage": used["storageSize"], "quota": self.most_storage},
                "vectorIndexSize": {"usage": used["vectorIndexSize"], "quota": self.most_vectors},
            },
            "limits": {},
        }
