"""The flat white and the cappuccino: nothing in the brochure, something on the web, and every ratio checked against the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import Ask
from grounding.policies.files import built_in, policy_named
from grounding.records import Action, Document, WebResult
from rai.records import Outcome
from tests.e2e.policies import Turned, turn
from tests.e2e.support import ScriptedWeb

POLICIES = built_in()

BROCHURE = [
    Document(
        "coffee.pdf#1",
        "Creative coffee recipes",
        "For a flat white add the coffee first and then warm milk to the cup.",
    ),
    Document(
        "coffee.pdf#2",
        "Creative coffee recipes",
        "For a cappuccino add the milk first, which makes a thick layer of milk foam on top of the cup.",
    ),
    Document(
        "coffee.pdf#3", "Creative coffee recipes", "Iced coffee is served with a scoop of ice cream in a tall glass."
    ),
]
RATIOS = WebResult(
    "Flat white vs. cappuccino",
    "https://coffee.example/flat-white",
    "A flat white has velvety microfoam and a ratio of espresso to milk of 1:3. A cappuccino has thick foam and a ratio of espresso to milk of 1:1.",
)
COFFEE = Ask("What is the difference between Flat white and cappuccino?")
RIGHT = (
    "A flat white has microfoam and a ratio of espresso to milk of 1:3, a cappuccino has thick foam and a ratio of 1:1."
)
BETTER = "How do a flat white and a cappuccino differ in milk and foam?"


async def from_the_web(folder: Path, draft: str = RIGHT) -> Turned:
    """The turn in which nothing of the brochure is relevant and the page of the web is."""
    return await turn(
        folder,
        POLICIES["graph-crag"],
        BROCHURE,
        COFFEE,
        {"microfoam": 1.0},
        web=ScriptedWeb(RATIOS),
        rewrite=BETTER,
        compose=draft,
    )


@pytest.mark.row("2-18")
@pytest.mark.row("2-19")
@pytest.mark.row("2-20")
@pytest.mark.row("2-22")
async def test_graph_crag_goes_to_the_web_when_all_is_irrelevant(tmp_path: Path) -> None:
    """Retrieve, grade, transform, search, generate; its state in the record; the question that is answered is the one asked."""
    t = await from_the_web(tmp_path)
    assert (t.reply.outcome, t.reply.record.action) == (Outcome.ANSWERED, Action.INCORRECT)
    nodes = ["retrieve", "grade_documents", "transform_query", "web_search_node", "grade_documents", "generate"]
    assert t.stages == nodes
    assert t.web.queries == [BETTER]
    assert f"Question: {COFFEE.question}\nContext: " in t.prompt
    assert t.body["ask"]["question"] == COFFEE.question
    assert t.body["reply"]["answer"].startswith("A flat white has microfoam")
    assert [c["step"] for c in t.body["reply"]["corrections"]] == ["web"]
    assert [e["url"] for e in t.body["evidence"]] == [RATIOS.url]
    assert [(c.text, c.status) for c in t.reply.claims if c.kind == "number"] == [(n, "exact") for n in "1311"]
    assert not any(c.unsupported for c in t.reply.claims)


@pytest.mark.row("2-20")
async def test_graph_crag_generates_at_once_when_enough_is_relevant(tmp_path: Path) -> None:
    """Two of three: one irrelevant in three is not more than 70 %."""
    t = await turn(
        tmp_path,
        POLICIES["graph-crag"],
        BROCHURE,
        COFFEE,
        {"flat white": 1.0, "cappuccino": 1.0},
        web=ScriptedWeb(RATIOS),
        compose="A flat white has the coffee first and then warm milk, a cappuccino has a thick layer of milk foam on top.",
    )
    assert t.stages == ["retrieve", "grade_documents", "generate"]
    assert (t.web.queries, set(t.origins)) == ([], {"kb"})


@pytest.mark.row("2-22")
@pytest.mark.parametrize(
    "wrong",
    [
        "A flat white has velvety microfoam. A flat white has a ratio of espresso to milk of 1:2.",
        pytest.param(
            "A flat white has microfoam and a ratio of espresso to milk of 1:1, a cappuccino has thick foam and a ratio of 1:3.",
            marks=pytest.mark.xfail(strict=True, reason="rules alone do not tell two values that change places"),
        ),
    ],
    ids=["of nobody", "swapped"],
)
async def test_a_ratio_that_no_page_states_of_it_is_not_delivered(tmp_path: Path, wrong: str) -> None:
    t = await from_the_web(tmp_path, wrong)
    assert t.reply.outcome in (Outcome.REPAIRED, Outcome.WITHHELD)
    for ratio in ("white has a ratio of espresso to milk of 1:2", "milk of 1:1, a", "ratio of 1:3."):
        assert ratio not in t.reply.answer


@pytest.mark.row("2-23")
async def test_the_same_question_without_correction_is_answered_from_the_brochure(tmp_path: Path) -> None:
    """One switch: the same search and prompt without grading and correction give the brochure's word."""
    off = policy_named("graph-crag:plain")
    said = "For a flat white add the coffee first and then warm milk."
    a = await turn(tmp_path / "off", off, BROCHURE, COFFEE, {"microfoam": 1.0}, web=ScriptedWeb(RATIOS), compose=said)
    b = await from_the_web(tmp_path / "on")
    assert (a.stages, a.web.queries, set(a.origins)) == (["retrieve", "generate"], [], {"kb"})
    assert "coffee first" in a.reply.answer
    assert {c.origin for c in a.reply.citations} == {"kb"}
    assert "1:3" not in a.reply.answer
    assert "1:3" in b.reply.answer
    assert {c.origin for c in b.reply.citations} == {"web"}


@pytest.mark.row("2-11")
async def test_the_record_says_at_what_temperature_each_call_was_made(tmp_path: Path) -> None:
    t = await from_the_web(tmp_path)
    assert {(c["purpose"], c["temperature"], c["ended"]) for c in t.body["calls"]} == {
        ("grade", 0.0, "complete"),
        ("rewrite", 0.0, "complete"),
        ("compose", 0.0, "complete"),
    }
