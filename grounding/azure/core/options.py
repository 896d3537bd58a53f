"""Common options of all azure-core clients: the SDK itself neither retries, follows redirects nor logs."""

from __future__ import annotations

from typing import Any

from azure.core.credentials import AzureKeyCredential
from azure.core.credentials_async import AsyncTokenCredential

from grounding.services.address import check_address, check_key, is_loopback

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


def credential_for(
    endpoint: str, key: str | AsyncTokenCredential, *, settings: tuple[str, str], example: str
) -> AzureKeyCredential | AsyncTokenCredential:
    """Credential for the service at `endpoint`, in the SDK's type: `key`, or the token credential given in its place.

    `settings`: names of the settings that hold endpoint and key. Raises SettingsError, naming one of them, for an endpoint (one looks like
    `example`) or key that cannot be used.
    """
    check_address(endpoint, settings[0], example)
    if not isinstance(key, str):
        return key
    check_key(key, settings[1])
    return AzureKeyCredential(key)


def plain_tokens(endpoint: str, key: str | AsyncTokenCredential) -> bool:
    """Whether a token may go without https, which the SDK refuses unless each call says so: to this machine alone."""
    return is_loopback(endpoint) and not isinstance(key, str)
