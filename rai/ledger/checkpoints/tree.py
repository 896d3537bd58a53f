"""The Merkle tree over the entries of a ledger: roots, and proofs that a short list of hashes makes.

The tree of RFC 6962 (2.1): a leaf is SHA-256 over 0x00 and its data, an inner node SHA-256 over 0x01 and its two children, and a tree of n leaves
splits at the largest power of two below n. Proofs are verified as RFC 9162 (2.1.3.2, 2.1.4.2) says. Nothing here needs a key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from grounding.errors import InputError

EMPTY = hashlib.sha256(b"").digest()
"""The root of a tree without leaves."""
_HASH_BYTES = 32


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf that holds `data`."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node over the hashes of its two children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """A tree that only grows, as the roots of its complete subtrees: at most one for each bit of its size.

    `append` and `root` take O(log n) hashes, and so does what is kept. `peaks`: the roots, that of the largest subtree first.
    """

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks = list(peaks)
        if size < 0 or len(self.peaks) != size.bit_count() or any(len(p) != _HASH_BYTES for p in self.peaks):
            raise InputError(f"not the frontier of a tree: {len(self.peaks)} hashes for {size} leaves")

    def append(self, leaf: bytes) -> None:
        """Adds one leaf by its hash."""
        bits = self.size
        while bits & 1:
            leaf = node_hash(self.peaks.pop(), leaf)
            bits >>= 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root over the leaves so far."""
        if not self.peaks:
            return EMPTY
        found = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            found = node_hash(peak, found)
        return found

    def to_text(self) -> str:
        """The frontier on one line: its size, then its peaks in hex, separated by spaces."""
        return " ".join([str(self.size), *(peak.hex() for peak in self.peaks)])

    @classmethod
    def from_text(cls, text: str) -> Frontier:
        """The frontier that `to_text` wrote. Raises InputError for anything else."""
        size, *peaks = text.split(" ")
        try:
            found = cls(int(size), [bytes.fromhex(peak) for peak in peaks])
        except ValueError:
            raise InputError("not the frontier of a tree: expected a size and hashes in hex") from None
        if found.to_text() != text:
            raise InputError("not the frontier of a tree: it is spelled otherwise than it is written")
        return found


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root of the tree over leaves that are given by their hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The hashes that lead from leaf `index` to the root, lowest first. `leaves`: the hashes of all leaves of the tree."""
    if not 0 <= index < len(leaves):
        raise InputError(f"a tree of {len(leaves)} leaves has no leaf {index}")
    found: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            found.append(root_of(leaves[middle:high]))
            high = middle
        else:
            found.append(root_of(leaves[low:middle]))
            low = middle
    return found[::-1]


def inclusion_proofs(leaves: Sequence[bytes], indexes: Iterable[int]) -> list[list[bytes]]:
    """The same for many leaves, for which the tree is made once. A node without a sibling goes up as it is, which is the same tree."""
    asked = list(indexes)
    if wrong := [index for index in asked if not 0 <= index < len(leaves)]:
        raise InputError(f"a tree of {len(leaves)} leaves has no leaf {wrong[0]}")
    found: list[list[bytes]] = [[] for _ in asked]
    places, level = list(asked), list(leaves)
    while len(level) > 1:
        for proof, place in zip(found, places, strict=True):
            if place ^ 1 < len(level):
                proof.append(level[place ^ 1])
        above = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = above + level[len(above) * 2 :]
        places = [place >> 1 for place in places]
    return found


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """True if `proof` leads from the hash `leaf` at `index` to the `root` of a tree of `size` leaves."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(step, found)
            while not at & 1 and at:  # levels at which the node has no sibling
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, step)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def consistency_proof(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """The hashes that show the tree over the `first` leaves to be a beginning of the tree over all `leaves`."""
    if not 0 <= first <= len(leaves):
        raise InputError(f"a tree of {len(leaves)} leaves does not begin with {first}")
    found: list[bytes] = []
    low, high, left, whole = 0, len(leaves), first, True
    while 0 < left < high - low:  # `left` leaves of the older tree lie in this subtree; `whole`: they are all of it
        split = _split(high - low)
        if left <= split:
            found.append(root_of(leaves[low + split : high]))
            high = low + split
        else:
            found.append(root_of(leaves[low : low + split]))
            low, left, whole = low + split, left - split, False
    if first and not whole:
        found.append(root_of(leaves[low:high]))
    return found[::-1]


def verify_consistency(first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]) -> bool:
    """True if `proof` shows that the tree of `second` leaves begins with that of `first`."""
    if first == second:
        return not proof and first_root == second_root
    if not 0 <= first < second:
        return False
    if first == 0:
        return not proof and first_root == EMPTY
    path = list(proof) if first & (first - 1) else [first_root, *proof]
    if not path:
        return False
    at, last = first - 1, second - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = path[0]
    for step in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            older, newer = node_hash(step, older), node_hash(step, newer)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            newer = node_hash(newer, step)
        at, last = at >> 1, last >> 1
    return last == 0 and older == first_root and newer == second_root


def _split(size: int) -> int:
    """The largest power of two below `size`, which is at least 2."""
    return 1 << ((size - 1).bit_length() - 1)
