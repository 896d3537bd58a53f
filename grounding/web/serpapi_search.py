"""Web search by Google through SerpAPI: organic results and the related questions beside them (requirements 0-17, 0-18).

The SDK is synchronous and puts the key into the query string, so the key stands in the text of its errors and in the debug log of its HTTP
library: nothing of an error is taken over or chained here, and that log is held at INFO. Status and body are read here and not by the SDK,
which reads a reply of any length and takes any JSON for an object.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import Any

import serpapi

from grounding.errors import AttestError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.records import WebResult
from grounding.services.remote import Remote
from grounding.web.replies import MAX_BYTES, json_object, objects, status_fault, too_long
from grounding.web.results import first_of_each, shortened, web_result
from grounding.web.sites import Sites

BASE_DOMAIN = "https://serpapi.com"
ORGANIC_PER_RELATED = 2
MAX_OPERATORS = 8
MAX_QUERY = 1500
"""Characters; Google reads the first 32 words or so."""


class _Client(serpapi.Client):  # type: ignore[misc]  # the SDK carries no types
    """The SDK's client with a given domain and without redirects: a redirect could carry the question elsewhere."""

    def __init__(self, base_domain: str, *, api_key: str, timeout: float) -> None:
        super().__init__(api_key=api_key, timeout=timeout)
        self.BASE_DOMAIN = base_domain

    def request(self, method: str, path: str, params: dict[str, Any], **options: Any) -> Any:
        """Send a request to the given domain, without following redirects."""
        return super().request(method, path, params, allow_redirects=False, **options)


class SerpApiSearch:
    """WebSearch over SerpAPI's Google engine.

    With a short allow list the query itself is narrowed by `site:`, otherwise results of those few sites would hardly
    come up; the lists are applied again by `FilteredSearch`. `base_domain` is for a server of one's own.
    """

    def __init__(
        self, api_key: str, remote: Remote, *, sites: Sites | None = None, base_domain: str = BASE_DOMAIN
    ) -> None:
        # urllib3 logs the whole address, the key in it, at DEBUG.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)
        self._remote = remote
        self._operators = _operators(sites) if sites else ""
        self._client = _Client(base_domain, api_key=api_key, timeout=remote.deadline_s)

    @property
    def name(self) -> str:
        """Name of the service: "serpapi"."""
        return "serpapi"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each address once: after every two organic results a related question.

        Raises ServiceError.
        """
        asked = shortened(query, MAX_QUERY)
        if k <= 0 or not asked:
            return ()
        found = await self._remote.call(lambda: asyncio.to_thread(self._fetch, asked + self._operators))
        return first_of_each(found, k)

    async def aclose(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self._client.session.close)

    def _fetch(self, query: str) -> tuple[WebResult, ...]:
        service = self._remote.service
        fault: AttestError
        try:
            return tuple(read_reply(service, json_object(service, self._body(query))))
        except serpapi.HTTPConnectionError:
            fault = ServiceUnavailable(service, "cannot be reached")
        except serpapi.TimeoutError:
            fault = ServiceUnavailable(service, "did not answer in time")
        except OSError:  # what else its HTTP library raises: a body cut short, an encoding that cannot be read
            fault = ServiceUnavailable(service, "the connection broke")
        raise fault  # outside the handlers: the error that holds the key is no part of this one's context

    def _body(self, query: str) -> bytes:
        # A dictionary of its own for every call: the SDK writes the key into it.
        params = {"engine": "google", "q": query}
        with self._client.request("GET", "/search", params, assert_200=False, stream=True) as reply:
            if reply.status_code != 200:
                raise _status_fault(self._remote.service, reply)
            read = bytearray()
            for part in reply.iter_content(2**16):
                read += part
                if len(read) > MAX_BYTES:
                    raise too_long(self._remote.service)
            return bytes(read)


def _status_fault(service: str, reply: Any) -> AttestError:
    status, asked = reply.status_code, reply.headers.get("Retry-After")
    if status == 429 and asked is None:
        return ServiceRejected(service, f"the searches of this key are used up (status {status})")
    return status_fault(service, status, asked)


def read_reply(service: str, data: dict[str, Any]) -> Iterator[WebResult]:
    """Web results from a reply, after every two organic ones a related question. Raises ServiceReplyInvalid or ServiceUnavailable."""
    checked = _checked(service, data)
    return _merge(_organic(checked), _related(checked))


def _checked(service: str, data: dict[str, Any]) -> dict[str, Any]:
    """The reply, if it is a success. An "error" with status 200 is SerpAPI's way to say that nothing was found."""
    if "organic_results" in data or "related_questions" in data or "related_question" in data:
        return data
    information = data.get("search_information")
    state = information.get("organic_results_state") if isinstance(information, dict) else None
    if "returned any results" in str(data.get("error")) or state == "Fully empty":
        return {}
    if "error" in data:
        raise ServiceUnavailable(service, "the search failed")
    raise ServiceReplyInvalid(service, "the reply holds no results")


def _organic(data: dict[str, Any]) -> Iterator[WebResult]:
    for item in objects(data.get("organic_results")):
        yield from web_result(item.get("title"), item.get("link"), item.get("snippet"), item.get("date"))


def _related(data: dict[str, Any]) -> Iterator[WebResult]:
    """Related questions, of either spelling. One without an address (an AI overview) cannot be cited and is left out."""
    for item in chain(objects(data.get("related_questions")), objects(data.get("related_question"))):
        listed = item.get("list")
        texts = [item.get("snippet"), *(listed if isinstance(listed, list) else [])]
        snippet = "\n".join(t for t in texts if isinstance(t, str) and t.strip())
        yield from web_result(item.get("title") or item.get("question"), item.get("link"), snippet, item.get("date"))


def _merge(organic: Iterable[WebResult], related: Iterable[WebResult]) -> Iterator[WebResult]:
    first = iter(organic)
    groups = iter(lambda: tuple(islice(first, ORGANIC_PER_RELATED)), ())
    for group, question in zip_longest(groups, related):
        yield from group or ()
        yield from [question] if question else []


def _operators(sites: Sites) -> str:
    """`site:` operators for Google, none when there are too many for a query of 32 words."""
    allowed = " OR ".join(f"site:{host}" for host in sites.allow) if len(sites.allow) <= MAX_OPERATORS else ""
    denied = [f"-site:{host}" for host in sites.deny] if len(sites.deny) <= MAX_OPERATORS else []
    return "".join(f" {part}" for part in ([f"({allowed})"] if allowed else []) + denied)
