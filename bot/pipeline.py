"""The turn: the whole system on one screen.

screen -> query -> retrieve -> (screened passages) -> grade -> correct, ambiguous: add web, incorrect: web instead
-> evidence -> prompt -> compose (every model is wrapped by the screen) -> check -> send, repair, draft again or withhold -> ledger -> reply
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.cite import internal_notes
from bot.entry import turn_body
from bot.records import Ask, Code, OnStage, Reply
from bot.reply import notice
from bot.screening import blocked_for, screen_turn
from bot.settle import ended, refused, settle
from bot.trace import CODES, Trace
from bot.turn import Seams, Work
from grounding.correct import Decision, decide
from grounding.errors import AttestError, ContentFiltered, PromptBlocked, ServiceError, StoreError
from grounding.evidence import choose, superseded, web_passage
from grounding.policy import Policy
from grounding.prompt import build_prompt
from grounding.query import last_turn_query, without_names
from grounding.records import Access, Action, Passage, Prompt, Query, Turn
from rai.records import Outcome
from rai.screened import screened_turn


async def answer_turn(ask: Ask, seams: Seams, policy: Policy, on_stage: OnStage | None = None) -> Reply:
    """One turn. Always a reply; nothing leaves before the ledger has it. Raises UserError for an unusable question."""
    work = Work(ask, seams, policy, Trace(on_stage))
    try:
        with screened_turn(_conversation(ask)) as screened:
            try:
                async with asyncio.timeout(seams.deadline_s):
                    reply = await _turn(work)
            finally:
                work.trace.note(*screened.notes)
                work.trace.screenings += screened.blocked
    except TimeoutError:
        reply = ended(work, Outcome.FAILED, "deadline")
    except PromptBlocked as error:
        reply = (
            ended(work, Outcome.FAILED, "screen_unavailable") if error.unavailable else refused(work, blocked_for(work))
        )
    except ContentFiltered:
        work.trace.note("the model service's content filter blocked this turn")
        reply = refused(work)
    except (ServiceError, StoreError) as error:
        work.trace.note(f"{work.trace.current}: {error}")
        reply = ended(work, Outcome.FAILED, CODES.get(work.trace.current))
    return await _record(work, reply)


def _conversation(ask: Ask) -> list[str]:
    """All that may hold personal data of the customer."""
    return [ask.question, *(turn.text for turn in ask.history), *([ask.context] if ask.context else [])]


async def _turn(w: Work) -> Reply:
    stage, seams, policy = w.trace.stage, w.seams, w.policy
    access = await stage("access", _access(w))
    if not await stage("screen", screen_turn(w)):
        return refused(w, blocked_for(w))
    w.query = await stage("query", _query(w, access))
    passages, w.decision = await _find(w, access)
    kept = _kept(passages, w.decision)
    w.internal = internal_notes([p for p in kept if p.internal], w.grading.grades)
    usable = [p for p in kept if not p.internal]
    if w.decision.action is not Action.CORRECT:
        usable += await _from_web(w)
    w.evidence = choose(usable, {g.chunk_id: g.score for g in w.grading.grades}, policy)
    if not w.evidence:
        return ended(w, Outcome.INSUFFICIENT)
    for old, new in superseded([e.passage for e in w.evidence]).items():
        w.trace.note(
            f"{next(e.passage.doc_id for e in w.evidence if e.passage.chunk_id == old)} is older than {new.doc_id} on the same subject"
        )
    w.prompt = _prompt(w)
    draft = await stage("compose", seams.composer.compose(w.prompt))
    return await settle(w, draft.text)


async def _find(w: Work, access: Access) -> tuple[list[Passage], Decision]:
    """Search and grade. Where the names taken along from earlier turns find nothing that could be kept, the question is tried
    without them, for the topic may have changed.
    """
    passages, decision = await _search(w, access, w.query)
    alone = without_names(w.query)
    if decision.action is not Action.INCORRECT or not w.query.entities or not alone.text or w.ask.product:
        return passages, decision
    found, grading = w.found, w.grading
    again, second = await _search(w, access, alone)
    if second.action is Action.INCORRECT:
        w.found, w.grading = found, grading
        return passages, decision
    w.query = alone
    w.trace.note("the question was read without the names of earlier turns")
    return again, second


async def _search(w: Work, access: Access, query: Query) -> tuple[list[Passage], Decision]:
    w.found = await w.trace.stage("retrieve", w.seams.retriever.retrieve(query, access, w.policy.retrieve_k))
    passages = _safe(w)[: w.policy.grade_k]
    w.grading = await w.trace.stage("grade", w.seams.grader.grade(query.text, passages))
    return passages, decide(w.grading, w.policy)


def _prompt(w: Work) -> Prompt:
    return build_prompt(
        w.ask.question, w.evidence, w.policy, company=w.seams.company, marker=w.marker, history=w.history, context=w.ask.context,
        query=w.query.text,
    )  # fmt: skip


async def _access(w: Work) -> Access:
    """What this user may see; a directory that fails means what everyone may see."""
    user, product = w.ask.user, w.ask.product
    if user is None:
        return Access(None, frozenset(), product)
    try:
        return Access(user, await w.seams.directory.groups(user), product)
    except ServiceError as error:
        w.trace.note(f"{error}; only what everyone may see was searched")
        return Access(user, frozenset(), product)


async def _query(w: Work, access: Access) -> Query:
    turns = (*w.history, Turn("user", w.ask.question))
    try:
        query = await w.seams.queries.build(turns, access)
    except ServiceError as error:
        query = last_turn_query(turns, f"{error}; the last turn is the query")
    w.trace.note(query.note)
    product = w.ask.product
    if product and product.lower() not in query.text.lower():  # the person named it beside the conversation
        query = replace(query, text=f"{product} {query.text}", entities=(product, *query.entities))
    return query


def _safe(w: Work) -> list[Passage]:
    """Without passages that give orders: they are data that tries to be an instruction."""
    w.trace.note(*w.found.notes)
    bad = sorted({p.doc_id for p in w.found.passages if p.screened})
    if bad:
        w.trace.note(f"passages with hidden instructions were left out: {', '.join(bad)}")
    return [p for p in w.found.passages if not p.screened]


def _kept(passages: Sequence[Passage], decision: Decision) -> list[Passage]:
    by_id = {p.chunk_id: p for p in passages}
    return [by_id[i] for i in decision.kept]


async def _from_web(w: Work) -> list[Passage]:
    """Web results that pass the same grading; a failing web search leaves the knowledge base only, noted."""
    w.trace.note(w.grading.note)
    if w.seams.web is None:
        return []
    try:
        w.web = await w.trace.stage("web", w.seams.web.search(w.query.text, w.policy.web_k))
    except ServiceError as error:
        w.trace.note(f"{error}; answered from the knowledge base only")
        return []
    found = [web_passage(r, place) for place, r in enumerate(w.web)]
    graded = await w.trace.stage("grade", w.seams.grader.grade(w.query.text, found))
    w.grading = replace(w.grading, grades=w.grading.grades + graded.grades)
    kept = {g.chunk_id: g.score for g in graded.grades if g.score >= w.policy.keep_at}
    return sorted((p for p in found if p.chunk_id in kept), key=lambda p: -kept[p.chunk_id])


async def _record(w: Work, reply: Reply) -> Reply:
    """Complete the reply, write the ledger, then let it go. Without a record no answer leaves."""
    mode = {
        "generator": w.seams.composer.name,
        "grader": w.seams.grader.name,
        "search": w.found.mode,
        "screen": w.seams.screen.name,
    }
    reply = replace(
        reply, query=w.query.text, grades=w.grading.grades, action=w.decision.action if w.decision else None, web=w.web, mode=mode,
        kb_version=w.found.kb_version, notes=tuple(w.trace.notes), internal_notes=w.internal, timings_ms=w.trace.timings(),
    )  # fmt: skip
    try:
        entry = await w.trace.stage("record", w.seams.ledger.append("turn", turn_body(w, reply)))
    except (AttestError, OSError) as error:
        code: Code = "ledger_unavailable"
        return Reply(
            Outcome.FAILED,
            notice(Outcome.FAILED, code),
            code=code,
            mode=mode,
            notes=(f"record: {type(error).__name__}",),
        )
    return replace(reply, entry_id=entry.entry_id, timings_ms=w.trace.timings())
