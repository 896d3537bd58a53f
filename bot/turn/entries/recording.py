"""The end of a turn: its reply completed and written to the ledger before it leaves, or a fixed notice in its place."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace

from bot.records import Code, Reply, TurnRecord
from bot.turn.draft.draft_to_reply import reply_without_answer
from bot.turn.entries.record import turn_body, turn_record
from bot.turn.state import TurnState
from bot.wording.notices import notice
from grounding.corrective.find import FoundEvidence
from grounding.errors import AttestError, kind_and_place, kind_and_way
from grounding.records import Query
from rai.records import Outcome

LOG = logging.getLogger("attest.turn")


async def record_reply(state: TurnState, reply: Reply) -> Reply:
    """Complete the reply, write the ledger, then let it go. Without a record no answer leaves."""
    try:
        return await _written(state, _completed(state, reply))
    except (AttestError, OSError) as error:
        failed: Exception = error
    except Exception as error:  # noqa: BLE001 - of what cannot be written down, that it was asked and failed is
        failed = error
        with suppress(Exception):
            return await _written(state, _minimal(state, error))
    code: Code = "ledger_unavailable"
    record = TurnRecord(state.turn_id, mode=turn_record(state).mode, notes=(f"record: {type(failed).__name__}",))
    return Reply(Outcome.FAILED, notice(Outcome.FAILED, code, state.language), code=code, record=record)


def _completed(state: TurnState, reply: Reply) -> Reply:
    return replace(
        reply,
        clarification=state.clarification,
        internal_notes=state.internal,
        understood=state.understood,
        record=turn_record(state),
    )


def _minimal(state: TurnState, error: Exception) -> Reply:
    """The reply of a turn whose findings cannot be written down: none of them may leave, beside what was asked and how it ended."""
    reply, whole = broken_reply(state, error), turn_record(state)
    minimal = replace(
        whole,
        query=Query(""),
        found=FoundEvidence(),
        evidence=(),
        prompt=None,
        regeneration=None,
        rejected_drafts=(),
        usage={},
    )
    return replace(reply, record=minimal)


async def _written(state: TurnState, reply: Reply) -> Reply:
    """The reply once the ledger has it."""
    entry = await state.stage("record", state.seams.ledger.append("turn", turn_body(reply)))
    return replace(reply, entry_id=entry.entry_id, record=replace(reply.record, timings_ms=state.timings()))


def broken_reply(state: TurnState, error: Exception) -> Reply:
    """A turn that failed inside: the log has the way to the fault, the record its place, and neither a word of the turn."""
    stage = state.current or "turn"
    LOG.error("turn %s failed inside, at %s: %s", state.turn_id, stage, kind_and_way(error))
    state.note(f"{stage}: failed inside ({kind_and_place(error)})")
    return reply_without_answer(state, Outcome.FAILED)
