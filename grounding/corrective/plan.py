"""Plan, step, evaluate (requirements 3-14 to 3-25): a model plans searches, each step is carried out, and a model evaluates all that was
done.

The loop is bounded by twice the number of steps of the *first* plan, whatever the model says later. It only ever searches: what it brings
home are passages under their own ids and origins. The outcome that a model writes is kept in the record and is never evidence, for a text
that a model wrote cannot support what a model writes.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from grounding.errors import ServiceReplyInvalid
from grounding.evidence.web import web_text
from grounding.model_calls.loose_json import json_values
from grounding.model_calls.schema import TEXT, fields, listed, maybe, one_of
from grounding.model_calls.spotlight import block
from grounding.model_calls.templates import fill, template
from grounding.ports import ChatModel
from grounding.records import Passage, WebResult

StepKind = Literal["knowledge_base", "web"]
REPLY_TOKENS = 500
PREVIEW = 400
"""Characters of a passage that the evaluator sees of it."""
LONGEST = 300
NOT_KNOWN = "not known"
PLAN = fields(steps=listed(fields(type=one_of("knowledge_base", "web"), query=TEXT)))
VERDICT = fields(result=maybe(fields(outcome=TEXT)), plan=maybe(PLAN))
_SAID: dict[StepKind, str] = {
    "knowledge_base": "knowledge_base knowledgebase kb vector_search search manuals",
    "web": "web web_search websearch",
}
"""How models name the two kinds of a step."""
_KINDS = {said: kind for kind, names in _SAID.items() for said in names.split()}


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One planned search: where, and for what."""

    kind: StepKind
    query: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a plan, in the order in which they are taken."""

    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the evaluator says was found. For the record, never evidence."""

    text: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was carried out, and what it found."""

    step: PlanStep
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """How a plan went. `bound`: rounds that were allowed; `ended`: "result", "nothing left", "bound" or "no plan"."""

    first: Plan
    taken: tuple[Taken, ...]
    outcome: str | None
    bound: int
    ended: str


@dataclass(frozen=True, slots=True)
class About:
    """What the task prompt of requirement 3-19 says of the product; the defaults say that it is not known."""

    product: str = NOT_KNOWN
    brand: str = NOT_KNOWN
    model: str = NOT_KNOWN
    description: str = NOT_KNOWN


Execute = Callable[[PlanStep], Awaitable[tuple[Passage, ...]]]


def task(question: str, passages: Sequence[Passage], about: About, marker: str) -> str:
    """The task prompt of requirement 3-19 over all retrieved passages, not only those that were kept."""
    context = "\n".join(
        f"<manual_extract id='{p.chunk_id}'>\n{block(p.text, marker)}\n</manual_extract>" for p in passages
    )
    return fill(
        "plan_task",
        question=question,
        context=context or "(none)",
        product_id=about.product,
        brand=about.brand,
        model=about.model,
        description=about.description,
    )


async def carry_out(model: ChatModel, task_text: str, execute: Execute, *, most_steps: int, marker: str) -> Planned:
    """Plan, carry out the first step, evaluate; again with the new plan until there is a result, nothing is left, or the bound is reached.

    `execute` carries out one step. Raises what the model or a step raises: ServiceError, ContentFiltered, PromptBlocked.
    """
    first = plan = await make_plan(model, task_text, most_steps)
    taken: list[Taken] = []
    bound = left = 2 * len(first.steps)
    while left > 0 and plan.steps:
        step = plan.steps[0]
        taken.append(Taken(step, await execute(step)))
        verdict = await evaluate(model, task_text, plan, taken, most_steps=most_steps, marker=marker)
        if isinstance(verdict, Outcome):
            return Planned(first, tuple(taken), verdict.text, bound, "result")
        if verdict is None:
            return Planned(first, tuple(taken), None, bound, "nothing left")
        plan = verdict
        left -= 1
    ended = "no plan" if not first.steps else "bound" if left == 0 else "nothing left"
    return Planned(first, tuple(taken), None, bound, ended)


async def make_plan(model: ChatModel, task_text: str, most_steps: int) -> Plan:
    """Ask the model for a plan of at most `most_steps` steps (PlanGenerator); once more if there is none in the reply. Raises
    ServiceReplyInvalid.
    """
    user = fill("plan_make", task=task_text)
    for _ in range(2):
        reply = await model.complete(
            template("plan_system"), user, purpose="plan", max_tokens=REPLY_TOKENS, schema=PLAN
        )
        plan = next((p for value in json_values(reply.text) if (p := read_plan(value, most_steps)) is not None), None)
        if plan is not None:
            return plan
    raise ServiceReplyInvalid(model.name, "the reply holds no plan")


async def evaluate(
    model: ChatModel, task_text: str, plan: Plan, taken: Sequence[Taken], *, most_steps: int, marker: str
) -> Plan | Outcome | None:
    """Ask the model what to do next (PlanEvaluator): a new plan, or the result, or None when no search will help or the reply cannot be
    read.
    """
    past = "\n".join(_past(t, marker) for t in taken)
    written = json.dumps({"steps": [{"type": s.kind, "query": s.query} for s in plan.steps]}, ensure_ascii=False)
    user = fill("plan_evaluate", task=task_text, plan=block(written, marker), past=past)
    reply = await model.complete(
        template("plan_system"), user, purpose="evaluate", max_tokens=REPLY_TOKENS, schema=VERDICT
    )
    for value in json_values(reply.text):
        if isinstance(value, dict):
            return _verdict(value, most_steps)
    return None


def read_plan(value: object, most_steps: int) -> Plan | None:
    """A plan from a model's JSON; steps of other kinds, or without a query, are left out. None if it is no plan at all."""
    if isinstance(value, dict) and isinstance(value.get("plan"), dict):
        value = value["plan"]
    steps = value.get("steps") if isinstance(value, dict) else value
    if not isinstance(steps, list):
        return None
    read = [step for item in steps if (step := _step(item)) is not None]
    return Plan(tuple(read[:most_steps])) if read or not steps else None


def _step(item: object) -> PlanStep | None:
    if not isinstance(item, dict):
        return None
    kind = _KINDS.get(str(item.get("type", "")).strip().lower().replace(" ", "_").replace("-", "_"))
    query = item.get("query")
    words = " ".join(query.split())[:LONGEST] if isinstance(query, str) else ""
    return PlanStep(kind, words) if kind and words else None


def _verdict(value: dict[str, object], most_steps: int) -> Plan | Outcome | None:
    plan = read_plan(value, most_steps) if "plan" in value or "steps" in value else None
    if plan is not None and plan.steps:
        return plan
    result = value.get("result")
    text = result.get("outcome") if isinstance(result, dict) else result
    return Outcome(" ".join(text.split())[:2000]) if isinstance(text, str) and text.strip() else None


def _past(taken: Taken, marker: str) -> str:
    found = "\n".join(block(_shown(p), marker) for p in taken.passages) or "nothing"
    return f"Searched in: {taken.step.kind}\n{block(taken.step.query, marker)}\nFound:\n{found}"


def _shown(passage: Passage) -> str:
    """The beginning of a passage as the task prompt shows it; of a web page in the form of requirement 3-17."""
    text = passage.text[:PREVIEW]
    return web_text([WebResult(passage.title, passage.url or "", text)]) if passage.origin == "web" else text
