"""The bundled web: ranking, snippets, and pages that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import InputError
from grounding.web.sample import SamplePages

PAGES = [
    {
        "title": "Flat white",
        "url": "https://coffee.example/flat-white",
        "snippet": "A flat white is espresso with microfoam.",
        "text": "It is served small. The ratio of espresso to milk is 1:3. It came from Australia. Prices differ.",
    },
    {
        "title": "Cappuccino",
        "url": "https://coffee.example/cappuccino",
        "snippet": "A cappuccino has more foam.",
        "text": "The ratio is 1:1:1. Milk is steamed.",
    },
    {
        "title": "Opening hours",
        "url": "https://shop.example/hours",
        "snippet": "",
        "text": "The shop opens at 9:00. Milk is sold there.",
    },
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps(p) for p in PAGES) + "\n\n", encoding="utf-8")
    return path


async def test_the_page_that_says_most_of_the_rare_words_comes_first(pages: Path) -> None:
    found = await SamplePages(pages).search("What is the milk ratio of a flat white?", 5)
    assert [r.title for r in found] == ["Flat white", "Cappuccino", "Opening hours"]


async def test_the_snippet_holds_the_sentences_nearest_to_the_query_in_the_pages_order(pages: Path) -> None:
    (best,) = await SamplePages(pages).search("flat white ratio Australia", 1)
    assert best.snippet == (
        "A flat white is espresso with microfoam.\nThe ratio of espresso to milk is 1:3.\nIt came from Australia."
    )


async def test_a_page_without_a_snippet_is_shown_by_its_sentences(pages: Path) -> None:
    (best,) = await SamplePages(pages).search("when does the shop open", 1)
    assert best.snippet == "The shop opens at 9:00."


@pytest.mark.parametrize("query", ["", "the of and", "quantum chromodynamics"])
async def test_a_query_that_meets_no_page_finds_nothing(pages: Path, query: str) -> None:
    assert await SamplePages(pages).search(query, 5) == ()


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"title": "a"}',
        '{"title": "a", "url": "https://a.example", "snippet": 3, "text": "b"}',
        '{"title": " ", "url": "https://a.example", "snippet": "s", "text": "b"}',
        '{"title": "a", "url": "a.example", "snippet": "s", "text": "b"}',
        '{"title": "a", "url": "https://a.example", "snippet": " ", "text": ""}',
    ],
)
def test_a_page_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps(PAGES[0]) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pages\.jsonl:2: "):
        SamplePages(path)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        SamplePages(tmp_path / "none.jsonl")


@given(query=st.text(max_size=60), k=st.integers(0, 5))
async def test_any_query_gives_at_most_k_pages_whose_text_is_the_pages_own(
    tmp_path_factory: pytest.TempPathFactory, query: str, k: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "pages-any.jsonl"
    if not path.exists():
        path.write_text("\n".join(json.dumps(p) for p in PAGES), encoding="utf-8")
    found = await SamplePages(path).search(query, k)
    assert len(found) <= k
    by_url = {p["url"]: p for p in PAGES}
    for result in found:
        page = by_url[result.url]
        assert all(line in page["snippet"] or line in page["text"] for line in result.snippet.splitlines())
