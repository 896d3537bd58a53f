"""Legal holds: what must not be erased, by whom it was asked to stay and why. Placing and releasing one are entries of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from bot.privacy.facts import HOLD, RELEASE, Facts, Place, is_erased, person_key
from bot.records import Actor
from grounding.errors import InputError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry

On = Literal["entry", "conversation", "person"]
REASON_MAX = 500


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold that is in force: on which entry, conversation or person, since when, and why."""

    hold_id: str
    on: On
    target: str
    reason: str
    at: str
    user: str | None = None

    def covers(self, facts: Facts, turns: Mapping[str, Facts]) -> bool:
        """True if the entry of these facts must stay. `turns`: facts by id of what it may refer to."""
        if self.on == "entry":
            return self.target == facts.entry_id or self.target in facts.about
        near = [facts, *(turns[about] for about in facts.about if about in turns)]
        if self.on == "conversation":
            return any(self.target == one.conversation for one in near)
        return any(person_key(self.target) in one.users for one in near)

    def covers_place(self, place: Place, people: Iterable[str]) -> bool:
        """True if a conversation must stay in which these people spoke."""
        return (self.on == "conversation" and self.target == place[1]) or (
            self.on == "person" and person_key(self.target) in people
        )

    def told(self) -> str:
        """The hold as an error names it. Its reason is free text and is not said there."""
        return f"{self.hold_id} on the {self.on} {self.target}"

    def as_json(self) -> dict[str, str | None]:
        """The form of `attest privacy holds --json`."""
        return {
            "hold": self.hold_id,
            "on": self.on,
            "target": self.target,
            "reason": self.reason,
            "at": self.at,
            "by": self.user,
        }


class HoldBook:
    """The holds in force, from the entries of a ledger in their order. `active`: those that the entries before had left in force."""

    def __init__(self, active: Iterable[Hold] = ()) -> None:
        self._active = {hold.hold_id: hold for hold in active}

    def read(self, entry: Entry) -> None:
        """Take in one entry; what is no hold and no release changes nothing."""
        body = entry.body
        if entry.kind == HOLD and body.get("on") in get_args(On):
            actor = body.get("actor")
            self._active[entry.entry_id] = Hold(
                entry.entry_id,
                cast("On", body["on"]),
                str(body.get("target")),
                str(body.get("reason") or ""),
                entry.at,
                actor.get("user") if isinstance(actor, dict) else None,
            )
        elif entry.kind == RELEASE:
            self._active.pop(str(body.get("hold")), None)

    @property
    def active(self) -> tuple[Hold, ...]:
        return tuple(self._active.values())


async def holds_in(ledger: Ledger) -> tuple[Hold, ...]:
    """The holds in force, the oldest first. Raises StoreError."""
    book = HoldBook()
    async for entry in ledger.entries(kinds=(HOLD, RELEASE)):
        book.read(entry)
    return book.active


async def place(ledger: Ledger, on: On, target: str, reason: str, who: Actor) -> tuple[Entry | Hold, bool]:
    """The entry of a hold, and True if it is new; the hold that is there if the same is in force. Raises InputError, StoreError.

    A person or conversation need not be known yet; an entry must be there with its body.
    """
    why = reason_of(reason)
    if on == "entry":
        entry = await ledger.get(target)
        if entry is None or is_erased(entry):
            raise InputError(f"entry {target!r} is not in the ledger, or was erased: there is nothing to hold")
    for hold in await holds_in(ledger):
        if (hold.on, hold.target) == (on, target):
            return hold, False
    body = {NAME: SCHEMA, "on": on, "target": target, "reason": why, "actor": plain(who)}
    return await ledger.append(HOLD, body), True


async def release(ledger: Ledger, hold_id: str, reason: str, who: Actor) -> tuple[Hold, Entry]:
    """The hold that is released, and the entry that says so. Raises InputError if no such hold is in force, StoreError."""
    why = reason_of(reason)
    found = next((hold for hold in await holds_in(ledger) if hold.hold_id == hold_id), None)
    if found is None:
        raise InputError(f"no hold {hold_id!r} is in force; see `attest privacy holds`")
    body = {NAME: SCHEMA, "hold": hold_id, "reason": why, "actor": plain(who)}
    return found, await ledger.append(RELEASE, body)


def reason_of(given: str) -> str:
    """A reason as it is recorded. Raises InputError for an empty or long one."""
    reason = given.strip()
    if not reason or len(reason) > REASON_MAX:
        raise InputError(f"--reason: allowed is a text of 1 to {REASON_MAX} characters")
    return reason
