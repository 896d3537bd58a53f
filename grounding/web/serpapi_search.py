"""Google results through SerpAPI: organic results and the related questions beside them (requirements 0-17, 0-18).

The SDK is synchronous and puts the key into the query string, so the key stands in the text of its errors and in the
debug log of its HTTP library: nothing of an error is taken over or chained here, and that log is held at INFO.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice, zip_longest
from typing import Any

import serpapi

from grounding.errors import AttestError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.records import WebResult
from grounding.remote import Overloaded, Remote, Throttled, retry_after
from grounding.web.sites import Sites

BASE_DOMAIN = "https://serpapi.com"
ORGANIC_PER_RELATED = 2
MAX_OPERATORS = 8
_DATE_FORMS = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%Y-%m-%d")


class _Client(serpapi.Client):  # type: ignore[misc]  # the SDK carries no types
    """The SDK's client with a domain of its own and without redirects: a redirect could carry the question elsewhere."""

    def __init__(self, base_domain: str, *, api_key: str, timeout: float) -> None:
        super().__init__(api_key=api_key, timeout=timeout)
        self.BASE_DOMAIN = base_domain

    def request(self, method: str, path: str, params: dict[str, Any], **options: Any) -> Any:
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
        return "serpapi"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` results, each address once: after every two organic results a related question.

        Raises ServiceError.
        """
        if k <= 0 or not query.strip():
            return ()
        data = await self._remote.call(lambda: asyncio.to_thread(self._fetch, query + self._operators))
        return tuple(islice(_merge(_organic(data), _related(data)), k))

    async def aclose(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self._client.session.close)

    def _fetch(self, query: str) -> dict[str, Any]:
        fault: AttestError
        try:
            # A dictionary of its own for every call: the SDK writes the key into it.
            found = self._client.search({"engine": "google", "q": query})
        except serpapi.HTTPConnectionError:
            fault = ServiceUnavailable(self._remote.service, "cannot be reached")
        except serpapi.HTTPError as error:
            fault = _status_fault(self._remote.service, error)
        except serpapi.TimeoutError:
            fault = ServiceUnavailable(self._remote.service, "did not answer in time")
        except OSError:  # what else its HTTP library raises: a body cut short, an encoding that cannot be read
            fault = ServiceUnavailable(self._remote.service, "the connection broke")
        except (AttributeError, TypeError, ValueError):  # the SDK takes any JSON for an object
            fault = ServiceReplyInvalid(self._remote.service, "the reply cannot be read")
        else:
            return _checked(self._remote.service, found)
        raise fault  # outside the handlers: the error that holds the key is no part of this one's context


def _status_fault(service: str, error: Any) -> AttestError:
    status = error.status_code
    where = f" (status {status})"
    asked = retry_after(error.response.headers.get("Retry-After")) if error.response is not None else None
    if status == 401:
        return ServiceRejected(service, f"the key was refused{where}")
    if status == 429 and asked is not None:
        return Throttled(service, f"too many requests{where}", retry_after=asked)
    if status == 429:
        return ServiceRejected(service, f"the searches of this key are used up{where}")
    if status == 503 and asked is not None:
        return Overloaded(service, f"cannot serve now{where}", retry_after=asked)
    if status >= 500:
        return ServiceUnavailable(service, f"failed{where}")
    return ServiceRejected(service, f"the request was refused{where}")


def _checked(service: str, found: Any) -> dict[str, Any]:
    """The reply as a dictionary. An "error" with status 200 is SerpAPI's way to say that nothing was found."""
    if not isinstance(found, serpapi.SerpResults):
        raise ServiceReplyInvalid(service, "a web page came back, or JSON that was cut")
    data: dict[str, Any] = found.as_dict()
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
    for item in _items(data.get("organic_results")):
        yield from _result(item.get("title"), item.get("link"), item.get("snippet"), item.get("date"))


def _related(data: dict[str, Any]) -> Iterator[WebResult]:
    """Items of either spelling. One without an address (an AI overview) cannot be cited and is left out."""
    for item in chain(_items(data.get("related_questions")), _items(data.get("related_question"))):
        listed = item.get("list")
        texts = [item.get("snippet"), *(listed if isinstance(listed, list) else [])]
        snippet = "\n".join(t for t in texts if isinstance(t, str) and t.strip())
        yield from _result(item.get("title") or item.get("question"), item.get("link"), snippet, item.get("date"))


def _items(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _result(title: Any, link: Any, snippet: Any, date: Any) -> Iterator[WebResult]:
    """One result, or none where there is no address to cite or no text to quote."""
    if isinstance(link, str) and link and isinstance(snippet, str) and snippet.strip():
        yield WebResult(title if isinstance(title, str) and title else link, link, snippet.strip(), _published(date))


def _published(date: Any) -> datetime | None:
    """The day of an absolute date, at midnight UTC. "3 days ago" is None: it says no day."""
    for form in _DATE_FORMS if isinstance(date, str) else ():
        try:
            return datetime.strptime(date.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _merge(organic: Iterable[WebResult], related: Iterable[WebResult]) -> Iterator[WebResult]:
    first = iter(organic)
    groups = iter(lambda: tuple(islice(first, ORGANIC_PER_RELATED)), ())
    seen: set[str] = set()
    for group, question in zip_longest(groups, related):
        for result in (*(group or ()), *([question] if question else [])):
            if result.url not in seen:
                seen.add(result.url)
                yield result


def _operators(sites: Sites) -> str:
    """`site:` operators for Google, none when there are too many for a query of 32 words."""
    allowed = " OR ".join(f"site:{host}" for host in sites.allow) if len(sites.allow) <= MAX_OPERATORS else ""
    denied = [f"-site:{host}" for host in sites.deny] if len(sites.deny) <= MAX_OPERATORS else []
    return "".join(f" {part}" for part in ([f"({allowed})"] if allowed else []) + denied)
