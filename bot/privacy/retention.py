"""Retention: what has been kept for as long as the settings say goes, in batches, each with its record; what is held stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.privacy import conversations
from bot.privacy.conversations import Kept
from bot.privacy.erasure import QUARANTINE, Stores, erased, held_by_writers
from bot.privacy.facts import RECORDS, TURN, Facts, erased_by
from bot.privacy.gathering import Gathered, LaterHolds, gather, held_entries
from bot.privacy.hold import Hold
from bot.records import Actor
from bot.state import State
from rai.records import Entry

REASON = "retention"


@dataclass(frozen=True, slots=True)
class Terms:
    """For how many days what is kept. `turns`: None keeps them; what refers to a turn goes with it. `kinds`: of other kinds, which may go before their turn.
    `state`: conversations in `state.db`, which also go with the turns.
    """

    turns: int | None
    state: int
    kinds: Mapping[str, int] = field(default_factory=dict)

    @property
    def state_days(self) -> int:
        return self.state if self.turns is None else min(self.state, self.turns)

    def is_due(self, kind: str, at: str, now: datetime) -> bool:
        """True if an entry of that kind and time (ISO 8601) has been kept for long enough. A time that cannot be read keeps it."""
        days = self.turns if kind == TURN else self.kinds.get(kind)
        if days is None or kind in RECORDS:
            return False
        try:
            made = datetime.fromisoformat(at)
        except ValueError:
            return False
        return (made if made.tzinfo else made.replace(tzinfo=UTC)) <= now - timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Retained:
    """What a run took away, or would: entries by their ids, rows of `state.db`, what was due and is held, with the hold; `records`: the entries that say so."""

    entries: tuple[Facts, ...] = ()
    kept: Kept = field(default_factory=Kept)
    held: Mapping[str, Hold] = field(default_factory=dict)
    records: tuple[str, ...] = ()


async def retain(
    stores: Stores, terms: Terms, now: datetime, who: Actor, *, dry: bool = False, share: float = 1.0
) -> Retained:
    """Apply the terms as of `now` in the name of `who`, or say what would go if it is `dry`. `share`: of the time, for reading the ledger. Raises StoreError, also where all is erased but may still lie in a log that somebody reads."""

    def matches(entry: Entry, facts: Facts) -> bool:
        return terms.is_due(facts.kind, entry.at, now)

    found = await gather(stores.ledger, matches, share=share)
    holds = LaterHolds(found)
    what = tuple(facts for name, facts in found.chosen.items() if name not in holds.held)
    kept = Kept() if stores.state is None else await _trimmed(stores, stores.state, found, terms, now, dry=dry)
    if dry:
        return Retained(what, kept, holds.held)
    await holds.follow(stores.ledger, ())
    free = [f for f in what if f.entry_id not in holds.held]
    await stores.notes.forget([f.passage for f in free if f.kind == QUARANTINE and f.passage])
    # Also where no entry is due: what was deleted, now or by a run that failed, must not live on in a log.
    records = await erased(stores, [f.entry_id for f in free], REASON, who, holds=holds, sparing=True)
    gone = {name for record in records for name in erased_by(record)}
    went = tuple(f for f in free if f.entry_id in gone)
    return Retained(went, kept, holds.held, tuple(record.entry_id for record in records))


async def _trimmed(stores: Stores, state: State, found: Gathered, terms: Terms, now: datetime, *, dry: bool) -> Kept:
    """The rows of `state.db` that are too old, but for conversations that are held."""
    of_entries = await held_entries(stores.ledger, found.holds)
    spared = {
        **found.held_places(await conversations.all_of(state), of_entries),
        **await held_by_writers(stores.state, found.holds),
    }
    before = (now - timedelta(days=terms.state_days)).timestamp()
    return await conversations.trim(state, before, spared, dry=dry)
