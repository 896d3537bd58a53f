"""The page: everything that came from outside is text, and it needs nothing beyond itself."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from bot.evaluate.compare import over_plain
from bot.evaluate.page.page import SHOWN, eval_page
from bot.evaluate.questions import Hit, Question, Sought
from bot.evaluate.results import SetResult, SuiteResult
from grounding.records import Query, Sentence, Turn
from tests.bot.evaluate.questions import HOSTILE, decided, question

VOID = frozenset({"meta", "link", "br", "img", "hr", "input"})


class Wellformed(HTMLParser):
    """Fails on a tag that is closed out of turn; keeps the names of tags, attributes and ids."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Wellformed:
    parser = Wellformed()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    return parser


def hostile() -> Question:
    return question(
        HOSTILE,
        (None,),
        plain=(3,),
        said=HOSTILE,
        query=Query(HOSTILE, (Sentence(0, 0, 8, HOSTILE[:8], 0.5),), (HOSTILE,), HOSTILE),
        tags=(HOSTILE, "other"),
        sought=(Sought(HOSTILE, HOSTILE, HOSTILE, None, 3, known=False),),
        hits=(Hit(1, HOSTILE, HOSTILE, HOSTILE, relevant=True, score=0.5, grade=0.2),),
        kind=HOSTILE,
        where="absent",
        action="correct",
        answered=True,
        answer=HOSTILE,
        why=(HOSTILE,),
    )


def result(*questions: Question, suite: str = "retrieval", name: str = "mine", **more: object) -> SuiteResult:
    part = SetResult(name, len(questions), {"ndcg_10": 0.5}, questions, over_plain(questions), **more)  # type: ignore[arg-type]  # notes alone
    return SuiteResult(suite, (part,))


def test_hostile_text_stays_text() -> None:
    asked = (hostile(), question("b", (1,), plain=(1,), tags=("third",)))
    page = eval_page([result(*asked, name=HOSTILE, notes=(HOSTILE,))], name=HOSTILE, below=[HOSTILE])
    found = parsed(page)
    assert found.tags.isdisjoint({"script", "img", "iframe", "object", "form", "base"})
    assert not {name for name in found.attributes if name.startswith("on")}
    assert "\u202e" not in page
    assert "⟦U+202E⟧" in page
    assert page.count("&lt;script&gt;") > 15


def test_nothing_is_loaded_from_anywhere() -> None:
    page = eval_page([result(question("a", (2,), plain=(1,)))], name="mine")
    assert "src" not in parsed(page).attributes
    assert "url(" not in page
    assert not re.search(r"(?:href|src)=\"(?!#)", page)
    assert "default-src 'none'; style-src 'sha256-" in page.replace("&#39;", "'")


def test_the_query_and_why_these_turns() -> None:
    turns = (
        Turn("customer", "I have a Wren X1. It is slow."),
        Turn("agent", "Sorry."),
        Turn("customer", "And the fee?"),
    )
    made = Query("Wren X1 It is slow. And the fee?", (Sentence(0, 18, 29, "It is slow.", 0.62),), ("Wren X1",), "leans")
    page = eval_page([result(question("a", (None,), turns=turns, query=made))], name="mine")
    assert "I have a Wren X1. <mark>It is slow.</mark>" in page
    assert "turn 1, weight 0.62" in page
    assert "names taken along: <bdi>Wren X1</bdi>" in page
    assert "<li>leans</li>" in page
    assert "no right document among 50" in page


def test_long_conversations_and_long_lists_are_cut_and_say_so() -> None:
    turns = tuple(Turn("customer", f"turn number {n}") for n in range(11))
    asked = [question(str(n), (None,), turns=turns) for n in range(SHOWN + 20)]
    page = eval_page([result(*asked)], name="mine")
    assert f"{SHOWN + 20} questions, by nDCG@10; the first {SHOWN} are shown" in page
    assert page.count('<details class="q"') == SHOWN
    assert "3 earlier turns are not shown." in page
    assert "turn number 2<" not in page
    assert '<li value="4">' in page


def test_what_was_decided_comes_by_kind_with_both_lists() -> None:
    asked = (
        decided("a", "absent", "ambiguous", answered=True, kind="UNANSWERABLE"),
        decided("b", "present", "incorrect", answered=False, kind="ANSWERABLE"),
        question("c", (1,), plain=(1,)),
    )
    page = eval_page([result(*asked)], name="mine")
    kinds = page[page.index('class="kinds"') :]
    assert kinds.index("<bdi>answerable</bdi>") < kinds.index("<bdi>unanswerable</bdi>")
    assert "Answered though absent <span" in page
    assert "Refused though present <span" in page


def test_suites_without_questions_have_their_figures_and_no_plot() -> None:
    page = eval_page([SuiteResult("screen", (SetResult("a", 4, {"recall": 0.5}),))], name="mine")
    parsed(page)
    assert "<svg" not in page
    assert "recall" in page
    assert "Nothing was measured" in eval_page([], name="mine")


@pytest.mark.parametrize(("suite", "metric"), [("query", "rouge_1_f"), ("golden", "right")])
def test_other_suites_are_ranked_by_their_own_figure(suite: str, metric: str) -> None:
    asked = replace(
        question("a", ()), metrics={metric: 0.0}, plain={metric: 0.5}, wanted="the fee there", why=("says nothing",)
    )
    page = eval_page([result(asked, suite=suite)], name="mine")
    parsed(page)
    assert "Worst questions first" in page
    assert "says nothing" in page
    assert "Words it lacks" in page


def test_what_a_grade_means_is_drawn_and_told() -> None:
    asked = [question(str(n), (1,), where="present", answered=True, grade=0.9) for n in range(4)]
    asked += [question(f"a{n}", (), where="absent", answered=n == 0, grade=0.9 if n == 0 else 0.1) for n in range(4)]
    page = eval_page([result(*asked)], name="mine")
    parsed(page)
    assert "What a grade means" in page
    assert "The answer is there for 0 of 3 graded 0 to 0.2, 4 of 5 graded 0.8 to 1" in page
    assert "What a grade means" not in eval_page([result(*asked[:4])], name="mine")
