"""A ledger that is watched while it is written: what is new is verified as it comes, and all of it again and again, a slice at a time.

A look takes a fraction of a second. The first looks go once over all entries. From then on new ones are verified from the last good
point, and the rest of a look goes on with another round over all, in which a change to an old one shows; a ledger that fits into one look
is verified whole in each.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rai.ledger.chain import BREAKS_MAX, Flaw, SealedRow, Walk, result_of, walk
from rai.records import Break, Verification

LOOK_S = 0.5
"""Seconds that one look may verify; new entries are verified beyond it."""
SLICE = 200
"""Entries that are read at once."""


class Watchable(Protocol):
    """What a watch asks of the store that it looks at. Raises StoreError where the store cannot be read at all."""

    def after(self, seq: int | None, count: int) -> Sequence[SealedRow | Flaw]:
        """At most `count` entries whose number is above `seq`, in order; from the first one on if `seq` is None."""
        ...

    def apart(self) -> list[str]:
        """What is wrong beside the entries: the store's form and notes of itself, and the anchor against the last entry that is stored now."""
        ...

    def is_linked(self, mac: str) -> bool:
        """True if an entry with that link is stored."""
        ...

    def has_body(self, entry_id: str) -> bool:
        """True if the entry is there with its body."""
        ...


@dataclass(frozen=True, slots=True)
class Watched:
    """What the looks so far came to. `why`: of the first break, empty while none is known, `broken` its entry.

    `entries`: verified since the start, the newest included; `round_s`: seconds that the last whole round took, None before the first has ended; `head`: the seal
    of the last entry that was verified, empty while none is.
    """

    why: str = ""
    broken: str | None = None
    entries: int = 0
    round_s: float | None = None
    head: str = ""

    @property
    def ok(self) -> bool:
        return not self.why


class LedgerWatch:
    """The watch over one store, which is that of the ledger `ledger_id`. `clock` gives seconds that never run backwards. A look at a time, whoever asks."""

    def __init__(
        self,
        key: bytes,
        store: Watchable,
        *,
        ledger_id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key = key
        self._store = store
        self._hints = () if ledger_id is None else (ledger_id,)
        self._clock = clock
        self._looking = threading.Lock()
        self._tail: _Pass | None = None  # none until a round has come to the end, from where it goes on
        self._round = _Pass(self._hints)
        self._began = clock()
        self._found: Verification | None = None
        self._round_s: float | None = None

    def look(self, budget_s: float = LOOK_S) -> Watched:
        """Verify what is new, then go on with the round for `budget_s` seconds. Raises StoreError where the store cannot be read."""
        with self._looking:
            until = self._clock() + budget_s
            while self._tail is not None and self._advance(self._tail):
                pass
            while self._clock() < until:
                if not self._advance(self._round):
                    self._end_round()
                    break
            return self._told()

    def _advance(self, run: _Pass) -> bool:
        """One slice further; False at the end, or where so much is broken that no more is told."""
        if len(run.state.breaks) >= BREAKS_MAX:
            return False
        rows = self._store.after(run.seq, SLICE)
        walk(self._key, rows, self._store.is_linked, run.state)
        numbers = [row.seq for row in rows if isinstance(row, SealedRow)]
        run.seq = max(numbers, default=run.seq)
        return bool(numbers)

    def _end_round(self) -> None:
        state = self._round.state
        state.erasures = standing(state, self._store)
        self._found = result_of(state, self._store.apart())
        self._round_s = round(self._clock() - self._began, 3)
        self._tail, self._round, self._began = self._round, _Pass(self._hints), self._clock()

    def _told(self) -> Watched:
        state = (self._tail or self._round).state
        if self._found is not None and not self._found.ok:
            return Watched(self._found.why, self._found.broken, self._found.entries, self._round_s, state.head)
        first: Break | None = next(iter(state.breaks), None)
        if first is not None:
            return Watched(first.why, first.entry, state.count, self._round_s, state.head)
        apart = self._store.apart()
        return Watched(apart[0] if apart else "", None, state.count, self._round_s, state.head)


class _Pass:
    """A way along the entries that is gone in slices: what was found, and the number of the last entry that was read."""

    def __init__(self, hints: tuple[str, ...]) -> None:
        self.state = Walk(hints=hints)
        self.seq: int | None = None


def standing(state: Walk, store: Watchable) -> list[Break]:
    """The breaks of erasures that a walk in slices found and that are some: a body that was erased on record while it went on was there when it came by."""
    return [b for b in state.erasures if b.entry in state.erased or (b.entry and store.has_body(b.entry))]
