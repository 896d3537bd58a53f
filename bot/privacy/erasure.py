"""Erasing on request: what would go, whether a hold forbids it, and doing it everywhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from bot.privacy import conversations
from bot.privacy.conversations import Kept
from bot.privacy.erasure_list import ErasureList
from bot.privacy.facts import RECORDS, Facts, Place, contains, erased_by, is_erased, person_key
from bot.privacy.gathering import Gathered, HeldSince, LaterHolds, gather, held_entries
from bot.privacy.hold import Hold, reason_of
from bot.privacy.selection import Selection
from bot.records import Actor
from bot.state import State
from grounding.errors import InputError, StoreError
from grounding.records import plain
from rai.ledger.chain import ERASE
from rai.ledger.veto import Veto
from rai.ports import Ledger
from rai.records import Entry

QUARANTINE = "quarantine_decision"
BATCH = 500
"""Entries that one record of an erasure names."""
_LEFT = "{}: erased text may lie in its log until whoever reads it has ended; run this again then"


class ErasableLedger(Ledger, Protocol):
    """A ledger whose bodies can be erased on record."""

    async def erase(
        self,
        entry_ids: Sequence[str],
        reason: str,
        actor: Mapping[str, Any] | None = None,
        *,
        veto: Veto | None = None,
    ) -> Entry:
        """Empties the bodies of these entries and appends the one record of that, which names `actor`. Raises InputError, what `veto` raises, and StoreError also where erased text may still lie in the store's files."""
        ...

    async def flush(self) -> bool:
        """Folds what was erased out of the store's log. False if somebody who reads still keeps it there."""
        ...


class Notes(Protocol):
    """The notes that people left with decisions on passages, which lie beside the ledger, unmasked."""

    async def notes(self) -> Mapping[str, str]:
        """Every note by the id of its passage. Raises StoreError."""
        ...

    async def forget(self, ids: Sequence[str]) -> int:
        """Empties the notes on these passages, the decisions stay; how many there were. Raises StoreError."""
        ...


class Derived(Protocol):
    """What is derived from the ledger's entries and holds their text."""

    async def settle(self, ledger: Ledger) -> int:
        """Empties what it holds of every entry whose erasure is recorded; of how many it held something. Raises StoreError, also where it may still lie in its log."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything that holds what people wrote. `state`: None where no server has run; `desk`: the index of the reviewers' desk, None where there is none; `noted`: the list of erasures outside of a database, None where
    all lies in files.
    """

    ledger: ErasableLedger
    state: State | None
    notes: Notes
    desk: Derived | None = None
    noted: ErasureList | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an erasure would take.

    `entries`: in the order of the ledger; `places`: conversations whose rows in `state.db` go; `notes`: passages whose notes go; `held`: what forbids it, by entry
    or conversation; `before`: of the entries that were asked for, those that are gone already, with the entry that says so; `later`: holds that are placed until
    they go; `quoting`: how many turns go only because their history quotes one that goes.
    """

    entries: tuple[Facts, ...]
    places: frozenset[Place]
    kept: Kept
    notes: tuple[str, ...]
    held: Mapping[str, Hold]
    before: Mapping[str, str]
    later: LaterHolds
    quoting: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.entries or self.kept.rows or self.notes)

    @property
    def counts(self) -> dict[str, int]:
        """How many entries of each kind."""
        return dict(Counter(facts.kind for facts in self.entries))

    def as_json(self) -> dict[str, Any]:
        """The form of `attest privacy erase --json`; conversations as numbers alone."""
        kept = self.kept
        return {
            "entries": [{"entry_id": f.entry_id, "kind": f.kind, "at": f.at} for f in self.entries],
            "counts": self.counts,
            "quoting": self.quoting,
            "state": {"conversations": kept.conversations, "turns": kept.turns, "inbox": kept.inbox, "sent": kept.sent},
            "notes": len(self.notes),
            "held": sorted({hold.hold_id for hold in self.held.values()}),
            "erased_before": dict(self.before),
        }


async def plan(stores: Stores, wanted: Selection) -> Plan:
    """What would go. Nothing is changed. Raises InputError for a selection that says nothing or names an entry that is not there, StoreError."""
    wanted = wanted.checked()
    before = await _gone(stores.ledger, wanted.entries)
    theirs: set[Place] = set()

    def matches(entry: Entry, facts: Facts) -> bool:
        if wanted.person is not None and facts.place is not None and person_key(wanted.person) in facts.users:
            theirs.add(facts.place)
        return wanted.matches(entry, facts)

    found = await gather(stores.ledger, matches, quoting=True)
    places = {facts.place for facts in found.chosen.values() if facts.place is not None}
    if stores.state is not None:
        places |= await conversations.matching(stores.state, wanted, theirs)
    kept = await conversations.count(stores.state, places, found.chosen) if stores.state is not None else Kept()
    notes = await _notes(stores.notes, wanted, found)
    held: dict[str, Hold] = {
        **found.held(),
        **found.held_passages(notes),
        **await _held_places(stores, found, places),
    }
    return Plan(
        tuple(found.chosen.values()),
        frozenset(places),
        kept,
        notes,
        held,
        before,
        LaterHolds(found),
        len(found.quoting),
    )


async def erase(stores: Stores, wanted: Selection, reason: str, who: Actor) -> tuple[Plan, tuple[Entry, ...]]:
    """Erase what `plan` finds now, and the entries that record it and who asked for it; none if no entry had a body.

    `state.db` and the notes go first: what fails there is found again by another run. Raises InputError if a hold forbids it or the reason says
    what is to be erased, HeldSince if a hold was placed meanwhile and some of it stays, StoreError also where all is erased but may still lie in a log that somebody reads.
    """
    why = reason_of(reason)
    if wanted.is_said_in(why):
        raise InputError("--reason must not say what is to be erased: it stays in the ledger")
    found = await plan(stores, wanted)
    refuse_held(found)
    names = [facts.entry_id for facts in found.entries]
    await found.later.follow(stores.ledger, names)
    if stores.noted is not None and not found.is_empty:
        stores.noted.note(time.time(), names, found.places, found.notes)
    if stores.state is not None:
        await conversations.erase(stores.state, found.places, names)
    await stores.notes.forget(found.notes)
    beside = {**found.counts, "rows of state.db": found.kept.rows, "notes": len(found.notes)}
    told = ", ".join(f"{n} {kind}" for kind, n in beside.items() if n)
    record = f"{why} [by {' and '.join(wanted.kinds)}: {told}]"
    beside_it = bool(found.kept.rows or found.notes)
    try:
        return found, await erased(stores, names, record, who, beside=beside_it, holds=found.later)
    except HeldSince:
        if stores.noted is not None:
            stores.noted.keep(time.time(), [name for name in names if not await _has_gone(stores.ledger, [name])])
        raise


async def erased(
    stores: Stores,
    entries: Sequence[str],
    reason: str,
    who: Actor,
    *,
    beside: bool = False,
    holds: LaterHolds | None = None,
    sparing: bool = False,
) -> tuple[Entry, ...]:
    """Empty these entries, a record for each `BATCH` of them, and flush both logs. `beside`: something else was deleted, which is on record also where no entry
    was; `holds`: what is held meanwhile ends it, or is left out if `sparing`. What is derived from the ledger follows. Raises HeldSince, and StoreError: at once
    where an entry could not be erased, at the end where erased text may still lie in a log.
    """
    records, failed, refused = list[Entry](), dict[str, None](), None
    empty = partial(stores.ledger.erase, reason=reason, actor=plain(who), veto=holds)
    for at in range(0, len(entries) or beside, BATCH):
        batch = entries[at : at + BATCH]
        try:
            records += await _emptied(empty, batch, holds if sparing else None)
        except HeldSince as error:
            refused = error
            break
        except StoreError as error:
            if not await _has_gone(stores.ledger, batch):
                raise
            failed[str(error)] = None  # on record and gone, but for the log
    failed |= dict.fromkeys(await _left_in_logs(stores, ledger_too=not (records or failed)))
    if refused is not None:
        raise HeldSince("; ".join([str(refused), *failed]))
    if failed:
        raise StoreError("; ".join(failed))
    return tuple(records)


async def _emptied(
    empty: Callable[[Sequence[str]], Awaitable[Entry]], batch: Sequence[str], spared: LaterHolds | None
) -> list[Entry]:
    """The record of a batch, of which what `spared` holds is left out; none if that is all."""
    while True:
        try:
            return [await empty(batch)]
        except HeldSince:
            if spared is None:
                raise
            batch = [name for name in batch if name not in spared.held]
            if not batch:
                return []


async def _has_gone(ledger: Ledger, batch: Sequence[str]) -> bool:
    """True if one of these entries is erased: all go at once that may."""
    for name in batch:
        entry = await ledger.get(name)
        if entry is not None and is_erased(entry):
            return True
    return False


async def _left_in_logs(stores: Stores, *, ledger_too: bool) -> list[str]:
    """Where erased text may still lie, once the logs are flushed and what is derived has followed. `ledger_too`: no erasure has flushed its log."""
    failed = []
    if ledger_too and not await stores.ledger.flush():  # a run before this one may have left something there
        failed.append(_LEFT.format("the ledger"))
    if stores.state is not None and not await stores.state.flush():
        failed.append(_LEFT.format("state.db"))
    if stores.desk is not None:
        try:
            await stores.desk.settle(stores.ledger)  # also what a run before this one could not
        except StoreError as error:
            failed.append(f"{error}; run this again")
    return failed


def refuse_held(found: Plan) -> None:
    """Raise InputError that names the holds, if any forbids the plan."""
    holds = sorted({hold.told() for hold in found.held.values()})
    if holds:
        more = f" and {len(holds) - 3} more" if len(holds) > 3 else ""
        raise InputError(f"nothing was erased, this is held: {', '.join(holds[:3])}{more}; see `attest privacy holds`")


async def _gone(ledger: Ledger, entries: Sequence[str]) -> dict[str, str]:
    """Of these entries, those without a body, with what records it. Raises InputError for one that is not there or may not go."""
    gone: set[str] = set()
    for name in entries:
        entry = await ledger.get(name)
        if entry is None:
            raise InputError(f"entry {name!r} is not in the ledger; see `attest ledger list`")
        if entry.kind in RECORDS:
            raise InputError(f"entry {name!r} is of the kind {entry.kind}, which the record keeps")
        if is_erased(entry):
            gone.add(name)
    if not gone:
        return {}
    return {
        name: entry.entry_id
        async for entry in ledger.entries(kinds=(ERASE,))
        for name in erased_by(entry)
        if name in gone
    }


async def _held_places(stores: Stores, found: Gathered, places: set[Place]) -> dict[str, Hold]:
    of_entries = await held_entries(stores.ledger, found.holds)
    held = {place[1]: hold for place, hold in found.held_places(places, of_entries).items()}
    waiting = await held_by_writers(stores.state, found.holds)
    return {**held, **{place[1]: hold for place, hold in waiting.items() if place in places}}


async def held_by_writers(state: State | None, holds: Sequence[Hold]) -> dict[Place, Hold]:
    """Conversations in which a held person has written what no turn has answered yet."""
    found: dict[Place, Hold] = {}
    for hold in holds if state is not None else ():
        if hold.on == "person" and state is not None:
            for place in await conversations.matching(state, Selection(person=hold.target), ()):
                found[place] = hold
    return found


async def _notes(notes: Notes, wanted: Selection, found: Gathered) -> tuple[str, ...]:
    """Passages whose notes go with the chosen decisions, or hold the text that is searched for and nothing else."""
    said = await notes.notes()
    chosen = {f.passage for f in found.chosen.values() if f.kind == QUARANTINE and f.passage}
    alone = wanted.search if wanted.kinds == ("text",) else None
    return tuple(name for name, note in said.items() if name in chosen or (alone is not None and contains(note, alone)))
