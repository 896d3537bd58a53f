"""Checks of service addresses and keys from the settings, before anything is sent."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from grounding.errors import SettingsError


def is_loopback(url: str) -> bool:
    """True if `url` leads to this machine: no proxy can reach it, and nobody else reads along."""
    return is_this_machine(urlsplit(url).hostname or "")


def is_this_machine(host: str) -> bool:
    """True for a loopback address, and for localhost and names under it (RFC 6761, 6.3)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_address(url: str, setting: str, example: str) -> None:
    """Raise SettingsError, naming `setting`, unless `url` is https, or http on this machine."""
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme, parts.hostname
    except ValueError:
        scheme, host = "", None
    if scheme not in ("http", "https") or not host:
        raise SettingsError(f"{setting}: allowed is an address such as {example}")
    if scheme == "http" and not is_this_machine(host):
        raise SettingsError(f"{setting}: allowed is https, the key would travel in the clear")


def check_key(key: str, setting: str) -> None:
    """Raise SettingsError, naming `setting`, for a key that no header can carry; the HTTP library would show it in its error."""
    if not (key and key.isascii() and key.isprintable() and " " not in key):
        raise SettingsError(f"{setting}: holds characters that no key has")
