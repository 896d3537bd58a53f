"""Whoever asks a model for JSON gives the form of it, in the subset that strict mode takes, and reads replies of that form."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest

from grounding.corrective.correct import Metered
from grounding.corrective.plan import PLAN, VERDICT, Outcome, Plan, PlanStep, evaluate, make_plan
from grounding.grading.model import ModelGrader
from grounding.grading.prompt import STYLES, Style, grade_schema
from grounding.grading.reply import Said, read_reply
from grounding.query.rewrite import PHRASINGS, rephrased
from grounding.records import Passage
from rai.check.judging.reply import FORM as JUDGEMENT
from tests.fakes.model import ScriptedModel
from tests.fakes.openai_forms import is_strict

T = TypeVar("T")
MARKER = "5f0c1d9e7ab34682"
STEP = PlanStep("web", "Halden fees")
FORMS = [PLAN, VERDICT, PHRASINGS, JUDGEMENT, *(form for s in STYLES for n in (1, 2) if (form := grade_schema(s, n)))]


def fits(value: Any, schema: Any) -> bool:
    """Whether a model that is held to `schema` could have written `value`."""
    if "anyOf" in schema:
        return any(fits(value, form) for form in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "object":
        forms = schema["properties"]
        return isinstance(value, dict) and value.keys() == forms.keys() and all(fits(value[n], forms[n]) for n in forms)
    if schema["type"] == "array":
        return isinstance(value, list) and all(fits(item, schema["items"]) for item in value)
    kinds = {"string": str, "number": int | float, "integer": int, "null": type(None)}
    return isinstance(value, kinds[schema["type"]])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_one_that_strict_mode_takes(form: dict[str, Any]) -> None:
    assert form["type"] == "object"
    assert is_strict(form)
    assert not set(json.dumps(form).split('"')) & {"minimum", "maximum", "pattern", "default", "minItems", "maxItems"}


def test_what_strict_mode_refuses_is_told_apart() -> None:
    assert not is_strict({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False})
    assert not is_strict({"type": "object", "properties": {}, "required": []})


GRADES: list[tuple[Style, dict[str, Any], Said]] = [
    ("score", {"score": 0.8}, Said(0.8)),
    ("binary", {"binary_score": "no"}, Said("no")),
    ("label", {"Justification": "It says so.", "ScoreLabel": "Good"}, Said("good", "It says so.")),
    ("confidence", {"confidence": 1, "relevant_text": "Open until 18:00."}, Said(1.0, "", "Open until 18:00.")),
    ("confidence", {"confidence": 0, "relevant_text": ""}, Said(0.0)),
]


@pytest.mark.parametrize(("style", "grade", "said"), GRADES)
def test_grades_of_the_form_are_read(style: Style, grade: dict[str, Any], said: Said) -> None:
    written = {"grades": [{"id": 1, **grade}, {"id": 2, **grade}]}
    assert fits(written, grade_schema(style, 2))
    read = read_reply(json.dumps(written), 2, style)
    value = said.value.capitalize() if style == "label" and isinstance(said.value, str) else said.value
    assert read == {n: Said(value, said.justification, said.extract) for n in (1, 2)}


def test_one_label_has_the_form_of_its_prompt() -> None:
    written = {"ContextRelevance": {"Justification": "x", "ScoreLabel": "Poor"}}
    assert fits(written, grade_schema("label", 1))
    assert read_reply(json.dumps(written), 1, "label") == {1: Said("Poor", "x")}


@pytest.mark.parametrize("style", ["score", "binary"])
def test_where_the_prompt_asks_for_a_word_there_is_no_form(style: Style) -> None:
    assert grade_schema(style, 1) is None


async def test_the_grader_asks_in_the_form_of_its_style() -> None:
    model = ScriptedModel('{"grades":[{"id":1,"score":0.8},{"id":2,"score":0.1}]}')
    passages = [Passage(f"c{n}", "d", "T", f"Text {n}.") for n in (1, 2)]
    await ModelGrader(model, "score", fallback=None).grade("When?", passages)
    assert [call.schema for call in model.calls] == [grade_schema("score", 2)]


async def test_plans_are_asked_for_and_read_in_their_form() -> None:
    written = {"steps": [{"type": "web", "query": "Halden fees"}]}
    assert fits(written, PLAN)
    model = ScriptedModel(json.dumps(written))
    assert await make_plan(model, "task", 3) == Plan((STEP,))
    assert [call.schema for call in model.calls] == [PLAN]


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ({"result": {"outcome": "Found."}, "plan": None}, Outcome("Found.")),
        ({"result": None, "plan": {"steps": [{"type": "web", "query": "Halden fees"}]}}, Plan((STEP,))),
        ({"result": {"outcome": "Found."}, "plan": {"steps": []}}, Outcome("Found.")),
        ({"result": None, "plan": {"steps": []}}, None),
        ({"result": None, "plan": None}, None),
    ],
)
async def test_verdicts_are_asked_for_and_read_in_their_form(written: dict[str, Any], verdict: object) -> None:
    """Strict mode lets no field out, so what the prompt leaves out is null."""
    assert fits(written, VERDICT)
    model = ScriptedModel(json.dumps(written))
    assert await evaluate(model, "task", Plan((STEP,)), [], most_steps=3, marker=MARKER) == verdict
    assert [call.schema for call in model.calls] == [VERDICT]


async def test_phrasings_are_asked_for_and_read_in_their_form() -> None:
    written = {"questions": ["When do you open?", "What are your hours?"]}
    assert fits(written, PHRASINGS)
    model = ScriptedModel(json.dumps(written))
    assert await rephrased(model, "Opening times?", 2) == ("When do you open?", "What are your hours?")
    assert [call.schema for call in model.calls] == [PHRASINGS]


async def test_a_form_passes_the_meter() -> None:
    async def stage(_name: str, work: Awaitable[T]) -> T:
        return await work

    model = ScriptedModel("fine")
    await Metered(model, 1000, stage).complete("s", "u", purpose="plan", schema=PLAN)
    assert [call.schema for call in model.calls] == [PLAN]
