"""The turn: the whole system on one screen.

screen -> (small talk: a fixed reply) -> query -> retrieve -> (screened passages) -> grade -> correct, ambiguous: add web, incorrect: web instead
-> evidence -> prompt -> compose (every model is wrapped by the screen) -> check -> send, repair, draft again or withhold -> ledger -> reply
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext
from dataclasses import replace

from bot.observability.turn_mark import turn_marked
from bot.records import Ask, OnStage, Reply
from bot.turn.access import groups_of_the_asker, turn_access
from bot.turn.conversation.pasted import read_pasted
from bot.turn.conversation.small_talk import courtesy, small_talk
from bot.turn.draft.citations import internal_notes
from bot.turn.draft.draft_to_reply import decide_reply, refusing_reply, reply_without_answer, with_quotes
from bot.turn.entries.recording import broken_reply, record_reply
from bot.turn.prompt import turn_prompt
from bot.turn.query import turn_query
from bot.turn.rework import reworked, wanted
from bot.turn.screening import blocked_for, open_turn
from bot.turn.seams import Seams
from bot.turn.small_talk_reply import talked
from bot.turn.stages import CODES
from bot.turn.state import TurnState
from bot.wording.conversation.pictures import asks_about_unsaid, what_it_says
from bot.wording.notices import said
from bot.wording.refusals import language_for, spoken
from grounding.corrective.correct import correct
from grounding.corrective.find import EvidenceSearch, Finders, find
from grounding.corrective.plan import NOT_KNOWN, About
from grounding.errors import (
    BudgetSpent,
    ContentFiltered,
    PromptBlocked,
    ServiceError,
    StoreError,
    UserError,
    WorkError,
)
from grounding.evidence.choose import choose, extracted, superseded
from grounding.policy import Policy
from grounding.query.clarify import Clarification, between, clarifying
from grounding.query.conversation import goes_on, leans, names, points_back, without_names
from grounding.quoting.filters import tables_together
from grounding.records import Access, Action, Evidence, Turn
from grounding.text import terms
from rai.account import Account
from rai.records import Outcome
from rai.screening.turn import screened_turn

LOG = logging.getLogger("attest.turn")


async def answer_turn(ask: Ask, seams: Seams, policy: Policy, on_stage: OnStage | None = None) -> Reply:
    """One turn. Always a reply; nothing leaves before the ledger has it. Raises UserError for an unusable question."""
    account = Account(seams.terms, prompt_tokens=policy.prompt_tokens)
    ask, understood = _understood(ask)
    with turn_marked() as mark, screened_turn(_conversation(ask), account) as screening:
        state = TurnState(ask, seams, policy, screening, mark.turn_id, on_stage, understood)
        async with groups_of_the_asker(state):
            made = await _reply(state)
        reply = await record_reply(state, made)  # its writer masks what was found in this turn
        mark.entry_id = reply.entry_id
        _log_end(reply)
        return reply


def _understood(ask: Ask) -> tuple[Ask, str]:
    """A conversation or e-mail that was pasted as a question, with what is asked as the question and the rest as history, and the line that says so."""
    pasted = read_pasted(ask.question)
    if pasted is None:
        return ask, ""
    history = (*ask.history, *pasted.history)
    language = language_for(pasted.question, ask.locale, spoken(history))
    return replace(ask, question=pasted.question, history=history), pasted.told(language)


async def _reply(state: TurnState) -> Reply:
    """However the turn ends, also where something of ours raises that nobody expected. Raises UserError."""
    try:
        return await _expected(state)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the turn its record
        return broken_reply(state, error)


async def _expected(state: TurnState) -> Reply:
    """The ends that a turn can have."""
    try:
        try:
            async with asyncio.timeout(state.seams.deadline_s) as limit:
                with state.ask.stop.ends(limit) if state.ask.stop else nullcontext():
                    reply = await _told_instead(state, await _turn(state))
        finally:
            state.close_screening()
    except TimeoutError:
        reply = reply_without_answer(state, Outcome.FAILED, "deadline")
    except PromptBlocked as error:
        reply = (
            reply_without_answer(state, Outcome.FAILED, "screen_unavailable")
            if error.unavailable
            else refusing_reply(state, blocked_for(state))
        )
    except ContentFiltered:
        state.note("the model service's content filter blocked this turn")
        reply = refusing_reply(state)
    except BudgetSpent:  # the record says it already
        reply = replace(
            reply_without_answer(state, Outcome.FAILED, "model_unavailable"), answer=said("over_budget", state.language)
        )
    except WorkError as error:
        state.note(f"{state.current}: {error}")
        drafted = state.current in ("compose", "check")  # what could not be read or checked is not delivered
        reply = (
            reply_without_answer(state, Outcome.WITHHELD)
            if drafted
            else reply_without_answer(state, Outcome.FAILED, CODES.get(state.current))
        )
    except (ServiceError, StoreError) as error:
        state.note(f"{state.current}: {error}")
        reply = reply_without_answer(state, Outcome.FAILED, CODES.get(state.current))
    if state.stopped:  # whatever it came to: nobody is to see it, so nothing of it is recorded as an answer
        return replace(reply_without_answer(state, Outcome.FAILED), answer=said("stopped", state.language))
    return await with_quotes(state, reply)


async def _told_instead(state: TurnState, reply: Reply) -> Reply:
    """An empty knowledge base is no lack of evidence: whoever asks is told so, and how it is filled. Who greets and chats has asked nothing."""
    if reply.outcome is not Outcome.INSUFFICIENT:
        return reply
    if await state.seams.is_empty():
        return replace(reply, answer=said("empty", state.language))
    found = frozenset(term for passage in state.found.graded for term in terms(passage.text))
    talk = courtesy(state.ask.question, found, state.history, state.ask.locale)
    return await talked(state, talk) if talk else reply


def _conversation(ask: Ask) -> list[str]:
    """All that may hold personal data of the customer."""
    return [ask.question, *(turn.text for turn in ask.history), *([ask.context] if ask.context else [])]


async def _turn(state: TurnState) -> Reply:
    """Stage after stage; what each comes to stays in the state."""
    stage = state.stage
    access = state.access = await stage("access", turn_access(state))
    if not await stage("screen", open_turn(state)):
        return refusing_reply(state, blocked_for(state))
    talk = small_talk(state.ask.question, state.history, state.ask.locale)
    if (rework := wanted(state.ask, talk)) is not None:
        return await reworked(state, rework, talk.language if talk else state.language)
    if talk is not None:
        return await talked(state, talk)
    if asks_about_unsaid(state.ask.question) and not _is_known(state):
        state.clarification = Clarification(what_it_says(state.language), (), "it points at a text that was not typed")
        return reply_without_answer(state, Outcome.INSUFFICIENT)
    state.query = await stage("query", turn_query(state, access))
    reply = await _answered(state, access)
    if reply.outcome is Outcome.INSUFFICIENT and state.clarification is None and _may_stand_alone(state):
        state.begin_again(without_names(state.query))
        state.note("the question was read without the names of earlier turns")
        reply = await _answered(state, access)
    return reply


def _may_stand_alone(state: TurnState) -> bool:
    """Whether names of earlier turns were put to a question that neither points at them nor says too little without them: its subject may be another. A model, which is
    told all that was found, is not asked twice.
    """
    asked = state.ask.question
    carried = (
        bool(state.query.entities) and not state.ask.product and not state.seams.composer.name.startswith("model:")
    )
    return carried and not goes_on(asked) and not points_back(asked) and (not leans(asked) or bool(names(asked)))


async def _answered(state: TurnState, access: Access) -> Reply:
    """What is found for the query, drafted and checked."""
    stage = state.stage
    await _find(state, access)
    state.internal = internal_notes([p for p in state.found.kept if p.internal], state.found.grades)
    state.evidence = _evidence(state)
    if not state.evidence:
        return reply_without_answer(state, Outcome.INSUFFICIENT)
    state.prompt = await asyncio.to_thread(turn_prompt, state, state.ask.question, state.evidence)
    draft = await stage("compose", state.seams.composer.compose(state.prompt))
    state.unknown = await _unknown(state, draft.unknown, access)
    if state.policy.clarify and not (state.clarification and state.clarification.options):
        state.clarification = between(draft.rivals, state.language) or state.clarification
    return await decide_reply(state, draft.text)


def _is_known(state: TurnState) -> bool:
    """Whether anything is known of the case: something that was said before, greetings apart, or what lies beside the question."""
    said = (turn.text for turn in state.history if turn.role != "assistant")
    return bool(state.ask.context) or any(small_talk(text) is None for text in said)


async def _unknown(state: TurnState, name: str, access: Access) -> str:
    """The name that the drafter did not find in the evidence, unless another document that this reader may see has it: then nobody is told that none has."""
    linker = state.seams.linker
    return "" if name and linker is not None and await linker.knows(name, access) else name


async def _find(state: TurnState, access: Access) -> None:
    """Search, grade, decide, correct; what was found so far is kept also when time runs out in the middle."""
    seams, policy = state.seams, state.policy
    finders = Finders(seams.retriever, seams.grader, seams.web, seams.rewriter)
    search = EvidenceSearch(
        state.query, access, policy, finders, state.stage, excluded=state.ask.excluded, wants_web=state.ask.web
    )
    try:
        await find(search)
        await correct(search, About(product=state.ask.product or NOT_KNOWN, brand=seams.company), state.marker)
    finally:
        found = state.found = search.result()
        state.query = found.query
        state.note(*found.notes)
    if policy.clarify and found.decision is not None and found.decision.action is not Action.CORRECT:
        turns = (*state.before, Turn("user", state.ask.question))
        state.clarification = clarifying(
            turns, found.query, found.graded, found.grades, product=state.ask.product, language=state.language
        )


def _evidence(state: TurnState) -> tuple[Evidence, ...]:
    """What was found, as evidence; the record says what in it is older than another passage on the same subject."""
    found, policy = state.found, state.policy
    usable = [p for p in found.filled if not p.internal]
    if policy.evidence == "extracts":
        usable = extracted(usable, found.grades)
    evidence = choose(tables_together(found.query.text, usable), found.scores, policy)
    certain = {p.chunk_id for p in found.kept}  # what only fills the evidence need not be about the question
    passages = {e.passage.chunk_id: e.passage for e in evidence}
    for old, new in superseded([p for p in passages.values() if p.chunk_id in certain]).items():
        state.note(f"{passages[old].doc_id} is older than {new.doc_id} on the same subject")
    return evidence


def _log_end(reply: Reply) -> None:
    """One line for a turn that has ended. No question, no answer, no name."""
    ms = reply.record.timings_ms.get("total", 0.0)
    fields = {
        "outcome": reply.outcome.value,
        "code": reply.code,
        "ms": ms,
        "policy": reply.record.policy_name,
        "entry_id": reply.entry_id,
    }
    code = f" ({reply.code})" if reply.code else ""
    recorded = f"entry {reply.entry_id}" if reply.entry_id else "no entry"
    LOG.info("turn %s %s%s in %.0f ms, %s", reply.record.turn_id, reply.outcome.value, code, ms, recorded, extra=fields)
