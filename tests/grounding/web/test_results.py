"""Items as results, and the parsers of every provider against JSON of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grounding.errors import ServiceReplyInvalid, ServiceUnavailable
from grounding.records import WebResult
from grounding.web import bing_search, duckduckgo, serpapi_search, tavily_search
from grounding.web.results import MAX_SNIPPET, MAX_TITLE, first_of_each, plain_text, published, shortened, web_result
from tests.fakes.search_providers import NAMES


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("A <b>flat</b> white", "A flat white"),
        ("<strong>1</strong>:<em class='hit'>3</em>", "1:3"),
        ("R&amp;D, AT&T, 5&nbsp;%", "R&D, AT&T, 5\xa0%"),
        ("costs &pound;5 or &#8364;6 or &#x24;7", "costs £5 or €6 or $7"),
        ("&lt;b&gt;", "<b>"),
        ("&amp;lt;", "&lt;"),
        ("?a=1&copy=2&lt", "?a=1&copy=2&lt"),
        ("2 < 3 and 5 > 4", "2 < 3 and 5 > 4"),
        ("if a <b and c> d", "if a d"),  # read as a tag, as a browser does
        ("List<String> stays", "List<String> stays"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("one<br>two<br/>three</p><p>four", "one\ntwo\nthree\nfour"),
        ("  a \t b \r\n\n c ", "a b\nc"),
        ("a\x00b\ud800c\x07d", "abcd"),
        ("&#0;&#xD800;&#9999999;", "\ufffd\ufffd\ufffd"),
        ("&nosuch;", "&nosuch;"),
    ],
)
def test_markup_becomes_text(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("Mar 3, 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("3 Mar 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("March 3, 2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-03", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-03T00:30:00+02:00", datetime(2024, 3, 2, 22, 30, tzinfo=UTC)),
        ("2024-03-03T01:02:03.0000000Z", datetime(2024, 3, 3, 1, 2, 3, tzinfo=UTC)),
        ("Sun, 03 Mar 2024 10:00:00 GMT", datetime(2024, 3, 3, 10, tzinfo=UTC)),
        ("3 days ago", None),
        ("Mar 2024", None),
        ("2024-02-30", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("", None),
        ("x" * 100_000, None),
        (None, None),
        (1709424000, None),
    ],
)
def test_dates(date: Any, moment: datetime | None) -> None:
    assert published(date) == moment


@given(st.text(), st.integers(1, 60))
def test_a_query_is_cut_between_words_and_never_longer_than_its_limit(query: str, limit: int) -> None:
    short = shortened(query, limit)
    assert len(short) <= limit
    assert " ".join(query.split()).startswith(short) or any(not c.isprintable() for c in query)
    short.encode()


@given(st.lists(st.sampled_from("abc"), max_size=9), st.integers(-1, 5))
def test_equal_addresses_come_once_and_in_order(names: list[str], k: int) -> None:
    found = first_of_each((WebResult(str(n), f"https://{x}.example/", "t") for n, x in enumerate(names)), k)
    assert [r.url[8] for r in found] == list(dict.fromkeys(names))[: max(k, 0)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.one_of(
    st.text(st.characters(), max_size=30),  # lone surrogates too: JSON can spell them
    st.sampled_from(["<b>1:3</b> &amp; more", "&#x0;", "Mar 3, 2024", "<" * 40, "&lt" * 20, "x" * 9000]),
)
ADDRESSES = st.one_of(
    st.sampled_from(
        ["https://a.example/", "https://a.example/\ud800", "http://127.0.0.1/", "javascript:1", "//a.example"]
    ),
    st.text(max_size=20).map("https://a.example/".__add__),
)
FIELDS = (
    "title link snippet date question list url content published_date FirstURL Text Result Topics name datePublished"
).split()
ITEMS = (
    st.lists(st.dictionaries(st.sampled_from(FIELDS), WORDS | ADDRESSES | JSON, max_size=8) | JSON, max_size=4) | JSON
)
PARTS = (
    "organic_results related_questions related_question error search_information results AbstractText "
    "AbstractURL Heading Results RelatedTopics webPages _type value"
).split()
REPLIES = st.dictionaries(
    st.sampled_from(PARTS), ITEMS | WORDS | ADDRESSES | st.fixed_dictionaries({"value": ITEMS}), max_size=6
)
Parser = Callable[[str, dict[str, Any]], Iterable[WebResult]]
PARSERS: dict[str, Parser] = {
    "serpapi": serpapi_search.read_reply,
    "tavily": tavily_search.read_reply,
    "duckduckgo": duckduckgo.read_reply,
    "bing": bing_search.read_reply,
}


def test_the_reply_of_every_search_is_among_them() -> None:
    assert set(PARSERS) == set(NAMES)


@pytest.mark.parametrize("name", PARSERS)
@settings(deadline=None)
@given(data=REPLIES)
@example(
    data={"RelatedTopics": [{"Topics": [{"Topics": {"Topics": 1}}]}, {"Text": "t", "FirstURL": "https://a.example/"}]}
)
@example(data={"organic_results": {"title": 1}, "related_questions": [[], {"list": [1, None, "x"], "link": 5}]})
def test_any_json_is_read_into_sound_results_or_refused(name: str, data: dict[str, Any]) -> None:
    """Wrong types everywhere: never another exception, and never a result that cannot be cited, quoted, hashed or stored."""
    try:
        found = list(PARSERS[name]("a service", data))
    except (ServiceReplyInvalid, ServiceUnavailable):
        return
    for result in found:
        assert result.url.startswith(("http://", "https://"))
        assert result.title
        assert result.snippet.strip()
        assert len(result.title) <= max(MAX_TITLE, len(result.url))
        assert len(result.snippet) <= MAX_SNIPPET
        f"{result.title}{result.url}{result.snippet}".encode()


@given(title=JSON | WORDS, url=JSON | ADDRESSES, snippet=JSON | WORDS, date=JSON | WORDS)
def test_one_item_gives_one_result_or_none(title: Any, url: Any, snippet: Any, date: Any) -> None:
    assert len(list(web_result(title, url, snippet, date))) <= 1
