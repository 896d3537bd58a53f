"""The schema of the ledger's entries: what is refused, what old bodies are read by."""

from __future__ import annotations

import ast
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.records import Actor
from bot.turn.entries.quarantine import as_json
from grounding.records import IngestReport
from rai.entry_schema import FREE, KINDS, Leaf, UnknownFieldError, changed, paths, texts
from rai.screening.quarantine import Quarantined
from tests.filled import filled


def upper(body: dict[str, Any], kind: str) -> dict[str, Any]:
    """The body with its free text in capitals."""
    return changed(body, kind, lambda text, leaf: text.upper() if leaf in FREE else text)


def test_free_text_is_changed_and_structure_is_not() -> None:
    body = {"schema": 2, "entry_id": "e1", "user": "ada", "channel": "cli", "comment": "no, a shop"}
    assert upper(body, "refusal_report") == {**body, "comment": "NO, A SHOP"}


REFUSED = [
    ("remove", {"schema": 2, "doc_id": "a.md", "why": "old"}, "remove.why"),
    ("remove", {"schema": 2, "doc_id": {"name": "a.md"}}, "remove.doc_id"),
    ("erase", {"schema": 2, "reason": 5}, "erase.reason"),
    ("turn", {"schema": 2, "reply": ["answered"]}, "turn.reply"),
    ("turn", {"schema": 2, "reply": {"claims": {"text": "x"}}}, "turn.reply.claims"),
    ("turn", {"schema": 2, "unfit": [["a draft"]]}, r"turn.unfit\[\]"),
    ("weather", {"schema": 2}, "no schema 2 of entries of the kind 'weather'"),
    ("turn", {"schema": 3}, "no schema 3 of entries of the kind 'turn'"),
]


@pytest.mark.parametrize(("kind", "body", "why"), REFUSED)
def test_a_body_that_names_its_schema_keeps_to_it(kind: str, body: dict[str, Any], why: str) -> None:
    with pytest.raises(UnknownFieldError, match=why):
        upper(body, kind)


def test_the_refusal_tells_no_value() -> None:
    with pytest.raises(UnknownFieldError) as refused:
        upper({"schema": 2, "note": "Zebedea"}, "remove")
    assert "Zebedea" not in str(refused.value)


def test_what_may_be_missing_or_empty() -> None:
    """A turn that failed early has neither; an object, a list and a text may each be None."""
    body = {"schema": 2, "reply": {"outcome": "failed", "draft": None, "claims": None, "answer": None}, "prompt": None}
    assert upper(body, "turn") == body
    assert upper({"schema": 2}, "turn") == {"schema": 2}


def test_an_older_body_is_read_by_the_same_table_as_far_as_it_goes() -> None:
    """What the table knows as structure stays; what it does not know is text, but for names of ids and hashes."""
    body = {
        "ask": {"user": "ada", "question": "q", "mood": "good"},
        "reply": {"outcome": "blocked", "answer": "no"},
        "text": "note",
        "extra": [{"doc_id": "a.md", "said": "yes"}, 5, None],
        "score": 0.5,
    }
    assert upper(body, "turn") == {
        "ask": {"user": "ada", "question": "Q", "mood": "GOOD"},
        "reply": {"outcome": "blocked", "answer": "NO"},
        "text": "NOTE",
        "extra": [{"doc_id": "a.md", "said": "YES"}, 5, None],
        "score": 0.5,
    }


@pytest.mark.parametrize("odd", [{"ask": 5}, {"ask": {"history": "x"}}, {"reply": [1]}, {"evidence": [1, {"text": 2}]}])
def test_an_older_body_of_another_shape_is_read_too(odd: dict[str, Any]) -> None:
    assert changed(odd, "turn", lambda text, _leaf: text) == odd


def test_what_people_gave_is_found_in_the_order_of_the_body() -> None:
    body = {
        "schema": 2,
        "ask": {"question": "one", "history": [{"role": "agent", "text": "two"}], "context": "three", "product": "p"},
        "evidence": [{"n": 1, "title": "t", "text": "four"}],
    }
    assert texts(body, "turn")[Leaf.GIVEN] == ["one", "two", "three"]
    assert texts(body, "turn")[Leaf.OWN] == ["four"]
    assert texts({"comment": "five"}, "someday")[Leaf.GIVEN] == ["five"]


def test_paths_are_told_once_each() -> None:
    assert list(paths({"a": [{"b": 1}, {"b": 2, "c": []}], "d": {}})) == ["a[].b", "a[].c", "d"]


def test_every_kind_has_free_text_only_where_somebody_or_something_writes() -> None:
    """Ids, outcomes and who acted are structure in every kind that has them."""
    for kind, schema in KINDS.items():
        for name in ("entry_id", "user", "channel", "decision", "report", "doc_id", "reaction", "message"):
            assert schema.get(name, Leaf.STRUCTURE) is Leaf.STRUCTURE or kind == "turn", (kind, name)


ROOT = Path(__file__).parents[2]
WRITERS = {
    "bot/commands/documents.py": None,
    "bot/compose/ingest.py": None,
    "bot/compose/planned_run.py": None,
    "bot/events/copies.py": None,
    "bot/events/looks.py": None,
    "bot/events/running.py": None,
    "bot/judging/sample.py": None,
    "bot/judging/verdict.py": None,
    "bot/privacy/hold.py": None,
    "bot/teams/responses.py": None,
    "bot/turn/entries/delivery.py": None,
    "bot/turn/entries/disputes.py": None,
    "bot/turn/entries/quarantine.py": None,
    "bot/turn/entries/recording.py": "bot/turn/entries/record.py",
    "rai/ledger/checkpoints/signing_keys.py": None,
}
"""Modules that write entries, with the module that makes their bodies where it is another."""


def appends(path: Path) -> list[ast.Call]:
    """Calls of a ledger's `append` in a module."""
    calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
    return [
        call
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and ast.unparse(call.func.value).endswith("ledger")
    ]


def test_every_module_that_writes_entries_names_their_schema() -> None:
    """A writer that is new is entered here, and its bodies in the schema: as many of them as it writes, each with its version."""
    found = {
        str(path.relative_to(ROOT)): len(calls)
        for room in ("bot", "rai", "grounding")
        for path in sorted((ROOT / room).rglob("*.py"))
        if (calls := appends(path))
    }
    assert found.keys() == WRITERS.keys()
    for module, bodies in WRITERS.items():
        named = (ROOT / (bodies or module)).read_text("utf-8").count("NAME: SCHEMA")
        assert named == found[module], module


def test_the_bodies_that_records_are_unpacked_into_are_known() -> None:
    """What an ingest reports and what a passage in quarantine is made of, every field filled."""
    ingest = {"schema": 2, "paths": ["kb"], "actor": asdict(filled(Actor)), **asdict(filled(IngestReport))}
    told = {"schema": 2, "decision": "released", "note": "ours", "channel": "cli"}
    decided = {**told, "passage": as_json(filled(Quarantined), decided=False)}
    assert upper(ingest, "ingest")["kb_version"] == ingest["kb_version"]
    assert upper(decided, "quarantine_decision") == {**decided, "note": "OURS"}
