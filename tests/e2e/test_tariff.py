"""A whole turn without a model over a tariff: what it comes to is written out, checked and recorded with what it rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import Ask
from bot.turn.pipeline import answer_turn
from grounding.policies.files import built_in
from grounding.quoting.tariffs import worked_out
from grounding.records import Document
from rai.check.match import check_claims
from rai.records import Outcome, Source
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
    assert f"- {formula} [1]" in reply.answer
    told = {c.text: (c.status, c.rule) for c in reply.claims}
    assert told[formula.rpartition("= ")[2]] == ("derived", "written-formula")
    assert told["£9.00"][0] == "exact"
    assert not any(c.unsupported for c in reply.claims)
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert formula in entry.body["reply"]["answer"]


@pytest.mark.parametrize(
    ("line", "question"),
    [
        (
            "The first hour is free. After that £8 per started hour, at most £60 per day.",
            "what do they owe for 12 hours",
        ),
        ("Lockers are £3.75 a week, minimum four weeks.", "locker for 2 weeks, how much"),
        ("Same-day van: £1.15 per mile, minimum charge £32.", "24 miles, how much"),
        ("£35 including 40 miles, 45p for each mile beyond that.", "62 miles, how much"),
        ("We drive the first 20 km for a flat 18 euros, each further km 0.85 euros.", "60 km out, how much"),
        ("Data: €5.00 including 100 MB, each additional 100 MB started: €3.50", "430 MB used, how much"),
        ("Rollos 49 € für das erste, 15 € für jedes weitere", "Was kosten drei Rollos?"),
        ("€0.80 per started quarter of an hour, but never more than €16", "7 hours, total"),
    ],
)
def test_the_check_finds_nothing_to_strike_in_a_sum(line: str, question: str) -> None:
    """Neither the result nor how often something is taken; a repair would put another value in its place."""
    said = worked_out(line, question, question)
    assert said is not None
    claims = check_claims(f"Quoted from the sources:\n- {line} [1]\n- {said} [1]", [Source("s1", line)], question)
    assert not [c.text for c in claims if c.unsupported]


async def test_what_is_free_is_quoted_and_nothing_worked_out(tmp_path: Path) -> None:
    w = await world(tmp_path, [Document("charges.md", "Charges", ROW)], HashEmbedder())
    reply = await answer_turn(
        Ask("what is the charge for waiting at site for 8 minutes?"), w.seams, built_in()["attest"]
    )
    assert "first 10 minutes" in reply.answer
    assert "×" not in reply.answer
