"""Fingerprints of the models of this machine."""

from __future__ import annotations

import hashlib
from pathlib import Path


def model_fingerprint(path: Path, name: str = "minilm-int8") -> str:
    """Model name and the first digits of the file's SHA-256."""
    return f"{name}-" + hashlib.sha256(path.read_bytes()).hexdigest()[:12]
