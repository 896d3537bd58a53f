"""The chain that makes changes to the ledger show: canonical bodies, keyed links, and the walk that checks them.

One link is HMAC-SHA256 over the entry's header (ledger, id, time, kind, digest of the body, link before). The body enters by
its digest alone, so that it can be erased on record while the chain still holds. `seq` is not in the link: the order is what `prev` says,
which lets the walk tell a moved entry from a changed one.

There are two forms of entry. In form 2 the digest is a commitment that anybody can open who has the body and its salt, and the link
names the ledger. Entries of form 1, which older programs wrote, have a keyed digest, no salt, and no ledger in their link; they stand before
all of form 2, and are checked as what they are.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from grounding.errors import StoreError
from grounding.records import OnProgress, Progress
from rai.records import Break, Verification

GENESIS = "0" * 64
"""The link that stands before the first entry."""
GENESIS_ENTRY, UPGRADE = "genesis", "upgrade"
"""The kinds of the first entry of form 2, which says which ledger this is: of a new one, and of one that was begun with form 1."""
KEY = "key"
"""The kind of an entry that names another public key, or says that the one before has been retired."""
ANCHOR = "anchor"
"""The kind of an entry that records that a moved or restored ledger was anchored anew."""
MOVED, OPENED = "moved", "opened"
"""The kind of an entry that says where the ledger was moved to: as long as it is the last nothing is added to it, there or here; and that of the entry which opens it, of which each of the two places
may get one.
"""
RESTORED = "restored"
"""The kind of an entry that records that an older state of the ledger was put back, and which entries are missing by that."""
NAMING = (GENESIS_ENTRY, UPGRADE, KEY)
"""The kinds of entries that name the public key of the ledger's checkpoints; the last of them holds."""
ERASE = "erase"
"""The kind of an entry that records the erasure of other bodies."""
LASTING = frozenset({GENESIS_ENTRY, UPGRADE, KEY, ANCHOR, ERASE, MOVED, OPENED, RESTORED})
"""Kinds of entries that the rest is understood by: their bodies are never erased."""
GUARD = "guard"
"""The kind of an entry that records what was gone from a store and put back by whoever opened it."""
TOLD_EVERY = 1_000
"""Rows between two reports of progress."""
BREAKS_MAX = 1_000
"""Breaks that are named; a walk ends at the last of them."""
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32, as in ULID
_RANDOM_BITS = 80
SALT_BYTES = 32
_SALT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SealedRow:
    """An entry of the ledger as it is stored, with its seals.

    `salt`: what the digest is opened with, None in form 1 and after an erasure; `body`: canonical JSON text, or None after an erasure; `digest`: of the
    body; `prev`: the link of the entry before; `mac`: the entry's own link. All but the body are hex.
    """

    seq: int
    entry_id: str
    at: str
    kind: str
    salt: str | None
    body: str | None
    digest: str
    prev: str
    mac: str


@dataclass(frozen=True, slots=True)
class Flaw:
    """What stands where an entry belongs and cannot be read as one. `entry`: its id, if it tells one; `why`: as of a `Break`."""

    entry: str | None
    why: str


@dataclass(slots=True)
class Walk:
    """What one pass over the entries has found.

    `count`, `head`: the entries before the first break, and the last link of these; `breaks`: those of the chain; `erasures`: bodies that are
    gone or there against what is recorded. `read`: all entries; `seq`, `last`: number and link of the last that stands in its place, the link None if it
    cannot be relied on. `erased`, `recorded`: by id of an entry whose body is gone, its place and that of the last entry that records its
    erasure; `salted`: those whose salt is still there. `guards`: entries of kind `guard`. `ledger_id`: of the ledger that the first entry of form 2 is of, from which on there may be no other; `hints`: which it may be, from elsewhere.
    """

    count: int = 0
    head: str = GENESIS
    breaks: list[Break] = field(default_factory=list)
    erasures: list[Break] = field(default_factory=list)
    read: int = 0
    seq: int = 0
    last: str | None = GENESIS
    erased: dict[str, int] = field(default_factory=dict)
    recorded: dict[str, int] = field(default_factory=dict)
    salted: set[str] = field(default_factory=set)
    guards: list[SealedRow] = field(default_factory=list)
    ids: array[int] = field(default_factory=lambda: array("q"))
    ledger_id: str | None = None
    hints: tuple[str, ...] = ()

    @property
    def broken(self) -> Break | None:
        """The first break of the chain, or of the erasures if the chain holds."""
        return next(iter([*self.breaks, *self.erasures]), None)


def canonical(body: Any) -> str:
    """The one spelling of a body, or of any other JSON value: sorted keys, no spaces, ASCII escapes. Raises StoreError for what JSON cannot say."""
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


def is_same(a: str, b: str) -> bool:
    """True if two seals are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(a.encode("utf-8", "surrogatepass"), b.encode("utf-8", "surrogatepass"))


def commitment(salt: str, body: str) -> str:
    """What an entry of form 2 says of its body: SHA-256 over the 32 bytes of `salt` and the text. Without the salt nobody can test a guess against it."""
    return hashlib.sha256(bytes.fromhex(salt) + body.encode("utf-8", "surrogatepass")).hexdigest()


def keyed_digest(key: bytes, entry_id: str, body: str) -> str:
    """What an entry of form 1 says of its body: without the key nobody can test a guess of an erased text against it."""
    return seal(key, "attest-ledger-body-1", entry_id, body)


def mac_of(key: bytes, row: SealedRow, ledger_id: str | None) -> str:
    """The link of `row` in the ledger `ledger_id`, or of one of form 1 if that is None."""
    if ledger_id is None:
        return seal(key, "attest-ledger-link-1", row.entry_id, row.at, row.kind, row.digest, row.prev)
    parts = (ledger_id, row.entry_id, row.at, row.kind, row.digest, row.prev)
    return seal(key, "attest-ledger-link-2", *parts)


def leaf_data(ledger_id: str, row: SealedRow) -> bytes:
    """What the leaf of an entry is made of in the tree of its ledger. It holds the digest and not the body, so an erased entry keeps its leaf."""
    parts = [ledger_id, row.seq, row.entry_id, row.at, row.kind, row.digest]
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def new_ledger_id() -> str:
    """A name that no other ledger has: 16 random bytes as 32 hex digits."""
    return secrets.token_hex(16)


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


def link(key: bytes, ledger_id: str, *, seq: int, entry_id: str, at: str, kind: str, body: str, prev: str) -> SealedRow:
    """A row of form 2 with a new salt, its digest and link computed. `prev`: the link of the row before, `GENESIS` for the first."""
    salt = secrets.token_hex(SALT_BYTES)
    row = SealedRow(seq, entry_id, at, kind, salt, body, commitment(salt, body), prev, "")
    return replace(row, mac=mac_of(key, row, ledger_id))


def ledger_named(row: SealedRow) -> str | None:
    """The ledger that an entry says it begins, if it is of a kind that does."""
    return _named(row, "ledger_id") if row.kind in (GENESIS_ENTRY, UPGRADE) else None


def key_named(row: SealedRow) -> str | None:
    """The public key of checkpoints that an entry names, if it is of a kind that does."""
    return _named(row, "verifier_key") if row.kind in NAMING else None


def _named(row: SealedRow, name: str) -> str | None:
    try:
        found = None if row.body is None else json.loads(row.body).get(name)
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def erased_by(row: SealedRow) -> list[str]:
    """The ids of the entries whose erasure an entry records."""
    if row.kind != ERASE or row.body is None:
        return []
    said = json.loads(row.body)
    return [str(name) for name in said.get("entry_ids", [said.get("entry_id")])]


def walk(key: bytes, rows: Iterable[SealedRow | Flaw], known: Callable[[str], bool], state: Walk | None = None) -> Walk:
    """Checks `rows` in the order of `seq` to the end, or up to the `BREAKS_MAX`th break.

    `known(mac)` says whether any stored entry carries that link; it is asked at a break, to tell an entry that was moved from one whose
    predecessor is gone. `state`: of the entries before `rows`, with which it goes on; it is changed and returned.
    """
    state = state or Walk()
    for row in rows:
        state.read += 1
        found = row if isinstance(row, Flaw) else _check(key, state, row, known)
        if found is not None:
            state.breaks.append(Break(found.entry, found.why, state.read))
            if len(state.breaks) == BREAKS_MAX:
                break
        elif not state.breaks and isinstance(row, SealedRow):
            state.count, state.head = state.count + 1, row.mac
        _pass(key, state, row, holds=found is None)
    state.erasures = _erasures(state)
    return state


def told_of(rows: Iterable[SealedRow | Flaw], total: int, on_progress: OnProgress) -> Iterator[SealedRow | Flaw]:
    """The same rows; now and then it is told how many were taken of `total`."""
    for number, row in enumerate(rows):
        if number % TOLD_EVERY == 0:
            on_progress(Progress("chain", number, total))
        yield row
    on_progress(Progress("chain", total, total))


def is_whole(key: bytes, row: SealedRow, ledger_id: str | None) -> bool:
    """True if a row is what was sealed in the ledger `ledger_id`, whatever stands before it; of an erased one what is left of it."""
    number = row.seq if _is_readable(row) else 0
    alone = Walk(seq=number - 1, last=row.prev, hints=() if ledger_id is None else (ledger_id,))
    return not walk(key, [row], lambda _: True, alone).breaks


def _pass(key: bytes, state: Walk, row: SealedRow | Flaw, *, holds: bool) -> None:
    """Goes on behind `row`. What follows is judged by what stands there, so that one break is told once."""
    if isinstance(row, Flaw) or not _is_readable(row):
        state.seq, state.last = state.seq + 1, None
        state.ids.append(0)
        return
    if row.seq > state.seq:  # else it stands there beside the chain, which goes on from the entry before it
        state.seq = row.seq
        state.last = row.mac if holds or _form_of(key, state, row) else None
    state.ids.append(hash(row.entry_id))
    if row.body is None and row.kind != ERASE:
        state.erased[row.entry_id] = state.read
        if row.salt is not None:
            state.salted.add(row.entry_id)
    elif holds and row.kind == GUARD:
        state.guards.append(row)
    elif holds:
        state.recorded.update(dict.fromkeys(erased_by(row), state.read))


def _erasures(state: Walk) -> list[Break]:
    """The bodies that are gone without a record of it, and those that are there in spite of one."""
    found = [
        Break(entry, f"changed: the body of entry {at} is gone and no later entry records its erasure", at)
        for entry, at in state.erased.items()
        if state.recorded.get(entry, 0) <= at
    ]
    found += [
        Break(entry, f"changed: entry {at} was erased, but its salt is there, with which its body can be guessed", at)
        for entry, at in state.erased.items()
        if entry in state.salted and state.recorded.get(entry, 0) > at
    ]
    for entry, by in state.recorded.items():
        # An id that stands nowhere was cut out, which shows where it stood.
        if entry not in state.erased and hash(entry) in state.ids:
            at = state.ids.index(hash(entry)) + 1
            found.append(Break(entry, f"changed: entry {at} has a body, but entry {by} records its erasure", at))
    return sorted(found, key=lambda b: b.at or 0)


def result_of(state: Walk, apart: Iterable[str]) -> Verification:
    """The result of a walk and of what was found `apart` from the entries: what was cut from the end stands behind the last of them, the rest nowhere.

    The first break is the chain's, then its end's, then that of an erasure, which may only be a consequence of these.
    """
    ends = [Break(None, why, state.read + 1 if why.startswith("truncated") else None) for why in apart]
    cut = [end for end in ends if end.at is not None]
    first = next(iter([*state.breaks, *cut, *state.erasures, *ends]), None)
    guards = tuple(
        f"entry {row.seq}, {row.at}: gone, and put back: {', '.join(_put_back(row))}" for row in state.guards
    )
    if first is None:
        return Verification(True, state.count, state.head, notes=guards)
    notes = (*guards, *((f"only the first {BREAKS_MAX} breaks are named",) if len(state.breaks) == BREAKS_MAX else ()))
    breaks = _surrounded([*state.breaks, *state.erasures, *ends], state.read)
    return Verification(False, state.count, state.head, first.entry, first.why, notes, breaks)


def _put_back(row: SealedRow) -> list[str]:
    return [str(name) for name in json.loads(row.body or "{}").get("put_back", ())]


def _surrounded(breaks: Iterable[Break], read: int) -> tuple[Break, ...]:
    """`breaks` in the order of the `read` entries, each with what lies before and after it; those of no place come last."""
    ordered = sorted(breaks, key=lambda b: (b.at is None, b.at or 0))
    places = sorted({b.at for b in ordered if b.at is not None})
    around = {
        at: (at - before - 1, max(after - at - 1, 0))
        for before, at, after in zip([0, *places], places, [*places[1:], read + 1], strict=False)
    }
    return tuple(b if b.at is None else replace(b, before=around[b.at][0], after=around[b.at][1]) for b in ordered)


def _is_readable(row: SealedRow) -> bool:
    """True if each part is of its type; a file that was changed by hand or by a fault may hold anything."""
    erasable = ("" if part is None else part for part in (row.salt, row.body))
    texts: tuple[object, ...] = (row.entry_id, row.at, row.kind, *erasable, row.digest, row.prev, row.mac)
    number: object = row.seq
    return isinstance(number, int) and all(isinstance(text, str) for text in texts)


def _check(key: bytes, state: Walk, row: SealedRow, known: Callable[[str], bool]) -> Flaw | None:
    expected = state.seq + 1
    if not _is_readable(row):
        return Flaw(str(row.entry_id), f"changed: what stands where entry {expected} belongs cannot be read")
    if row.seq > expected:
        return Flaw(row.entry_id, f"missing: entry {expected} is not there, the next is {row.seq}")
    if row.seq != expected:
        return Flaw(row.entry_id, f"reordered: entry {row.seq} stands where {expected} belongs")
    form = _form_of(key, state, row)
    if not form:
        return Flaw(row.entry_id, f"changed: entry {row.seq} does not match its seal")
    if row.body is None and row.kind in LASTING:
        says = "records an erasure" if row.kind == ERASE else "says which ledger this is"
        return Flaw(row.entry_id, f"changed: the body of entry {row.seq} is gone, which {says}")
    if row.salt is not None and form == 1:
        return Flaw(row.entry_id, f"changed: entry {row.seq} has a salt, which its form has not")
    if row.body is not None and not is_same(_digest_of(key, row, form), row.digest):
        return Flaw(row.entry_id, f"changed: the body of entry {row.seq} does not match its seal")
    if state.last is not None and row.prev != state.last:
        if row.prev == GENESIS or known(row.prev):
            return Flaw(row.entry_id, f"reordered: entry {row.seq} does not follow the entry before it")
        return Flaw(row.entry_id, f"missing: the entry before entry {row.seq} is gone")
    return None


def _digest_of(key: bytes, row: SealedRow, form: int) -> str:
    """What the digest of a row with a body is to be; what no digest is if it has no salt to be opened with."""
    if form == 1:
        return keyed_digest(key, row.entry_id, row.body or "")
    return commitment(row.salt, row.body or "") if row.salt is not None and _SALT.fullmatch(row.salt) else ""


def _form_of(key: bytes, state: Walk, row: SealedRow) -> int:
    """The form, 1 or 2, in which the link of `row` is its own; 0 if it is in neither. The first of form 2 settles which ledger this is."""
    if state.ledger_id is not None:
        return 2 if is_same(mac_of(key, row, state.ledger_id), row.mac) else 0
    if is_same(mac_of(key, row, None), row.mac):
        return 1
    named = ledger_named(row)
    for ledger_id in (*state.hints, *([named] if named else [])):
        if is_same(mac_of(key, row, ledger_id), row.mac):
            state.ledger_id = ledger_id
            return 2
    return 0
