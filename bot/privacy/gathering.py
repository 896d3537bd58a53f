"""One pass over the ledger: which entries are wanted, what belongs to them, which conversations they are of, and what is held."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.privacy.facts import HOLD, RECORDS, RELEASE, TURN, Facts, Place, facts_of, is_erased
from bot.privacy.hold import Hold, HoldBook
from bot.privacy.pace import paced
from bot.privacy.quotes import Quoted
from grounding.errors import InputError
from rai.ports import Ledger
from rai.records import Entry

Wanted = Callable[[Entry, Facts], bool]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a pass came to.

    `chosen`: what is wanted and what refers to it, in the order of the ledger; `turns`: facts of what the chosen refer to; `people`: who
    spoke in each conversation; `holds`: those in force; `quoting`: of the chosen, turns that are wanted only because their history quotes one that is;
    `decisions`: those on each passage; `last`: the number of the last entry that was read.
    """

    chosen: Mapping[str, Facts]
    turns: Mapping[str, Facts]
    people: Mapping[Place, frozenset[str]]
    holds: tuple[Hold, ...]
    quoting: frozenset[str] = frozenset()
    decisions: Mapping[str, tuple[Facts, ...]] = field(default_factory=dict)
    last: int = 0

    def held(self) -> dict[str, Hold]:
        """Of the chosen, those that must stay, each with a hold: what is held itself, what it refers to, step by step, and what refers to that."""
        found = {
            name: hold
            for name, facts in self.chosen.items()
            if (hold := next((h for h in self.holds if h.covers(facts, self.turns)), None))
        }
        for name in reversed(list(self.chosen)):
            for about in self.chosen[name].about if name in found else ():
                if about in self.chosen:
                    found.setdefault(about, found[name])
        for name, facts in self.chosen.items():
            by = next((found[about] for about in facts.about if about in found), None)
            if by is not None:
                found.setdefault(name, by)
        return found

    def held_passages(self, passages: Iterable[str]) -> dict[str, Hold]:
        """Of these passages, those whose notes must stay, as a decision on them must."""
        found = {}
        for name in passages:
            for facts in self.decisions.get(name, ()):
                if hold := next((h for h in self.holds if h.covers(facts, self.turns)), None):
                    found[name] = hold
        return found

    def held_places(self, places: Iterable[Place], of_entries: Mapping[str, Place]) -> dict[Place, Hold]:
        """Of these conversations, those that must stay. `of_entries`: the conversations of entries that are held by id."""
        found = {}
        for place in places:
            for hold in self.holds:
                if hold.covers_place(place, self.people.get(place, ())) or of_entries.get(hold.target) == place:
                    found[place] = hold
                    break
        return found


class HeldSince(InputError):
    """What was gathered has been held since."""


class LaterHolds:
    """The holds on what was gathered, as a `rai.ledger.veto.Veto`: also those that are placed while it is erased. `held`: what must stay by now."""

    kinds = (HOLD, RELEASE)

    def __init__(self, found: Gathered) -> None:
        self._found = found
        self.after, self.held = found.last, found.held()

    def refuse(self, later: Sequence[Entry], entry_ids: Collection[str]) -> None:
        """Raises HeldSince, which names the holds, if one of these entries must stay."""
        if later:
            book = HoldBook(self._found.holds)
            for entry in later:
                book.read(entry)
            self._found = replace(self._found, holds=book.active)
            self.after, self.held = later[-1].seq, self._found.held()
        holds = sorted({self.held[name].told() for name in entry_ids if name in self.held})
        if holds:
            raise HeldSince(
                f"this was held meanwhile: {', '.join(holds[:3])}; what had not been erased by then stays, see `attest privacy holds`"
            )

    async def follow(self, ledger: Ledger, entry_ids: Collection[str]) -> None:
        """Takes in what has come by now, and refuses as `refuse` does. Raises HeldSince, StoreError."""
        self.refuse([entry async for entry in ledger.entries(after=self.after, kinds=self.kinds)], entry_ids)


async def gather(ledger: Ledger, wanted: Wanted, *, quoting: bool = False, share: float = 1.0) -> Gathered:
    """Read the ledger once, the oldest entry first, in at most `share` of the time. What refers to an entry stands behind it, and so does a turn
    whose history quotes it, which goes with it if `quoting`. Raises StoreError.
    """
    chosen: dict[str, Facts] = {}
    quoted, quotes, decisions = Quoted(), set[str](), dict[str, tuple[Facts, ...]]()
    people: dict[Place, frozenset[str]] = {}
    book, last = HoldBook(), 0
    async for entry in paced(ledger.entries(), share):
        last = entry.seq
        book.read(entry)
        if entry.kind in RECORDS or is_erased(entry):
            continue
        facts = facts_of(entry)
        if facts.place is not None and facts.kind == TURN:
            people[facts.place] = people.get(facts.place, frozenset()) | facts.users
        if facts.passage is not None:
            decisions[facts.passage] = (*decisions.get(facts.passage, ()), facts)
        if any(about in chosen for about in facts.about) or wanted(entry, facts):
            chosen[facts.entry_id] = facts
            if quoting and facts.kind == TURN:
                quoted.add(entry, facts)
        elif quoting and facts.kind == TURN and quoted.stands_in(entry, facts):
            chosen[facts.entry_id] = facts
            quotes.add(facts.entry_id)
    turns = await _referred(ledger, chosen)
    return Gathered(chosen, turns, people, book.active, frozenset(quotes), decisions, last)


async def coverage(ledger: Ledger) -> dict[str, int]:
    """How many entries each hold in force keeps now, by the id of the hold. None tells a target that was mistyped, or of which nothing is there yet. Raises StoreError."""
    found = await gather(ledger, lambda _entry, _facts: True)
    return {
        hold.hold_id: sum(hold.covers(facts, found.turns) for facts in found.chosen.values()) for hold in found.holds
    }


async def held_entries(ledger: Ledger, holds: Iterable[Hold]) -> dict[str, Place]:
    """The conversation of each entry that is held by its id, or of the turn that it refers to."""
    found = {}
    for hold in holds:
        entry = await ledger.get(hold.target) if hold.on == "entry" else None
        if entry is None:
            continue
        facts = facts_of(entry)
        for name in (entry.entry_id, *facts.about):
            near = await ledger.get(name)
            place = facts_of(near).place if near else None
            if place is not None:
                found[hold.target] = place
    return found


async def _referred(ledger: Ledger, chosen: Mapping[str, Facts]) -> dict[str, Facts]:
    found = dict(chosen)
    for about in {about for facts in chosen.values() for about in facts.about if about not in chosen}:
        entry = await ledger.get(about)
        if entry is not None:
            found[about] = facts_of(entry)
    return found
