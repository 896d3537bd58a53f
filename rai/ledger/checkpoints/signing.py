"""The tree over a ledger's entries, grown from those that were verified on the way: what checkpoints are signed over, and proofs made of."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from grounding.errors import InputError, StoreError
from rai.ledger.chain import SealedRow, Walk, leaf_data, walk
from rai.ledger.checkpoints.checkpoint import Checkpoint, SigningKey, origin_of, sign_checkpoint
from rai.ledger.checkpoints.tree import EMPTY, Frontier, inclusion_proof, inclusion_proofs, leaf_hash, root_of
from rai.ledger.watch import SLICE, Watchable, standing


@dataclass(frozen=True, slots=True)
class Proof:
    """What proves that an entry stands in a ledger: `hashes` lead from the leaf of `row`, which is number `index` from 0, to the `root` of the tree of `size` leaves."""

    ledger_id: str
    row: SealedRow
    index: int
    size: int
    hashes: tuple[bytes, ...]
    root: bytes


class SignedTree:
    """The tree of one store. It only grows: an entry that was changed after it was verified here is in the tree as it was."""

    def __init__(self, key: bytes, ledger_id: str, store: Watchable) -> None:
        self._key = key
        self._ledger_id = ledger_id
        self._store = store
        self._growing = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._frontier = Frontier()
        self._verified = self._from_the_first()
        self._known = (0, EMPTY)  # a size that a checkpoint was compared at, and the root there

    def checkpoint(self, keys: Sequence[SigningKey], published: Checkpoint | None = None) -> str:
        """The signed note over all entries that are stored now. Raises StoreError if one of them, or what is told of them, does not hold.

        `published`: a checkpoint of before. Nothing is signed either if it is over other entries than the first of this tree; one that is larger is not compared.
        """
        with self._growing:
            self._grow(published)
            refuse(self._store.apart())
            origin = origin_of(self._ledger_id)
            return sign_checkpoint(Checkpoint(origin, self._frontier.size, self._frontier.root()), keys)

    def compare(self, published: Checkpoint) -> None:
        """Raises StoreError if a checkpoint of before is over other entries than these, or one of these does not hold."""
        with self._growing:
            self._grow(published)

    def _grow(self, published: Checkpoint | None) -> None:
        size = 0 if published is None else published.size
        try:
            self._pass(size)
            for _, leaf in self._verified.further():
                self._frontier.append(leaf)
                self._pass(size)
        except BaseException:
            self._begin()  # the walk is ahead of the tree by what was left of a slice
            raise
        if published is not None and size <= self._frontier.size and published.root != self._root_of(size):
            raise StoreError(
                f"nothing is signed: the checkpoint of {published.size} entries that is published is over other entries than this ledger has; "
                "it was replaced, or restored and written on"
            )

    def _pass(self, size: int) -> None:
        if self._frontier.size == size:
            self._known = (size, self._frontier.root())

    def _root_of(self, size: int) -> bytes:
        """The root over the first `size` entries. If the tree had come further before that was asked for, they are read once more, as it keeps no leaves."""
        if self._known[0] != size:
            first = Frontier()
            for _, leaf in islice(self._from_the_first().further(), size):
                first.append(leaf)
            self._known = (size, first.root())
        return self._known[1]

    def _from_the_first(self) -> _Verified:
        return _Verified(self._key, self._ledger_id, self._store)

    def proof(self, entry_id: str, size: int | None = None) -> Proof:
        """What proves the entry `entry_id` in the tree of the first `size` entries, or of all. Raises InputError if it is not among them, StoreError as above."""
        leaves: list[bytes] = []
        found: SealedRow | None = None
        for row, leaf in self._from_the_first().further():
            leaves.append(leaf)
            found = row if row.entry_id == entry_id else found
        if size is not None and size > len(leaves):
            raise InputError(f"there are {len(leaves)} entries, so none can be proven among {size}")
        leaves = leaves[:size]
        if found is None or found.seq > len(leaves):
            raise InputError(f"entry {entry_id!r} is not among the first {len(leaves)} entries of the ledger")
        index = found.seq - 1
        hashes = tuple(inclusion_proof(leaves, index))
        return Proof(self._ledger_id, found, index, len(leaves), hashes, root_of(leaves))

    def proofs(self, entry_ids: Collection[str], size: int) -> list[Proof]:
        """What proves each of these entries in the tree of the first `size`, in the order of the ledger, read in one walk. Raises as `proof` does."""
        leaves: list[bytes] = []
        found: list[SealedRow] = []
        wanted = set(entry_ids)
        for row, leaf in self._from_the_first().further():
            leaves.append(leaf)
            if row.entry_id in wanted:
                found.append(row)
        if size > len(leaves):
            raise InputError(f"there are {len(leaves)} entries, so none can be proven among {size}")
        leaves = leaves[:size]
        missing = wanted - {row.entry_id for row in found if row.seq <= size}
        if missing:
            raise InputError(f"entry {min(missing)!r} is not among the first {size} entries of the ledger")
        root = root_of(leaves)
        paths = inclusion_proofs(leaves, [row.seq - 1 for row in found])
        return [
            Proof(self._ledger_id, row, row.seq - 1, size, tuple(path), root)
            for row, path in zip(found, paths, strict=True)
        ]


class _Verified:
    """The entries with their leaves, each verified before it is given out, from where the last time ended."""

    def __init__(self, key: bytes, ledger_id: str, store: Watchable) -> None:
        self._key = key
        self._ledger_id = ledger_id
        self._store = store
        self._state = Walk(hints=(ledger_id,))
        self._seq: int | None = None

    def further(self) -> Iterator[tuple[SealedRow, bytes]]:
        """Those that came since. Raises StoreError at the first that does not hold."""
        while rows := self._store.after(self._seq, SLICE):
            walk(self._key, rows, self._store.is_linked, self._state)
            refuse([found.why for found in self._state.breaks])
            for row in rows:
                if isinstance(row, SealedRow):  # else it is a break
                    self._seq = row.seq
                    yield row, leaf_hash(leaf_data(self._ledger_id, row))
        refuse([found.why for found in standing(self._state, self._store)])
        if self._state.ledger_id != self._ledger_id:
            raise StoreError("nothing is signed: no entry says which ledger this is")


def refuse(breaks: Sequence[str]) -> None:
    """Raises StoreError with the first of what does not hold, if anything does not."""
    if breaks:
        raise StoreError(f"nothing is signed, as the ledger does not hold: {breaks[0]}; see attest ledger verify")
