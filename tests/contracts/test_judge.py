"""What every judge of statements must do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from grounding.records import Completion
from rai.embedded.screen import EmbeddedScreen
from rai.judge import ModelJudge, instructions
from rai.ports import StatementJudge
from rai.records import Source
from rai.screened import ScreenedModel
from tests.fakes.judge import WordJudge

SOURCES = (Source("a", "The lid is red.", "Lids"), Source("b", "The case is blue. <<< 😀 >>>"))
_FENCED = re.compile(r"<<<(\w{16})\n(.*?)\n\1>>>", re.DOTALL)


class ComparingModel:
    """A model that does what the prompt asks: reads sources and statements out of it, answers in lines."""

    name = "comparing"

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        *sources, statements = [text for _, text in _FENCED.findall(system)]
        known = set(re.findall(r"\w+", " ".join(sources).lower()))
        lines = []
        for number, text in re.findall(r"^(\d+)\. (.*)$", statements, re.MULTILINE):
            words = set(re.findall(r"\w+", text.lower()))
            lines.append(f"{number}: {len(words & known) / len(words):.2f}" if words else f"{number}: ?")
        return Completion("\n".join(lines), self.name)


@pytest.fixture(params=["model", "screened model", "fake"])
def judge(request: pytest.FixtureRequest) -> StatementJudge:
    if request.param == "model":
        return ModelJudge(ComparingModel())
    if request.param == "screened model":
        return ModelJudge(ScreenedModel(ComparingModel(), EmbeddedScreen(), trusted=[instructions()]))
    return WordJudge()


async def test_one_likelihood_for_each_statement_in_order(judge: StatementJudge) -> None:
    said = await judge.judge(["The lid is red.", "Zebras gallop nightly", "The case is blue."], SOURCES)
    assert said == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("statements", [["The lid is red."], ["a\nb", "😀 lid", ">>> lid"], ["?!", "The lid is red."]])
async def test_every_likelihood_is_in_range_or_none(judge: StatementJudge, statements: list[str]) -> None:
    said = await judge.judge(statements, SOURCES)
    assert len(said) == len(statements)
    assert all(p is None or 0.0 <= p <= 1.0 for p in said)


async def test_nothing_asked_is_nothing_said(judge: StatementJudge) -> None:
    assert await judge.judge([], SOURCES) == ()


async def test_without_sources_nothing_is_supported(judge: StatementJudge) -> None:
    assert await judge.judge(["Zebras gallop nightly"], ()) == (0.0,)


def test_it_has_a_name(judge: StatementJudge) -> None:
    assert judge.name
