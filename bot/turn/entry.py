"""A turn as the ledger keeps it: enough to read, verify and replay it. Personal data is masked by the ledger's writer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bot.records import Ask, Reply
from bot.turn.state import Regeneration, Work
from grounding.evidence.web import web_previews
from grounding.plain import plain
from grounding.records import Evidence, Passage, Prompt

SCREENED = ("verdict", "category", "rule", "score", "threshold", "doubtful", "by", "notes")
"""What is kept of a screening; its documents stand with the passages."""


def turn_body(work: Work, reply: Reply) -> dict[str, Any]:
    """JSON of one turn. `evidence[].text` and the passages' ids are what the claims' spans point into."""
    prices = work.seams.terms.prices
    return {
        "ask": _ask_json(work.ask),
        "reply": reply.as_json(),
        "policy": work.policy.as_json(),
        "searched": work.searched,
        "decision": None if work.decision is None else plain(work.decision),
        "query": plain(work.query),
        "evidence": [_evidence(e) for e in work.evidence],
        "passages": [_passage(p) for p in work.found.passages],
        "web": [plain(preview) for preview in web_previews(work.web, work.evidence)],
        "prompt": None if work.prompt is None else _prompt(work.prompt),
        "regeneration": None if work.regeneration is None else _regeneration(work.regeneration),
        "judgements": [plain(judgement) for judgement in work.trace.judgements],
        "screenings": [
            {"what": what, **{name: getattr(s, name) for name in SCREENED}} for what, s in work.trace.screenings
        ],
        "unfit": list(work.rejected_drafts),
        "calls": [plain(call) for call in work.trace.calls],
        **({"prices": prices.as_json()} if prices else {}),
        "stages": [_stage(name, ms, work.policy.nodes) for name, ms in work.trace.stages],
    }


def _stage(name: str, ms: float, nodes: Mapping[str, str]) -> dict[str, Any]:
    """A stage, with the name that the policy's source document gives it where it has one."""
    return {"name": name, **({"node": nodes[name]} if name in nodes else {}), "ms": ms}


def _ask_json(ask: Ask) -> dict[str, Any]:
    return {**plain(ask), "at": ask.at.isoformat() if ask.at else None}


def _evidence(item: Evidence) -> dict[str, Any]:
    p = item.passage
    return {
        "n": item.n, "chunk_id": p.chunk_id, "doc_id": p.doc_id, "version": p.version, "title": p.title, "url": p.url, "locator": p.locator,
        "start": p.start, "end": p.start + len(p.text), "text": p.text, "origin": p.origin, "score": item.score, "updated": p.updated, "tier": p.tier,
    }  # fmt: skip


def _passage(p: Passage) -> dict[str, Any]:
    return {"chunk_id": p.chunk_id, "doc_id": p.doc_id, "title": p.title, "start": p.start, "end": p.start + len(p.text), "score": p.score, "bm25": p.bm25, "semantic": p.semantic, "screened": p.screened} | ({} if p.reranked is None else {"reranked": p.reranked})  # fmt: skip


def _prompt(prompt: Prompt) -> dict[str, Any]:
    parts = [plain(part) for part in prompt.parts]
    canonical = json.dumps([parts, prompt.user_text], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return {
        "parts": parts,
        "question": prompt.question,
        **({"message": prompt.message} if prompt.message else {}),
        "cuts": list(prompt.cuts),
        "tokens": prompt.tokens,
        "marker": prompt.marker,
        "sha256": digest,
    }


def _regeneration(again: Regeneration) -> dict[str, Any]:
    return {"prompt": _prompt(again.prompt), "text": again.text, "why": again.why, "used": again.used}
