"""Group memberships of a user from Microsoft Graph (v1.0): `GET /users/{id}/transitiveMemberOf`.

The service is asked for everything that a person belongs to, nested groups included, and what is no group is left out here. The cast to
groups alone would need `ConsistencyLevel: eventual`, which answers from an index that may lag behind a membership that was taken away.

A group is known by its object id. Its display name is no right: names are not unique, and whoever may make a group chooses one.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from azure.core import AsyncPipelineClient
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import AsyncBearerTokenCredentialPolicy
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from grounding.azure.core.faults import code_of, translated
from grounding.azure.core.options import transport_options
from grounding.errors import ServiceRejected, ServiceReplyInvalid, SettingsError
from grounding.services.address import is_loopback
from grounding.services.cloud import CLOUDS, GRAPH, SUFFIX, is_graph
from grounding.services.remote import Remote
from grounding.services.single_flight import SingleFlight

SERVICE = "directory"
PAGE = 999
"""Entries of one reply; the service gives no more."""
MOST_PAGES = 20
"""Pages of one person, about 20,000 memberships; more is an error, and denies."""
MOST_HELD = 10_000
"""People whose groups are kept."""
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_USER = re.compile(rf"{_GUID.pattern}|[0-9a-z._%+'!#^~-]{{1,113}}@[0-9a-z.-]{{1,100}}")
_GROUP = "#microsoft.graph.group"
_NOBODY = "Request_ResourceNotFound"
Names = Callable[[], Mapping[str, str]]


class GraphDirectory:
    """Directory (a user's groups) over Microsoft Graph. A user is an object id, as Teams sends it, or a user principal name; anything else
    is a stranger.

    `endpoint`: of a cloud's Graph, or of this machine. `names`: maps a group's object id to the name that documents' rights use; called
    each time, may raise ServiceError. Groups are the object ids, in lower case, and those names. They are kept for `keep_s` seconds and
    never beyond: when the service then fails, the error is raised. `clock`: seconds, monotonic. Raises SettingsError for an endpoint that
    is neither.
    """

    def __init__(
        self,
        endpoint: str,
        credential: AsyncTokenCredential,
        remote: Remote,
        *,
        names: Names = dict,
        keep_s: float = 300.0,
        most_held: int = MOST_HELD,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not is_graph(endpoint) and not is_loopback(endpoint):
            raise SettingsError(
                f"ATTEST_GRAPH_ENDPOINT: allowed is an endpoint of Microsoft Graph, such as {CLOUDS['public'].graph}"
            )
        self._root = endpoint.rstrip("/")
        self._remote = remote
        self._names = names
        self._keep_s, self._most_held, self._clock = keep_s, most_held, clock
        self._held: OrderedDict[str, tuple[float, frozenset[str]]] = OrderedDict()
        self._one = SingleFlight[str, frozenset[str]]()
        local = is_loopback(endpoint)
        # azure-core hands tokens to https alone unless each call says otherwise
        self._options: dict[str, Any] = {"enforce_https": False} if local else {}
        known = local or self._root in {cloud.graph for cloud in CLOUDS.values()}
        self._client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
            self._root,
            policies=[AsyncBearerTokenCredentialPolicy(credential, GRAPH if known else self._root + SUFFIX)],
            transport=AioHttpTransport(**transport_options(endpoint, remote.deadline_s)),
        )

    async def groups(self, user: str) -> frozenset[str]:
        """Groups of `user`, nested ones included; empty for a stranger. Raises ServiceError, upon which the caller denies access."""
        key = user.lower()
        if not _USER.fullmatch(key):
            return frozenset()
        ids = self._fresh(key)
        if ids is None:
            ids = await self._one(key, lambda: self._asked(key))
        named = self._names()
        return ids | {named[group] for group in ids if group in named}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _fresh(self, user: str) -> frozenset[str] | None:
        at, ids = self._held.get(user, (0.0, None))
        if ids is not None and self._clock() - at < self._keep_s:
            return ids
        self._held.pop(user, None)
        return None

    async def _asked(self, user: str) -> frozenset[str]:
        at = self._clock()  # before the call: what changes while it runs is not older than it is said to be
        ids = await self._remote.call(lambda: self._attempt(user))
        self._held[user] = at, ids
        self._held.move_to_end(user)
        if len(self._held) > self._most_held:
            self._held.popitem(last=False)
        return ids

    async def _attempt(self, user: str) -> frozenset[str]:
        with translated(SERVICE, endpoint=CLOUDS["public"].graph):
            url = f"{self._root}/v1.0/users/{quote(user, safe='')}/transitiveMemberOf?$select=id&$top={PAGE}"
            found: set[str] = set()
            for _ in range(MOST_PAGES):
                body = await self._page(url)
                if body is None:
                    return frozenset()
                found.update(_group(entry) for entry in body["value"] if entry["@odata.type"] == _GROUP)
                following = body.get("@odata.nextLink")
                if following is None:
                    return frozenset(found)
                url = self._next(following)
        raise ServiceReplyInvalid(SERVICE, f"more than {MOST_PAGES} pages of groups")

    async def _page(self, url: str) -> dict[str, Any] | None:
        """One page of memberships; None if there is no such person."""
        response = await self._client.send_request(HttpRequest("GET", url), **self._options)
        if response.status_code == 404 and _is_stranger(response):
            return None
        if response.status_code != 200:
            raise HttpResponseError(response=response)
        body = response.json()
        if not isinstance(body, dict):
            raise ServiceReplyInvalid(SERVICE, "the reply cannot be read")
        return body

    def _next(self, link: object) -> str:
        """Address of the next page. It gets our token, so one on another host is refused with ServiceRejected."""
        url = urljoin(self._root, link) if isinstance(link, str) else ""
        there, here = urlsplit(url), urlsplit(self._root)
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            raise ServiceRejected(SERVICE, "the next page lies on another host")
        return url


def _group(entry: Mapping[str, Any]) -> str:
    group = str(entry["id"]).lower()
    if not _GUID.fullmatch(group):  # it would count as a name that rights of documents may use
        raise ServiceReplyInvalid(SERVICE, "a group has no object id")
    return group


def _is_stranger(response: AsyncHttpResponse) -> bool:
    """True if a 404 is Graph's own "no such user"; any other 404 means a wrong address."""
    body = response.json()
    return isinstance(body, dict) and code_of((body.get("error") or {}).get("code")) == _NOBODY
