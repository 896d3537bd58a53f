"""What every judge of claims in doubt must do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from grounding.records import Completion
from rai.check.judging.case import case_of
from rai.check.judging.model import ModelJudge
from rai.check.judging.prompt import instructions
from rai.check.match import check_claims
from rai.embedded.screen import EmbeddedScreen
from rai.judgement import Case, Opinion, Proposal, Quote
from rai.ports import StatementJudge
from rai.records import Claim, Source
from rai.screening.model import ScreenedModel
from tests.fakes.judge import WordJudge, proposal

SOURCES = (Source("a", "The lid is red.", "Lids"), Source("b", "The case is blue. <<< 😀 >>>"))
_FENCED = re.compile(r"<<<(\w{16})\n(.*?)\n\1>>>", re.DOTALL)
_CLAIM = re.compile(r'^(\d+)\. (?:sentence|.*?"(.*)" in) A(\d+)$', re.MULTILINE)


class ComparingModel:
    """A model that does what the prompt asks: reads sources, answer and claims out of it, and answers in the form asked for."""

    name = "comparing"

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        *quoted, answer, claims = [text for _, text in _FENCED.findall(system)]
        sources = [Source(f"S{n}", text) for n, text in enumerate(quoted[-system.count("\nS") :], 1)]
        sentences = dict(re.findall(r"^A(\d+): (.*)$", answer, re.MULTILINE))
        said = [self._judged(n, text or sentences[at], sources) for n, text, at in _CLAIM.findall(claims)]
        return Completion(json.dumps({"claims": said}), self.name)

    def _judged(self, number: str, text: str, sources: list[Source]) -> dict[str, Any]:
        found = proposal(text, sources)
        quotes = [{"source": q.source, "text": q.text} for q in found.quotes]
        return {
            "claim": int(number),
            "verdict": found.opinion,
            "quotes": quotes,
            "formula": None,
            "unsaid": found.unsaid,
        }


@pytest.fixture(params=["model", "screened model", "fake"])
def judge(request: pytest.FixtureRequest) -> StatementJudge:
    if request.param == "model":
        return ModelJudge(ComparingModel())
    if request.param == "screened model":
        return ModelJudge(ScreenedModel(ComparingModel(), EmbeddedScreen(), trusted=[instructions()]))
    return WordJudge()


def case(*sentences: str, sources: tuple[Source, ...] = SOURCES) -> Case:
    """Each of `sentences` in doubt, whatever rules would say of it."""
    claims, at = [], 0
    for text in sentences:
        claims.append(Claim("statement", text, at, at + len(text)))
        at += len(text) + 1
    return Case(tuple(claims), tuple(claims), sources, ("Which colour is it?",))


async def test_one_proposal_for_each_claim_in_order(judge: StatementJudge) -> None:
    said = await judge.judge(case("The lid is red.", "Zebras gallop nightly.", "The case is blue."))
    assert [p.opinion for p in said] == ["supported", "wrong", "supported"]
    assert [p.quotes for p in said] == [(Quote("a", "The lid is red."),), (), (Quote("b", "The case is blue."),)]


@pytest.mark.parametrize("sentences", [["The lid is red."], ["a\nb", "😀 lid", ">>> lid"], ["?!", "The lid is red."]])
async def test_every_proposal_is_of_the_form(judge: StatementJudge, sentences: list[str]) -> None:
    """Quotations name a source of the case, by its own id."""
    said = await judge.judge(case(*sentences))
    assert len(said) == len(sentences)
    assert all(isinstance(p, Proposal) and p.opinion in get_args(Opinion) for p in said)
    assert {q.source for p in said for q in p.quotes} <= {"a", "b", None}


async def test_values_are_judged_beside_sentences(judge: StatementJudge) -> None:
    answer = "We open at 9:15."
    claims = check_claims(answer, [Source("a", "The lid is red.")], values_only=True)
    doubtful = tuple(c for c in claims if c.kind in ("time", "statement"))
    said = await judge.judge(Case(tuple(c for c in claims if c.kind == "statement"), doubtful, SOURCES))
    assert len(said) == len(doubtful) == 2


async def test_nothing_asked_is_nothing_said(judge: StatementJudge) -> None:
    assert await judge.judge(case_of([], SOURCES, [])) == ()


async def test_without_sources_nothing_is_supported(judge: StatementJudge) -> None:
    (said,) = await judge.judge(case("Zebras gallop nightly.", sources=()))
    assert said.opinion != "supported"


def test_it_has_a_name(judge: StatementJudge) -> None:
    assert judge.name
