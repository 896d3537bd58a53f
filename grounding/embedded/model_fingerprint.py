"""Fingerprint of the vectors of the local embedding model."""

from __future__ import annotations

import hashlib
from pathlib import Path


def model_fingerprint(path: Path) -> str:
    """Model name and the first digits of the file's SHA-256."""
    return "minilm-int8-" + hashlib.sha256(path.read_bytes()).hexdigest()[:12]
