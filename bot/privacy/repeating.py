"""Erasing again what an older state, put back, has brought back."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bot.privacy import conversations
from bot.privacy.erasure import Stores, erased
from bot.privacy.erasure_list import ErasureList, NotedErasure
from bot.privacy.facts import is_erased
from bot.records import Actor


@dataclass(frozen=True, slots=True)
class Repeated:
    """What was erased again: entries, rows of conversations, notes; and how many `erasures` stood in the lists. `gone`: entries that were erased and that the older state has not; `torn`: lines of
    the lists that break off and were left out, each with its file.
    """

    erasures: int = 0
    entries: int = 0
    rows: int = 0
    notes: int = 0
    gone: int = 0
    torn: tuple[str, ...] = ()


async def repeat(stores: Stores, lists: Collection[ErasureList], until: float, reason: str, who: Actor) -> Repeated:
    """Erase again what stands in `lists` and is there. `until`: when the older state was taken, in seconds since the epoch: notes of passages that were erased before are others by now.

    Raises InputError for a list that is not as it was written, before anything is erased; StoreError.
    """
    noted = [(of, erasure) for of in lists for erasure in of.read()]
    erasures = [erasure for _, erasure in noted]
    there, gone = await _bodies(stores, erasures)
    rows = 0
    if stores.state is not None:
        for of in dict.fromkeys(of for of, _ in noted):
            until_when = _until(erasure for one, erasure in noted if one is of)
            rows += await conversations.erase_until(stores.state, of.digest, until_when)
        rows += (await conversations.erase(stores.state, (), there)).rows
    notes = await stores.notes.forget([name for erasure in erasures if erasure.at > until for name in erasure.notes])
    if there or rows or notes:
        await erased(
            stores, there, f"{reason} [{len(erasures)} erasures were repeated]", who, beside=bool(rows or notes)
        )
    torn = tuple(line for of in lists for line in of.torn())
    return Repeated(len(erasures), len(there), rows, notes, gone, torn)


def _until(erasures: Iterable[NotedErasure]) -> dict[str, float]:
    """By digest of a conversation when it was last erased."""
    found: dict[str, float] = {}
    for erasure in erasures:
        for place in erasure.places:
            found[place] = max(erasure.at, found.get(place, 0.0))
    return found


async def _bodies(stores: Stores, erasures: Iterable[NotedErasure]) -> tuple[list[str], int]:
    """The entries that were erased and have a body, and how many are not there."""
    names = dict[str, None]()
    for erasure in sorted(erasures, key=lambda one: one.at):
        names |= dict.fromkeys(erasure.entries)
        for name in erasure.stayed:
            names.pop(name, None)
    there, gone = list[str](), 0
    for name in names:
        entry = await stores.ledger.get(name)
        if entry is None:
            gone += 1
        elif not is_erased(entry):
            there.append(name)
    return there, gone
