"""The check with a judge: asked once about what is in doubt, believed where its word holds, missed by nobody when it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import pytest

from grounding.errors import ContentFiltered, PromptBlocked, ServiceUnavailable, WorkOverran
from rai.check.judging.ask import ask_judge
from rai.check.judging.model import ModelJudge
from rai.check.judging.values import Values
from rai.check.judging.verify import verified
from rai.check.provenance import CheckPorts, check
from rai.judgement import Case, Proposal, Quote
from rai.records import Claim, Source, Status
from tests.fakes.judge import FailingJudge, ScriptedJudge, WordJudge
from tests.fakes.model import ScriptedModel

P = ParamSpec("P")
R = TypeVar("R")
SOURCES = (Source("a", "The lid is red and round. A spare one costs $9."),)
OPEN = Claim("statement", "The lid is red.", 0, 15, why="Undecided.")
LID = Quote("a", "The lid is red and round.")


async def test_all_that_is_in_doubt_is_asked_about_at_once_and_nothing_else() -> None:
    judge = WordJudge()
    claims = [OPEN, Claim("statement", "Hello!", 16, 22), Claim("statement", "Zebras gallop.", 23, 37)]
    said, notes = await ask_judge(claims, SOURCES, ["Which?"], values=Values(""), judge=judge, run=asyncio.to_thread)
    assert notes == ()
    assert [c.status for c in said] == ["entailed", "unchecked", "absent"]
    assert judge.asked == [("The lid is red.", "Zebras gallop.")]
    settled = [claims[1], Claim("money", "$9", 0, 2, status="exact")]
    for sources in (SOURCES, ()):
        asked = await ask_judge(settled, sources, [], values=Values(""), judge=judge, run=asyncio.to_thread)
        assert asked == (tuple(settled), ())
    assert len(judge.asked) == 1


@pytest.mark.parametrize(
    "error",
    [ServiceUnavailable("model", "refused"), ContentFiltered("no"), PromptBlocked("injection")],
    ids=lambda e: type(e).__name__,
)
async def test_a_judge_that_fails_decides_nothing_and_that_is_said(error: Exception) -> None:
    claims, notes = await ask_judge(
        [OPEN], SOURCES, [], values=Values(""), judge=FailingJudge(error), run=asyncio.to_thread
    )
    assert claims == (OPEN,)
    (note,) = notes
    assert "not judged" in note


async def test_a_judge_that_answers_for_other_claims_decides_nothing() -> None:
    class Eager(WordJudge):
        async def judge(self, case: Case) -> tuple[Proposal, ...]:
            return (*await super().judge(case), Proposal("supported"))

    claims, notes = await ask_judge([OPEN], SOURCES, [], values=Values(""), judge=Eager(), run=asyncio.to_thread)
    assert claims == (OPEN,)
    assert notes == ("claims in doubt were not judged: words answers for 2 claims, asked about 1",)


async def test_verification_that_does_not_end_decides_nothing() -> None:
    async def overrun(_function: Callable[P, R], /, *_args: P.args, **_kwargs: P.kwargs) -> R:
        raise WorkOverran("took too long")

    claims, notes = await ask_judge([OPEN], SOURCES, [], values=Values(""), judge=WordJudge(), run=overrun)
    assert claims == (OPEN,)
    assert notes == ("what words says of claims in doubt could not be verified: took too long",)


def test_a_rule_that_raises_leaves_its_claim_as_it_was() -> None:
    """A value without a normal form, which no finder makes: the others are judged."""
    broken = Claim("money", "$9", 16, 18, value=None)
    case = Case((OPEN,), (OPEN, broken), SOURCES)
    proposals = [Proposal("supported", (LID,)), Proposal("supported", (Quote("a", 5),))]  # type: ignore[arg-type]
    after = verified([OPEN, broken], case, proposals, Values("The lid is red. $9"), "words")
    assert [c.status for c in after.claims] == ["entailed", "unchecked"]
    assert len(after.failed) == 1


def reply(verdict: str, quote: str) -> str:
    item = {
        "claim": 1,
        "verdict": verdict,
        "quotes": [{"source": "S1", "text": quote}],
        "formula": None,
        "unsaid": None,
    }
    return json.dumps({"claims": [item]})


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [
        (reply("supported", LID.text), "entailed", "supported"),
        (reply("supported", "The lid has a warm colour."), "unchecked", "unchecked"),
        (reply("unsure", LID.text), "unchecked", "unchecked"),
        (reply("wrong", LID.text), "contradicted", "unsupported"),
    ],
)
async def test_the_check_asks_its_judge_and_says_so_in_a_layer(text: str, status: Status, verdict: str) -> None:
    judge = ModelJudge(ScriptedModel(text, otherwise=text))
    report = await check("The round lid has a warm colour.", SOURCES, ports=CheckPorts(judge=judge))
    assert [c.status for c in report.claims] == [status]
    assert report.verdict == verdict
    assert ("judge" in {layer.name for layer in report.layers}) is (status != "unchecked")


async def test_a_contact_in_doubt_that_is_shown_is_delivered() -> None:
    """Doubt about a contact strikes it; once its own characters are quoted it is supported, and so are its layer and the whole."""
    said = "The desk for lids answers on (415) 555-0142."
    sources = [Source("a", said), Source("b", said.replace("0142", "0143"))]
    unjudged = await check(said, sources, ports=CheckPorts())
    assert [c.status for c in unjudged.claims if c.kind == "phone"] == ["conflict"]
    assert unjudged.verdict == "unsupported"
    quoted = Proposal("supported", (Quote("a", said),))
    report = await check(said, sources, ports=CheckPorts(judge=ScriptedJudge(quoted)))
    assert [(c.status, c.rule) for c in report.claims if c.kind == "phone"] == [("exact", "judge-quote")]
    assert report.verdict == "supported"
    assert {layer.name: layer.verdict for layer in report.layers}["values"] == "supported"


async def test_the_check_goes_on_without_a_judge_that_fails() -> None:
    failing = FailingJudge(ServiceUnavailable("model", "refused"))
    report = await check("The round lid has a warm colour.", SOURCES, ports=CheckPorts(judge=failing))
    assert report.verdict == "unchecked"
    assert report.notes == ("claims in doubt were not judged: model: refused",)
