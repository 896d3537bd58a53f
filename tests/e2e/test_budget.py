"""What a turn may take of chat models: what is left out for the draft's sake, how it is said, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bot.records import Ask, Reply
from bot.turn.pipeline import answer_turn
from bot.wording.notices import OVER_BUDGET
from grounding.policy import Policy
from grounding.prompting.model_composer import DRAFT_TOKENS
from grounding.records import Action, Document, WebResult
from grounding.tokens import asked_tokens
from rai.account import MARGIN, Prices, Terms
from rai.check.judging.model import ModelJudge
from rai.check.provenance import CheckPorts, check
from rai.records import Outcome, Report, Source
from rai.screening.model import ScreenedModel
from tests.e2e.support import ScriptedWeb, under, world
from tests.fakes.counting import CountingModel
from tests.fakes.embedder import HashEmbedder
from tests.fakes.policy_model import PolicyModel, Say

LEAVE = Document(
    "hr/leave.md", "Leave policy", "Employees receive 25 days of paid leave a year. Unused days expire on 31 March."
)
DAYS = Ask("How many days of paid leave do employees get a year?")
GOOD = "Employees receive 25 days of paid leave a year."
PAGE = WebResult("Leave", "https://hr.example/leave", "Employees receive 25 days of paid leave a year by law.")
PLAIN = Policy(style="none", rule="top_k", correct_at=0.0, keep_at=0.0, corrective=())
GRADED = Policy(grade_batch=1)
NEVER_ENOUGH = Policy(correct_at=1.0)
PRICES = Prices(Decimal("2.5"), Decimal(10), Decimal("1.25"), Decimal("0.02"))


def least(policy: Policy) -> int:
    """Tokens that leave room for the draft, and for nothing beside it."""
    return policy.prompt_tokens + MARGIN + DRAFT_TOKENS


@dataclass(frozen=True, slots=True)
class Turned:
    """A turn: its reply and entry, and what the model behind the account was asked."""

    reply: Reply
    body: dict[str, Any]
    model: PolicyModel
    counted: CountingModel

    @property
    def asked(self) -> list[str]:
        return [call.purpose for call in self.model.calls]

    @property
    def spent(self) -> int:
        return sum(int(self.reply.record.usage.get(n, 0)) for n in ("prompt_tokens", "completion_tokens"))


async def turn(
    folder: Path,
    policy: Policy,
    terms: Terms,
    *,
    documents: Sequence[Document] = (LEAVE,),
    judges: bool = False,
    thinks: bool = False,
    scores: dict[str, float] | None = None,
    replies: Mapping[str, Say] | None = None,
    **said: Say,
) -> Turned:
    """One turn in which one model does all that the policy asks of it."""
    model = PolicyModel(policy.style, scores or {"25 days": 0.9}, **{**said, **(replies or {})})
    counted = CountingModel(model, thinks=thinks)
    w = await world(folder, documents, HashEmbedder())
    seams = replace(under(w.seams, policy, counted, ScriptedWeb(PAGE)), terms=terms)
    if judges:
        judge = ModelJudge(ScreenedModel(counted, seams.screen))

        async def judged(
            answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None
        ) -> Report:
            return await check(answer, sources, question, given=given, ports=CheckPorts(judge=judge), at=at)

        seams = replace(seams, check=judged)
    reply = await answer_turn(DAYS, seams, policy)
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    return Turned(reply, entry.body, model, counted)


OPTIONAL = [
    pytest.param(
        replace(PLAIN, query="keywords"), ["rewrite"], "the question was searched for as it is: ", id="keywords"
    ),
    pytest.param(GRADED, ["grade"], "1 of 1 passages without a grade of model:scripted/score, graded by ", id="grade"),
    pytest.param(replace(NEVER_ENOUGH, corrective=("rewrites",)), ["rewrite"], "other phrasings: ", id="rewrites"),
    pytest.param(replace(NEVER_ENOUGH, corrective=("hyde",)), ["hyde"], "a hypothetical answer: ", id="hyde"),
    pytest.param(replace(NEVER_ENOUGH, corrective=("plan",)), ["plan"], "the plan: ", id="plan"),
    pytest.param(
        replace(NEVER_ENOUGH, corrective=("web",), web_query="rewritten"),
        ["rewrite"],
        "the web was searched for the question as it is: ",
        id="web query",
    ),
]


@pytest.mark.parametrize(("policy", "purposes", "said"), OPTIONAL)
async def test_what_leaves_no_room_for_the_draft_is_not_asked_and_the_turn_goes_on(
    tmp_path: Path, policy: Policy, purposes: list[str], said: str
) -> None:
    """The seam does what it does without a model; why stands in the record once by itself, and the answer is the same."""
    scripted = {p: "paid leave days of employees" for p in purposes if p != "grade"}
    free = await turn(
        tmp_path / "free", policy, Terms(draft_tokens=DRAFT_TOKENS), replies={"compose": GOOD, **scripted}
    )
    assert set(purposes) <= set(free.asked)
    bound = Terms(tokens=least(policy), draft_tokens=DRAFT_TOKENS)
    t = await turn(tmp_path / "bound", policy, bound, compose=GOOD)
    assert t.asked == ["compose"]
    assert t.reply.outcome is Outcome.ANSWERED
    assert t.reply.answer.startswith(GOOD[:-1])
    why = f"the turn's budget of {least(policy)} tokens leaves room for the draft alone"
    assert [n for n in t.reply.record.notes if n == why] == [why]
    assert [n for n in t.body["reply"]["notes"] if n.startswith(said)]
    assert t.spent <= least(policy)


async def test_without_a_budget_and_with_a_wide_one_nothing_is_left_out(tmp_path: Path) -> None:
    for n, terms in enumerate([Terms(), Terms(tokens=1_000_000, draft_tokens=DRAFT_TOKENS)]):
        t = await turn(tmp_path / str(n), GRADED, terms, compose=GOOD)
        assert t.asked == ["grade", "compose"]
        assert not [note for note in t.reply.record.notes if "budget" in note]


async def test_grades_that_the_budget_leaves_out_are_the_embedded_graders_and_not_missing(tmp_path: Path) -> None:
    """`ungraded` would mean doubt, and a search of the web."""
    t = await turn(tmp_path, GRADED, Terms(tokens=least(GRADED), draft_tokens=DRAFT_TOKENS), compose=GOOD)
    assert t.reply.record.action is Action.CORRECT
    (grade,) = t.reply.record.found.grades
    assert grade.score > 0
    assert grade.justification.startswith("not asked, the turn's budget of ")
    assert t.reply.record.found.web == ()


@pytest.mark.parametrize("spare", [0, 700, 1500, 5000])
async def test_batches_that_are_graded_at_once_do_not_overshoot_together(tmp_path: Path, spare: int) -> None:
    """Held before any of them has come back, so that what is committed never passes the bound less the room for the draft."""
    said = "Employees of site {0} receive paid leave days a year, {0} of them early."
    documents = [LEAVE, *(Document(f"hr/{n}.md", f"Leave policy {n}", said.format(n)) for n in range(12))]
    bound = least(GRADED) + spare
    t = await turn(
        tmp_path,
        replace(GRADED, corrective=()),
        Terms(tokens=bound, draft_tokens=DRAFT_TOKENS),
        documents=documents,
        thinks=True,
        compose=GOOD,
    )
    grading = [c for c, p in zip(t.counted.committed, t.asked, strict=True) if p == "grade"]
    assert len(grading) < 13
    assert bool(grading) == (spare > 0)
    assert all(committed + least(GRADED) <= bound for committed in grading)
    assert len(t.reply.record.found.grades) == 13
    assert t.reply.outcome is Outcome.ANSWERED
    assert t.spent <= bound


MARKERS_DIFFER = 18
"""16 hexadecimal digits are 6 to 14 tokens; a prompt of one quotation has them twice."""


async def drafted(tmp_path: Path, **more: Any) -> int:
    """The most that the draft of these tests takes, prompt and reply."""
    t = await turn(tmp_path / "measured", PLAIN, Terms(draft_tokens=DRAFT_TOKENS), compose=GOOD, **more)
    (call,) = t.model.asked("compose")
    return asked_tokens(call.system, call.user) + DRAFT_TOKENS


async def test_a_draft_that_does_not_fit_is_a_failed_turn_that_says_so(tmp_path: Path) -> None:
    """So few tokens decide as the two markers of a quotation may differ by from turn to turn."""
    most = await drafted(tmp_path)
    fits = await turn(
        tmp_path / "fits", PLAIN, Terms(tokens=most + MARKERS_DIFFER, draft_tokens=DRAFT_TOKENS), compose=GOOD
    )
    assert fits.reply.outcome is Outcome.ANSWERED
    less = most - MARKERS_DIFFER - 1
    t = await turn(tmp_path / "not", PLAIN, Terms(tokens=less, draft_tokens=DRAFT_TOKENS), compose=GOOD)
    assert (t.reply.outcome, t.reply.code, t.reply.answer) == (Outcome.FAILED, "model_unavailable", OVER_BUDGET)
    assert t.asked == []
    assert t.reply.record.notes == (f"the turn's budget of {less} tokens leaves no room for the draft",)
    assert t.body["reply"]["notes"] == list(t.reply.record.notes)
    assert t.reply.record.usage == {}


async def test_a_bound_on_the_cost_does_what_one_on_tokens_does(tmp_path: Path) -> None:
    reserve = PRICES.cost({"prompt_tokens": GRADED.prompt_tokens + MARGIN, "completion_tokens": DRAFT_TOKENS})
    t = await turn(tmp_path, GRADED, Terms(PRICES, cost=reserve, draft_tokens=DRAFT_TOKENS), compose=GOOD)
    assert t.asked == ["compose"]
    assert f"the turn's budget of {reserve.normalize():f} USD leaves room for the draft alone" in t.reply.record.notes
    assert Decimal(str(t.reply.record.usage["cost"])) <= reserve


async def test_open_statements_stay_open_where_the_budget_has_no_judge(tmp_path: Path) -> None:
    """The draft took all that it may; a judge that nobody asked is no verdict."""
    draft = f"{GOOD} Leave is granted by the head of the department."
    most = await drafted(tmp_path)
    free = await turn(
        tmp_path / "free",
        PLAIN,
        Terms(),
        judges=True,
        compose=draft,
        judge='{"claim": 1, "verdict": "unsure", "quotes": []}',
    )
    assert "judge" in free.asked
    t = await turn(
        tmp_path / "bound",
        PLAIN,
        Terms(tokens=most + 60, draft_tokens=DRAFT_TOKENS),
        judges=True,
        thinks=True,
        compose=draft,
    )
    assert "judge" not in t.asked
    assert (
        f"the turn's budget of {most + 60} tokens leaves no room for a judge of claims in doubt" in t.reply.record.notes
    )
    assert t.reply.outcome in (Outcome.ANSWERED, Outcome.REPAIRED, Outcome.WITHHELD)


async def test_without_room_for_a_second_draft_the_first_is_mended(tmp_path: Path) -> None:
    bad = f"{GOOD} Call 020 7946 0018 to ask for more."
    most = await drafted(tmp_path)
    t = await turn(tmp_path, PLAIN, Terms(tokens=most + 60, draft_tokens=DRAFT_TOKENS), thinks=True, compose=bad)
    assert t.asked == ["compose"]
    assert (t.reply.outcome, "7946" in t.reply.answer) == (Outcome.REPAIRED, False)
    said = f"the turn's budget of {most + 60} tokens leaves no room for a second draft"
    assert said in t.reply.record.notes
    assert f"no second draft: {said}" in t.reply.record.notes
    assert t.body["regeneration"]["text"] is None


async def test_a_reviewer_can_recompute_the_cost_from_the_entry(tmp_path: Path) -> None:
    t = await turn(tmp_path, GRADED, Terms(PRICES, draft_tokens=DRAFT_TOKENS), compose=GOOD)
    prices, calls = t.body["prices"], t.body["calls"]
    assert [c["purpose"] for c in calls] == ["grade", "compose"]
    cost = sum(
        c["usage"]["prompt_tokens"] * Fraction(prices["input"])
        + c["usage"]["completion_tokens"] * Fraction(prices["output"])
        for c in calls
    )
    said = t.body["reply"]["usage"]
    assert said == t.reply.record.usage
    assert (Fraction(said["cost"]), said["currency"]) == (cost / prices["per_tokens"], "USD")
    assert t.spent == sum(sum(c["usage"].values()) for c in calls)


async def test_without_prices_no_cost_is_told(tmp_path: Path) -> None:
    t = await turn(tmp_path, PLAIN, Terms(), compose=GOOD)
    assert "cost" not in t.reply.record.usage
    assert "prices" not in t.body
