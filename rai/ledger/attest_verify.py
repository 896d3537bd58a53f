"""attest-verify: checks an exported ledger against signed checkpoints, with a public key and nothing else.

One file for any Python from 3.11 on, without packages: give it to whoever is to check, or read it first; nothing of Attest is imported. It reads an
export of the form attest-ledger-2 line by line, opens the commitment of every entry, computes the tree of RFC 6962 over all of them and compares its root
with each checkpoint, a signed note of C2SP whose Ed25519 signature it verifies itself (RFC 8032). Of a proof of one entry it checks the same
of that entry alone, without the export. It puts a turn together again from the contents that it refers to. It writes nothing but its report.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import csv
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

FORMAT = "attest-ledger-2"
"""The form of an export that is checked here."""
PROOF_FORMAT = "attest-ledger-proof-1"
"""The form of a proof of one entry."""
SOUND, BROKEN, UNUSABLE = 0, 1, 2
"""Exit codes."""
_GENESIS_LINK = "0" * 64
_LINE_BYTES = 64 << 20
_NOTE_BYTES = 1 << 20
_SIGNATURES = 100
_LISTED = 1000
_HEX32 = re.compile(r"[0-9a-f]{32}")
_HEX64 = re.compile(r"[0-9a-f]{64}")
_FORMS = {
    "entry_id": (re.compile(r"[0-9A-HJKMNP-TV-Z]{26}"), "26 letters and digits"),
    "at": (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"), "a time in UTC"),
    "kind": (re.compile(r"[!-~]{1,64}"), "a word"),
    "digest": (_HEX64, "64 hex digits"),
    "prev": (_HEX64, "64 hex digits"),
    "mac": (_HEX64, "64 hex digits"),
}
_ENTRY_FIELDS = ("seq", "entry_id", "at", "kind", "salt", "body", "digest", "prev", "mac")
_HEADING_FIELDS = ("format", "ledger_id", "verifier_key", "key_id")
_END_FIELDS = ("count", "head", "mac")
_PROOF_FIELDS = ("format", "ledger_id", "size", "entry", "hashes")
_PROVEN_FIELDS = ("seq", "entry_id", "at", "kind", "salt", "body", "digest")
_MOST_HASHES = 64


class Unusable(Exception):
    """What was given cannot be checked at all; the message is one line."""


# Ed25519, RFC 8032: verification alone. Points are X, Y, Z, T with x = X/Z, y = Y/Z, x y = T/Z. Nothing here is secret, so time may tell.

_Q = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _Q) % _Q
_ROOT_OF_MINUS_1 = pow(2, (_Q - 1) // 4, _Q)
_Curve = tuple[int, int, int, int]
_ZERO: _Curve = (0, 1, 1, 0)


def _add(a: _Curve, b: _Curve) -> _Curve:
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % _Q, (a[1] + a[0]) * (b[1] + b[0]) % _Q
    c, d = 2 * a[3] * b[3] * _D % _Q, 2 * a[2] * b[2] % _Q
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % _Q, g * h % _Q, f * g % _Q, e * h % _Q


def _times(factor: int, point: _Curve) -> _Curve:
    found = _ZERO
    while factor:
        if factor & 1:
            found = _add(found, point)
        point, factor = _add(point, point), factor >> 1
    return found


def _point(raw: bytes) -> _Curve | None:
    number = int.from_bytes(raw, "little")
    y, sign = number & ((1 << 255) - 1), number >> 255
    if len(raw) != 32 or y >= _Q:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _Q) % _Q
    x = pow(square, (_Q + 3) // 8, _Q)
    if x * x % _Q != square:
        x = x * _ROOT_OF_MINUS_1 % _Q
    if x * x % _Q != square or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _Q - x
    return x, y, 1, x * y % _Q


_BASE = _point((4 * pow(5, -1, _Q) % _Q).to_bytes(32, "little")) or _ZERO


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """True if `signature` of `message` was made with the private half of the Ed25519 key `public`."""
    if len(signature) != 64:
        return False
    key, commitment, answer = _point(public), _point(signature[:32]), int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or answer >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    left, right = _times(answer, _BASE), _add(commitment, _times(challenge, key))
    return (left[0] * right[2] - right[0] * left[2]) % _Q == 0 and (left[1] * right[2] - right[1] * left[2]) % _Q == 0


VECTORS = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
)
"""Public key, message and signature in hex: the tests 1 to 3 of RFC 8032, section 7.1."""


# The tree of RFC 6962, 2.1, and the verification of an inclusion proof by RFC 9162, 2.1.3.2.


def leaf_data(ledger_id: str, entry: dict[str, Any]) -> bytes:
    """What the leaf of an entry is made of. It does not hold the body, only its commitment: an erased entry keeps its leaf."""
    parts = [ledger_id, *(entry[name] for name in ("seq", "entry_id", "at", "kind", "digest"))]
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def leaf_of(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    """The hash of a node over its two children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class GrowingTree:
    """A tree as the roots of its complete subtrees, the largest first. It can follow one leaf, to prove later that it is there."""

    def __init__(self) -> None:
        self.size = 0
        self.followed: int | None = None
        self._peaks: list[bytes] = []
        self._holder = -1  # which peak holds the leaf that is followed
        self._path: list[bytes] = []

    def append(self, leaf: bytes, *, follow: bool = False) -> None:
        """Adds a leaf by its hash, and follows it from now on if `follow`."""
        if follow:
            self.followed, self._path = self.size, []
        bits, holds = self.size, follow
        while bits & 1:
            left = self._peaks.pop()
            if holds:
                self._path.append(left)
            elif self._holder == len(self._peaks):
                self._path.append(leaf)
                holds = True
            leaf, bits = node_of(left, leaf), bits >> 1
        if holds:
            self._holder = len(self._peaks)
        self._peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root over the leaves so far."""
        return _folded(self._peaks) if self._peaks else hashlib.sha256(b"").digest()

    def proof(self) -> list[bytes]:
        """The hashes that lead from the leaf that is followed to the root, lowest first."""
        right = self._peaks[self._holder + 1 :]
        return [*self._path, *([_folded(right)] if right else []), *reversed(self._peaks[: self._holder])]


def _folded(peaks: Sequence[bytes]) -> bytes:
    found = peaks[-1]
    for peak in reversed(peaks[:-1]):
        found = node_of(peak, found)
    return found


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """True if `proof` leads from the hash of leaf `index` to the `root` of a tree of `size` leaves."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_of(step, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_of(found, step)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


# What is found, and the report.


@dataclass(slots=True)
class Defect:
    """One break: `what` (changed, missing, reordered, truncated, malformed, forged, forked), where it is, why, and what lies before and after it."""

    what: str
    why: str
    line: int | None = None
    seq: int | None = None
    entry_id: str | None = None
    checkpoint: str | None = None
    before: str = ""
    after: str = ""

    def text(self) -> str:
        """The break in words, over two lines."""
        known = f" ({self.entry_id})" if self.entry_id and self.seq is not None else f" {self.entry_id or ''}"
        entry = (
            "" if self.seq is None and self.entry_id is None else f"entry {self.seq or ''}".rstrip() + known.rstrip()
        )
        place = ", ".join(
            part
            for part in (
                "" if self.checkpoint is None else f"checkpoint {self.checkpoint}",
                "" if self.line is None else f"line {self.line}",
                entry,
            )
            if part
        )
        return f"{place or 'the whole'}: {self.what}: {self.why}\n    before: {self.before or '-'}; after: {self.after or '-'}"


@dataclass(slots=True)
class SignedPoint:
    """A checkpoint that is signed by a given key. `state`: as signed, differs, not reached, or not comparable."""

    name: str
    size: int
    root: str
    state: str = "not reached"


@dataclass(slots=True)
class AuditReport:
    """All that one run found. `entries` are lines that are entries; `covered` is the size of the largest checkpoint that holds.

    `keys`: public keys that entries of the kind `key` name, each with the entry's number: those up to `covered` are named on the authority of the given ones.
    `aside`: checkpoints that were not looked at, as such a key signed them and it was not given.
    """

    ledger_id: str
    entries: int = 0
    covered: int = 0
    form_1: int = 0
    erased: int = 0
    points: list[SignedPoint] = field(default_factory=list)
    findings: list[Defect] = field(default_factory=list)
    breaks: int = 0
    entry: dict[str, Any] | None = None
    keys: list[dict[str, Any]] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    not_yet_covered: tuple[int, int] | None = None

    def add(self, finding: Defect) -> None:
        """Counts a break, and keeps it while they are few enough to be read."""
        self.breaks += 1
        if len(self.findings) < _LISTED:
            self.findings.append(finding)


# Strict JSON: what two readers could read differently is a break.


def parse_strict(raw: bytes) -> tuple[Any, list[str]]:
    """The value of a line of JSON and the keys that stand twice in it. Raises ValueError, with the reason, for what is not strict JSON."""
    twice: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in found:
            if key in seen:
                twice.append(key)
            seen[key] = value
        return seen

    try:
        text = raw.decode("utf-8")
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, character {error.colno})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read (too deep)") from None
    return value, twice


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


_NOT_OPENED = "its salt and body do not open its commitment"


def opens(digest: str, salt: str, body: dict[str, Any]) -> bool:
    """True if `digest` is the commitment to `body` with `salt`: SHA-256 over the salt and the one spelling of the body."""
    try:
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return hashlib.sha256(bytes.fromhex(salt) + text.encode("ascii")).hexdigest() == digest


def _short(value: object) -> str:
    """A value of the file as it may stand in a line for a person."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return ascii(str(value)[:40])[1:-1]


def _twice(keys: Sequence[str]) -> list[str]:
    return [f"the key '{_short(key)}' stands twice: two readers could read two things" for key in keys]


def _wrong_fields(data: dict[str, Any], names: Sequence[str]) -> list[str]:
    missing = [f"the field {name!r} is missing" for name in names if name not in data]
    extra = [f"the field '{_short(name)}' is not sealed and does not belong here" for name in data if name not in names]
    return missing + extra


def _wrong_header(data: dict[str, Any]) -> list[str]:
    """What is wrong with the fields that place and link an entry, each in words."""
    wrong = []
    seq = data.get("seq")
    if "seq" in data and (not isinstance(seq, int) or isinstance(seq, bool) or not 1 <= seq < 1 << 63):
        wrong.append("'seq' is not a number from 1 on")
    for name, (form, words) in _FORMS.items():
        value = data.get(name)
        if name in data and not (isinstance(value, str) and form.fullmatch(value)):
            wrong.append(f"{name!r} is not {words}")
    return wrong


def _wrong_content(data: dict[str, Any]) -> list[str]:
    """What is wrong with the fields that open an entry's commitment, each in words."""
    wrong = []
    salt, body = data.get("salt"), data.get("body")
    if salt is not None and not (isinstance(salt, str) and _HEX64.fullmatch(salt)):
        wrong.append("'salt' is neither 64 hex digits nor null")
    if body is not None and not isinstance(body, dict):
        wrong.append("'body' is neither an object nor null")
    return wrong


# Keys and checkpoints, C2SP signed-note and tlog-checkpoint.


def _bytes_of(text: str) -> bytes | None:
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public Ed25519 key with its name, which is the origin of the ledger's checkpoints, and its id of four bytes."""

    name: str
    key_id: bytes
    raw: bytes

    def line(self) -> str:
        """The key on one line, as C2SP writes it."""
        text = base64.b64encode(b"\x01" + self.raw).decode()
        return f"{self.name}+{self.key_id.hex()}+{text}"


def read_key(line: str) -> PublicKey:
    """The key that a line NAME+ID+KEY writes. Raises Unusable."""
    name, _, rest = line.strip().partition("+")
    key_id, _, text = rest.partition("+")
    raw = _bytes_of(text)
    if not re.fullmatch(r"attest-ledger/[0-9a-f]{32}", name):
        raise Unusable("--key: not the key of a ledger; expected attest-ledger/ID+KEY_ID+KEY")
    if raw is None or len(raw) != 33 or raw[:1] != b"\x01" or _point(raw[1:]) is None:
        raise Unusable("--key: not an Ed25519 key in base64; was it cut?")
    found = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if found.hex() != key_id:
        raise Unusable("--key: its id is not that of its name and key; was it mistyped?")
    return PublicKey(name, found, raw[1:])


def notes_in(raw: bytes) -> list[bytes]:
    """The notes of a file that holds one or, one directly behind another, several."""
    notes: list[list[bytes]] = []
    signed = True
    for line in raw.splitlines(keepends=True) if b"\r" not in raw else [raw]:
        dash = line.startswith("\u2014 ".encode())
        if signed and not dash:
            notes.append([])
        if notes:
            notes[-1].append(line)
        else:
            notes.append([line])
        signed = dash
    return [b"".join(note) for note in notes]


class OtherKey(ValueError):
    """No signature of a note is of a key that was given. `signers`: name and id of those that are there."""

    def __init__(self, signers: list[tuple[str, bytes]]) -> None:
        super().__init__("no signature is of a key that was given")
        self.signers = signers


def read_point(name: str, raw: bytes, keys: Sequence[PublicKey]) -> SignedPoint:
    """The checkpoint in a note that one of `keys` has signed. Raises ValueError, with the reason, for anything else."""
    text, signatures = _read_note(raw)
    known = {(key.name, key.key_id): key for key in keys}
    signed = False
    for signer, key_id, signature in signatures:
        key = known.get((signer, key_id))
        if key is not None and not is_signed(key.raw, text.encode(), signature):
            raise ValueError("its signature does not verify: it was changed, or another key made it")
        signed = signed or key is not None
    if not signed:
        raise OtherKey([(signer, key_id) for signer, key_id, _ in signatures])
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise ValueError("not a checkpoint: expected three lines, origin, size and root")
    root = _bytes_of(lines[2])
    if lines[0] != keys[0].name:
        raise ValueError("it is of another ledger")
    if not re.fullmatch(r"0|[1-9][0-9]{0,18}", lines[1]) or root is None or len(root) != 32:
        raise ValueError("not a checkpoint: its size or its root cannot be read")
    return SignedPoint(name, int(lines[1]), root.hex())


def _read_note(raw: bytes) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    if len(raw) > _NOTE_BYTES:
        raise ValueError("not a signed note: too long")
    try:
        note = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("not a signed note: not UTF-8") from None
    body, blank, block = note.rpartition("\n\n")
    if not blank or not block.endswith("\n") or any(char < " " and char != "\n" for char in note):
        raise ValueError("not a signed note: expected lines of text, an empty line, and lines of signatures")
    lines = block[:-1].split("\n")
    if len(lines) > _SIGNATURES:
        raise ValueError(f"not a signed note: more than {_SIGNATURES} signatures")
    signatures = []
    for line in lines:
        signer, _, text = line.removeprefix("\u2014 ").partition(" ")
        signature = _bytes_of(text)
        if not line.startswith("\u2014 ") or not signer or signature is None or len(signature) <= 4:
            raise ValueError("not a signed note: a line of signatures is not a dash, a name and base64")
        signatures.append((signer, signature[:4], signature[4:]))
    return f"{body}\n", signatures


# The walk over the export.


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a file, one at a time; of a line that is longer than any entry only its beginning."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LINE_BYTES):
                number += 1
                yield number, line
                while len(line) == _LINE_BYTES and not line.endswith(b"\n"):
                    line = file.readline(_LINE_BYTES)
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror})") from None


class Audit:
    """One pass over an export. What is kept does not grow with it, but for entries that were erased and for what is wrong.

    `keys`: as `read_key` reads them, all of one ledger; `asked`: the id or the number of an entry to prove.
    """

    def __init__(self, path: Path, keys: Sequence[PublicKey], asked: str | None = None) -> None:
        self.report = AuditReport(keys[0].name.removeprefix("attest-ledger/"))
        self._path, self._keys, self._asked = path, keys, asked
        self._tree = GrowingTree()
        self._waiting: list[SignedPoint] = []
        self._last: dict[str, Any] | None = None  # the last entry in its place, and its line
        self._last_line = 1
        self._next = 1
        self._unread = 0  # lines since the last entry in its place that may have been one
        self._unreadable = 0  # all lines that are not JSON
        self._hole: int | None = None  # the first entry that the tree lacks
        self._open: list[Defect] = []  # breaks that still lack what lies after them
        self._gone: dict[str, Defect] = {}  # entries without a body, until their erasure is met
        self._erasures: list[tuple[Defect, int]] = []  # entries without a body, and the entry that records it
        self._named: set[str] = set()  # entries whose erasure is recorded although they were not met without a body
        self._heading_key: str | None = None
        self._old_form = False
        self._end: int | None = None

    def check(self, points: Sequence[SignedPoint]) -> None:
        """Reads the export and compares it with `points`."""
        self._waiting = sorted(points, key=lambda point: point.size)
        self.report.points = list(self._waiting)
        self._settle()
        lines = lines_of(self._path)
        self._heading(next(lines, (1, b""))[1])
        for number, raw in lines:
            self._line(number, raw)
        self._finish()

    def _say(self, what: str, why: str, line: int | None, entry: dict[str, Any] | None = None) -> None:
        found = self._defect(what, why, line, entry)
        self.report.add(found)
        self._leave_open(found)

    def _defect(self, what: str, why: str, line: int | None, entry: dict[str, Any] | None) -> Defect:
        before = "the heading" if self._last is None else _told(self._last, self._last_line)
        found = Defect(what, why, line, before="" if line == 1 else before)
        if entry is not None:
            found.seq, found.entry_id = entry["seq"], _short(entry["entry_id"])
        return found

    def _leave_open(self, found: Defect) -> None:
        if len(self._open) < _LISTED:
            self._open.append(found)

    def _heading(self, raw: bytes) -> None:
        try:
            data, twice = parse_strict(raw)
        except ValueError as error:
            raise Unusable(f"{self._path}: line 1: {error}; expected the heading of an export") from None
        form = data.get("format") if isinstance(data, dict) else None
        if form == "attest-ledger-1":
            raise Unusable(f"{self._path}: form 1, which needs the operator's key: attest ledger verify --export")
        if form != FORMAT:
            raise Unusable(f"{self._path}: line 1: not an exported ledger; expected format {FORMAT}")
        for why in [*_twice(twice), *_wrong_fields(data, _HEADING_FIELDS)]:
            self._say("malformed", why, 1)
        if data.get("ledger_id") != self.report.ledger_id:
            self._say("changed", "the heading names another ledger than the key", 1)
        if not isinstance(data.get("key_id"), str) or not re.fullmatch(r"[0-9a-f]{16}", data["key_id"]):
            self._say("malformed", "'key_id' is not 16 hex digits", 1)
        if data.get("verifier_key") not in [key.line() for key in self._keys]:
            self._heading_key = str(data.get("verifier_key"))

    def _line(self, number: int, raw: bytes) -> None:
        if not raw.strip(b" \t\r\n"):
            return  # spaces and ends of lines between entries say nothing
        if self._end is not None:
            self._say("malformed", f"something stands behind the last line, which is line {self._end}", number)
        try:
            if len(raw) == _LINE_BYTES and not raw.endswith(b"\n"):
                raise ValueError(f"longer than {_LINE_BYTES} bytes")
            data, twice = parse_strict(raw)
            if not isinstance(data, dict):
                raise ValueError("not a JSON object")  # noqa: TRY004 - the text is wrong, and nobody's argument
        except ValueError as error:
            self._say("malformed", f"the line cannot be read: {error}", number)
            self._unread, self._unreadable = self._unread + 1, self._unreadable + 1
            return
        if "end" in data and "seq" not in data:
            self._last_of_all(number, data, twice)
        else:
            self._entry(number, data, twice)

    def _last_of_all(self, number: int, data: dict[str, Any], twice: list[str]) -> None:
        self._end = number
        end = data["end"] if isinstance(data["end"], dict) else {}
        for why in [*_twice(twice), *_wrong_fields(data, ("end",)), *_wrong_fields(end, _END_FIELDS)]:
            self._say("malformed", why, number)
        count, head, mac = end.get("count"), end.get("head"), end.get("mac")
        may_be = range(self.report.entries, self.report.entries + self._unreadable + 1)
        if not isinstance(count, int) or isinstance(count, bool) or count not in may_be:
            why = f"{self.report.entries} entries, but the last line counts {_short(count)}"
            self._say("truncated", why, number)
        elif not self._unread and head != (self._last["mac"] if self._last else _GENESIS_LINK):
            self._say("changed", "the last line names another link than that of the last entry", number)
        if not isinstance(mac, str) or not _HEX64.fullmatch(mac):
            self._say("malformed", "the seal of the last line is not 64 hex digits", number)

    def _entry(self, number: int, data: dict[str, Any], twice: list[str]) -> None:
        header, content = _wrong_header(data), _wrong_content(data)
        entry = {"seq": data.get("seq"), "entry_id": data.get("entry_id")}
        known = entry if isinstance(entry["seq"], int) and isinstance(entry["entry_id"], str) else None
        for why in [*_twice(twice), *_wrong_fields(data, _ENTRY_FIELDS), *header, *content]:
            self._say("malformed", why, number, known)
        self.report.entries += 1
        if header or any(name not in data for name in ("seq", *_FORMS)):
            self._unread += 1
            return
        for found in self._open:
            found.after = "" if found.line == number else _told(data, number)
        self._open = [found for found in self._open if not found.after]
        in_place = self._order(number, data)
        if not content and "salt" in data and "body" in data:
            self._content(number, data)
        if in_place:
            self._grow(data)
            self._last, self._last_line = data, number

    def _order(self, number: int, entry: dict[str, Any]) -> bool:
        """Whether the entry does not stand behind its place, so that it may count."""
        seq, expected = entry["seq"], self._next
        if seq < expected:
            self._say("reordered", f"entry {seq} stands where entry {expected} belongs", number, entry)
            return False
        if seq > expected:
            self._hole = self._hole or expected
            if seq - expected > self._unread:
                found = self._defect("missing", f"{_entries(expected, seq - 1)} not there", number, None)
                found.seq, found.after = expected, _told(entry, number)
                self.report.add(found)
        else:
            self._links(number, entry)
        self._next, self._unread = seq + 1, 0
        return True

    def _links(self, number: int, entry: dict[str, Any]) -> None:
        before = self._last
        if entry["prev"] != (before["mac"] if before else _GENESIS_LINK):
            whose = (
                f"the 'mac' of entry {before['seq']}: one of the two was changed, or entries moved"
                if before
                else "64 zeros"
            )
            self._say("changed", f"its 'prev' is not {whose}", number, entry)
        if before and entry["entry_id"] <= before["entry_id"]:
            self._say("reordered", "its id does not come after that of the entry before", number, entry)

    def _content(self, number: int, entry: dict[str, Any]) -> None:
        if entry["seq"] == 1 and entry["kind"] != "genesis":
            self._old_form = entry["salt"] is None
            if not self._old_form:
                self._say("changed", "a ledger of form 2 begins with a genesis", number, entry)
        if entry["body"] is None:
            self._without_body(number, entry)
            return
        if entry["kind"] == "upgrade":
            self._old_form = False
        salt = entry["salt"]
        if self._old_form:
            self.report.form_1 += 1
            if salt is not None:
                self._say("changed", "it has a salt, and entries before the upgrade have none", number, entry)
        elif salt is None:
            self._say("changed", "its salt is gone, but its body is not", number, entry)
        elif not opens(entry["digest"], salt, entry["body"]):
            self._say("changed", _NOT_OPENED, number, entry)
        elif entry["kind"] == "key":
            self._next_key(entry)
        self._meaning(number, entry, entry["body"])

    def _next_key(self, entry: dict[str, Any]) -> None:
        """Keeps a public key that an entry names, so that who has the old one alone can go on with it."""
        named = entry["body"].get("verifier_key")
        try:
            found = read_key(named) if isinstance(named, str) else None
        except Unusable:
            return
        if found is not None and found.name == self._keys[0].name and len(self.report.keys) < _LISTED:
            self.report.keys.append({"seq": entry["seq"], "verifier_key": found.line()})

    def _without_body(self, number: int, entry: dict[str, Any]) -> None:
        self.report.erased += 1
        if entry["salt"] is not None:
            self._say("changed", "its body is gone, but its salt is not", number, entry)
        found = self._defect("changed", "its body is gone and no later entry records its erasure", number, entry)
        self._gone[entry["entry_id"]] = found
        self._leave_open(found)

    def _meaning(self, number: int, entry: dict[str, Any], body: dict[str, Any]) -> None:
        kind = entry["kind"]
        if kind in ("genesis", "upgrade") and body.get("ledger_id") != self.report.ledger_id:
            self._say("changed", "it begins another ledger than that of the key", number, entry)
        if kind == "genesis" and entry["seq"] != 1:
            self._say("changed", "a ledger begins once, with entry 1", number, entry)
        if kind != "turn" and body.get("verifier_key") == self._heading_key:
            self._heading_key = None
        if kind == "erase":
            many = body.get("entry_ids")
            for name in many if isinstance(many, list) else [body.get("entry_id")]:
                found = self._gone.pop(str(name), None)
                if found is None:
                    self._named.add(str(name))
                else:
                    self._erasures.append((found, entry["seq"]))

    def _grow(self, entry: dict[str, Any]) -> None:
        if self._hole is not None:
            return
        asked = self._asked in (entry["entry_id"], str(entry["seq"]))
        data = leaf_data(self.report.ledger_id, entry)
        self._tree.append(leaf_of(data), follow=asked)
        if asked:
            self.report.entry = {
                "seq": entry["seq"],
                "entry_id": entry["entry_id"],
                "leaf": data.decode(),
                "proof": None,
            }
        self._settle()

    def _settle(self) -> None:
        """Compares the checkpoints of the size that is reached."""
        while self._waiting and self._waiting[0].size == self._tree.size:
            point, root = self._waiting.pop(0), self._tree.root()
            point.state = "as signed" if root.hex() == point.root else "differs"
            if point.state == "as signed":
                self.report.covered = point.size
                if self.report.entry is not None and self._tree.followed is not None:
                    self.report.entry["proof"] = self._proof(
                        point, self.report.entry["leaf"], self._tree.followed, root
                    )

    def _proof(self, point: SignedPoint, leaf: str, index: int, root: bytes) -> dict[str, Any]:
        found, hashes = leaf_of(leaf.encode()), self._tree.proof()
        return {
            "checkpoint": point.name,
            "leaf_hash": found.hex(),
            "index": index,
            "size": point.size,
            "hashes": [step.hex() for step in hashes],
            "root": root.hex(),
            "verified": is_included(found, index, point.size, hashes, root),
        }

    def _finish(self) -> None:
        for found in self._open:
            found.after = "the end of the export"
        self._open = []
        if self._end is None:
            self._say("truncated", f"the last line is missing after {self.report.entries} entries", None)
        for found in self._gone.values():
            self.report.add(found)
        if self._named:
            self._put_back()
        if self._old_form:
            self._say("changed", "no entry says which ledger this is: neither a genesis nor an upgrade", None)
        if self._heading_key is not None:
            self._say("changed", "the heading names a public key that was not given and that no entry names", 1)
        for found in self._open:
            found.after = "entry 1" if found.line == 1 else "the end of the export"
        self._compare()
        self._unsigned_erasures()
        last = self._next - 1
        if self.report.covered < last:
            self.report.not_yet_covered = (self.report.covered + 1, last)
        self.report.findings.sort(key=lambda found: (found.line is None, found.line or 0))

    def _unsigned_erasures(self) -> None:
        """Whoever passes an export on could take any body out and add a record of it that nobody signed."""
        signed = max((point.size for point in self.report.points), default=0)  # whether it holds is told by itself
        for found, by in self._erasures:
            if found.seq is not None and found.seq <= signed < by:
                found.why = f"its body is gone, and no checkpoint covers yet entry {by}, which records its erasure: a newer one is needed"
                self.report.add(found)

    def _put_back(self) -> None:
        """Looks once more for entries whose erasure is recorded and whose body is there."""
        for number, raw in lines_of(self._path):
            try:
                data, _ = parse_strict(raw)
            except ValueError:
                continue
            name = data.get("entry_id") if isinstance(data, dict) else None
            if isinstance(name, str) and name in self._named:
                self._named.discard(name)
                if data.get("body") is not None or data.get("salt") is not None:
                    found = Defect(
                        "changed",
                        "its erasure is recorded, and its body is here",
                        number,
                        data.get("seq"),
                        _short(name),
                    )
                    found.before, found.after = f"line {number - 1}", f"line {number + 1}"
                    self.report.add(found)
        for name in sorted(self._named):
            self.report.add(
                Defect("missing", "an erasure is recorded of an entry that is not here", entry_id=_short(name))
            )

    def _compare(self) -> None:
        """Says what the checkpoints that do not hold mean."""
        report, last = self.report, self._next - 1
        best = max((point.size for point in report.points if point.state == "as signed"), default=-1)
        proven = f"as signed: {_entries(1, best)}" if best > 0 else "nothing is proven before it"
        wrong: SignedPoint | None = None  # the first that differs behind all that hold
        for point in report.points:
            if point.state == "differs" and point.size <= best:
                why = f"two histories were signed: a later checkpoint says something else of the first {point.size} entries"
                report.add(Defect("forked", why, checkpoint=point.name, before=proven))
            elif point.state == "differs" and wrong is None:
                wrong = point
                report.add(_changed(point, max(best, 0) + 1, last, proven))
            elif wrong is not None and point.size == wrong.size and point.root != wrong.root:
                why = f"two histories were signed: checkpoint {wrong.name} has another root for {point.size} entries"
                report.add(Defect("forked", why, checkpoint=point.name, before=proven))
            elif point.state == "not reached" and point.size > last + self._unread:
                why = f"{point.size} entries were signed, but the export ends after entry {last}"
                report.add(
                    Defect("truncated", why, checkpoint=point.name, before=proven, after="the end of the export")
                )
            elif point.state == "not reached":
                point.state = "not comparable"  # an entry before it is missing or cannot be read, which is told


def _changed(point: SignedPoint, first: int, last: int, proven: str) -> Defect:
    which = _entries(first, point.size)
    why = f"{which}: not as signed; a number, id, time, kind or commitment was changed, or another entry put there"
    after = (
        f"no checkpoint vouches for {_entries(point.size + 1, last)}" if last > point.size else "the end of the export"
    )
    return Defect("changed", why, checkpoint=point.name, before=proven, after=after)


def _entries(first: int, last: int) -> str:
    return f"entry {first}" if first == last else f"entries {first} to {last}"


def _told(entry: dict[str, Any], line: int) -> str:
    return f"entry {entry['seq']} ({entry['entry_id']}) in line {line}"


# The proof of one entry.


def audit_proof(proof: Path, checkpoints: Sequence[Path], given: Sequence[str]) -> AuditReport:
    """Checks the file `proof` of one entry against the files `checkpoints` with the keys `given`. Raises Unusable."""
    keys = _keys(given)
    report = AuditReport(keys[0].name.removeprefix("attest-ledger/"))
    report.points, others = _points(checkpoints, keys, report)
    _set_aside(others, report)  # one entry names no key of another
    data = _proof_in(proof, report)
    _check_proof(report, data)
    return report


def audit_bundle(folder: Path, checkpoints: Sequence[Path], given: Sequence[str]) -> AuditReport:
    """Checks every proof of a bundle, and that its `entries.jsonl` says what is proven, entry by entry, and its `found.csv` the same. `checkpoints`: none is the one in the bundle. Raises Unusable."""
    points = list(checkpoints) or [folder / "checkpoint.txt"]
    total = AuditReport(_keys(given)[0].name.removeprefix("attest-ledger/"))
    said = _said_in(folder / "entries.jsonl", total)
    proofs = sorted((folder / "proofs").glob("*.json"))
    if not proofs:
        raise Unusable(f"{folder}: no bundle: it has no proofs/*.json")
    seen: set[str] = set()
    for path in proofs:
        name = path.stem
        try:
            report = audit_proof(path, points, given)
        except Unusable as error:
            total.add(Defect("malformed", str(error), entry_id=name))
            continue
        total.entries += 1
        total.points = total.points or report.points
        total.covered = max(total.covered, *(p.size for p in report.points if p.state == "as signed"), 0)
        for found in report.findings:
            total.add(replace(found, entry_id=name))
        total.aside += [line for line in report.aside if line not in total.aside]
        entry = parse_strict(path.read_bytes())[0].get("entry")
        entry = entry if isinstance(entry, dict) else {}
        total.erased += entry.get("body") is None
        seen.add(name)
        if not report.breaks and (why := _told_otherwise(entry, said.get(name))):
            total.add(Defect("changed", why, seq=entry["seq"], entry_id=name))
    for name in sorted(said.keys() - {path.stem for path in proofs}):
        total.add(Defect("missing", "entries.jsonl has it, and no proof is there", entry_id=name))
    _check_table(folder / TABLE, said, total)
    return total


def _said_in(path: Path, report: AuditReport) -> dict[str, dict[str, Any]]:
    """The entries of a bundle by id, as they are told beside their proofs."""
    found = {}
    try:
        for number, raw in lines_of(path):
            try:
                data, twice = parse_strict(raw)
            except ValueError as error:
                report.add(Defect("malformed", f"{path.name}: {error}", line=number))
                continue
            name = data.get("entry_id") if isinstance(data, dict) else None
            if not isinstance(name, str) or twice or name in found:
                report.add(Defect("malformed", f"{path.name}: no entry, or the same once more", line=number))
                continue
            found[name] = data
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror})") from None
    return found


def _told_otherwise(entry: dict[str, Any], said: dict[str, Any] | None) -> str:
    """Why what a bundle says of an entry is not what is proven of it; empty if it is."""
    if said is None:
        return "entries.jsonl does not have it"
    wrong = [name for name in ("seq", "entry_id", "at", "kind") if said.get(name) != entry.get(name)]
    if wrong:
        return f"entries.jsonl has another {wrong[0]}"
    body, whole = entry.get("body"), said.get("body")
    if body is None:  # erased, or of form 1: nothing of it is proven
        return "" if whole is None else "entries.jsonl has a body, and none is proven"
    stored = body.get("stored")
    try:
        same = (
            _hash_of(whole) == stored["sha256"]
            if isinstance(stored, dict)
            else _one_spelling(whole) == _one_spelling(body)
        )
    except _OF_ANOTHER_SHAPE:
        same = False
    return "" if same else "entries.jsonl has another body"


# The table of a bundle: a spreadsheet is what most people open, so it must say what the proven entries say.

TABLE = "found.csv"
_FROM_ENTRY = ("seq", "entry_id", "at", "kind")
_FROM_BODY = ("outcome", "code", "channel", "user", "product", "struck", "documents", "question", "answer")
_FROM_LATER = ("arrived", "verdict")
"""What later entries say of a turn. They need not be in the bundle, so these columns are not checked, and a bundle of an older Attest may lack them."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula: such a cell begins with an apostrophe."""
_STRUCK = ("wrong_role", "lookalike", "contradicted", "absent")
"""Statuses of claims of a draft that were not delivered."""
_TITLE = 240


def _check_table(path: Path, said: dict[str, dict[str, Any]], report: AuditReport) -> None:
    """Says where the table of a bundle is not what its entries `said` say, row by row."""
    try:
        rows = list(_rows_of(path))
    except FileNotFoundError:
        return report.add(Defect("missing", f"{path.name} is not there"))
    except OSError as error:
        return report.add(Defect("missing", f"{path.name} cannot be read ({error.strerror})"))
    except (csv.Error, ValueError) as error:
        return report.add(Defect("malformed", f"{path.name} cannot be read: {error}"))
    met: set[str] = set()
    for number, row in rows:
        name, place = row["entry_id"], f"{path.name}, row {number}"
        if name in met:
            report.add(Defect("malformed", f"{place}: the same entry once more", entry_id=_short(name)))
        elif name not in said:
            report.add(Defect("changed", f"{place}: entries.jsonl has no entry of this id", entry_id=_short(name)))
        elif wrong := [column for column, cell in cells_of(said[name]).items() if row[column] != cell]:
            report.add(Defect("changed", f"{place}: another {', '.join(wrong)}", entry_id=_short(name)))
        met.add(name)
    for name in sorted(said.keys() - met):
        report.add(Defect("missing", f"{path.name} has no row of it", entry_id=_short(name)))
    return None


def _rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table, numbered as a spreadsheet does. Raises ValueError or csv.Error, with the reason, for what two readers could read differently, and OSError."""
    csv.field_size_limit(_LINE_BYTES)  # an answer may be longer than what csv allows unasked
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        heading = next(reader, [])
        for column in (*_FROM_ENTRY, *_FROM_BODY):
            if column not in heading:
                raise ValueError(f"the column {column!r} is missing")
        for column in heading:
            if column not in (*_FROM_ENTRY, *_FROM_BODY, *_FROM_LATER):
                raise ValueError(f"the column '{_short(column)}' does not belong here")
            if heading.count(column) > 1:
                raise ValueError(f"the column {column!r} stands twice")
        for number, cells in enumerate(reader, start=2):
            if len(cells) != len(heading):
                raise ValueError(f"row {number} has {len(cells)} cells, and the heading {len(heading)}")
            yield number, dict(zip(heading, cells, strict=True))


def cells_of(entry: dict[str, Any]) -> dict[str, str]:
    """By column what the row of an entry of `entries.jsonl` must say; of one without body, its place, time and kind alone. Who makes a bundle asks this too."""
    body = entry.get("body")
    cells = {name: str(entry.get(name)) for name in _FROM_ENTRY} | dict.fromkeys(_FROM_BODY, "")
    if isinstance(body, dict):
        cells |= _turn_cells(body) if entry.get("kind") == "turn" else _other_cells(body, cells["kind"])
    return {name: _cell(text) for name, text in cells.items()}


def _turn_cells(body: dict[str, Any]) -> dict[str, str]:
    ask, reply, actor = (_object(body.get(name)) for name in ("ask", "reply", "actor"))
    cited = [_text(each.get("chunk_id")) for each in _objects(reply.get("citations"))]
    evidence = [each for each in _objects(body.get("evidence")) if _text(each.get("chunk_id")) in cited]
    documents = sorted({_sound(name) for each in evidence if (name := _text(each.get("doc_id")))})
    claims = _objects(_object(reply.get("draft")).get("claims"))
    struck = any(claim.get("status") in _STRUCK or claim.get("struck") is True for claim in claims)
    return {
        "outcome": _text(reply.get("outcome")),
        "code": _text(reply.get("code")),
        "channel": _text(ask.get("channel")),
        "user": _text(actor.get("user")) or _text(ask.get("user")),
        "product": _text(ask.get("product")),
        "struck": "yes" if struck else "",
        "documents": " ".join(documents),
        "question": _text(ask.get("question")),
        "answer": _text(reply.get("answer")),
    }


def _other_cells(body: dict[str, Any], kind: str) -> dict[str, str]:
    """Those of an entry that is no turn; in the place of a question stands the first that its body tells."""
    told = ((k, v) for k, v in body.items() if k != "schema" and isinstance(v, str | int | float) and v != "")
    return {
        "channel": _text(body.get("channel")),
        "user": _text(_object(body.get("actor")).get("user")) or _text(body.get("user")),
        "question": next((f"{key}: {value}" for key, value in told), kind)[:_TITLE],
    }


def _cell(text: str) -> str:
    sound = _sound(text)
    return f"'{sound}" if sound.startswith(_FORMULA) else sound


def _sound(text: str) -> str:
    """A text as a file of UTF-8 holds it: a lone half of a surrogate pair is no character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _proof_in(path: Path, report: AuditReport) -> dict[str, Any]:
    """The object in a file of a proof; what is wrong with its JSON goes into `report`."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LINE_BYTES)
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror})") from None
    try:
        data, twice = parse_strict(raw)
    except ValueError as error:
        raise Unusable(f"{path}: {error}; expected a proof of one entry") from None
    if not isinstance(data, dict) or data.get("format") != PROOF_FORMAT:
        raise Unusable(f"{path}: not a proof of one entry; expected format {PROOF_FORMAT}")
    for why in [*_twice(twice), *_wrong_fields(data, _PROOF_FIELDS)]:
        report.add(Defect("malformed", why))
    return data


def _check_proof(report: AuditReport, data: dict[str, Any]) -> None:
    entry: dict[str, Any] = data["entry"] if isinstance(data.get("entry"), dict) else {}
    size, hashes = data.get("size", 0), data.get("hashes", "")
    wrong = [*_wrong_fields(entry, _PROVEN_FIELDS), *_wrong_header(entry), *_wrong_content(entry)]
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size < 1 << 63:
        wrong.append("'size' is not a number from 1 on")
    if not isinstance(hashes, list) or len(hashes) > _MOST_HASHES or not all(_is_hash(step) for step in hashes):
        wrong.append("'hashes' is not a list of hashes, 64 hex digits each")
    known = {"seq": entry.get("seq"), "entry_id": entry.get("entry_id")}
    for why in wrong:
        report.add(Defect("malformed", why))
    if data.get("ledger_id") != report.ledger_id:
        report.add(Defect("changed", "it is of another ledger than the key"))
    if wrong:
        return
    report.entries = 1
    content = _proven_content(report, entry, known)
    steps, leaf = [bytes.fromhex(step) for step in hashes], leaf_data(report.ledger_id, entry)
    report.entry = {**known, "at": entry["at"], "kind": entry["kind"], "body": content, "leaf": leaf.decode()}
    report.entry["proof"] = _proven_place(report, leaf, size, steps)


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX64.fullmatch(value) is not None


def _proven_content(report: AuditReport, entry: dict[str, Any], known: dict[str, Any]) -> str:
    """Whether the body is the one that was committed to: "as committed", "none" where there is neither body nor salt, else "not proven"."""
    salt, body = entry["salt"], entry["body"]
    why = ""
    if salt is None and body is None:
        return "none"
    if salt is None:
        why = "its salt is gone, without which its body cannot be checked"
    elif body is None:
        report.erased, why = 1, "its body is gone, but its salt is not"
    elif not opens(entry["digest"], salt, body):
        why = _NOT_OPENED
    if not why:
        return "as committed"
    report.add(Defect("changed", why, seq=known["seq"], entry_id=known["entry_id"]))
    return "not proven"


def _proven_place(report: AuditReport, leaf: bytes, size: int, steps: Sequence[bytes]) -> dict[str, Any] | None:
    """The way from the leaf to the root that a checkpoint of that size signs. Raises Unusable if there is none and nothing else is wrong."""
    assert report.entry is not None
    index, found = report.entry["seq"] - 1, leaf_of(leaf)
    alike = [point for point in report.points if point.size == size]
    for point in report.points:
        point.state = "not comparable" if point not in alike else "differs"
    if not alike and not report.breaks:
        sizes = ", ".join(str(point.size) for point in report.points) or "none"
        raise Unusable(f"--checkpoint: the proof leads to a tree of {size} entries; those given are of {sizes}")
    for point in alike:
        if is_included(found, index, size, steps, bytes.fromhex(point.root)):
            point.state, report.covered = "as signed", size
    for point in alike:
        if point.state == "differs":
            report.add(_not_in(point, report))
    good = next((point for point in alike if point.state == "as signed"), None)
    if good is None:
        return None
    return {
        "checkpoint": good.name,
        "leaf_hash": found.hex(),
        "index": index,
        "size": size,
        "hashes": [step.hex() for step in steps],
        "root": good.root,
        "verified": True,
    }


def _not_in(point: SignedPoint, report: AuditReport) -> Defect:
    assert report.entry is not None
    if report.covered:
        why = f"two histories were signed: another checkpoint has another root for {point.size} entries"
        return Defect("forked", why, checkpoint=point.name)
    why = "not in the tree that was signed: its number, id, time, kind, commitment or hashes are not as they were"
    return Defect("changed", why, seq=report.entry["seq"], entry_id=report.entry["entry_id"], checkpoint=point.name)


# What is said in many turns is stored once, in entries of kind `content`: a turn put together again.


_STORED_FORM = 1
_INFLATED_BYTES = 64 << 20
_WINDOW = 32_768
_ANOTHER = "is not the one that was sealed"
_OF_ANOTHER_SHAPE = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, zlib.error)


@dataclass
class Shown:
    """One entry of an export: its body, put together, and what is wrong with it, each in words."""

    body: Any
    faults: list[str]


def shown(export: Path, asked: str) -> Shown:
    """The entry of that id or number, with the contents that it refers to. Raises Unusable if it is not there or was erased."""
    entry = _found(export, lambda data: asked in (data.get("entry_id"), str(data.get("seq")))).get(0)
    if entry is None:
        raise Unusable(f"--show: the export has no entry {_short(asked)}")
    body = entry.get("body")
    if body is None:
        raise Unusable(f"--show: entry {_short(entry.get('seq'))} has no body: it was erased")
    faults = [] if _is_committed(entry) else [f"the entry is not what was sealed: {_NOT_OPENED}"]
    stored = body.get("stored") if isinstance(body, dict) else None
    if entry.get("kind") != "turn" or not isinstance(stored, dict):
        return Shown(body, faults)
    numbers = {n for place in _places(stored).values() for n in _each(place) if type(n) is int}
    found = _found(export, lambda data: type(data.get("seq")) is int and data["seq"] in numbers, by_number=True)
    values, wrong = {}, []
    for number in sorted(numbers):
        why = _not_the_content(found.get(number))
        if why:
            wrong.append(f"entry {number}, a content that this entry refers to, {why}")
        else:
            values[number] = found[number]["body"]["value"]
    if not wrong:
        try:
            return Shown(joined(body, values), faults)
        except _OF_ANOTHER_SHAPE:
            wrong.append("what this entry refers to is not what was recorded")
    return Shown(_readable(body, values, wrong), faults + wrong)


def _found(export: Path, wanted: Callable[[dict[str, Any]], bool], *, by_number: bool = False) -> dict[int, Any]:
    """The first line that is wanted, as number 0, or the first of each number."""
    found: dict[int, Any] = {}
    for _, raw in lines_of(export):
        try:
            data, _ = parse_strict(raw)
        except ValueError:
            continue  # the check of the whole export names it
        if isinstance(data, dict) and "seq" in data and wanted(data):
            found.setdefault(data["seq"] if by_number else 0, data)
            if not by_number:
                break
    return found


def _is_committed(entry: dict[str, Any]) -> bool:
    """False if salt and body do not open the commitment. True for an entry of form 1, of which only the key can tell."""
    salt, digest = entry.get("salt"), entry.get("digest")
    if salt is None:
        return True
    well_formed = isinstance(salt, str) and _HEX64.fullmatch(salt) and isinstance(digest, str)
    return bool(well_formed) and opens(str(digest), str(salt), entry["body"])


def _not_the_content(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "is not in the export"
    if entry.get("kind") != "content":
        return "is none"
    if entry.get("body") is None:
        return "was erased"
    try:
        sealed = entry["salt"] is not None and _is_committed(entry)
        return "" if sealed and _hash_of(entry["body"]["value"]) == entry["body"]["sha256"] else _ANOTHER
    except _OF_ANOTHER_SHAPE:
        return _ANOTHER


def _one_spelling(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _hash_of(value: Any) -> str:
    return hashlib.sha256(_one_spelling(value).encode("ascii")).hexdigest()


def _places(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: place for name, place in stored.items() if name not in ("form", "sha256", "rest")}


def _each(place: Any) -> list[Any]:
    return place if isinstance(place, list) else [place]


def joined(body: dict[str, Any], values: dict[int, Any]) -> Any:
    """The body as it was before it was stored in parts. Raises one of _OF_ANOTHER_SHAPE if it does not come to what was recorded."""
    stored = body["stored"]
    if stored["form"] != _STORED_FORM:
        raise ValueError("another form")
    places, clear = _places(stored), {name: value for name, value in body.items() if name != "stored"}
    if places:
        evidence = [{} if n is None else values[n] for n in places.get("evidence", [])]
        ids = [None if n is None else values[n]["chunk_id"] for n in places.get("passages", [])]
        beside = _one_spelling({"clear": clear, "evidence": evidence, "ids": ids})
        rest = _inflated(stored["rest"], (values[places["words"]] + beside).encode("ascii")[-_WINDOW:])
        heads = [values[n] for n in places.get("prompt", [])]
        whole = {name: _as_rows(value) for name, value in rest.items()}
        reply = clear.get("reply")
        _Said(ids, evidence, heads).put_into(whole, reply.get("answer") if isinstance(reply, dict) else None)
        _put_back(whole, places, values)
        for name, value in clear.items():
            whole[name] = {**whole[name], **value} if isinstance(whole.get(name), dict) else value
    else:
        whole = _inflated(stored["rest"], b"")
    if _hash_of(whole) != stored["sha256"]:
        raise ValueError("not what was recorded")
    return json.loads(_one_spelling(whole))


def _inflated(packed: str, dictionary: bytes) -> Any:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS, dictionary)
    text = unpacker.decompress(base64.b85decode(packed), _INFLATED_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("more or less than a rest")
    return json.loads(text)


def _as_rows(value: Any) -> Any:
    """`value` with each object of the one name `|`, columns, as the list of rows that it stands for."""
    if isinstance(value, list):
        return [_as_rows(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "|" not in value:
        return {name: _as_rows(inner) for name, inner in value.items()}
    columns = value["|"]
    return [_as_rows(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _cut(text: Any, start: Any, end: Any) -> str | None:
    numbers = type(start) is int and type(end) is int
    return text[start:end] if isinstance(text, str) and numbers and 0 <= start <= end <= len(text) else None


class _Said:
    """Puts in again what a rest left out because contents, answer or draft say it: texts of claims, spans, extracts and prompts, ids of passages."""

    def __init__(self, ids: list[Any], evidence: list[dict[str, Any]], heads: list[str]) -> None:
        self._ids = ids
        self._texts: list[Any] = [*heads, *(item.get("text") for item in evidence)]
        self._used: dict[Any, dict[str, Any]] = {}
        for item in evidence:
            self._used.setdefault(item.get("chunk_id"), item)

    def put_into(self, rest: dict[str, Any], answer: Any) -> None:
        reply = rest.get("reply")
        if isinstance(reply, dict):
            self._change(reply, "claims", lambda them: [self._claim(each, answer) for each in them])
            self._change(reply, "grades", lambda them: [self._grade(each) for each in them])
            draft = reply.get("draft")
            if isinstance(draft, dict):
                self._change(draft, "claims", lambda them: [self._claim(each, draft.get("text")) for each in them])
        for holder in (rest, rest.get("regeneration")):
            if isinstance(holder, dict):
                self._change(holder, "prompt", self._prompt)

    def _change(self, where: dict[str, Any], name: str, how: Callable[[Any], Any]) -> None:
        if where.get(name):
            where[name] = how(where[name])

    def _claim(self, it: dict[str, Any], text: Any) -> dict[str, Any]:
        said = _cut(text, it["start"], it["end"])
        whole = {"text": said, **it, "evidence": [self._span(each) for each in it["evidence"]]}
        return {**whole, "instead": self._span(it["instead"])} if it.get("instead") else whole

    def _span(self, it: dict[str, Any]) -> dict[str, Any]:
        source = self._id(it["source"])
        return {**self._quoted(source, str(it["field"]), it), "source": source}

    def _grade(self, it: dict[str, Any]) -> dict[str, Any]:
        whole, extract = {**it, "id": self._id(it["id"])}, it.get("extract")
        return {**whole, "extract": self._quoted(whole["id"], "text", extract)} if extract else whole

    def _prompt(self, it: dict[str, Any]) -> dict[str, Any]:
        return {**it, "parts": [{**part, "text": "".join(map(self._piece, part["text"]))} for part in it["parts"]]}

    def _piece(self, piece: Any) -> Any:
        return self._texts[piece] if isinstance(piece, int) else piece

    def _quoted(self, chunk_id: Any, name: str, it: dict[str, Any]) -> dict[str, Any]:
        text = self._used.get(chunk_id, {}).get(name) if isinstance(chunk_id, str) else None
        return {"text": _cut(text, it["start"], it["end"]), **it}

    def _id(self, place: Any) -> Any:
        return self._ids[place] if type(place) is int else place


def _put_back(whole: dict[str, Any], places: dict[str, Any], values: dict[int, Any]) -> None:
    """The contents where they were taken from: into each row of a list, or at a path."""
    for path, place in places.items():
        if path in ("words", "prompt"):
            continue
        if isinstance(place, list):
            rows = zip(place, whole[path], strict=True)
            whole[path] = [row if n is None else {**values[n], **row} for n, row in rows]
        else:
            inside, _, name = path.rpartition(".")
            (whole[inside] if inside else whole)[name] = values[place]


def _readable(body: dict[str, Any], values: dict[int, Any], wrong: list[str]) -> dict[str, Any]:
    """What stands in the clear, and each content that is there, by the name of its place."""
    contents = {
        path: [values[n] for n in _each(place) if type(n) is int and n in values]
        for path, place in _places(body["stored"]).items()
        if path != "words"
    }
    left = {name: value for name, value in body.items() if name != "stored"}
    return {**left, "unreadable": "; ".join(wrong), "contents": contents}


# The command.

_DESCRIPTION = """\
Checks an exported ledger (form attest-ledger-2) against checkpoints that its operator
signed, with the operator's public key; or a proof of one entry, without the export.
It needs no other key, no package, no network.
"""
_EPILOG = """\
What you need
  EXPORT       what the operator gives you: the whole ledger as lines of JSON.
  checkpoints  signed notes that you kept yourself, or have from a place that the operator
               cannot change. Each says: so many entries, and this root. One file may hold
               several, one directly behind another.
  the key      one line, attest-ledger/ID+KEY_ID+KEY, from elsewhere than the export.
               After a change of keys give both: --key OLD --key NEW. An entry of the
               kind 'key' names the new one; the report has those that are proven.
  a proof      instead of EXPORT, with --proof: one entry and the hashes that lead from it
               to a root. One of the checkpoints must be of the size that it names.

What is checked
  Every line is strict JSON with the sealed fields and no other. Every body opens its
  commitment, SHA-256 over salt and body. Numbers and links follow each other. A body that
  is gone has a record of its erasure. The root over the entries up to the size of each
  checkpoint is the one that was signed, so each checkpoint is a beginning of the next.
  --entry proves one entry: its leaf, and the hashes that lead from it to a signed root.
  --proof checks the same of an entry that was handed over alone, and that its body opens
  its commitment. A proof may be without body; then it says so.

How a turn is read
  What many turns say, such as policy and passages, stands in entries of kind 'content',
  and a turn refers to them. --show prints the body of one entry as JSON, put together from
  the export; SHA-256 of the whole is recorded. It names on stderr each content that is
  missing, erased or not the one that was sealed, and prints what can still be read.
  It needs EXPORT alone. With --checkpoint and --key the export is checked as well, and the
  report goes to stderr.

What a search found
  A bundle is a folder of proofs with the entries in words beside them. --bundle checks every
  proof, that entries.jsonl says what is proven, and that found.csv has a row for each of
  these entries, which says the same; but for its columns 'arrived' and 'verdict', which are
  from later entries. Without --checkpoint its own checkpoint.txt is taken, which the key
  must have signed.

What it cannot tell
  Entries after the last checkpoint are not yet covered: changes to them may not show.
  The seals of the operator's own chain ('mac', 'key_id') need the operator's key, and so
  do bodies of form 1. A change that is in no body is located between two checkpoints.
  Nothing here proves that everything was written down, or that the clock was right.

Exit codes
  0  sound    1  broken: each break is named    2  not to be checked: wrong file or key
  With --show, 1 also where the entry could not be put together whole.

Examples
  attest-verify ledger.jsonl --checkpoint 2026-10.txt 2026-11.txt --key "$KEY"
  python attest_verify.py ledger.jsonl --checkpoint all.txt --key key.txt --entry 17
  python attest_verify.py --proof proof.json --checkpoint 2026-11.txt --key key.txt
  python attest_verify.py ledger.jsonl --show 17
  python attest_verify.py --bundle found --key key.txt
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "attest-verify", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("export", nargs="?", type=Path, metavar="EXPORT", help="the exported ledger")
    parser.add_argument(
        "--checkpoint", nargs="+", action="extend", type=Path, default=[], metavar="FILE", help="signed checkpoints"
    )
    parser.add_argument(
        "--key", action="append", default=[], metavar="VERIFIER_KEY", help="the public key, or a file that holds it"
    )
    parser.add_argument("--proof", type=Path, metavar="FILE", help="the proof of one entry, instead of EXPORT")
    parser.add_argument(
        "--bundle", type=Path, metavar="FOLDER", help="what a search found, unpacked, instead of EXPORT"
    )
    parser.add_argument("--entry", metavar="ID", help="prove this entry, by its id or its number")
    parser.add_argument("--show", metavar="ID", help="print the whole body of this entry, by its id or its number")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument("--self-test", action="store_true", help="try the vectors of RFC 8032 on this Python, and end")
    return parser


def self_test() -> bool:
    """True if the vectors of RFC 8032 verify here, and none does with another message."""
    known = [[bytes.fromhex(part) for part in vector] for vector in VECTORS]
    return all(is_signed(key, text, sig) and not is_signed(key, text + b"x", sig) for key, text, sig in known)


def _keys(given: Sequence[str]) -> list[PublicKey]:
    keys = []
    for text in given:
        line = text
        if "+" not in text:
            try:
                line = Path(text).read_text("utf-8")
            except (OSError, ValueError):
                raise Unusable(f"--key: {text} is neither a key nor a file that can be read") from None
        keys.append(read_key(line))
    if len({key.name for key in keys}) != 1:
        raise Unusable("--key: the keys are of different ledgers")
    return keys


def _points(
    files: Sequence[Path], keys: Sequence[PublicKey], report: AuditReport
) -> tuple[list[SignedPoint], list[tuple[str, OtherKey]]]:
    """The checkpoints that a given key has signed, and those that another has."""
    points, others = [], []
    for path in files:
        try:
            with path.open("rb") as file:
                notes = notes_in(file.read(_LINE_BYTES)) or [b""]
        except OSError as error:
            raise Unusable(f"{path}: cannot be read ({error.strerror})") from None
        for number, note in enumerate(notes, start=1):
            name = f"{path} #{number}" if len(notes) > 1 else str(path)
            try:
                points.append(read_point(name, note, keys))
            except OtherKey as error:
                others.append((name, error))
            except ValueError as error:
                report.add(Defect("forged", str(error), checkpoint=name))
    return points, others


def _set_aside(others: Sequence[tuple[str, OtherKey]], report: AuditReport) -> None:
    """Says of checkpoints of other keys which are of a key that a proven entry names; the rest are forged."""
    named = {}
    for told in report.keys:
        key = read_key(told["verifier_key"])
        if told["seq"] <= report.covered:
            named[(key.name, key.key_id)] = told["seq"]
    for name, error in others:
        by = next((named[signer] for signer in error.signers if signer in named), None)
        if by is None:
            report.add(Defect("forged", str(error), checkpoint=name))
        else:
            report.aside.append(f"checkpoint {name}: of the key that entry {by} names, which was not given: --key")


def audit(export: Path, checkpoints: Sequence[Path], given: Sequence[str], asked: str | None = None) -> AuditReport:
    """Checks `export` against the files `checkpoints` with the keys `given`, and proves the entry `asked`. Raises Unusable."""
    keys = _keys(given)
    walk = Audit(export, keys, asked)
    points, others = _points(checkpoints, keys, walk.report)
    walk.check(points)
    _set_aside(others, walk.report)
    if asked is not None and walk.report.entry is None and not walk.report.breaks:
        raise Unusable(f"--entry: the export has no entry {asked}")
    return walk.report


def told(report: AuditReport) -> str:
    """The report in words."""
    lines = _verdict(report)
    lines.append(f"entries: {report.entries}, of them {report.erased} without a body")
    lines += [f"checkpoint {point.name}: {point.size} entries, {point.state}" for point in report.points]
    older = f", but for the bodies of {report.form_1} of form 1" if report.form_1 else ""
    lines.append(f"proven: {_entries(1, report.covered)}{older}" if report.covered else "proven: nothing")
    lines += report.aside
    if report.not_yet_covered:
        first, last = report.not_yet_covered
        lines.append(f"not yet covered by a checkpoint that holds: {_entries(first, last)}")
    if report.form_1:
        lines.append(f"of form 1: {report.form_1} entries, whose bodies only the operator's key can check")
    for key in report.keys:
        proven = "proven" if key["seq"] <= report.covered else "not yet covered"
        lines.append(f"key named by entry {key['seq']}, {proven}: {key['verifier_key']}")
    if report.entry is not None:
        lines += _told_proof(report.entry)
    return "\n".join(lines) + "\n"


def told_of_bundle(report: AuditReport) -> str:
    """The report on a bundle in words."""
    lines = _verdict(report)
    lines += [f"checkpoint {point.name}: {point.size} entries, {point.state}" for point in report.points]
    without = f", of them {report.erased} without a body" if report.erased else ""
    lines.append(f"entries: {report.entries}{without}")
    return "\n".join([*lines, *report.aside]) + "\n"


def told_of_proof(report: AuditReport) -> str:
    """The report on the proof of one entry in words."""
    lines = _verdict(report)
    lines += [f"checkpoint {point.name}: {point.size} entries, {point.state}" for point in report.points]
    if report.entry is not None:
        body = _BODIES[report.entry["body"]]
        lines.append(f"kind {_short(report.entry['kind'])}, written {report.entry['at']}, body: {body}")
        lines += _told_proof(report.entry)
    return "\n".join(lines) + "\n"


_BODIES = {
    "as committed": "as it was committed to",
    "none": "not in the proof (it was erased, or is of form 1); proven is the entry without it",
    "not proven": "NOT PROVEN",
}


def _verdict(report: AuditReport) -> list[str]:
    verdict = f"BROKEN, {report.breaks} break{'s' if report.breaks > 1 else ''}" if report.breaks else "SOUND"
    lines = [f"ledger {report.ledger_id}: {verdict}", *(found.text() for found in report.findings)]
    if report.breaks > len(report.findings):
        lines.append(f"and {report.breaks - len(report.findings)} more breaks, not listed")
    return lines


def _told_proof(entry: dict[str, Any]) -> list[str]:
    proof = entry["proof"]
    lines = [f"entry {entry['seq']} ({entry['entry_id']})", f"  leaf: {entry['leaf']}"]
    if proof is None:
        return [*lines, "  not covered by a checkpoint that holds: no proof"]
    lines += [f"  leaf hash: {proof['leaf_hash']}", f"  index {proof['index']} in a tree of {proof['size']}"]
    lines += [f"  hash: {step}" for step in proof["hashes"]]
    lines.append(f"  root: {proof['root']}, signed in checkpoint {proof['checkpoint']}")
    return [*lines, "  inclusion: verified" if proof["verified"] else "  inclusion: DOES NOT VERIFY"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.self_test:
        sound = self_test()
        sys.stdout.write("Ed25519: as RFC 8032 says\n" if sound else "Ed25519: WRONG on this Python\n")
        return SOUND if sound else BROKEN
    if given.show is not None:
        return _show(parser, given)
    checked = [what for what in (given.export, given.proof, given.bundle) if what is not None]
    if len(checked) != 1 or not (given.checkpoint or given.bundle) or not given.key:
        parser.error(
            "needed: EXPORT, --checkpoint FILE and --key VERIFIER_KEY (--proof FILE or --bundle FOLDER in place of EXPORT); --help explains them"
        )
    if given.export is None and given.entry is not None:
        parser.error("--entry looks in an EXPORT; a --proof is of one entry")
    try:
        report = (
            audit_bundle(given.bundle, given.checkpoint, given.key)
            if given.bundle is not None
            else audit(given.export, given.checkpoint, given.key, given.entry)
            if given.proof is None
            else audit_proof(given.proof, given.checkpoint, given.key)
        )
    except Unusable as error:
        sys.stderr.write(f"attest-verify: {error}\n".encode("ascii", "backslashreplace").decode())
        return UNUSABLE
    words = told_of_proof if given.proof is not None else told_of_bundle if given.bundle is not None else told
    text = json.dumps({"ok": not report.breaks, **asdict(report)}, indent=2) + "\n" if given.json else words(report)
    sys.stdout.write(text.encode("ascii", "backslashreplace").decode())  # a terminal of any encoding can show it
    return BROKEN if report.breaks else SOUND


def _show(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Prints the body of one entry; what is wrong with it, and the report on the export if that can be checked, go to stderr."""
    if (
        given.export is None
        or given.proof is not None
        or given.bundle is not None
        or given.entry is not None
        or given.json
    ):
        parser.error("--show needs EXPORT, and goes with neither --proof nor --entry nor --json")
    if bool(given.checkpoint) != bool(given.key):
        parser.error("--checkpoint and --key check the export together; --show alone needs neither")
    try:
        report = audit(given.export, given.checkpoint, given.key) if given.key else None
        found = shown(given.export, given.show)
        text = json.dumps(found.body, indent=2)
    except RecursionError:
        sys.stderr.write("attest-verify: --show: the body is nested too deeply to be printed\n")
        return UNUSABLE
    except Unusable as error:
        sys.stderr.write(f"attest-verify: {error}\n".encode("ascii", "backslashreplace").decode())
        return UNUSABLE
    checked = [told(report)] if report else ["read, not verified: give --checkpoint and --key for that\n"]
    said = "".join([*checked, *(f"not whole: {why}\n" for why in found.faults)])
    sys.stderr.write(said.encode("ascii", "backslashreplace").decode())
    sys.stdout.write(text + "\n")
    return BROKEN if found.faults or (report and report.breaks) else SOUND


if __name__ == "__main__":
    sys.exit(main())
