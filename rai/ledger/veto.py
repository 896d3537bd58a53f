"""What forbids an erasure from the ledger, which does not know what a hold is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rai.records import Entry


class Veto(Protocol):
    """Asked while nobody else can write, so that what came until then counts too."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of entries that can forbid it."""
        ...

    @property
    def after(self) -> int:
        """The number of the entry up to which they are known."""
        ...

    def refuse(self, later: Sequence[Entry], entry_ids: Collection[str]) -> None:
        """Raises InputError if one of these entries must stay. `later`: the entries of `kinds` with `seq` > `after`, the oldest first. It may be asked twice."""
        ...
