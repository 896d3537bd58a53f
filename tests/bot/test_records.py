"""The form of a reply that programs read."""

from __future__ import annotations

import json
from dataclasses import asdict

from bot.records import Citation, claim_json, grade_json
from grounding.records import Action, Grade
from rai.records import Claim, Outcome
from tests.fakes.replies import decided, reply_of


def test_a_reply_is_told_field_by_field_as_it_ever_was() -> None:
    """The order and every value of the form that programs read."""
    claim = Claim("percent", "12 %", 0, 4)
    grade = Grade("c", 1.0, "Perfect", "yes", None, "")
    reply = reply_of(
        Outcome.REPAIRED,
        "12 %",
        citations=(Citation(1, "t", None, "d", "c", None, "q"),),
        claims=(claim,),
        grades=(grade,),
        action=Action.CORRECT,
        timings_ms={"total": 1.0},
        query="how much?",
        kb_version="kb-1",
        mode={"screen": "words"},
        notes=("a note",),
        usage={"calls": 1},
    )
    told = reply.as_json()
    decision = asdict(decided(Action.CORRECT)) | {"action": "correct", "kept": []}
    wanted = {
        "outcome": "repaired",
        "answer": "12 %",
        "code": None,
        "citations": [
            {
                "n": 1,
                "title": "t",
                "url": None,
                "doc_id": "d",
                "chunk_id": "c",
                "locator": None,
                "quote": "q",
                "origin": "kb",
                "tier": None,
                "trust": "ordinary",
            }
        ],
        "claims": [claim_json(claim)],
        "query": "how much?",
        "grades": [grade_json(grade)],
        "action": "correct",
        "web": [],
        "timings_ms": {"total": 1.0},
        "kb_version": "kb-1",
        "entry_id": "",
        "mode": {"screen": "words"},
        "notes": ["a note"],
        "internal_notes": [],
        "offered": [],
        "offered_as": "",
        "draft": None,
        "relevance": None,
        "refusal": None,
        "decided_first": None,
        "decision": decision,
        "corrections": [],
        "clarification": None,
        "policy": "",
        "usage": {"calls": 1},
        "turn_id": "",
        "intent": None,
        "suggestions": [],
        "coverage": [],
        "understood": "",
        "web_notice": None,
        "contact_notice": None,
    }
    assert list(json.loads(json.dumps(told)).items()) == list(wanted.items())
