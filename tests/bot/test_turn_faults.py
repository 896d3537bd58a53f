"""A fault of ours in any stage of a turn: `failed` with a record; never a lost turn, a traceback, or a word of the turn in the log."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from bot.turn.pipeline import answer_turn
from bot.wording.notices import notice
from grounding.policy import Policy
from rai.records import Outcome
from tests.bot.turn.test_pipeline import ASK, Failing, small
from tests.fakes.planted import DRAFT, FAULT, PLANTED, SECRET, answering, is_recorded, part, planted


def said_of(caplog: pytest.LogCaptureFixture) -> str:
    ours = [r for r in caplog.records if r.name.split(".")[0] in ("attest", "bot", "grounding", "rai")]
    return "\n".join(r.getMessage() + str(r.exc_info or "") for r in ours)


@pytest.mark.parametrize("stage", PLANTED)
async def test_a_fault_in_any_stage_fails_the_turn_with_a_record(
    stage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has the way to the fault; neither it, the record nor the reply has what the exception said."""
    caplog.set_level(logging.INFO)
    w = await planted(tmp_path, stage)
    reply = await answering(w)(ASK, None)
    assert (reply.outcome, reply.code, reply.answer) == (Outcome.FAILED, None, notice(Outcome.FAILED))
    assert (reply.citations, reply.claims) == ((), ())
    assert await is_recorded(w, reply.entry_id)
    assert "Error by bot/turn/" in said_of(caplog)
    entry = await w.ledger.get(reply.entry_id)
    assert SECRET not in said_of(caplog) + str(entry) + str(reply)


async def test_a_ledger_that_writes_nothing_at_all_lets_nothing_out(tmp_path: Path) -> None:
    w = await small(tmp_path, DRAFT)
    reply = await answer_turn(ASK, replace(w.seams, ledger=part(Failing(FAULT))), Policy())
    assert (reply.outcome, reply.code, reply.entry_id) == (Outcome.FAILED, "ledger_unavailable", "")
    assert "9.99" not in str(reply)
