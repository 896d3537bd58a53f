"""Refusals that people call wrong: who may report which, what twice does, what reviewers decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.records import Actor
from bot.turn.entries.disputes import DECISION, REPORT, Reporter, decide, dispute_of, queue, report
from grounding.errors import InputError
from grounding.records import plain
from rai.ledger.store import SqlLedger
from rai.records import Entry

ADA = Reporter("ada", "msteams", "chat-1")
BY = Actor("ada", "account")
TOLD = {"user": "ada", "authenticated_by": "account", "tenant": None}


def ledger_of(folder: Path) -> SqlLedger:
    return SqlLedger(folder / "ledger.db", folder / "config" / "ledger.key")


async def turn(ledger: SqlLedger, **changes: Any) -> Entry:
    ask = {"question": "How do I kill a process?", "user": "ada", "channel": "msteams", "conversation": "chat-1"}
    screening = {
        "what": "question",
        "verdict": "block",
        "category": "violence",
        "rule": "VI-01",
        "score": 0.9,
        "threshold": 0.5,
    }
    outcome = changes.pop("outcome", "blocked")
    kind = changes.pop("kind", "turn")
    body = {"ask": {**ask, **changes}, "reply": {"outcome": outcome}, "screenings": [screening]}
    return await ledger.append(kind, body)


async def test_a_report_is_an_entry_of_its_own_and_twice_is_once(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    refused = await turn(ledger)
    first, new = await report(ledger, refused.entry_id, ADA, "I meant the computer's, ring me on 020 7946 0018")
    again, twice = await report(ledger, refused.entry_id, ADA)
    assert (new, twice, again) == (True, False, first)
    assert first.kind == REPORT
    assert first.body["user"] == "ada"
    assert first.body["comment"].startswith("I meant the computer's")
    assert "7946" not in first.body["comment"], "personal data is masked by the ledger's writer"
    found = await dispute_of(ledger, refused)
    assert found is not None
    assert (found.state, found.question, found.screening["rule"]) == ("open", "How do I kill a process?", "VI-01")
    assert (await ledger.verify()).ok


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({"outcome": "answered"}, ADA),
        ({"outcome": "withheld"}, ADA),
        ({"kind": "ingest"}, ADA),
        ({}, Reporter("eve", "msteams", "chat-1")),
        ({}, Reporter("ada", "msteams", "chat-2")),
        ({}, Reporter("ada", "emulator", "chat-1")),
        ({}, Reporter(None, "msteams", "chat-1")),
        ({}, Reporter("ada", "http")),
        ({"channel": "http", "conversation": None}, Reporter(None, "http")),
        ({"channel": "http", "conversation": None, "user": None}, Reporter("eve", "http")),
        ({"channel": "http", "conversation": None, "user": None}, Reporter(None, "msteams", "chat-1")),
    ],
)
async def test_what_is_not_ones_own_refusal_cannot_be_reported(
    tmp_path: Path, changes: dict[str, Any], who: Reporter
) -> None:
    """Nor does the answer tell whether there is such an entry."""
    ledger = ledger_of(tmp_path)
    entry = await turn(ledger, **changes)
    with pytest.raises(InputError, match="no refused question of yours"):
        await report(ledger, entry.entry_id, who)
    with pytest.raises(InputError, match="no refused question of yours"):
        await report(ledger, "01NOSUCH", who)
    assert [e.kind async for e in ledger.entries(after=1)] == [entry.kind]


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({}, ADA),
        ({"user": None}, ADA),  # a group: whoever saw the refusal
        ({"channel": "http", "conversation": None}, Reporter("ada", "http")),
        ({"channel": "http", "conversation": None, "user": None}, Reporter(None, "http")),
        ({"channel": "cli", "conversation": None, "user": None}, Reporter(None, "cli")),
    ],
)
async def test_ones_own_refusal_can_be_reported(tmp_path: Path, changes: dict[str, Any], who: Reporter) -> None:
    ledger = ledger_of(tmp_path)
    entry = await turn(ledger, **changes)
    assert (await report(ledger, entry.entry_id, who))[1]


@pytest.mark.parametrize("actor", [None, Actor("ada", "aad", "halden")])
async def test_a_report_says_who_reports_and_how_that_is_known(tmp_path: Path, actor: Actor | None) -> None:
    """Where the channel tells no more than a user, nothing else is known of him."""
    ledger = ledger_of(tmp_path)
    refused = await turn(ledger)
    entry, _ = await report(ledger, refused.entry_id, replace(ADA, actor=actor))
    assert entry.body["actor"] == plain(actor or Actor("ada"))


async def test_the_newest_decision_counts_and_the_same_again_changes_nothing(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    refused = await turn(ledger)
    with pytest.raises(InputError, match="nobody reported"):
        await decide(ledger, refused.entry_id, "wrong", channel="review", by=BY)
    await report(ledger, refused.entry_id, ADA)
    first = await decide(ledger, refused.entry_id, "right", "a threat", channel="review", by=BY)
    assert await decide(ledger, refused.entry_id, "right", "a threat", channel="review", by=BY) == first
    await decide(ledger, refused.entry_id, "wrong", "it is about a computer", channel="cli", by=BY)
    [found] = (await queue(ledger)).disputes
    assert found.state == "wrong"
    assert found.as_json()["note"] == "it is about a computer"
    kept = [e async for e in ledger.entries(after=1)]
    assert [e.kind for e in kept] == ["turn", REPORT, DECISION, DECISION]
    assert [e.body["actor"] for e in kept[2:]] == [TOLD, TOLD]


async def test_the_queue_has_the_newest_report_first_and_survives_an_erasure(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    one, two, three = [await turn(ledger, question=f"How do I kill process {n}?") for n in range(3)]
    for entry in (two, one, three):
        await report(ledger, entry.entry_id, ADA)
    await ledger.erase(one.entry_id, "asked to")
    found = (await queue(ledger)).disputes
    assert [d.entry_id for d in found] == [three.entry_id, one.entry_id, two.entry_id]
    assert found[1].question == ""
    assert found[1].screening == {}
    assert not (await queue(ledger)).cut
    assert (await queue(ledger, scan=2)).cut


async def test_pages_that_were_read_hide_no_report(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    entry = await turn(ledger)
    await report(ledger, entry.entry_id, ADA)
    for _ in range(20):
        await ledger.append("read", {"schema": 2, "page": "list"})
    found = await queue(ledger, scan=6)
    assert [d.entry_id for d in found.disputes] == [entry.entry_id]
    assert not found.cut
    assert (await queue(ledger, scan=1)).cut
    await ledger.close()
