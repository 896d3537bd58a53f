"""A turn as it is recorded: what its state comes to, and the body of its ledger entry, which is enough to read, verify and replay it.

Personal data is masked by the ledger's writer, in the paths that `rai.entry_schema` knows as free text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bot.records import Actor, Ask, Regeneration, Reply, TurnRecord
from bot.turn.entries.delivery import expected
from bot.turn.state import TurnState
from grounding.corrective.find import FoundEvidence
from grounding.evidence.web import web_previews
from grounding.records import Evidence, Passage, Prompt, plain
from rai.account import ModelCall, totals
from rai.entry_schema import NAME, SCHEMA
from rai.screening.quarantine import ID, passage_key

STOPPED = "stopped"
"""What an entry says under `ended` of a turn that the person who waited for it stopped."""
SCREENED = ("verdict", "category", "rule", "score", "threshold", "doubtful", "by", "notes")
"""What is kept of a screening; its documents stand with the passages."""


def turn_record(state: TurnState) -> TurnRecord:
    """All that is known of a turn beside its reply."""
    seams, found = state.seams, state.found
    mode = {
        "generator": seams.composer.name,
        "grader": seams.grader.name,
        "search": found.retrieval.mode,
        "screen": seams.screen.name,
    }
    return TurnRecord(
        turn_id=state.turn_id,
        ask=state.ask,
        policy=state.policy,
        mode=mode,
        query=state.query,
        found=found,
        evidence=state.evidence,
        prompt=state.prompt,
        regeneration=state.regeneration,
        rejected_drafts=state.rejected_drafts,
        screenings=tuple(state.screenings),
        judgements=state.judgements,
        calls=state.calls,
        prices=seams.terms.prices,
        usage=totals(state.calls, seams.terms.prices),
        stages=tuple(state.stages),
        timings_ms=state.timings(),
        notes=tuple(state.notes),
        access=state.access,
        held=state.held,
        ended=STOPPED if state.stopped else "",
        versions=seams.versions,
    )


def turn_body(reply: Reply) -> dict[str, Any]:
    """JSON of one turn. `evidence[].text` and the passages' ids are what the claims' spans point into."""
    record = reply.record
    found, nodes = record.found, record.policy.nodes if record.policy else {}
    return {
        NAME: SCHEMA,
        "delivery": expected(record.ask.channel if record.ask else ""),
        "actor": _actor(record),
        "access": _access(record),
        "versions": _versions(record),
        **({"ended": record.ended} if record.ended else {}),
        "ask": None if record.ask is None else _ask_json(record.ask),
        "reply": reply.as_json(),
        "policy": None if record.policy is None else record.policy.as_json(),
        "searched": found.searched,
        "decision": None if found.decision is None else plain(found.decision),
        "query": plain(record.query),
        "evidence": [_evidence(e) for e in record.evidence],
        "passages": [_passage(p) for p in found.retrieval.passages],
        "seen": _seen(found),
        "web": [plain(preview) for preview in web_previews(found.web, record.evidence)],
        "prompt": None if record.prompt is None else _prompt(record.prompt),
        "regeneration": None if record.regeneration is None else _regeneration(record.regeneration),
        "judgements": [plain(judgement) for judgement in record.judgements],
        "screenings": [
            {"what": what, **{name: getattr(s, name) for name in SCREENED}} for what, s in record.screenings
        ],
        "unfit": list(record.rejected_drafts),
        "calls": [_call(call) for call in record.calls],
        **({"prices": record.prices.as_json()} if record.prices else {}),
        "stages": [_stage(name, ms, nodes) for name, ms in record.stages],
    }


def _call(call: ModelCall) -> dict[str, Any]:
    """A call of a model; which backend answered it only where there are several."""
    return {name: value for name, value in plain(call).items() if name != "backend" or value}


def _stage(name: str, ms: float, nodes: Mapping[str, str]) -> dict[str, Any]:
    """A stage, with the name that the policy's source document gives it where it has one."""
    return {"name": name, **({"node": nodes[name]} if name in nodes else {}), "ms": ms}


def _ask_json(ask: Ask) -> dict[str, Any]:
    kept = {**plain(ask), "at": ask.at.isoformat() if ask.at else None}
    del kept["stop"]
    del kept["answered"]  # what a turn was made from stands in `rework`
    for name in ("rework", "web"):  # where nothing of the kind was wanted
        if not kept[name]:
            del kept[name]
    del kept["actor"]  # stands by itself, with the groups that the turn came to
    return kept


def _actor(record: TurnRecord) -> dict[str, Any]:
    """Who asked, and the groups that they held; None where the directory was not asked or did not tell."""
    asked = record.ask or Ask("")
    actor = asked.actor or Actor(asked.user)
    return {**plain(actor), "groups": None if record.held is None else sorted(record.held)}


def _access(record: TurnRecord) -> dict[str, Any] | None:
    """As whom the turn read, and with which groups; None where it did not come to that."""
    access = record.access
    return None if access is None else {"user": access.user, "groups": sorted(access.groups)}


def _versions(record: TurnRecord) -> dict[str, Any]:
    versions = record.versions
    return {
        "program": versions.program,
        "models": dict(versions.models),
        "settings": versions.settings,
        "kb": record.kb_version,
    }


def _seen(found: FoundEvidence) -> list[dict[str, Any]]:
    """The passages that were graded beyond those of the first search: what corrective steps and the web added."""
    first = {p.chunk_id for p in found.retrieval.passages}
    added = {p.chunk_id: p for p in (*found.graded, *found.filled) if p.chunk_id not in first}
    return [
        {"chunk_id": p.chunk_id, "doc_id": p.doc_id, "version": p.version, "origin": p.origin} for p in added.values()
    ]


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
        "score": item.score,
        "updated": p.updated,
        "tier": p.tier,
        "trust": p.trust,
    }


def _passage(p: Passage) -> dict[str, Any]:
    return (
        {
            "chunk_id": p.chunk_id,
            "doc_id": p.doc_id,
            "version": p.version,
            "title": p.title,
            "start": p.start,
            "end": p.start + len(p.text),
            "score": p.score,
            "bm25": None if p.bm25 is None else round(p.bm25, 3),  # what follows tells no passage from another
            "semantic": None if p.semantic is None else round(p.semantic, 4),
            "screened": p.screened,
            **({"quarantine": passage_key(p.doc_id, p.title, p.text)[:ID]} if p.screened else {}),
        }
        | ({} if p.reranked is None else {"reranked": p.reranked})
    )


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
