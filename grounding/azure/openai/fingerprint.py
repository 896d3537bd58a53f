"""Fingerprint of the vectors of an embedding service: vectors are compared only where it is the same."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

from grounding.services.cloud import OPENAI_BASE_URL

_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


def listed_fingerprint(model: str, width: int) -> str:
    """Model, width, and a digest of both; usable as a file name.

    For deployments of which a list says what model each holds: whoever has the same model and width gives the same vectors, at any address.
    """
    digest = hashlib.sha256(f"{model}\x00{width}".encode()).hexdigest()
    return f"{_UNFIT.sub('-', model)[:40]}-{width}-{digest[:12]}"


def service_fingerprint(base_url: str | None, model: str, width: int) -> str:
    """Model or deployment, width, and a digest of both with the address; usable as a file name.

    The address counts, because on Azure the name is that of a deployment, which anybody may give to any model: vectors of two models under
    one name would be compared in silence. What a deployment is moved to later under its old name and address cannot be seen from here.
    """
    parts = urlsplit(base_url or OPENAI_BASE_URL)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    whole = f"{parts.hostname}:{port}{parts.path.rstrip('/')}\x00{model}\x00{width}"
    return f"{_UNFIT.sub('-', model)[:40]}-{width}-{hashlib.sha256(whole.encode()).hexdigest()[:12]}"
