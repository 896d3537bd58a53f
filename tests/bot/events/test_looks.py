"""What is recorded of looking: who and what, in a few hundred bytes, and no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.events.digests import Digests
from bot.events.looks import record_check, record_read, record_source
from bot.records import Actor
from bot.system import CheckRequest
from rai.entry_schema import changed
from rai.ledger.chain import canonical
from rai.ledger.store import SqlLedger
from rai.records import Claim, Entry, Report, Source, Status, Verdict
from tests.fakes.ledger import FakeLedger

MOST = 400
"""Bytes of the body of an opened source, with an id of a person, a document and a passage as long as they come."""


def report(*statuses: Status, verdict: Verdict = "supported") -> Report:
    return Report(verdict, 0.1, tuple(Claim("number", "x", 0, 1, status=status) for status in statuses))


def only(ledger: FakeLedger, kind: str) -> Entry:
    (entry,) = ledger.kept
    assert entry.kind == kind
    assert changed(entry.body, kind, lambda text, _leaf: text) == entry.body, "the schema knows it"
    return entry


async def test_an_opened_source_is_small() -> None:
    ledger = FakeLedger()
    turn = Entry("01JD3ZK8M3Q4R5S6T7V8W9X0YZ", 7, "2026-11-20T09:30:00Z", "turn", {}, "", "")
    person = "8f14e45f-ceea-467f-a0e6-5d8f1d3c9b21"
    cited = {"n": 2, "doc_id": "handbook/returns-and-refunds.md", "chunk_id": "0123456789abcdef01234567", "text": "no"}
    await record_source(ledger, Actor(person, "link"), turn, cited)
    body = only(ledger, "source_opened").body
    assert body["entry_id"] == turn.entry_id
    assert (body["n"], body["doc_id"], body["chunk_id"]) == (2, cited["doc_id"], cited["chunk_id"])
    assert body["actor"]["user"] == person
    assert "text" not in body
    assert len(canonical(body)) < MOST


async def test_a_page_that_was_read_is_named_with_what_it_was_narrowed_to() -> None:
    ledger = FakeLedger()
    await record_read(
        ledger, Actor(None, "review 1a2b3c4d"), "list", wanted={"outcome": "blocked", "kind": "", "before": 0}
    )
    body = only(ledger, "read").body
    assert (body["page"], body["wanted"]) == ("list", {"outcome": "blocked"})
    assert body["actor"]["authenticated_by"] == "review 1a2b3c4d"
    assert "entry_id" not in body


async def test_a_check_leaves_no_text_and_can_be_found_again(tmp_path: Path) -> None:
    """By the digest of the same answer under the same key; what was found is counted."""
    ledger, digests = FakeLedger(), Digests(tmp_path / "none")
    form = CheckRequest("Call 0170 1234567.", (Source("s", "The shop."),), question="Number?")
    done = [(form, report("exact", "absent", verdict="unsupported")), (form, report("exact"))]
    await record_check(ledger, digests, Actor(None, "key 0"), done, refused=1)
    body = only(ledger, "check").body
    assert (body["items"], body["refused"]) == (2, 1)
    assert body["answers"] == [digests.of(form.answer)] * 2
    assert body["verdicts"] == {"unsupported": 1, "supported": 1}
    assert body["statuses"] == {"exact": 2, "absent": 1}
    for text in ("0170", "shop", "Number"):
        assert text not in str(body)


@pytest.mark.parametrize("entry", ["01JD3Z", "anna@example.com"])
async def test_what_a_reviewer_typed_is_masked_if_it_is_personal(tmp_path: Path, entry: str) -> None:
    ledger = SqlLedger(tmp_path / "ledger.db", tmp_path / "key")
    kept = await record_read(ledger, Actor(), "list", wanted={"entry": entry})
    await ledger.close()
    assert (kept.body["wanted"]["entry"] == entry) is ("@" not in entry)
