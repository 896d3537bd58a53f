"""What the ledger keeps of a turn, in the form of its entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bot.records import Ask, Reply
from bot.turn.entries.delivery import expected
from grounding.evidence.web import web_previews
from grounding.policy import Policy
from grounding.records import Evidence, Passage
from rai.records import Outcome
from tests.fakes.shop import HOSTILE

CALLS = [
    {
        "purpose": "rewrite",
        "model": "gpt-4o",
        "ended": "complete",
        "ms": 412.4,
        "usage": {"prompt_tokens": 210, "completion_tokens": 18},
        "temperature": 0.0,
    },
    {
        "purpose": "rewrite",
        "model": "gpt-4o",
        "ended": "ServiceTimeout",
        "ms": 8000.0,
        "usage": {},
        "temperature": None,
    },
]

ALLOWED = {"verdict": "allow", "category": None, "rule": None, "score": 0.02, "threshold": 0.5}
BLOCKED = {"verdict": "block", "category": "jailbreak", "rule": "JB-01", "score": 0.97, "threshold": 0.5, "by": "rules"}


def turn_body(ask: Ask, reply: Reply, passages: Sequence[Passage]) -> dict[str, Any]:
    """A ledger body of kind "turn"."""
    found = reply.record.found
    evidence = [Evidence(n, p) for n, p in enumerate(passages, 1)]
    return {
        "delivery": expected(ask.channel),
        "ask": _asked(ask),
        "reply": reply.as_json(),
        "policy": Policy().as_json(),
        "evidence": [_evidence(e) for e in evidence],
        "passages": [_passage(p) for p in passages],
        "prompt": _prompt(ask.question) if passages else None,
        "screenings": [{"what": "question", **(BLOCKED if reply.outcome is Outcome.BLOCKED else ALLOWED)}],
        "stages": [
            {"name": name, **({"node": "grade_documents"} if name == "grade" else {}), "ms": ms}
            for name, ms in reply.record.timings_ms.items()
        ],
        "searched": reply.record.query.text,
        "decision": asdict(found.decision) if found.decision else None,
        "calls": CALLS if reply.record.usage else [],
        "web": [asdict(p) for p in web_previews(found.web, evidence)],
    }


def _asked(ask: Ask) -> dict[str, Any]:
    return {
        "question": ask.question,
        "history": [{"role": t.role, "text": t.text} for t in ask.history],
        "context": ask.context,
        "product": ask.product,
        "user": ask.user,
        "channel": ask.channel,
        "conversation": ask.conversation,
        "policy": ask.policy,
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    p = item.passage
    return {
        "n": item.n,
        "chunk_id": p.chunk_id,
        "doc_id": p.doc_id,
        "version": p.version,
        "title": p.title,
        "url": p.url,
        "locator": p.locator,
        "start": p.start,
        "end": p.start + len(p.text),
        "text": p.text,
        "origin": p.origin,
        "score": 0.86,
        "tier": p.tier,
    }


def _passage(p: Passage) -> dict[str, Any]:
    return {
        "chunk_id": p.chunk_id,
        "doc_id": p.doc_id,
        "title": p.title,
        "start": p.start,
        "end": p.start + len(p.text),
        "score": p.score,
        "bm25": p.bm25,
        "semantic": p.semantic,
        "screened": p.screened,
    }


def _prompt(question: str) -> dict[str, Any]:
    names = ("system", "guidance", "history", "agent_context", "example")
    return {
        "parts": [{"name": name, "text": f"The {name} part. {HOSTILE}"} for name in names],
        "question": question,
        "cuts": ["history: 2 oldest turns"],
        "tokens": 812,
        "sha256": "ab" * 32,
    }
