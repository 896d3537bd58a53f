"""Contacts of an answer that nobody answers for: marked with whose they are, and what an official source gives used in their place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from bot.turn.state import TurnState
from grounding.errors import ServiceError, StoreError
from grounding.ports import Retriever
from grounding.records import Access, Evidence, Passage, Query
from grounding.text import before_end, body_start, sentences
from rai.check.contact_sources import unvouched
from rai.records import Claim

LOOKED_UP, LOOKED_AT = 5, 10
"""Contacts of an answer that are looked for in the rest of the knowledge base, and passages that are read for each. More of them stay marked."""


async def with_trust(state: TurnState, text: str, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """`claims` of the answer `text`; a contact that nobody answers for has its `trust`, and `instead` what an official source gives."""

    async def read(passages: tuple[Passage, ...]) -> tuple[Claim, ...]:
        return await state.seams.run(unvouched, text, tuple(claims), passages, state.seams.regions)

    return await looked_up(read, _passages(state), partial(elsewhere, state.seams.retriever, state.access or Access()))


async def looked_up(
    read: Callable[[tuple[Passage, ...]], Awaitable[tuple[Claim, ...]]],
    known: tuple[Passage, ...],
    search: Callable[[str], Awaitable[Sequence[Passage]]],
) -> tuple[Claim, ...]:
    """Claims as `read` reads their contacts by passages: first by the `known` ones, then, for what only one source there has, also by what `search` finds in the rest of
    the knowledge base that this person may read.
    """
    first = await read(known)
    asked = list(dict.fromkeys(c.text for c in first if c.trust is not None))[:LOOKED_UP]
    more = [p for written in asked for p in await search(written)]
    seen = {p.chunk_id for p in known}
    fresh = tuple({p.chunk_id: p for p in more if p.chunk_id not in seen and not p.screened}.values())
    return await read((*known, *fresh)) if fresh else first


def _passages(state: TurnState) -> tuple[Passage, ...]:
    """What this turn saw, without what the screen took out."""
    found = state.found
    seen = [*(e.passage for e in state.evidence), *found.retrieval.passages, *found.graded, *found.filled]
    return tuple({p.chunk_id: p for p in reversed(seen) if not p.screened}.values())


async def elsewhere(retriever: Retriever, access: Access, written: str) -> Sequence[Passage]:
    """Passages that may have the contact too. None where the search fails: then it stays marked."""
    try:
        found = await retriever.retrieve(Query(written, by="words"), access, LOOKED_AT)
    except (ServiceError, StoreError):
        return ()
    return found.passages


def with_official(text: str, claims: Sequence[Claim], evidence: Sequence[Evidence]) -> str | None:
    """`text` with the official sources' own sentences in the place of those with contacts that nobody answers for; None where there are none to put in.

    A whole sentence for a whole sentence: no contact is ever put into words that were written about another.
    """
    official = {e.passage.chunk_id: e for e in evidence if e.passage.trust == "official"}
    instead = {c.start: c.instead for c in claims if c.trust is not None and c.instead and c.instead.source in official}
    changed, told = text, set[str]()
    for span in reversed(sentences(text)):
        better = next((instead[at] for at in sorted(instead) if span.start <= at < span.end), None)
        if better is None:
            continue
        item = official[better.source]
        own = next(s.text for s in sentences(item.passage.text) if s.start <= better.start < s.end)
        line = " ".join(own.split())
        core = line[: before_end(line)]
        put = "" if line in told else f"{core} [{item.n}]{line[len(core) :]}"
        told.add(line)
        changed = changed[: span.start + body_start(span.text)] + put + changed[span.end :]
    return changed if changed != text else None


def as_draft(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """`claims` of a text whose contacts were replaced, as those of a draft: what was replaced is in conflict with the official source."""
    why = "An official source gives another for the same thing."
    return tuple(
        replace(c, status="conflict", rule="sources-disagree", why=why)
        if c.trust is not None and c.instead is not None
        else c
        for c in claims
    )
