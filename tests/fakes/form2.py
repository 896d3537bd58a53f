"""A ledger of form 2 in a list, as an export and its checkpoints; made twice alike, it is the same to the byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from rai.ledger.attest_verify import leaf_data
from rai.ledger.chain import GENESIS, canonical, key_id, seal
from rai.ledger.checkpoints.checkpoint import Checkpoint, SigningKey, origin_of, sign_checkpoint
from rai.ledger.checkpoints.proof_file import proof_document
from rai.ledger.checkpoints.tree import inclusion_proof, leaf_hash, root_of

KEY = bytes(range(32))
LEDGER_ID = "00112233445566778899aabbccddeeff"
ORIGIN = origin_of(LEDGER_ID)
SIGNER = SigningKey(ORIGIN, bytes(range(64, 96)))
"""The ledger's own signing key."""
NEXT_SIGNER = SigningKey(ORIGIN, bytes(range(96, 128)))
"""The one that follows it."""
Line = dict[str, Any]


class Form2Ledger:
    """Entries of form 2, sealed and committed to. `upgraded`: it begins with so many entries of form 1."""

    def __init__(self, turns: int = 0, *, upgraded: int = 0) -> None:
        self.entries: list[Line] = []
        about = {"ledger_id": LEDGER_ID, "verifier_key": SIGNER.verifier().line()}
        for n in range(upgraded):
            self.add("turn", {"n": n}, form=1)
        self.add("upgrade" if upgraded else "genesis", about)
        for n in range(turns):
            self.add("turn", {"ask": {"question": f"Wann öffnen Sie? {n}"}, "outcome": "answered", "score": n / 7})

    def add(self, kind: str, body: dict[str, Any], *, form: int = 2) -> Line:
        seq, last = len(self.entries) + 1, self.entries[-1] if self.entries else None
        now = f"2026-11-25T09:{seq // 60 % 60:02d}:{seq % 60:02d}.000Z"
        entry_id = f"01KAX3VF00{seq:016d}"
        salt = hashlib.sha256(b"salt %d" % seq).hexdigest() if form == 2 else None
        digest = (
            seal(KEY, "attest-ledger-body-1", entry_id, canonical(body)) if salt is None else commitment(salt, body)
        )
        prev = last["mac"] if last else GENESIS
        of = ("attest-ledger-link-1",) if salt is None else ("attest-ledger-link-2", LEDGER_ID)
        mac = seal(KEY, *of, entry_id, now, kind, digest, prev)
        entry = {"seq": seq, "entry_id": entry_id, "at": now, "kind": kind, "salt": salt, "body": body}
        self.entries.append({**entry, "digest": digest, "prev": prev, "mac": mac})
        return self.entries[-1]

    def erase(self, seq: int) -> Line:
        """Empties an entry and records it."""
        entry = self.entries[seq - 1]
        entry["salt"] = entry["body"] = None
        return self.add("erase", {"entry_id": entry["entry_id"], "reason": "asked for"})

    def leaves(self) -> list[bytes]:
        return [leaf_hash(leaf_data(LEDGER_ID, entry)) for entry in self.entries]

    def lines(self) -> list[Line]:
        """The objects of an export: heading, entries, last line."""
        heading = {"format": "attest-ledger-2", "ledger_id": LEDGER_ID, "verifier_key": SIGNER.verifier().line()}
        count, head = len(self.entries), self.entries[-1]["mac"]
        end = {"count": count, "head": head, "mac": seal(KEY, "attest-ledger-export-2", LEDGER_ID, str(count), head)}
        entries = [json.loads(json.dumps(entry)) for entry in self.entries]
        return [{**heading, "key_id": key_id(KEY)}, *entries, {"end": end}]

    def checkpoint(self, size: int | None = None, keys: Sequence[SigningKey] = (SIGNER,)) -> str:
        """The signed note of the first `size` entries, or of all."""
        leaves = self.leaves()[:size]
        return sign_checkpoint(Checkpoint(ORIGIN, len(leaves), root_of(leaves)), keys)

    def proof(self, seq: int, size: int | None = None) -> dict[str, Any]:
        """The proof of one entry in the tree over the first `size`, or over all."""
        leaves = self.leaves()[:size]
        hashes = [step.hex() for step in inclusion_proof(leaves, seq - 1)]
        return proof_document(LEDGER_ID, len(leaves), hashes, self.entries[seq - 1])


def commitment(salt: str, body: dict[str, Any]) -> str:
    """What an entry of form 2 says of its body."""
    return hashlib.sha256(bytes.fromhex(salt) + canonical(body).encode()).hexdigest()


def text_of(lines: Sequence[Line]) -> str:
    """An export as it stands in a file."""
    return "".join(json.dumps(line) + "\n" for line in lines)
