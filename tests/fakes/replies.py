"""Replies as tests write them down: fields of the reply, of its record and of what was found, side by side as JSON has them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from bot.records import Reply, TurnRecord
from grounding.corrective.decide import Decision
from grounding.corrective.find import FoundEvidence
from grounding.records import Action, Grading, Query, Retrieval
from rai.records import Outcome

_FOUND = {f.name for f in fields(FoundEvidence)}
_RECORD = {f.name for f in fields(TurnRecord)}
_RULES = {
    Action.CORRECT: "max_at_least_correct",
    Action.AMBIGUOUS: "max_below_correct",
    Action.INCORRECT: "max_below_keep",
}


def decided(action: Action) -> Decision:
    """A decision of this action that keeps nothing."""
    return Decision(action, (), _RULES[action], 0.8, 0.13, 0.5)


def reply_of(outcome: Outcome, answer: str, **known: Any) -> Reply:
    """A reply of these fields. `query`: its text; `grades`, `action`, `decided_first`, `kb_version`, `web`: what was found."""
    return told(Reply(outcome, answer), **known)


def told(reply: Reply, **known: Any) -> Reply:
    """`reply` with these fields in place of its own."""
    record, found = reply.record, reply.record.found
    if "query" in known:
        record = replace(record, query=Query(known.pop("query")))
    if "grades" in known:
        found = replace(found, grading=Grading("graded", known.pop("grades")))
    if "kb_version" in known:
        found = replace(found, retrieval=Retrieval((), known.pop("kb_version"), found.retrieval.mode))
    if "decided_first" in known:
        found = replace(found, first=known.pop("decided_first"))
    action = known.pop("action", None)
    if action is not None and "decision" not in known:
        known["decision"] = decided(action)
    found = replace(found, **{name: known.pop(name) for name in list(known) if name in _FOUND and name != "notes"})
    record = replace(record, found=found, **{name: known.pop(name) for name in list(known) if name in _RECORD})
    return replace(reply, record=record, **known)
