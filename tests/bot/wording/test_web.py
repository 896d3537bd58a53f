"""Web evidence is told apart from the company's documents on every surface, and so is a trusted site from another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.records import Citation, InternalNote, Reply
from bot.teams.shown.render import render
from bot.wording.web import web_label, web_notice, web_tag
from grounding.records import Tier, WebResult
from rai.records import Outcome
from tests.bot.commands.shared.test_printed_reply import shown
from tests.fakes.replies import told

HEAD = "From the web, not from your knowledge base: "


def citation(n: int, url: str | None = None, tier: Tier | None = None) -> Citation:
    origin = "web" if url else "kb"
    return Citation(n, f"Page {n}", url, f"d{n}", f"c{n}", None, "Words.", origin, tier)  # type: ignore[arg-type]


MANUAL = citation(1)
LISTED = citation(2, "https://www.example.com/a", "trusted")
OTHER = citation(3, "https://coffee.example/b", "unlisted")
MIXED = Reply(Outcome.ANSWERED, "It is so [1]. Others say so [2] [3].", citations=(MANUAL, LISTED, OTHER))
LINE = (
    f"{HEAD}[2] www.example.com (on your list of trusted sites); [3] coffee.example (not on your list of trusted sites)"
)


@pytest.mark.row("2-24")
@pytest.mark.parametrize(
    ("cited", "line"),
    [
        ([], None),
        ([(2, "https://a.example/x", "trusted")], f"{HEAD}[2] a.example (on your list of trusted sites)"),
        (
            [
                (1, "https://a.example/x", "unlisted"),
                (3, "https://a.example/y", "unlisted"),
                (2, "https://b.example", None),
            ],
            f"{HEAD}[1] [3] a.example (not on your list of trusted sites); [2] b.example",
        ),
        ([(1, None, None)], f"{HEAD}[1] a page without an address"),
    ],
)
def test_the_line_names_numbers_sites_and_trust(cited: list[Any], line: str | None) -> None:
    assert web_notice(cited) == line


def test_tags_are_short_enough_for_a_keyword_of_teams() -> None:
    tiers: list[Tier | None] = ["trusted", "unlisted", None]
    tags = [web_tag(tier) for tier in tiers]
    assert tags == ["web, trusted site", "web, unlisted site", "web"]
    assert max(map(len, tags)) <= 28


def test_a_label_names_the_site_in_the_form_that_cannot_pass_for_another() -> None:
    assert web_label("https://exаmple.com/", "unlisted") == "web · xn--exmple-4nf.com · unlisted site"  # Cyrillic а
    assert web_label("https://a.example/", "trusted") == "web · a.example · trusted site"
    assert web_label(None, None) == "web"


@pytest.mark.row("2-24")
def test_json_holds_tiers_and_the_line() -> None:
    data = told(MIXED, web=(WebResult("t", "https://a.example/", "s", tier="trusted"),)).as_json()
    assert [(c["origin"], c["tier"]) for c in data["citations"]] == [
        ("kb", None),
        ("web", "trusted"),
        ("web", "unlisted"),
    ]
    assert data["web"] == [{"title": "t", "url": "https://a.example/", "snippet": "s", "tier": "trusted"}]
    assert data["web_notice"] == LINE
    assert replace(MIXED, citations=(MANUAL,)).as_json()["web_notice"] is None


@pytest.mark.row("2-24")
def test_a_terminal_shows_the_line_below_the_answer_and_a_mark_beside_each_source() -> None:
    text = shown(MIXED, width=200)
    assert text.index("Others say so") < text.index(LINE) < text.index("Sources")
    assert "[1] Page 1\n" in text
    assert "[2] Page 2 · https://www.example.com/a (web, trusted site)\n" in text
    assert "[3] Page 3 · https://coffee.example/b (web, unlisted site)\n" in text
    assert HEAD not in shown(replace(MIXED, citations=(MANUAL,)), width=200)


@pytest.mark.row("2-24")
def test_a_message_of_teams_shows_the_line_and_a_keyword_on_each_source() -> None:
    message = render(MIXED, teams=True)
    head, _, places = LINE.partition(": ")
    assert message["text"] == f"{MIXED.answer}\n\n**{head}:** {places}"
    looks = [claim["appearance"] for claim in message["entities"][0]["citation"]]
    assert [look.get("keywords") for look in looks] == [None, ["Web, trusted site"], ["Web, unlisted site"]]


def test_other_channels_mark_each_source_of_the_list() -> None:
    text = render(MIXED, teams=False)["text"]
    assert text.index(HEAD.strip()) < text.index("**Sources**")
    assert '- [3] Page 3 (web, unlisted site) — "Words." <https://coffee.example/b>' in text


def test_a_message_that_is_too_large_for_its_sources_keeps_the_line() -> None:
    many = tuple(replace(OTHER, n=n, quote="word " * 400) for n in range(3, 20))
    answer = "x" * 9000 + "".join(f" [{c.n}]" for c in many)
    for teams in (True, False):
        notes = (InternalNote("Note", "n.md", "n1", "n" * 4000),) * 9
        message = render(told(MIXED, answer=answer, citations=many, internal_notes=notes), teams=teams)
        assert "coffee.example (not on your list of trusted sites)" in message["text"]
        assert len(message["text"]) < 10_000
