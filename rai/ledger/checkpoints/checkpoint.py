"""Checkpoints of a ledger: how many entries there are and what root they have, signed so that anybody can verify it with a public key.

The form is that of C2SP: a signed note (https://c2sp.org/signed-note) whose text is that of a checkpoint (https://c2sp.org/tlog-checkpoint): the origin,
the size of the tree, its root. Signatures are Ed25519. A note may carry several of them, so that a key can be changed: for a while the old
and the new one both sign.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from grounding.errors import InputError
from rai.ledger.secret_file import load_secret

_ED25519 = b"\x01"
"""The type of a key and its signatures, of those that C2SP has numbered."""
_DASH = "\u2014 "
_MOST_BYTES = 1 << 20
_MOST_SIGNATURES = 100
_HASH_BYTES = 32
_SIGNATURE_BYTES = 64
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
_LEDGER_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a ledger that is signed. `origin`: of which ledger; `size`: number of entries; `root`: of the tree over them, 32 bytes."""

    origin: str
    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key and the name that it goes by."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes by which a signature says which key made it."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]

    def line(self) -> str:
        """The key on one line, as C2SP writes it: name, id and key."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(_ED25519 + self.public)}"

    @classmethod
    def from_line(cls, line: str) -> VerifierKey:
        """The key that `line` writes. Raises InputError for anything else."""
        name, _, rest = line.strip().partition("+")
        key_id, _, text = rest.partition("+")
        raw = _bytes_of(text)
        if not _is_name(name) or raw is None or len(raw) != 1 + _HASH_BYTES or raw[:1] != _ED25519:
            raise InputError("not a verifier key; expected NAME+ID+KEY, an Ed25519 key in base64")
        found = cls(name, raw[1:])
        if found.key_id.hex() != key_id:
            raise InputError("not a verifier key: its id is not that of its name and key")
        return found


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private Ed25519 key, as its seed of 32 bytes, and the name that it signs under."""

    name: str
    seed: bytes = field(repr=False)

    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw())

    def signature_line(self, text: str) -> str:
        """The line below a note that says: this key has signed `text`."""
        signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(text.encode())
        return f"{_DASH}{self.name} {_base64(self.verifier().key_id + signature)}\n"


def load_signing_seed(
    path: Path, *, make: bool = True, why: str = "but the ledger names its public key; put it back"
) -> bytes:
    """The seed in `path` (64 hex digits, mode 0600), made on first use if `make`; `why` it may not be made else.

    Raises SettingsError if it is missing and may not be made, is readable by others, or is not a seed.
    """
    missing = "" if make else why
    return load_secret(path, label="the ledger's signing key", is_called="a signing key", missing=missing)


def origin_of(ledger_id: str) -> str:
    """The origin of a ledger's checkpoints, which is also the name of its keys."""
    if not _LEDGER_ID.fullmatch(ledger_id):
        raise InputError("not the id of a ledger; expected 32 hex digits")
    return f"attest-ledger/{ledger_id}"


def sign_checkpoint(checkpoint: Checkpoint, keys: Sequence[SigningKey]) -> str:
    """The signed note of a checkpoint. During a change of keys `keys` holds the old and the new one."""
    return sign_note(checkpoint_text(checkpoint), keys)


def open_checkpoint(raw: bytes, keys: Sequence[VerifierKey]) -> Checkpoint:
    """The checkpoint in a signed note that one of `keys` has signed. Raises InputError, on one line, for each other thing."""
    return parse_checkpoint(open_note(raw, keys))


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """The text that is signed. Raises InputError for what is no checkpoint."""
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{_base64(checkpoint.root)}\n"
    if parse_checkpoint(text) != checkpoint:
        raise InputError("not a checkpoint: its origin is more than one line")
    return text


def parse_checkpoint(text: str) -> Checkpoint:
    """The checkpoint that the text of a note writes; a ledger of ours writes three lines and no extension."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise InputError("not a checkpoint: expected three lines, origin, size and root")
    origin, size, root = lines[:3]
    if not origin:
        raise InputError("not a checkpoint: line 1, the origin, is empty")
    if not _SIZE.fullmatch(size):
        raise InputError("not a checkpoint: line 2, the size, is not a number without leading zeros")
    raw = _bytes_of(root)
    if raw is None or len(raw) != _HASH_BYTES:
        raise InputError("not a checkpoint: line 3, the root, is not 32 bytes in base64")
    return Checkpoint(origin, int(size), raw)


def sign_note(text: str, keys: Sequence[SigningKey]) -> str:
    """The note of `text`, which ends in a newline, with a signature of each key. Raises InputError for a text that no reader would take."""
    if not keys:
        raise InputError("a note needs a key to be signed with")
    for key in keys:
        if not _is_name(key.name):
            raise InputError("the name of a key is empty or holds a space, a plus or a control character")
    if not text.endswith("\n"):
        raise InputError("this text cannot be signed as a note: it does not end in a newline")
    note = f"{text}\n" + "".join(key.signature_line(text) for key in keys)
    open_note(note.encode(), [key.verifier() for key in keys])  # what no reader would take is not written
    return note


def open_note(raw: bytes, keys: Sequence[VerifierKey]) -> str:
    """The text of a note that at least one of `keys` has signed.

    Signatures of other keys are passed over, as C2SP asks; one of a known key that does not verify refuses the whole note. Raises InputError.
    """
    text, signatures = parse_note(raw)
    known = {(key.name, key.key_id): key for key in keys}
    signed = False
    for name, key_id, signature in signatures:
        key = known.get((name, key_id))
        if key is not None:
            if not _is_signed(key, signature, text):
                raise InputError(
                    f"the signature of {name} does not verify: the text was changed, or another key made it"
                )
            signed = True
    if not signed:
        raise InputError("no signature is of a key that was given")
    return text


def parse_note(raw: bytes) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """The text of a note, and of each signature its name, key id and bytes. Nothing is verified; raises InputError for what is no note."""
    if len(raw) > _MOST_BYTES:
        raise InputError(f"not a signed note: longer than {_MOST_BYTES} bytes")
    try:
        note = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("not a signed note: not UTF-8") from None
    if any(char < " " and char != "\n" for char in note):
        raise InputError("not a signed note: it holds a control character")
    body, blank, block = note.rpartition("\n\n")
    if not blank:
        raise InputError("not a signed note: no empty line between text and signatures")
    if not block.endswith("\n"):
        raise InputError("not a signed note: the last line does not end, or no signature follows the empty line")
    lines = block[:-1].split("\n")
    if len(lines) > _MOST_SIGNATURES:
        raise InputError(f"not a signed note: more than {_MOST_SIGNATURES} signatures")
    return f"{body}\n", [_signature(line, number) for number, line in enumerate(lines, start=1)]


def _signature(line: str, number: int) -> tuple[str, bytes, bytes]:
    name, _, text = line.removeprefix(_DASH).partition(" ")
    raw = _bytes_of(text)
    if not line.startswith(_DASH) or not _is_name(name) or raw is None or len(raw) <= 4:
        raise InputError(f"not a signed note: signature {number} is not a dash, a name and base64")
    return name, raw[:4], raw[4:]


def _is_signed(key: VerifierKey, signature: bytes, text: str) -> bool:
    if len(signature) != _SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_name(name: str) -> bool:
    return bool(name) and not any(
        char.isspace() or char == "+" or char < " " or "\ud800" <= char < "\ue000" for char in name
    )


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes_of(text: str) -> bytes | None:
    """The bytes that base64 writes in its one canonical way, or None: two spellings of a signature would be two notes."""
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    return raw if _base64(raw) == text else None
