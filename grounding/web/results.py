"""Normalisation of search results from any provider: text without markup, an address to cite, a date where one is given."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

from grounding.records import WebResult
from grounding.web.sites import host_of

MAX_TITLE = 300
MAX_SNIPPET = 4000
"""Characters of a snippet that are kept: a page's worth of an engine that sends extracts, thirty times a line of Google's."""
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/tr|/h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|cite|code|div|em|font|h[1-6]|i|li|mark|ol|p|q|s|small|span|strike|strong|sub|sup|t[dhr]|table|tbody|u|ul|wbr)"
    r"(?:\s[^<>]*|/)?>",
    re.IGNORECASE,
)
# with its semicolon only: "R&D", "?a=1&copy=2" and "AT&T" are text
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SPACES = re.compile(r"[ \t\r\f\v]+")


def web_result(title: Any, url: Any, snippet: Any, date: Any = None) -> Iterator[WebResult]:
    """An iterator of one web result, or of none where there is no address to cite or no text to quote. Takes whatever stood in the JSON."""
    words = _text(snippet, MAX_SNIPPET)
    if isinstance(url, str) and host_of(url) is not None and not _UNFIT.search(url) and words:
        named = " ".join(_text(title, MAX_TITLE).split())
        yield WebResult(named or url, url, words, published(date))


def first_of_each(results: Iterable[WebResult], k: int) -> tuple[WebResult, ...]:
    """The first `k` results with different addresses."""
    by_url: dict[str, WebResult] = {}
    for result in results:
        by_url.setdefault(result.url, result)
    return tuple(islice(by_url.values(), max(k, 0)))


def plain_text(text: str) -> str:
    """`text` without the markup that engines put around hits, entities decoded once, and without characters that UTF-8 lacks."""
    text = _TAG.sub("", _BREAK.sub("\n", text))
    text = _UNFIT.sub("", _ENTITY.sub(lambda m: html.unescape(m.group()), text))
    return "\n".join(line for part in text.split("\n") if (line := _SPACES.sub(" ", part).strip()))


def _text(value: Any, limit: int) -> str:
    return plain_text(value[: 2 * limit])[:limit].rstrip() if isinstance(value, str) else ""


def published(date: Any) -> datetime | None:
    """Date of publication in UTC from ISO 8601, RFC 5322 or "Mar 3, 2024". None for "3 days ago": it says no day."""
    text = date.strip() if isinstance(date, str) and len(date) <= 64 else ""
    for read in _READERS:
        try:
            when = read(text)
            return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _day(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form).replace(tzinfo=UTC)


_READERS = (*map(_day, ("%b %d, %Y", "%B %d, %Y", "%d %b %Y")), datetime.fromisoformat, parsedate_to_datetime)


def shortened(query: str, limit: int) -> str:
    """`query` cut between words to at most `limit` characters: a service refuses a longer one outright."""
    query = " ".join(_UNFIT.sub(" ", query).split())
    if len(query) <= limit:
        return query
    head, _, _ = query[: limit + 1].rpartition(" ")
    return head or query[:limit]
