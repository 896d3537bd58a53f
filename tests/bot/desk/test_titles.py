"""What a list says of entries that are no turns."""

from __future__ import annotations

from typing import Any

import pytest

from bot.desk.titles import TITLE_MAX, title_of
from rai.records import Entry


def entry(kind: str, body: dict[str, Any]) -> Entry:
    return Entry("01ENTRY", 1, "2026-11-28T10:00:00Z", kind, body, "", "")


@pytest.mark.parametrize(
    ("kind", "body", "title"),
    [
        ("verdict", {"verdict": "wrong", "entry_id": "01T", "comment": " Last year's fee "}, "Wrong on 01T: Last year's fee"),
        ("feedback", {"entry_id": "01T", "reaction": "dislike", "text": "too long"}, "thumbs down: too long"),
        ("feedback", {"entry_id": None, "reaction": "like"}, "thumbs up; it could not be tied to a turn"),
        ("refusal_report", {"channel": "http", "entry_id": "01T", "comment": "It is our product"}, "called wrong: It is our product"),
        ("refusal_decision", {"decision": "wrong", "note": ""}, "refused wrongly"),
        ("refusal_decision", {"decision": "right", "note": "an attack"}, "refused rightly: an attack"),
        ("quarantine_decision", {"decision": "confirmed", "passage": {"doc_id": "a.md", "title": "A"}}, "confirmed a.md: A"),
        ("ingest", {"added": 0, "changed": 3, "deleted": 1, "unchanged": 40, "refused": [{"doc": "x"}]}, "3 changed, 1 deleted, 1 refused"),
        ("ingest", {"added": 0, "changed": 0, "deleted": 0, "refused": []}, "nothing changed"),
        ("sample", {"entry_ids": ["a", "b"], "number": 1, "by": "outcome"}, "2 turns picked by chance, 1 of each outcome"),
        ("erase", {"entry_ids": ["a"], "reason": "asked for"}, "1 entry erased: asked for"),
        ("export", {"form": "attest-ledger-2", "entries": 7, "complete": False}, "7 entries as attest-ledger-2, not complete"),
        ("stop", {"schema": 2, "signal": "SIGTERM"}, "stopped: SIGTERM"),
        ("start", {"schema": 2}, "start"),
        ("start", {"program": "0.9", "directory": "8cad", "worker": 1, "workers": 1}, "0.9"),
        ("start", {"program": "0.9", "worker": 2, "workers": 4}, "0.9, worker 2 of 4"),
        ("remove", {"doc_id": "a.md"}, "a.md taken out"),
        ("restore", {"doc_id": "a.md"}, "a.md brought back"),
        ("feedback", {"reaction": ["odd"], "schema": 2}, "feedback"),
        ("quarantine_decision", {"passage": "odd", "channel": "cli"}, "passage: odd"),
    ],
)  # fmt: skip
def test_an_entry_says_who_said_or_did_what(kind: str, body: dict[str, Any], title: str) -> None:
    assert title_of(entry(kind, body)) == title


def test_a_title_is_bounded() -> None:
    assert len(title_of(entry("refusal_report", {"comment": "x" * 900}))) == TITLE_MAX
