"""Corrective actions of CRAG (arXiv 2401.15884): what a turn does while its passages are not enough, in the order of the policy and within
its bounds.

A step that fails, is blocked or finds nothing costs the turn nothing but its time: what was found before stays, the record says what
happened. Wall time, tokens of model calls and the rounds of a plan are bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from grounding.corrective.decide import value_of
from grounding.corrective.find import Correction, EvidenceSearch, Staging, look, value_or_reason
from grounding.corrective.plan import About, PlanStep, carry_out, task
from grounding.errors import BudgetSpent
from grounding.evidence.choose import web_passage
from grounding.policy import Step
from grounding.ports import ChatModel
from grounding.query.conversation import without_words
from grounding.query.hyde import imagine
from grounding.query.rewrite import for_web, is_about, rephrased
from grounding.records import Action, Completion, Passage, Query
from grounding.tokens import count_tokens

BROKEN_OFF = "it was broken off"
_NEEDS_MODEL = frozenset({"rewrites", "hyde"})


class Metered:
    """A chat model whose calls count as stages of the turn, and which refuses further calls when their tokens are spent."""

    def __init__(self, model: ChatModel, most_tokens: int, stage: Staging) -> None:
        self._model = model
        self._left = most_tokens
        self._stage = stage

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's reply. Raises BudgetSpent, or what the model raises."""
        asked = count_tokens(system) + count_tokens(user)
        if asked > self._left:
            raise BudgetSpent(f"{asked} tokens are asked and {self._left} are left")
        self._left -= asked  # also of a call that fails: it was sent
        most = max(1, min(max_tokens, self._left))
        call = self._model.complete(system, user, purpose=purpose, max_tokens=most, schema=schema)
        reply = await self._stage(purpose, call)
        self._left -= max(count_tokens(reply.text), reply.usage.get("completion_tokens", 0))  # thinking is paid for too
        return reply


async def correct(f: EvidenceSearch, about: About, marker: str) -> None:
    """Take the policy's corrective steps, in order, until the decision is correct or time or tokens are spent; then the web, if whoever asks wants it.

    `about`: what a plan is told of the product; `marker`: delimiter of quoted data. Raises PromptBlocked(unavailable=True): without the
    screen nothing goes on.
    """
    policy = f.policy
    model = Metered(f.ports.model, policy.correct_tokens, f.stage) if f.ports.model else None
    try:
        async with asyncio.timeout(policy.correct_seconds) as bound:
            for step in policy.corrective:
                if f.decision.action is Action.CORRECT:
                    break
                await _take(f, step, model, about, marker)
            if f.wants_web and not any(c.step == "web" for c in f.corrections):
                await _take(f, "web", model, about, marker)
    except TimeoutError:
        if not bound.expired():
            raise
        f.note(f"looking further was stopped after {policy.correct_seconds:g} s")


async def _take(f: EvidenceSearch, step: Step, model: Metered | None, about: About, marker: str) -> None:
    """Take one corrective step and record how it went. A plan that nobody makes, or that fails, becomes one search of the web."""
    if model is None and step in _NEEDS_MODEL:
        f.corrections.append(Correction(step, why="no model is switched on for it"))
        return
    done = False
    if step == "plan" and model is not None:
        done = await _tried(f, step, _plan(f, model, about, marker))
    elif step in _SEARCHES and model is not None:
        done = await _tried(f, step, _SEARCHES[step](f, model, marker))
    if not done and step in ("web", "plan"):
        await _tried(f, "web", _web(f, model if step == "web" else None))


async def _tried(f: EvidenceSearch, step: str, work: Awaitable[Correction]) -> bool:
    """True if the step came to an end; what stopped it is noted. Raises PromptBlocked(unavailable=True)."""
    correction, why = await value_or_reason(work, "web" if step == "web" else "model")
    if correction is None:
        _failed(f, step, why)
        return False
    f.corrections.append(correction)
    return True


def _failed(f: EvidenceSearch, step: str, why: str) -> None:
    last = f.corrections[-1] if f.corrections else None
    if last is not None and last.step == step and last.why == BROKEN_OFF:
        f.corrections[-1] = replace(last, why=why)
    else:
        f.corrections.append(Correction(step, why=why))
    f.note(f"{why}; answered from the knowledge base only" if step == "web" else f"{_SAID[step]}: {why}")


_SAID = {"rewrites": "other phrasings", "hyde": "a hypothetical answer", "plan": "the plan"}


async def _rewrites(f: EvidenceSearch, model: ChatModel, _marker: str) -> Correction:
    """Query rewriting: other phrasings of the question, searched together with it (3-12)."""
    written = await rephrased(model, f.query.text, f.policy.rewrites)
    queries = tuple(q for text in written if (q := without_words(text, f.excluded)))
    if not queries:
        return Correction("rewrites", why="the model wrote no other phrasing")
    new = await look(f, [Query(text, by=f.searched.by) for text in queries])
    return Correction("rewrites", queries, len(new), f.decision)


async def _hyde(f: EvidenceSearch, model: ChatModel, marker: str) -> Correction:
    """HyDE: search by the meaning of a hypothetical answer (3-13, C-05)."""
    imagined = await imagine(model, f.query.text, marker)
    if not imagined:
        return Correction("hyde", why="the model imagined no answer")
    new = await look(f, [replace(f.searched, by="hybrid", imagined=imagined)])
    return Correction("hyde", (imagined,), len(new), f.decision)


_SEARCHES: Mapping[str, Callable[[EvidenceSearch, ChatModel, str], Awaitable[Correction]]] = {
    "rewrites": _rewrites,
    "hyde": _hyde,
}


async def _web(f: EvidenceSearch, model: ChatModel | None) -> Correction:
    """Web search: its pages pass the same grading as passages."""
    if f.ports.web is None:
        return Correction("web", why="web search is off")
    query = f.query.text
    if f.policy.web_query == "rewritten" and model is not None:
        written, why = await value_or_reason(for_web(model, query))
        if written and is_about(written, query):
            query = written
        else:
            f.note(f"the web was searched for the question as it is: {why or 'the model did not rewrite it'}")
    pages = await _search_web(f, query, "web")
    return Correction("web", (without_words(query, f.excluded),), len(pages), f.decision)


async def _plan(f: EvidenceSearch, model: ChatModel, about: About, marker: str) -> Correction:
    """Plan, step, evaluate over knowledge base and web (3-20 to 3-23). What was done is recorded also when it breaks off.

    The model sees no internal passage: what it writes is sent to a web search.
    """
    queries: list[str] = []
    added: list[Passage] = []

    async def execute(step: PlanStep) -> tuple[Passage, ...]:
        queries.append(f"{step.kind}: {step.query}")
        found: tuple[Passage, ...]
        if step.kind == "knowledge_base":
            found = tuple(await look(f, [Query(step.query, by=f.searched.by)], "act"))
        else:
            found = await _search_web(f, step.query, "act")
        added.extend(found)
        return tuple(p for p in found if not p.internal)

    text = task(f.query.text, [p for p in f.passages if not p.internal], about, marker)
    done = None
    try:
        done = await carry_out(model, text, execute, most_steps=f.policy.plan_steps, marker=marker)
    finally:
        if done is None and queries:
            f.corrections.append(Correction("plan", tuple(queries), len(added), f.decision, BROKEN_OFF))
    said = f"{len(done.taken)} of at most {done.bound} rounds, ended: {done.ended}"
    return Correction(
        "plan", tuple(queries), len(added), f.decision, said, (f"Outcome: {done.outcome}",) if done.outcome else ()
    )


async def _search_web(f: EvidenceSearch, query: str, stage: str) -> tuple[Passage, ...]:
    """Search the web for `query` and keep the pages that are new and good enough, under their own ids and origin; never as pages of a
    manual.
    """
    query = without_words(query, f.excluded)
    if f.ports.web is None or not query:
        return ()
    results = await f.stage(stage, f.ports.web.search(query, f.policy.web_k))
    f.web = tuple(dict.fromkeys((*f.web, *results)))
    known = {p.chunk_id for p in f.pages}
    found = [p for place, r in enumerate(results) if (p := web_passage(r, place)).chunk_id not in known]
    if not found:
        return ()
    graded = await f.grade(found)
    f.page_grades |= {g.chunk_id: g for g in graded.grades}
    good = [p for p in found if graded.status == "ungraded" or _value(f, p) >= f.policy.keep_at]
    f.pages = sorted([*f.pages, *good], key=lambda p: -_value(f, p))
    return tuple(good)


def _value(f: EvidenceSearch, page: Passage) -> float:
    return value_of(f.page_grades[page.chunk_id], f.policy)
