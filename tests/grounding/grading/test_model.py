"""A chat model as grader, well behaved and not: what the grades are, what is asked, and what happens when it goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from grounding.corrective.decide import decide
from grounding.errors import ContentFiltered, PromptBlocked, ServiceReplyInvalid, ServiceTimeout
from grounding.grading.features import binary_of, label_of
from grounding.grading.model import ModelGrader
from grounding.grading.prompt import STYLES, Style, document_text
from grounding.policy import Policy
from grounding.records import Action, Completion, Grade, Grading, Passage
from tests.fakes.grader import GradingModel
from tests.fakes.model import ScriptedModel

QUESTION = "What is the fee?"


def passages(count: int) -> list[Passage]:
    return [Passage(f"c{n}", f"d{n}", "", f"Text number {n}.") for n in range(1, count + 1)]


def scores(*said: object) -> str:
    """A reply that grades documents 1, 2, … so; None leaves one out."""
    return json.dumps({"grades": [{"id": n, "score": s} for n, s in enumerate(said, 1) if s is not None]})


class HalfGrader:
    """Says 0.5 of everything."""

    name = "half"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        return Grading("graded", tuple(Grade(p.chunk_id, 0.5, "Poor", "yes", None, "as always") for p in passages))


class Asked:
    """A model that answers as `answer` says, given the user message and how often it was asked before."""

    name = "asked"

    def __init__(self, answer: Callable[[str, int], str | BaseException]) -> None:
        self._answer = answer
        self.users: list[str] = []
        self.running = 0

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.users.append(user)
        self.running += 1
        try:
            reply = self._answer(user, len(self.users) - 1)
            await asyncio.sleep(0)
        finally:
            self.running -= 1
        if isinstance(reply, BaseException):
            raise reply
        return Completion(reply, self.name)


def grader(model: ScriptedModel | Asked, style: Style = "score", **options: object) -> ModelGrader:
    return ModelGrader(model, style, **{"fallback": HalfGrader(), **options})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ styles


@pytest.mark.row("0-12")
async def test_the_score_style() -> None:
    grading = await grader(ScriptedModel(scores(0.8, 0.39))).grade(QUESTION, passages(2))
    assert grading == Grading(
        "graded",
        (
            Grade("c1", 0.8, "Perfect", "yes", None, "model-stated score 0.8"),
            Grade("c2", 0.39, "Poor", "no", None, "model-stated score 0.39"),
        ),
    )


@pytest.mark.row("3-06")
@pytest.mark.row("3-07")
@pytest.mark.parametrize(("label", "score"), [("Awful", 0.0), ("Poor", 0.3), ("Good", 0.7), ("Perfect", 1.0)])
async def test_a_label_counts_as_its_number(label: str, score: float) -> None:
    reply = json.dumps({"ContextRelevance": {"Justification": "for a reason", "ScoreLabel": label}})
    (grade,) = (await grader(ScriptedModel(reply), "label").grade(QUESTION, passages(1))).grades
    assert (grade.score, grade.label, grade.binary) == (score, label, binary_of(score))
    assert grade.justification == f"model-stated label {label}: for a reason"


@pytest.mark.row("3-06")
async def test_the_numbers_of_the_labels_can_be_others() -> None:
    labels = {"Awful": 0.0, "Poor": 0.33, "Good": 0.67, "Perfect": 1.0}
    (grade,) = (await grader(ScriptedModel("Good"), "label", labels=labels).grade(QUESTION, passages(1))).grades
    assert (grade.score, grade.label) == (0.67, "Good")


@pytest.mark.row("3-09")
async def test_good_is_kept_at_seven_tenths_and_poor_is_not() -> None:
    reply = json.dumps({"grades": [{"id": 1, "ScoreLabel": "Good"}, {"id": 2, "ScoreLabel": "Poor"}]})
    grades = (await grader(ScriptedModel(reply), "label").grade(QUESTION, passages(2))).grades
    assert [g.chunk_id for g in grades if g.score >= 0.7] == ["c1"]


@pytest.mark.row("2-08")
@pytest.mark.row("2-12")
async def test_yes_passes_every_threshold_and_no_none() -> None:
    reply = '{"grades":[{"id":1,"binary_score":"no"},{"id":2,"binary_score":"YES"}]}'
    grades = (await grader(ScriptedModel(reply), "binary").grade(QUESTION, passages(2))).grades
    assert [(g.score, g.label, g.binary) for g in grades] == [(0.0, "Awful", "no"), (1.0, "Perfect", "yes")]
    assert [g.chunk_id for g in grades if g.binary == "yes"] == ["c2"]


QUESTION_112 = "Does the applicant have any significant illnesses in his medical history?"
FORM = (
    "Please use application form 354-02 to enter applicants medical history, significant illnesses and other symptoms."
)
SENTENCE = "His medical history reveals no significant illnesses, and his family history is also clear of any hereditary diseases."
DOE = (
    "Mr. John Doe, a 35-year-old non-smoker, is applying for a life insurance policy. He works as an accountant and leads a low-risk lifestyle. "
    f"He exercises regularly and maintains a healthy diet. {SENTENCE} He is interested in a policy with a coverage amount of $500,000"
)


@pytest.mark.row("1-12")
@pytest.mark.row("1-13")
@pytest.mark.row("1-04")
@pytest.mark.row("1-15")
async def test_the_two_documents_of_the_source_end_in_the_right_order() -> None:
    """By cosine the form comes first (0.56 against 0.40); by confidence the record that answers does, with its sentence located."""
    found = [
        Passage("form", "d1", "", FORM, semantic=0.5595185612023936, score=1.0),
        Passage("doe", "d2", "", DOE, semantic=0.39874486454438407, score=0.7),
    ]
    reply = json.dumps(
        {
            "answers": [
                {"id": 1, "confidence": 0.1, "relevent_text": FORM},
                {"id": 2, "confidence": 0.9, "relevent_text": SENTENCE},
            ]
        },
        indent=4,
    )
    model = ScriptedModel(reply)
    grades = (await grader(model, "confidence").grade(QUESTION_112, found)).grades
    ranked = sorted(grades, key=lambda g: -g.score)
    assert [g.chunk_id for g in ranked] == ["doe", "form"]
    assert ranked[0].extract is not None
    assert ranked[0].extract.text == SENTENCE
    assert DOE[ranked[0].extract.start : ranked[0].extract.end] == SENTENCE
    assert ranked[0].justification == "model-stated confidence 0.9"
    assert f"\n {QUESTION_112}\n        Please respond in JSON format" in model.calls[0].user


@pytest.mark.row("1-04")
async def test_an_extract_that_is_not_there_is_flagged() -> None:
    reply = '{"answers":[{"id":1,"confidence":0.9,"relevant_text":"Text number 7."},{"id":2,"confidence":0.9,"relevant_text":"TEXT  number 2"}]}'
    one, two = (await grader(ScriptedModel(reply), "confidence").grade(QUESTION, passages(2))).grades
    assert one.extract is None
    assert one.justification == "model-stated confidence 0.9; its extract is not in the passage"
    assert two.extract is not None
    assert two.extract.text == "Text number 2"


# ------------------------------------------------------------------------------------------------ calls


@pytest.mark.row("1-08")
async def test_batches_go_out_at_once_up_to_the_limit() -> None:
    model = GradingModel("score")
    grading = await ModelGrader(model, "score", fallback=None, batch=4, parallel=3).grade(QUESTION, passages(40))
    assert (model.calls, model.at_once, len(grading.grades)) == (10, 3, 40)


@pytest.mark.parametrize("count", [50, 100, 1000])
@pytest.mark.row("1-01")
@pytest.mark.row("1-02")
async def test_many_passages_in_few_calls(count: int) -> None:
    model = GradingModel("confidence")
    grading = await ModelGrader(model, "confidence", fallback=None).grade(QUESTION, passages(count))
    assert model.calls == count // 10
    assert [g.chunk_id for g in grading.grades] == [f"c{n}" for n in range(1, count + 1)]
    assert all(g.justification.startswith("model-stated confidence") for g in grading.grades)


async def test_what_was_graded_is_not_asked_again() -> None:
    model = ScriptedModel(scores(0.1, 0.2), scores(0.3))
    judge = grader(model)
    two = passages(2)
    await judge.grade(QUESTION, two)
    again = await judge.grade(QUESTION, [two[1], Passage("other", "d", "", two[0].text)])
    assert [(g.chunk_id, g.score) for g in again.grades] == [("c2", 0.2), ("other", 0.1)]
    assert len(model.calls) == 1
    await judge.grade("Another question?", two[:1])
    assert len(model.calls) == 2


async def test_equal_texts_are_asked_about_once() -> None:
    model = ScriptedModel(scores(0.1, 0.2))
    one, two = passages(2)
    twin = Passage("twin", "elsewhere", "", one.text)
    titled = Passage("titled", "d", "Title", two.text)
    grades = (await grader(model).grade(QUESTION, [one, twin, titled])).grades
    assert [(g.chunk_id, g.score) for g in grades] == [("c1", 0.1), ("twin", 0.1), ("titled", 0.2)]


async def test_what_is_kept_is_bounded() -> None:
    model = ScriptedModel(scores(*[0.5] * 5), "0.6")
    judge = grader(model, remembered=3)
    await judge.grade(QUESTION, passages(5))
    await judge.grade(QUESTION, passages(5)[2:])
    assert len(model.calls) == 1
    assert (await judge.grade(QUESTION, passages(1))).grades[0].score == 0.6


async def test_many_at_once_do_not_disturb_each_other() -> None:
    model = GradingModel("score")
    judge = ModelGrader(model, "score", fallback=None, batch=3)
    many = passages(30)
    gradings = await asyncio.gather(*(judge.grade(QUESTION, many[n:]) for n in range(10)))
    for n, grading in enumerate(gradings):
        assert [g.chunk_id for g in grading.grades] == [p.chunk_id for p in many[n:]]


# ------------------------------------------------------------------------------------------------ early exit


async def test_a_certain_top_ends_the_asking() -> None:
    model = ScriptedModel(scores(0.2, 0.95))
    judge = grader(model, batch=2, certain_at=0.9)
    grading = await judge.grade(QUESTION, passages(6))
    assert [g.score for g in grading.grades] == [0.2, 0.95, 0.5, 0.5, 0.5, 0.5]
    assert grading.grades[2].justification == "not asked, 1 of the passages before it reached 0.9; half: as always"
    assert grading.note == "4 texts not asked about, the first were certain"
    assert (await judge.grade(QUESTION, passages(6))) == grading


async def test_what_was_not_asked_never_outranks_what_was_certain() -> None:
    grading = await grader(ScriptedModel("0.4"), batch=1, certain_at=0.4).grade(QUESTION, passages(2))
    assert [(g.score, g.label, g.binary) for g in grading.grades] == [(0.4, "Poor", "yes"), (0.4, "Poor", "yes")]
    assert (
        await grader(ScriptedModel("0.9"), batch=1, certain_at=0.8, fallback=None).grade(QUESTION, passages(2))
    ).grades[1].score == 0


@pytest.mark.parametrize(("certain_n", "calls"), [(1, 1), (2, 1), (3, 3)])
async def test_as_many_as_asked_for_must_be_certain(certain_n: int, calls: int) -> None:
    model = ScriptedModel(scores(0.9, 0.95), otherwise=scores(0.1, 0.1))
    grading = await grader(model, batch=2, certain_at=0.9, certain_n=certain_n).grade(QUESTION, passages(6))
    assert len(model.calls) == calls
    assert (grading.note is None) == (calls == 3)


# ------------------------------------------------------------------------------------------------ misbehaviour


MISBEHAVED = [
    "",
    "   ",
    "I'm sorry, but I can't help with that.",
    "{",
    "[]",
    "{}",
    "null",
    '{"grades":[]}',
    '{"grades":[{"id":9,"score":0.9}]}',
    '{"grades":[{"score":0.9}]}',
    "All of them are relevant.",
    '{"grades":[{"id":1,"score":7},{"id":2,"score":-1},{"id":3,"score":"high"}]}',
    "<html><body>502 Bad Gateway</body></html>",
    "[" * 50_000,
]


@pytest.mark.row("3-08")
@pytest.mark.row("3-26")
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("reply", MISBEHAVED)
async def test_a_model_that_never_grades_leaves_all_ungraded(reply: str, style: Style) -> None:
    """One retry, no more; then all passages in the order of retrieval, ambiguous."""
    model = ScriptedModel(reply, reply)
    grading = await grader(model, style).grade(QUESTION, passages(3))
    assert grading.status == "ungraded"
    assert grading.note == f"model:scripted/{style} graded none of 3 passages"
    decision = decide(grading, Policy())
    assert (decision.action, decision.kept) == (Action.AMBIGUOUS, ("c1", "c2", "c3"))
    assert len(model.calls) == 2


@pytest.mark.row("3-08")
async def test_only_what_is_missing_is_asked_once_more() -> None:
    model = ScriptedModel(scores(0.1, None, 0.3, 1.5), "Sorry!\n" + scores(0.2, 0.4))
    grading = await grader(model).grade(QUESTION, passages(4))
    assert [g.score for g in grading.grades] == [0.1, 0.2, 0.3, 0.4]
    assert grading.note is None
    assert [document_text(p) in model.calls[1].user for p in passages(4)] == [False, True, False, True]


async def test_what_stays_missing_takes_the_grade_of_the_fallback() -> None:
    grading = await grader(ScriptedModel(scores(0.1, None, 0.3), "no idea")).grade(QUESTION, passages(3))
    assert (grading.status, [g.score for g in grading.grades]) == ("graded", [0.1, 0.5, 0.3])
    assert grading.grades[1].justification == "the model's reply holds no grade of it; half: as always"
    assert grading.note == "1 of 3 passages without a grade of model:scripted/score, graded by half"


async def test_without_a_fallback_what_stays_missing_counts_as_nothing() -> None:
    grading = await grader(ScriptedModel(scores(0.1, None), "no idea"), fallback=None).grade(QUESTION, passages(2))
    assert grading.grades[1] == Grade(
        "c2", 0.0, "Awful", "no", None, "the model's reply holds no grade of it; counted as 0"
    )
    assert grading.note == "1 of 2 passages without a grade of model:scripted/score, counted as 0"


async def test_a_grade_of_the_fallback_is_not_kept_as_the_model_s() -> None:
    model = ScriptedModel(scores(0.1, None), "no idea", "0.9")
    judge = grader(model)
    await judge.grade(QUESTION, passages(2))
    assert [g.score for g in (await judge.grade(QUESTION, passages(2))).grades] == [0.1, 0.9]


@pytest.mark.parametrize(
    "error", [ServiceTimeout("model", "no reply within 30 s"), ServiceReplyInvalid("model", "cut off")]
)
async def test_a_call_that_fails_is_made_once_more(error: Exception) -> None:
    grading = await grader(ScriptedModel(error, scores(0.1, 0.2))).grade(QUESTION, passages(2))
    assert [g.score for g in grading.grades] == [0.1, 0.2]
    assert grading.note == str(error)


async def test_one_call_that_fails_costs_the_others_nothing() -> None:
    model = Asked(lambda user, _: ServiceTimeout("model", "no reply") if "number 1." in user else scores(0.7, 0.8))
    grading = await grader(model, batch=2).grade(QUESTION, passages(4))
    assert [g.score for g in grading.grades] == [0.5, 0.5, 0.7, 0.8]
    assert grading.note == "model: no reply; 2 of 4 passages without a grade of model:asked/score, graded by half"


async def test_a_service_that_is_down_leaves_all_ungraded() -> None:
    grading = await grader(Asked(lambda *_: ServiceTimeout("model", "no reply")), batch=2).grade(QUESTION, passages(4))
    assert grading.status == "ungraded"
    assert grading.note == "model:asked/score graded none of 4 passages; model: no reply"
    assert [g.score for g in grading.grades] == [0.0] * 4
    assert grading.grades[0].justification == "ungraded: the model did not answer"


@pytest.mark.parametrize(
    ("error", "who"),
    [
        (PromptBlocked("takeover"), "the prompt screen (takeover)"),
        (ContentFiltered("filtered"), "the model service's content filter"),
    ],
)
async def test_one_refused_passage_does_not_take_its_batch_with_it(error: Exception, who: str) -> None:
    """A batch that is refused is graded one by one; the passage that is refused alone is not asked about a third time."""
    model = Asked(lambda user, _: error if "number 2." in user else "0.9")
    grading = await grader(model).grade(QUESTION, passages(3))
    assert [g.score for g in grading.grades] == [0.9, 0.5, 0.9]
    assert grading.grades[1].justification == f"{who} refused to have it graded; half: as always"
    assert grading.note == (
        f"{who} refused a batch of 3, graded one by one; {who} refused one passage; "
        "1 of 3 passages without a grade of model:asked/score, graded by half"
    )
    assert len(model.users) == 4


async def test_one_passage_that_is_refused_is_asked_about_once() -> None:
    model = ScriptedModel(PromptBlocked("takeover"))
    assert (await grader(model).grade(QUESTION, passages(1))).status == "ungraded"


async def test_a_screen_that_cannot_decide_stops_the_turn() -> None:
    """Closed: nothing is graded by anybody else, and nothing goes on running."""
    model = Asked(lambda user, _: PromptBlocked(None, unavailable=True) if "number 3." in user else scores(0.1, 0.2))
    with pytest.raises(PromptBlocked) as blocked:
        await grader(model, batch=2).grade(QUESTION, passages(20))
    assert blocked.value.unavailable
    assert model.running == 0


async def test_cancelling_leaves_nothing_behind() -> None:
    started = asyncio.Event()

    class Endless:
        name = "endless"
        running = 0

        async def complete(
            self,
            system: str,
            user: str,
            *,
            purpose: str,
            max_tokens: int = 800,
            schema: Mapping[str, Any] | None = None,
        ) -> Completion:
            self.running += 1
            started.set()
            try:
                await asyncio.sleep(3600)
            finally:
                self.running -= 1
            raise AssertionError

    model = Endless()
    before = asyncio.all_tasks()
    task = asyncio.create_task(
        ModelGrader(model, "score", fallback=HalfGrader(), batch=1).grade(QUESTION, passages(30))
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.running == 0
    assert asyncio.all_tasks() == before


async def test_a_deadline_passes_through() -> None:
    class Slow:
        name = "slow"

        async def complete(
            self,
            system: str,
            user: str,
            *,
            purpose: str,
            max_tokens: int = 800,
            schema: Mapping[str, Any] | None = None,
        ) -> Completion:
            await asyncio.sleep(3600)
            raise AssertionError

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ModelGrader(Slow(), "score", fallback=HalfGrader()).grade(QUESTION, passages(3))


async def test_labels_of_substitutes_are_those_of_their_scores() -> None:
    grading = await grader(ScriptedModel("0.6"), batch=1, certain_at=0.3).grade(QUESTION, passages(2))
    assert all(g.label == label_of(g.score) for g in grading.grades)
