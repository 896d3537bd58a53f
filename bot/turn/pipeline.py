"""The turn: the whole system on one screen.

screen -> (small talk: a fixed reply) -> query -> retrieve -> (screened passages) -> grade -> correct, ambiguous: add web, incorrect: web instead
-> evidence -> prompt -> compose (every model is wrapped by the screen) -> check -> send, repair, draft again or withhold -> ledger -> reply
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace

from bot.observability.turn_mark import turn_marked
from bot.records import Ask, Code, OnStage, Reply
from bot.turn.citations import internal_notes
from bot.turn.delivery import decide_reply, refusing_reply, reply_without_answer
from bot.turn.entry import turn_body
from bot.turn.pasted import read_pasted
from bot.turn.screening import blocked_for, open_turn
from bot.turn.state import Seams, Work
from bot.turn.talk import talked
from bot.turn.trace import CODES, Trace
from bot.wording.notices import EMPTY, OVER_BUDGET, notice
from bot.wording.refusals import FALLBACK, language_for
from grounding.corrective.correct import correct
from grounding.corrective.find import Finders, FoundEvidence, find
from grounding.corrective.plan import NOT_KNOWN, About
from grounding.errors import (
    AttestError,
    BudgetSpent,
    ContentFiltered,
    PromptBlocked,
    ServiceError,
    StoreError,
    UserError,
    WorkError,
)
from grounding.evidence.choose import choose, extracted, superseded
from grounding.mishap import kind_and_place, kind_and_way
from grounding.observe import record_degraded
from grounding.policy import Policy
from grounding.prompting.prompt import build_prompt
from grounding.query.clarify import clarifying
from grounding.query.conversation import last_turn_query, with_words, without_excluded
from grounding.records import Access, Action, Prompt, Query, Turn
from rai.account import Account, totals
from rai.records import Outcome
from rai.screening.screened import TurnScreening, screened_turn

LOG = logging.getLogger("attest.turn")


async def answer_turn(ask: Ask, seams: Seams, policy: Policy, on_stage: OnStage | None = None) -> Reply:
    """One turn. Always a reply; nothing leaves before the ledger has it. Raises UserError for an unusable question."""
    account = Account(seams.terms, prompt_tokens=policy.prompt_tokens)
    ask, understood = _understood(ask)
    with turn_marked() as mark, screened_turn(_conversation(ask), account) as screened:
        work = Work(ask, seams, policy, Trace(on_stage, turn_id=mark.turn_id))
        work.understood = understood
        reply = await _record(work, await _reply(work, screened))  # its writer masks what was found in this turn
        mark.entry_id = reply.entry_id
        _log_end(reply)
        return reply


def _understood(ask: Ask) -> tuple[Ask, str]:
    """A conversation or e-mail that was pasted as a question, with what is asked as the question and the rest as history, and the line that says so."""
    pasted = read_pasted(ask.question)
    if pasted is None:
        return ask, ""
    return replace(ask, question=pasted.question, history=(*ask.history, *pasted.history)), pasted.told


async def _reply(work: Work, screened: TurnScreening) -> Reply:
    """However the turn ends, also where something of ours raises that nobody expected. Raises UserError."""
    try:
        return await _expected(work, screened)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the turn its record
        return _broken(work, error)


def _broken(work: Work, error: Exception) -> Reply:
    """A turn that failed inside: the log has the way to the fault, the record its place, and neither a word of the turn."""
    stage = work.trace.current or "turn"
    LOG.error("turn %s failed inside, at %s: %s", work.trace.turn_id, stage, kind_and_way(error))
    work.trace.note(f"{stage}: failed inside ({kind_and_place(error)})")
    return reply_without_answer(work, Outcome.FAILED)


async def _expected(work: Work, screened: TurnScreening) -> Reply:
    """The ends that a turn can have."""
    try:
        try:
            async with asyncio.timeout(work.seams.deadline_s):
                reply = await _told_if_empty(work, await _turn(work))
        finally:
            work.trace.note(*screened.notes)
            work.trace.screenings += screened.blocked
            work.trace.judgements += screened.judgements
            work.trace.calls += screened.account.calls
    except TimeoutError:
        reply = reply_without_answer(work, Outcome.FAILED, "deadline")
    except PromptBlocked as error:
        reply = (
            reply_without_answer(work, Outcome.FAILED, "screen_unavailable")
            if error.unavailable
            else refusing_reply(work, blocked_for(work))
        )
    except ContentFiltered:
        work.trace.note("the model service's content filter blocked this turn")
        reply = refusing_reply(work)
    except BudgetSpent:  # the record says it already
        reply = replace(reply_without_answer(work, Outcome.FAILED, "model_unavailable"), answer=OVER_BUDGET)
    except WorkError as error:
        work.trace.note(f"{work.trace.current}: {error}")
        drafted = work.trace.current in ("compose", "check")  # what could not be read or checked is not delivered
        reply = (
            reply_without_answer(work, Outcome.WITHHELD)
            if drafted
            else reply_without_answer(work, Outcome.FAILED, CODES.get(work.trace.current))
        )
    except (ServiceError, StoreError) as error:
        work.trace.note(f"{work.trace.current}: {error}")
        reply = reply_without_answer(work, Outcome.FAILED, CODES.get(work.trace.current))
    return reply


async def _told_if_empty(w: Work, reply: Reply) -> Reply:
    """An empty knowledge base is no lack of evidence: whoever asks is told so, and how it is filled."""
    if reply.outcome is Outcome.INSUFFICIENT and await w.seams.is_empty():
        return replace(reply, answer=EMPTY)
    return reply


def _conversation(ask: Ask) -> list[str]:
    """All that may hold personal data of the customer."""
    return [ask.question, *(turn.text for turn in ask.history), *([ask.context] if ask.context else [])]


async def _turn(w: Work) -> Reply:
    stage, seams, policy = w.trace.stage, w.seams, w.policy
    access = await stage("access", _access(w))
    if not await stage("screen", open_turn(w)):
        return refusing_reply(w, blocked_for(w))
    if (reply := await talked(w)) is not None:
        return reply
    w.query = await stage("query", _query(w, access))
    found = await _find(w, access)
    w.internal = internal_notes([p for p in found.kept if p.internal], w.grading.grades)
    usable = [p for p in found.filled if not p.internal]
    if policy.evidence == "extracts":
        usable = extracted(usable, w.grading.grades)
    w.evidence = choose(usable, {g.chunk_id: g.score for g in w.grading.grades}, policy)
    if not w.evidence:
        return reply_without_answer(w, Outcome.INSUFFICIENT)
    certain = {p.chunk_id for p in found.kept}  # what only fills the evidence need not be about the question
    for old, new in superseded([e.passage for e in w.evidence if e.passage.chunk_id in certain]).items():
        w.trace.note(
            f"{next(e.passage.doc_id for e in w.evidence if e.passage.chunk_id == old)} is older than {new.doc_id} on the same subject"
        )
    w.prompt = await asyncio.to_thread(_prompt, w)  # it counts tokens of all that was said, as long as that may be
    draft = await stage("compose", seams.composer.compose(w.prompt))
    return await decide_reply(w, draft.text)


async def _find(w: Work, access: Access) -> FoundEvidence:
    """Search, grade, decide, correct; what was found so far is kept also when time runs out in the middle."""
    seams = w.seams
    finders = Finders(seams.retriever, seams.grader, seams.web, seams.rewriter)
    f = FoundEvidence(w.query, access, w.policy, finders, w.trace.stage, excluded=w.ask.excluded)
    try:
        await find(f)
        await correct(f, About(product=w.ask.product or NOT_KNOWN, brand=seams.company), w.marker)
        if w.policy.clarify and f.decision.action is not Action.CORRECT:
            turns = (*w.history, Turn("user", w.ask.question))
            w.clarification = clarifying(turns, f.query, f.passages, f.grading.grades, product=w.ask.product)
    finally:
        w.query, w.searched, w.found, w.web = f.query, f.searched.text, f.found, f.web
        w.grading = replace(f.grading, grades=f.grades)
        w.decided_first, w.decision, w.corrections = f.first, f.decision if f.first else None, tuple(f.corrections)
        w.trace.note(*f.notes)
    return f


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
        record_degraded("directory")
        w.trace.note(f"{error}; only what everyone may see was searched")
        return Access(user, frozenset(), product)


async def _query(w: Work, access: Access) -> Query:
    turns = (*w.history, Turn("user", w.ask.question))
    try:
        query = await w.seams.queries.build(turns, access)
    except ServiceError as error:
        record_degraded("summarizer")
        query = last_turn_query(turns, f"{error}; the last turn is the query")
    w.trace.note(query.note)
    product = w.ask.product
    if product and product.lower() not in query.text.lower():  # the person named it beside the conversation
        query = replace(query, text=f"{product} {query.text}", entities=(product, *query.entities))
    return without_excluded(await _spelled(w, query, access), w.ask.excluded)


async def _spelled(w: Work, query: Query, access: Access) -> Query:
    """The query with slips of the hand mended, as the knowledge base spells the words; the record says which.

    Of English questions alone: a word of another language is no slip of an English one.
    """
    if w.seams.speller is None or language_for(w.ask.question) != FALLBACK:
        return query
    slips = await w.seams.speller.spelled(query.text, access)
    for typed, meant in slips.items():
        w.trace.note(f"“{typed}” was read as “{meant}”")
    return with_words(query, slips)


async def _record(w: Work, reply: Reply) -> Reply:
    """Complete the reply, write the ledger, then let it go. Without a record no answer leaves."""
    mode = {
        "generator": w.seams.composer.name,
        "grader": w.seams.grader.name,
        "search": w.found.mode,
        "screen": w.seams.screen.name,
    }
    try:
        return await _written(w, _completed(w, reply, mode))
    except (AttestError, OSError) as error:
        failed: Exception = error
    except Exception as error:  # noqa: BLE001 - of what cannot be written down, that it was asked and failed is
        failed = error
        with suppress(Exception):
            return await _written(w, _bare(w, error, mode), bare=True)
    code: Code = "ledger_unavailable"
    return Reply(
        Outcome.FAILED,
        notice(Outcome.FAILED, code),
        code=code,
        mode=mode,
        turn_id=w.trace.turn_id,
        notes=(f"record: {type(failed).__name__}",),
    )


def _completed(w: Work, reply: Reply, mode: dict[str, str]) -> Reply:
    return replace(
        reply, policy=w.policy.name, query=w.query.text, grades=w.grading.grades, action=w.decision.action if w.decision else None, web=w.web, mode=mode,
        kb_version=w.found.kb_version, decided_first=w.decided_first, decision=w.decision, clarification=w.clarification, corrections=w.corrections, usage=totals(w.trace.calls, w.seams.terms.prices), turn_id=w.trace.turn_id, notes=tuple(w.trace.notes), internal_notes=w.internal, timings_ms=w.trace.timings(),
        understood=w.understood,
    )  # fmt: skip


def _bare(w: Work, error: Exception, mode: dict[str, str]) -> Reply:
    """The reply of a turn whose findings cannot be written down: none of them may leave."""
    reply = replace(_broken(w, error), policy=w.policy.name, mode=mode, turn_id=w.trace.turn_id)
    return replace(reply, notes=tuple(w.trace.notes), timings_ms=w.trace.timings())


async def _written(w: Work, reply: Reply, *, bare: bool = False) -> Reply:
    """The reply once the ledger has it. `bare`: nothing beside what was asked and how it ended."""
    shown = Work(w.ask, w.seams, w.policy, w.trace) if bare else w
    entry = await w.trace.stage("record", w.seams.ledger.append("turn", turn_body(shown, reply)))
    return replace(reply, entry_id=entry.entry_id, timings_ms=w.trace.timings())


def _log_end(reply: Reply) -> None:
    """One line for a turn that has ended. No question, no answer, no name."""
    ms = reply.timings_ms.get("total", 0.0)
    fields = {
        "outcome": reply.outcome.value,
        "code": reply.code,
        "ms": ms,
        "policy": reply.policy,
        "entry_id": reply.entry_id,
    }
    code = f" ({reply.code})" if reply.code else ""
    recorded = f"entry {reply.entry_id}" if reply.entry_id else "no entry"
    LOG.info("turn %s %s%s in %.0f ms, %s", reply.turn_id, reply.outcome.value, code, ms, recorded, extra=fields)
