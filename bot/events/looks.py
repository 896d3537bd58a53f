"""Entries of what people look at through the server: pages of the reviewers, sources that were opened, checks by API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bot.events.digests import Digests
from bot.events.kinds import CHECK, READ, SOURCE_OPENED
from bot.records import Actor
from bot.system import CheckRequest
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry, Report


async def record_read(
    ledger: Ledger, by: Actor, page: str, *, entry_id: str | None = None, wanted: Mapping[str, Any] | None = None
) -> Entry:
    """Record that a reviewer's page was opened: one entry a page, whatever stands on it. `wanted`: what a list was narrowed to.

    Raises StoreError: then the page may not be shown.
    """
    body: dict[str, Any] = {NAME: SCHEMA, "actor": plain(by), "page": page}
    if entry_id is not None:
        body["entry_id"] = entry_id
    if narrowed := {name: value for name, value in (wanted or {}).items() if value}:
        body["wanted"] = narrowed
    return await ledger.append(READ, body)


async def record_source(ledger: Ledger, actor: Actor, entry: Entry, evidence: Mapping[str, Any]) -> Entry:
    """Record that a cited passage of the turn `entry` was opened. Raises StoreError."""
    cited = {name: evidence.get(name) for name in ("n", "doc_id", "chunk_id")}
    return await ledger.append(
        SOURCE_OPENED, {NAME: SCHEMA, "actor": plain(actor), "entry_id": entry.entry_id, **cited}
    )


async def record_check(
    ledger: Ledger,
    digests: Digests,
    actor: Actor,
    checked: Sequence[tuple[CheckRequest, Report]],
    *,
    refused: int = 0,
) -> Entry:
    """Record a request for checks: no text of it, but what tells whether a given answer was checked, and with which end. Raises StoreError."""
    statuses = Counter(claim.status for _, report in checked for claim in report.claims)
    body = {
        NAME: SCHEMA,
        "actor": plain(actor),
        "items": len(checked),
        "refused": refused,
        "answers": [digests.of(form.answer) for form, _ in checked],
        "sources": [digests.of([(s.id, s.text) for s in form.sources]) for form, _ in checked],
        "verdicts": dict(Counter(report.verdict for _, report in checked)),
        "statuses": dict(statuses),
    }
    return await ledger.append(CHECK, body)
