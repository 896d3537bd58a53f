"""Common options of all azure-core clients: the SDK itself neither retries, follows redirects nor logs."""

from __future__ import annotations

from typing import Any

from grounding.services.address import is_loopback

CONNECT_S = 5.0


def transport_options(endpoint: str, timeout_s: float) -> dict[str, Any]:
    """Keyword arguments of a transport to `endpoint`: `timeout_s` seconds for one read, at most CONNECT_S to connect."""
    return {
        "connection_timeout": min(CONNECT_S, timeout_s),
        "read_timeout": timeout_s,
        "use_env_settings": not is_loopback(endpoint),  # a proxy cannot reach our loopback
    }


def client_options(endpoint: str, timeout_s: float) -> dict[str, Any]:
    """Keyword arguments for a client of `endpoint`. `timeout_s` bounds a single read in seconds; `grounding.services.remote` bounds the
    whole call.
    """
    return {
        "retry_total": 0,  # our wrapper decides
        "permit_redirects": False,
        "logging_enable": False,
        **transport_options(endpoint, timeout_s),
    }
