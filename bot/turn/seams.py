"""What a turn asks of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.records import Versions
from grounding.bounded.pool import Run
from grounding.ports import ChatModel, Composer, Directory, Grader, Library, Linker, Retriever, Speller, WebSearch
from grounding.query.linking import QueryBuilder
from rai.account import Terms
from rai.claims.contacts.phones import REGIONS
from rai.ports import Ledger, PersonalFinder, PromptScreen
from rai.records import Report, Source

Check = Callable[[str, Sequence[Source], str | None, Sequence[str], datetime | None], Awaitable[Report]]
"""(answer, sources, question, given, at) to a report: `rai.check.provenance.check` with its ports."""


async def never() -> bool:
    """False, whatever happens."""
    return False


@dataclass(frozen=True, slots=True)
class Seams:
    """Everything a turn asks of the world. `web` None is off. `deadline_s` bounds the whole turn, `terms` what it takes of chat models.

    `regions`: those in which a telephone number without its country is read. `run`: who reads a draft before it is checked, which anybody may have had a hand in. `is_empty`: whether the knowledge base holds no document at all, whoever asks. Raises StoreError.

    `versions`: what all this is, for the record. `speller`: who mends slips of the hand in a question; None: nobody does. `linker`: who knows whether a name stands anywhere in the documents; None: what the evidence has is all that is known. `personal`: who looks for personal data beside our own rules; None: nobody does. `library`: the documents by their ids, for answers that are reworked; None: none can be. `rewriter`: who rewrites queries, imagines answers and plans; None: nobody does. `reviser`: who drafts again when told what was unsupported; None: nobody does, what cannot be mended is dropped. `quoter`: who quotes the sources where the model that drafts did not answer, or its draft was held back; None: nobody does.
    """

    screen: PromptScreen
    queries: QueryBuilder
    retriever: Retriever
    grader: Grader
    web: WebSearch | None
    composer: Composer
    directory: Directory
    check: Check
    ledger: Ledger
    company: str = "the company"
    versions: Versions = field(default_factory=Versions)
    deadline_s: float = 45.0
    reviser: Composer | None = None
    quoter: Composer | None = None
    personal: PersonalFinder | None = None
    rewriter: ChatModel | None = None
    terms: Terms = field(default_factory=Terms)
    is_empty: Callable[[], Awaitable[bool]] = never
    speller: Speller | None = None
    linker: Linker | None = None
    library: Library | None = None
    run: Run = asyncio.to_thread
    regions: tuple[str, ...] = REGIONS
