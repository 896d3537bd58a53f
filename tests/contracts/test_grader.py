"""What every grader must do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounding.embedded.grader import EmbeddedGrader
from grounding.grading.features import label_of
from grounding.grading.model import ModelGrader
from grounding.grading.prompt import STYLES, Style, own_texts
from grounding.ports import Grader
from grounding.records import Passage
from rai.embedded.screen import EmbeddedScreen
from rai.screening.model import ScreenedModel
from tests.fakes.embedder import HashEmbedder
from tests.fakes.grader import GradingModel


def _model(style: Style) -> Grader:
    return ModelGrader(GradingModel(style), style, fallback=None)


def _screened(style: Style) -> Grader:
    return ModelGrader(ScreenedModel(GradingModel(style), EmbeddedScreen(), trusted=own_texts()), style, fallback=None)


MAKERS: dict[str, Callable[[], Grader]] = {
    "embedded, words": lambda: EmbeddedGrader(None),
    "embedded, words and meaning": lambda: EmbeddedGrader(HashEmbedder()),
    **{f"model, {style}": partial(_model, style) for style in STYLES},
    **{f"screened model, {style}": partial(_screened, style) for style in STYLES},
}
QUESTION = "What does an express transfer cost?"
PASSAGES = (
    Passage("a", "d1", "Garden", "Roses are cut in early spring."),
    Passage("b", "d2", "Fees", "An express transfer costs $25 for each transfer."),
    Passage("c", "d2", "Fees", "A replacement card is free of charge."),
)


@pytest.fixture(params=list(MAKERS))
def grader(request: pytest.FixtureRequest) -> Grader:
    return MAKERS[request.param]()


@pytest.mark.row("0-07")
@pytest.mark.row("1-02")
async def test_one_grade_for_each_passage_in_order(grader: Grader) -> None:
    grading = await grader.grade(QUESTION, PASSAGES)
    assert grading.status == "graded"
    assert [g.chunk_id for g in grading.grades] == ["a", "b", "c"]


@pytest.mark.row("1-03")
async def test_the_passage_that_answers_has_the_best_grade(grader: Grader) -> None:
    grading = await grader.grade(QUESTION, PASSAGES)
    assert max(grading.grades, key=lambda g: g.score).chunk_id == "b"


@pytest.mark.row("0-12")
async def test_every_grade_is_the_same_record(grader: Grader) -> None:
    """A score in [0, 1] with the label of its band, yes or no, an extract that stands there, and a reason."""
    for grade, passage in zip((await grader.grade(QUESTION, PASSAGES)).grades, PASSAGES, strict=True):
        assert 0.0 <= grade.score <= 1.0
        assert grade.label == label_of(grade.score)
        assert grade.binary in ("yes", "no")
        assert grade.justification
        if grade.extract is not None:
            assert passage.text[grade.extract.start : grade.extract.end] == grade.extract.text


async def test_no_passages_are_no_grades(grader: Grader) -> None:
    grading = await grader.grade(QUESTION, ())
    assert (grading.status, grading.grades) == ("graded", ())


async def test_the_same_text_under_two_ids_is_graded_twice_and_alike(grader: Grader) -> None:
    twins = [Passage(i, "d", "Fees", "An express transfer costs $25.") for i in ("x", "y")]
    grades = (await grader.grade(QUESTION, twins)).grades
    assert [g.chunk_id for g in grades] == ["x", "y"]
    assert grades[0].score == grades[1].score


def test_it_has_a_name(grader: Grader) -> None:
    assert grader.name


@pytest.mark.parametrize("name", [name for name in MAKERS if "screened" not in name])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=60), max_size=6), question=st.text(max_size=60))
async def test_any_text_gets_its_grade(name: str, texts: list[str], question: str) -> None:
    passages = [Passage(str(n), "d", "", text) for n, text in enumerate(texts)]
    grading = await MAKERS[name]().grade(question if question.strip() else "?", passages)
    assert [g.chunk_id for g in grading.grades] == [p.chunk_id for p in passages]
    assert all(0.0 <= g.score <= 1.0 for g in grading.grades)
