"""Deciding of passages that were taken for planted orders: each decision is an entry of the ledger before it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.records import Actor
from bot.turn.entries.disputes import WORDS_MAX
from grounding.errors import InputError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.screening.quarantine import Decision, Quarantine, Quarantined

DECISION = "quarantine_decision"
SHORTEST = 4
"""Characters that an id must have at least."""


def named(passages: Sequence[Quarantined], given: str) -> Quarantined:
    """The passage whose id begins with `given`, or whose chunk id it is. Raises InputError."""
    found = [p for p in passages if p.chunk_id == given or (len(given) >= SHORTEST and p.key.startswith(given))]
    if len({p.key for p in found}) == 1:
        return found[0]
    if found:
        raise InputError(f"{given} is the beginning of {len(found)} passages; give more of the id", code="not_found")
    raise InputError(f"no passage in quarantine has the id {given}; see attest quarantine list", code="not_found")


async def decide(
    quarantine: Quarantine,
    ledger: Ledger,
    passage: Quarantined,
    decision: Decision,
    note: str = "",
    *,
    channel: str,
    by: Actor,
) -> bool:
    """Record the decision and who took it, then let it hold; False if it is the one that holds already. Raises StoreError."""
    note = note.strip()[:WORDS_MAX]
    if passage.decided and (passage.decided.decision, passage.decided.note) == (decision, note):
        return False
    told = as_json(passage, decided=False)
    body = {
        NAME: SCHEMA,
        "decision": decision,
        "note": note,
        "channel": channel,
        "actor": plain(by),
        "passage": told,
    }
    await ledger.append(DECISION, body)
    await quarantine.decide(passage, decision, note)
    return True


def as_json(passage: Quarantined, *, decided: bool = True) -> dict[str, Any]:
    """The form of `attest quarantine --json`."""
    said = passage.decided
    return {
        "id": passage.id,
        "doc_id": passage.doc_id,
        "title": passage.title,
        "chunk_id": passage.chunk_id,
        "locator": passage.locator,
        "text": passage.text,
        "rule": passage.rule,
        "score": passage.score,
    } | (
        {"state": passage.state, "decided_at": said.at if said else None, "note": said.note if said else ""}
        if decided
        else {}
    )
