"""The chain that makes changes to the ledger show: canonical bodies, keyed links, and the walk that checks them.

One link is HMAC-SHA256 over the entry's header (id, time, kind, digest of the body, link before). The body enters by
its keyed digest, so that a body can be erased on record while the chain still holds. `seq` is not in the link: the
order is what `prev` says, which lets the walk tell a moved entry from a changed one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from grounding.errors import StoreError

GENESIS = "0" * 64
"""The link that stands before the first entry."""
ERASE = "erase"
"""The kind of an entry that records the erasure of another's body."""
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32, as in ULID
_RANDOM_BITS = 80


@dataclass(frozen=True, slots=True)
class SealedRow:
    """An entry of the ledger as it is stored, with its seals.

    `body`: canonical JSON text, or None after an erasure; `digest`: keyed digest of the body; `prev`: the link of the entry before; `mac`: the
    entry's own link. The last three are hex.
    """

    seq: int
    entry_id: str
    at: str
    kind: str
    body: str | None
    digest: str
    prev: str
    mac: str


@dataclass(frozen=True, slots=True)
class Break:
    """The first entry at which a chain does not hold. `why` begins with changed, missing, reordered or truncated."""

    entry: str
    why: str


@dataclass(slots=True)
class Walk:
    """What one pass over the entries has found. `head`: the last link; `erased`, `recorded`: by id of an entry whose body is gone, its `seq`
    and that of the last entry that records its erasure.
    """

    count: int = 0
    head: str = GENESIS
    broken: Break | None = None
    erased: dict[str, int] = field(default_factory=dict)
    recorded: dict[str, int] = field(default_factory=dict)


def canonical(body: dict[str, Any]) -> str:
    """The one spelling of `body`: sorted keys, no spaces, ASCII escapes. Raises StoreError for what JSON cannot say."""
    try:
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"the ledger cannot keep this entry: its body is not JSON ({type(error).__name__})") from None


def seal(key: bytes, tag: str, *parts: str) -> str:
    """HMAC-SHA256 in hex over `parts`, each preceded by its length, so that no two lists of parts look alike."""
    message = bytearray()
    for part in (tag, *parts):
        # A damaged file can give another type than was stored: it must read as a change, not as a failure.
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else b"\x00" + repr(part).encode()
        message += len(raw).to_bytes(8, "big") + raw
    return hmac.new(key, bytes(message), hashlib.sha256).hexdigest()


def digest_of(key: bytes, entry_id: str, body: str) -> str:
    """The keyed digest of a body: without the key nobody can test a guess of an erased text against it."""
    return seal(key, "attest-ledger-body-1", entry_id, body)


def mac_of(key: bytes, row: SealedRow) -> str:
    """The link of `row`: the seal over its id, time, kind, digest and the link before."""
    return seal(key, "attest-ledger-link-1", row.entry_id, row.at, row.kind, row.digest, row.prev)


def key_id(key: bytes) -> str:
    """A name of a key that does not reveal it: 16 hex digits."""
    return seal(key, "attest-ledger-key-1")[:16]


def new_entry_id(now_ms: int, last: str | None) -> str:
    """A 26-character id that sorts by time (the layout of ULID), always above `last`, also when the clock steps back."""
    number = ((now_ms & ((1 << 48) - 1)) << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
    if last is not None:
        number = max(number, _number(last) + 1)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def _number(entry_id: str) -> int:
    number = 0
    for char in entry_id:
        number = number * 32 + max(_ALPHABET.find(char), 0)
    return number & ((1 << 128) - 1)


def link(key: bytes, *, seq: int, entry_id: str, at: str, kind: str, body: str, prev: str) -> SealedRow:
    """A row with its digest and link computed. `prev`: the link of the row before, `GENESIS` for the first."""
    row = SealedRow(seq, entry_id, at, kind, body, digest_of(key, entry_id, body), prev, "")
    return SealedRow(seq, entry_id, at, kind, body, row.digest, prev, mac_of(key, row))


def walk(key: bytes, rows: Iterable[SealedRow], known: Callable[[str], bool]) -> Walk:
    """Checks `rows` in the order of `seq`, up to the first break.

    `known(mac)` says whether any stored entry carries that link; it is asked once, at a break, to tell an entry that
    was moved from one whose predecessor is gone.
    """
    state = Walk()
    for row in rows:
        state.broken = _check(key, state, row, known)
        if state.broken is not None:
            return state
        state.count, state.head = state.count + 1, row.mac
        if row.body is None:
            state.erased[row.entry_id] = row.seq
        elif row.kind == ERASE:
            state.recorded[str(json.loads(row.body).get("entry_id"))] = row.seq
    unrecorded = [seq for entry, seq in state.erased.items() if state.recorded.get(entry, 0) <= seq]
    if unrecorded:
        seq = min(unrecorded)
        entry = next(e for e, s in state.erased.items() if s == seq)
        state.broken = Break(entry, f"changed: the body of entry {seq} is gone and no later entry records its erasure")
    return state


def _is_readable(row: SealedRow) -> bool:
    """True if each part is of its type; a file that was changed by hand or by a fault may hold anything."""
    texts: tuple[object, ...] = (row.entry_id, row.at, row.kind, row.body or "", row.digest, row.prev, row.mac)
    number: object = row.seq
    return isinstance(number, int) and all(isinstance(text, str) for text in texts)


def _check(key: bytes, state: Walk, row: SealedRow, known: Callable[[str], bool]) -> Break | None:
    expected = state.count + 1
    if not _is_readable(row):
        return Break(str(row.entry_id), f"changed: what stands where entry {expected} belongs cannot be read")
    if row.seq > expected:
        return Break(row.entry_id, f"missing: entry {expected} is not there, the next is {row.seq}")
    if row.seq != expected:
        return Break(row.entry_id, f"reordered: entry {row.seq} stands where {expected} belongs")
    if not hmac.compare_digest(mac_of(key, row), row.mac):
        return Break(row.entry_id, f"changed: entry {row.seq} does not match its seal")
    if row.body is not None and not hmac.compare_digest(digest_of(key, row.entry_id, row.body), row.digest):
        return Break(row.entry_id, f"changed: the body of entry {row.seq} does not match its seal")
    if row.prev != state.head:
        if row.prev == GENESIS or known(row.prev):
            return Break(row.entry_id, f"reordered: entry {row.seq} does not follow the entry before it")
        return Break(row.entry_id, f"missing: the entry before entry {row.seq} is gone")
    return None
