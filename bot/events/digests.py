"""Digests of what an entry names and does not hold. They are keyed: who can guess a value, and has no key, cannot try the guess on them."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

_BLOCK = 1 << 20


@lru_cache(maxsize=1)
def _process_key() -> bytes:
    return secrets.token_bytes(32)


class Digests:
    """Makes digests of 16 hexadecimal digits with a key that is derived from the ledger's.

    Equal values have equal digests for as long as the ledger has its key; without a key file, until the process ends.
    """

    def __init__(self, key_file: Path) -> None:
        try:
            material = key_file.read_bytes()
        except OSError:
            material = _process_key()
        self._key = hmac.new(material, b"attest digests v1", hashlib.sha256).digest()

    def of(self, *values: Any) -> str:
        """The digest of values that JSON can say."""
        text = json.dumps(values, sort_keys=True, ensure_ascii=True, default=str)
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:16]


def file_sha256(path: Path) -> str | None:
    """SHA-256 of a file, None where there is none, so that whoever has a copy can compare it. Raises OSError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except FileNotFoundError:
        return None
    return digest.hexdigest()
