"""A whole turn without a model over a tariff: what it comes to is written out, checked and recorded with what it rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import Ask
from bot.turn.pipeline import answer_turn
from grounding.policies.files import built_in
from grounding.records import Document
from rai.records import Outcome
from tests.e2e.support import world
from tests.fakes.embedder import HashEmbedder

ROW = "Charge: Waiting at site | Amount: £9.00 per started quarter of an hour | Free portion: first 10 minutes"


@pytest.mark.parametrize(
    ("minutes", "formula"), [(35, "2 × £9.00 = £18.00"), (40, "2 × £9.00 = £18.00"), (41, "3 × £9.00 = £27.00")]
)
async def test_a_sum_is_written_out_checked_and_recorded(tmp_path: Path, minutes: int, formula: str) -> None:
    documents = [
        Document("charges.md", "Charges", ROW),
        Document("keys.md", "Keys", "A lost key costs £40.00. The office opens at nine."),
    ]
    w = await world(tmp_path, documents, HashEmbedder())
    ask = Ask(f"what is the charge for waiting at site for {minutes} minutes?")
    reply = await answer_turn(ask, w.seams, built_in()["attest"])
    assert reply.outcome is Outcome.ANSWERED
    assert f"- {minutes} minutes: {formula} [1]" in reply.answer
    told = {c.text: (c.status, c.rule) for c in reply.claims}
    assert told[formula.rpartition("= ")[2]] == ("derived", "written-formula")
    assert told["£9.00"][0] == "exact"
    assert told[f"{minutes} minutes"][0] == "given"
    assert not any(c.unsupported for c in reply.claims)
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert formula in entry.body["reply"]["answer"]


async def test_what_is_free_is_quoted_and_nothing_worked_out(tmp_path: Path) -> None:
    w = await world(tmp_path, [Document("charges.md", "Charges", ROW)], HashEmbedder())
    reply = await answer_turn(
        Ask("what is the charge for waiting at site for 8 minutes?"), w.seams, built_in()["attest"]
    )
    assert "first 10 minutes" in reply.answer
    assert "×" not in reply.answer
