"""Corrective steps: which are taken when, what they bring home, and that nothing makes them run past their bounds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from grounding.corrective.correct import Metered, correct
from grounding.corrective.find import EvidenceSearch, find
from grounding.corrective.plan import About
from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceReplyInvalid, ServiceUnavailable
from grounding.policies.files import built_in
from grounding.policy import Policy, Step
from grounding.ports import ChatModel
from grounding.query.rewrite import keywords
from grounding.records import Action, WebResult
from grounding.tokens import count_tokens
from tests.fakes.clock import AMPLE_S
from tests.fakes.finding import ListedGrader, ListedRetriever, ListedWeb, Silent, Stages, finding, passage
from tests.fakes.model import ScriptedModel

MARKER = "5f0c1d9e7ab34682"
QUESTION = "How do I descale it?"
A, B, C = (passage(name) for name in "abc")
PAGES = tuple(
    WebResult(f"Page {n}", f"https://w.example/{n}", f"Page {n}: use vinegar. " + "x" * 200) for n in range(1, 6)
)
GOOD_PAGES = {page.url: 0.9 for page in PAGES}
DOWN = ServiceUnavailable("the service", "connection refused")
BLOCKED, NO_SCREEN = PromptBlocked("JB-01"), PromptBlocked(None, unavailable=True)
AGENTIC = built_in()["agentic-crag"]


def plan(*steps: str) -> str:
    """A plan of steps such as "web: kettle noise"."""
    pairs = [step.split(": ", 1) for step in steps]
    return json.dumps({"steps": [{"type": kind, "query": query} for kind, query in pairs]})


async def corrected(
    policy: Policy,
    *replies: str | Exception,
    found: Sequence[Any] = (A,),
    more: dict[str, Sequence[Any]] | None = None,
    scores: dict[str, float] | None = None,
    web: ListedWeb | None = None,
    model: ChatModel | None = None,
    otherwise: str | None = None,
    within_s: float = 60.0,
) -> EvidenceSearch:
    """A finding whose first search finds `found`, corrected; ended by force if it does not end itself."""
    retriever = ListedRetriever({QUESTION: found, **(more or {})})
    scripted = ScriptedModel(*replies, otherwise=otherwise) if replies or otherwise else None
    f = finding(
        policy,
        retriever=retriever,
        grader=ListedGrader({"a": 0.1} if scores is None else scores),
        web=web,
        model=model or scripted,
        question=QUESTION,
        stages=Stages(),
    )
    async with asyncio.timeout(within_s):
        await find(f)
        await correct(f, About(product="Kettle"), MARKER)
    return f


def steps(f: EvidenceSearch) -> list[tuple[str, int, str]]:
    return [(c.step, c.added, c.why) for c in f.corrections]


def stages(f: EvidenceSearch) -> list[str]:
    return cast("Stages", f.stage).names


ALL: tuple[Step, ...] = ("rewrites", "hyde", "web", "plan")


@pytest.mark.row("0-15")
async def test_what_is_correct_is_not_corrected() -> None:
    web = ListedWeb(*PAGES)
    f = await corrected(Policy(corrective=ALL), scores={"a": 0.8}, web=web, model=ScriptedModel())
    assert (f.corrections, web.asked, f.web) == ([], [], ())


@pytest.mark.row("2-07")
@pytest.mark.parametrize("policy", [p for p in built_in().values() if "web" in p.corrective], ids=lambda p: p.name)
async def test_nothing_retrieved_is_searched_for_on_the_web(policy: Policy) -> None:
    web = ListedWeb(*PAGES)
    f = await corrected(policy, found=(), scores=GOOD_PAGES | dict.fromkeys(GOOD_PAGES, 1.0), web=web)
    assert f.decision.rule == "nothing_retrieved"
    assert [asked for asked, _ in web.asked] == [QUESTION]
    assert [p.origin for p in f.result().kept] == ["web"] * min(policy.web_k, 5)


@pytest.mark.row("0-02")
@pytest.mark.row("0-19")
@pytest.mark.parametrize(
    ("score", "action", "kept"),
    [
        (0.8, Action.CORRECT, ["kb"]),
        (0.79, Action.AMBIGUOUS, ["kb", "web", "web"]),
        (0.4, Action.AMBIGUOUS, ["kb", "web", "web"]),
        (0.39, Action.INCORRECT, ["web", "web"]),
    ],
)
async def test_three_classes(score: float, action: Action, kept: list[str]) -> None:
    """Documents alone, documents and the web, the web alone; every piece says where it is from."""
    policy = replace(built_in()["hybrid-crag"], query="extract")
    f = await corrected(policy, scores={"a": score} | GOOD_PAGES, web=ListedWeb(*PAGES[:2]))
    assert (f.decision.action, [p.origin for p in f.result().kept]) == (action, kept)


@pytest.mark.row("3-12")
async def test_five_phrasings_are_searched_together_and_what_they_find_is_graded() -> None:
    asked = [f"phrasing {n}?" for n in range(1, 7)]
    f = await corrected(
        replace(AGENTIC, corrective=("rewrites",)),
        json.dumps(asked),
        more={"phrasing 1?": [B], "phrasing 5?": [A, C]},
        scores={"c": 0.7},
    )
    assert f.corrections[0].queries == tuple(asked[:5])
    assert (f.corrections[0].added, f.corrections[0].decision) == (2, f.decision)
    assert (f.decision.action, [p.chunk_id for p in f.result().kept]) == (Action.CORRECT, ["c"])
    assert stages(f) == ["retrieve", "grade", "rewrite", "retrieve", "grade"]


async def test_steps_are_taken_in_their_order_until_it_is_correct() -> None:
    """Other phrasings find nothing, a hypothetical answer does; the web and a plan are not needed any more."""
    web = ListedWeb(*PAGES)
    policy = Policy(corrective=ALL, rewrites=1)
    retriever = ListedRetriever({QUESTION: [A]})

    class Meaning(ListedRetriever):
        async def retrieve(self, query: Any, access: Any, k: int) -> Any:
            return await (ListedRetriever(otherwise=[B]) if query.imagined else retriever).retrieve(query, access, k)

    f = finding(
        policy,
        retriever=Meaning(),
        grader=ListedGrader({"b": 0.9}),
        web=web,
        question=QUESTION,
        model=ScriptedModel('["Which descaler?"]', "Use vinegar to descale the kettle."),
    )
    await find(f)
    await correct(f, About(), MARKER)
    assert [c.step for c in f.corrections] == ["rewrites", "hyde"]
    assert (f.decision.action, [p.chunk_id for p in f.result().kept], web.asked) == (Action.CORRECT, ["b"], [])


@pytest.mark.parametrize("step", ["rewrites", "hyde"])
async def test_without_a_model_a_step_that_needs_one_says_so(step: Step) -> None:
    f = await corrected(Policy(corrective=(step,)))
    assert steps(f) == [(step, 0, "no model is switched on for it")]


async def test_without_a_model_a_plan_is_a_search_of_the_web() -> None:
    f = await corrected(Policy(corrective=("plan",)), web=ListedWeb(*PAGES[:1]), scores=GOOD_PAGES)
    assert steps(f) == [("web", 1, "")]


async def test_with_the_web_off_it_says_so() -> None:
    assert steps(await corrected(Policy(corrective=("web",)))) == [("web", 0, "web search is off")]


@pytest.mark.parametrize("step", ["rewrites", "hyde", "plan"])
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (DOWN, "the service: connection refused"),
        (ServiceReplyInvalid("the service", "cut"), "the service: cut"),
        (BLOCKED, "the screen blocked its prompt"),
        (ContentFiltered("filtered"), "the model service's content filter blocked it"),
    ],
)
async def test_a_step_that_fails_leaves_what_was_found(step: Step, error: Exception, why: str) -> None:
    """The record says what happened, a note tells it, and the next step is taken."""
    f = await corrected(
        Policy(corrective=(step, "web")), error, scores={"a": 0.5} | GOOD_PAGES, web=ListedWeb(*PAGES[:1])
    )
    assert steps(f)[0][:2] == (step, 0)
    assert why.split(": ")[-1] in f.corrections[0].why
    assert any(f.corrections[0].why in note for note in f.notes)
    assert [p.origin for p in f.result().kept] == ["kb", "web"]


@pytest.mark.parametrize("step", ALL)
async def test_without_the_screen_nothing_goes_on(step: Step) -> None:
    """A prompt that nobody can judge is not a step that failed: the turn ends."""
    with pytest.raises(PromptBlocked):
        await corrected(Policy(corrective=(step,), web_query="rewritten"), NO_SCREEN, web=ListedWeb(*PAGES))


async def test_a_web_search_that_fails_leaves_the_knowledge_base() -> None:
    f = await corrected(Policy(), scores={"a": 0.5}, web=ListedWeb(error=DOWN))
    assert ([p.chunk_id for p in f.result().kept], f.notes) == (
        ["a"],
        ["the service: connection refused; answered from the knowledge base only"],
    )


@pytest.mark.parametrize(
    ("reply", "searched"),
    [
        ("Improved question: How is a kettle descaled?", "How is a kettle descaled?"),
        ("", QUESTION),
        ("I'm sorry, I can't.", QUESTION),
        ("word " * 100, QUESTION),
        (DOWN, QUESTION),
        (ContentFiltered("x"), QUESTION),
    ],
)
async def test_the_web_is_asked_a_better_question_or_the_question(reply: str | Exception, searched: str) -> None:
    """And what it finds is graded against the question that was asked, which the source document forgets."""
    web = ListedWeb(*PAGES[:1])
    f = await corrected(Policy(web_query="rewritten", web_k=3), reply, web=web, scores=GOOD_PAGES)
    assert web.asked == [(searched, 3)]
    assert f.corrections[0].queries == (searched,)
    assert f.query.text == QUESTION
    grader = cast("ListedGrader", f.ports.grader)
    assert {question for question, _ in grader.asked} == {QUESTION}


async def test_a_model_that_answers_in_place_of_rewriting_is_not_searched_for() -> None:
    """What shares no word with the question is no rewriting of it; the question is searched for as it is, noted."""
    web = ListedWeb(*PAGES[:1])
    f = await corrected(
        Policy(web_query="rewritten"), "Boil a litre of vinegar for 20 minutes.", web=web, scores=GOOD_PAGES
    )
    assert web.asked[0][0] == QUESTION
    assert any("did not rewrite it" in note for note in f.notes)
    assert [p.text for p in f.result().kept] == [PAGES[0].snippet]


@pytest.mark.row("2-15")
@pytest.mark.parametrize("name", ["graph-crag", "agentic-crag"])
async def test_three_pages_and_never_more(name: str) -> None:
    web = ListedWeb(*PAGES)
    policy = replace(built_in()[name], corrective=("web",))
    f = await corrected(policy, web=web, scores=dict.fromkeys(GOOD_PAGES, 1.0))
    assert ([k for _, k in web.asked], len(f.pages), len(f.web)) == ([3], 3, 3)


async def test_pages_pass_the_same_grading_as_passages() -> None:
    """One that is not good enough is no evidence; the rest stand best first; what was found is told all the same."""
    scores = {PAGES[0].url: 0.4, PAGES[1].url: 0.39, PAGES[2].url: 0.9}
    f = await corrected(Policy(), web=ListedWeb(*PAGES[:3]), scores=scores)
    assert [p.url for p in f.result().kept] == [PAGES[2].url, PAGES[0].url]
    assert (f.corrections[0].added, len(f.web), len(f.result().grades)) == (2, 3, 4)


async def test_pages_that_nobody_could_grade_are_kept_as_found() -> None:
    f = finding(
        Policy(), retriever=ListedRetriever(), grader=ListedGrader({}, status="ungraded"), web=ListedWeb(*PAGES[:2])
    )
    await find(f)
    await correct(f, About(), MARKER)
    assert [p.url for p in f.result().kept] == [p.url for p in PAGES[:2]]


@pytest.mark.row("3-23")
async def test_what_the_web_says_is_never_a_page_of_a_manual() -> None:
    """Its own id, also beside passages that were dropped; its address as document; no place in a manual, no product's version."""
    scores = {"a": 0.1, "b": 0.7} | GOOD_PAGES
    f = await corrected(
        replace(AGENTIC, corrective=("plan",), rule="mean_all_retrieved"),
        plan("web: vinegar"),
        '{"result": {"outcome": "Use vinegar."}}',
        found=(A, B),
        scores=scores,
        web=ListedWeb(*PAGES[:2]),
    )
    pages = [p for p in f.result().kept if p.origin == "web"]
    assert [p.doc_id for p in pages] == [p.url for p in PAGES[:2]]
    assert {p.chunk_id for p in pages}.isdisjoint({"a", "b"})
    assert len({p.chunk_id for p in f.result().kept}) == len(f.result().kept) == 3
    assert {(p.locator, p.version, p.start) for p in pages} == {(None, "", 0)}
    assert not any(p.text == "Use vinegar." for p in f.result().kept)


@pytest.mark.row("3-20")
async def test_a_plan_searches_knowledge_base_and_web() -> None:
    f = await corrected(
        replace(AGENTIC, corrective=("plan",)),
        plan("knowledge_base: scale", "web: vinegar"),
        plan("web: vinegar"),
        '{"result": {"outcome": "Vinegar."}}',
        more={"scale": [B]},
        scores={"b": 0.5} | GOOD_PAGES,
        web=ListedWeb(*PAGES[:1]),
    )
    done = f.corrections[0]
    assert done.queries == ("knowledge_base: scale", "web: vinegar")
    assert (done.added, done.why) == (2, "2 of at most 4 rounds, ended: result")
    assert done.trail[-1] == "Outcome: Vinegar."
    assert [p.origin for p in f.result().kept] == ["web"]
    assert stages(f) == ["retrieve", "grade", "plan", "act", "grade", "evaluate", "act", "grade", "evaluate"]


@pytest.mark.row("3-19")
async def test_the_planner_sees_all_that_was_retrieved_not_only_what_was_kept() -> None:
    model = ScriptedModel('{"steps": []}')
    policy = replace(AGENTIC, corrective=("plan",), rule="mean_all_retrieved")
    f = await corrected(policy, model=model, found=(A, B), scores={"b": 0.7})
    assert [p.chunk_id for p in f.result().kept] == ["b"]
    for text in ("<manual_extract id='a'>", "All about a.", "<manual_extract id='b'>", "ProductId: Kettle", QUESTION):
        assert text in model.calls[0].user


async def test_a_plan_for_a_web_that_is_off_finds_nothing_there() -> None:
    f = await corrected(replace(AGENTIC, corrective=("plan",)), plan("web: vinegar"), "{}")
    assert steps(f) == [("plan", 0, "1 of at most 2 rounds, ended: nothing left")]


async def test_a_page_that_is_found_twice_is_one_page() -> None:
    web = ListedWeb(*PAGES[:2])
    f = await corrected(
        replace(AGENTIC, corrective=("plan",)),
        plan("web: a", "web: b"),
        otherwise=plan("web: c"),
        web=web,
        scores=GOOD_PAGES,
    )
    assert (len(web.asked), len(f.pages), len(f.web), f.corrections[0].added) == (4, 2, 2, 2)


@pytest.mark.row("3-21")
@pytest.mark.row("3-25")
async def test_endless_plans_stop_at_the_bound() -> None:
    web = ListedWeb(*PAGES)
    f = await corrected(AGENTIC, '["x?"]', "Vinegar.", otherwise=plan("web: a", "web: b", "web: c"), web=web)
    assert f.corrections[-1].why == "6 of at most 6 rounds, ended: bound"
    assert len(web.asked) == 6


@pytest.mark.row("3-25")
@pytest.mark.parametrize("step", ALL)
async def test_a_model_that_never_answers_is_stopped_by_the_clock(step: Step) -> None:
    """What was found before stays, the call is ended, and a note says how long was waited."""
    silent = Silent(passes_s=40)
    policy = Policy(corrective=(step,), web_query="rewritten", correct_seconds=30)
    f = await corrected(
        policy, model=cast("ChatModel", silent), web=ListedWeb(*PAGES), scores={"a": 0.5}, within_s=AMPLE_S
    )
    assert (silent.asked, silent.stopped) == (1, True)
    assert f.notes == ["looking further was stopped after 30 s"]
    assert [p.chunk_id for p in f.result().kept] == ["a"]


@pytest.mark.row("3-25")
async def test_a_deadline_of_the_turn_is_not_taken_for_the_own_one() -> None:
    silent = cast("ChatModel", Silent(passes_s=40))
    with pytest.raises(TimeoutError):
        await corrected(Policy(corrective=("rewrites",), correct_seconds=AMPLE_S), model=silent, within_s=30)
    with pytest.raises(TimeoutError):
        await corrected(Policy(corrective=("rewrites",)), TimeoutError())


@pytest.mark.row("3-25")
async def test_calls_end_when_their_tokens_are_spent() -> None:
    """A planner that goes on and on: the record says that the tokens are spent, and fewer rounds were taken than allowed."""
    web = ListedWeb(*PAGES)
    policy = replace(AGENTIC, corrective=("plan",), correct_tokens=2000)
    f = await corrected(policy, otherwise=plan(*(f"web: {n} " + "long " * 50 for n in range(5))), web=web)
    assert "tokens are asked" in f.corrections[0].why
    assert 0 < len(web.asked) < 10


@pytest.mark.row("3-25")
async def test_a_call_is_counted_and_the_one_too_many_not_made() -> None:
    stage = Stages()
    model = ScriptedModel("five words are in here", "again")
    metered = Metered(model, 400, stage)
    assert await keywords(metered, "q?") == "five words are in here"
    spent = sum(map(count_tokens, (model.calls[0].system, model.calls[0].user, "five words are in here")))
    assert 100 < spent < 300
    with pytest.raises(BudgetSpent, match=f"{400 - spent} are left"):
        await keywords(metered, "word " * 400)
    assert (len(model.calls), stage.names) == (1, ["rewrite"])
    assert model.calls[0].max_tokens == 200


async def test_excluded_words_reach_no_search_of_any_step() -> None:
    """Neither other phrasings nor the rewritten question nor a step of a plan brings them back."""
    model = ScriptedModel('["How does the Acme kettle descale?", "acme"]', "How to descale an Acme kettle?", name="m")
    retriever, web = ListedRetriever(), ListedWeb()
    f = finding(
        Policy(corrective=("rewrites", "web"), web_query="rewritten"),
        question="How do I descale the kettle?",
        retriever=retriever,
        grader=ListedGrader({}),
        model=model,
        web=web,
    )
    f.excluded = ("acme",)
    await find(f)
    await correct(f, About(), MARKER)
    searched = [q.text for q, _ in retriever.asked] + [text for text, _ in web.asked]
    assert searched
    assert not any("acme" in text.lower() for text in searched)
