"""The proof of one entry as a file: what `attest-verify --proof` checks without the export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FORMAT = "attest-ledger-proof-1"
"""The name of the format."""


@dataclass(frozen=True, slots=True)
class Proven:
    """Entries with what proves them: a signed `checkpoint`, the public `key` that verifies it, and for each entry its proof as a document."""

    checkpoint: str
    key: str
    documents: tuple[Mapping[str, Any], ...]


_FIELDS = ("seq", "entry_id", "at", "kind", "salt", "body", "digest")
"""What a leaf holds, and what opens its commitment; the links of the operator's chain are in no leaf and stay out."""


def proof_document(ledger_id: str, size: int, hashes: Sequence[str], entry: Mapping[str, Any]) -> dict[str, Any]:
    """The proof that `entry` stands in the tree over the first `size` entries. `entry`: as in an export; `hashes`: from its leaf to the root, in hex, lowest first.

    An entry of form 1 has no salt, so nobody outside could check its body, and the proof is without it.
    """
    kept = {name: entry[name] for name in _FIELDS}
    if kept["salt"] is None:
        kept["body"] = None
    return {"format": FORMAT, "ledger_id": ledger_id, "size": size, "entry": kept, "hashes": list(hashes)}
