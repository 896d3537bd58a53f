"""Web results as the text of a prompt, and as what an operator sees of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.evidence.choose import web_passage
from grounding.evidence.web import WebPreview, site_of, web_previews, web_text
from grounding.records import Evidence, Passage, WebResult

GOLDEN = Path(__file__).parents[1] / "golden"
FIRST = WebResult(
    "Flat white", "https://coffee.example/flat-white", "A flat white has a ratio of 1:3.", query="flat white"
)
SECOND = WebResult(
    "Other", "https://other.example/?q=a&b=1", "First line.\nSecond line.", tier="trusted", query="flat white"
)
LONG = WebResult("Long", "https://long.example/", "".join(chr(0x1F600 + n % 64) for n in range(300)))


@pytest.mark.row("3-17")
def test_two_results_as_one_text() -> None:
    assert web_text([FIRST, SECOND]) + "\n" == (GOLDEN / "web_text_two.txt").read_text("utf-8")
    assert web_text([]) == ""


@pytest.mark.row("2-24")
def test_a_passage_keeps_where_it_is_from_and_how_far_that_is_trusted() -> None:
    passage = web_passage(SECOND, 0)
    assert (passage.origin, passage.tier, passage.url) == ("web", "trusted", SECOND.url)
    assert Passage("c", "d", "t", "x").tier is None


@pytest.mark.row("3-18")
def test_an_operator_sees_of_each_result_that_was_used_where_it_is_from_and_how_it_begins() -> None:
    manual = Passage("c1", "manual", "Manual", "text", url=LONG.url)
    used = [Evidence(1, manual), Evidence(2, web_passage(SECOND, 1)), Evidence(4, web_passage(LONG, 2))]
    shown = web_previews([FIRST, SECOND, LONG], used)
    assert shown[0] == WebPreview(
        n=2,
        url="https://other.example/?q=a&b=1",
        site="other.example",
        tier="trusted",
        query="flat white",
        snippet="First line.\nSecond line.....",
        line="Corrective step using data from :https://other.example/?q=a&b=1",
    )
    assert [p.n for p in shown] == [2, 4], "FIRST was found and not used; the manual is no web page"
    assert shown[1].snippet == LONG.snippet[:100] + "...."
    assert web_previews([], used) == ()


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.Example.com:443/a", "www.example.com"),
        ("https://bücher.de/", "xn--bcher-kva.de"),
        ("https://exаmple.com/", "xn--exmple-4nf.com"),  # Cyrillic а
        ("nothing", ""),
        ("https://[", ""),
        (None, ""),
    ],
)
def test_a_site_is_shown_in_the_form_that_cannot_pass_for_another(url: str | None, site: str) -> None:
    assert site_of(url) == site


@given(st.text())
def test_a_site_is_told_of_any_text_without_failing(url: str) -> None:
    assert site_of(url).isascii()
    assert site_of(f"https://{url}").isascii()
