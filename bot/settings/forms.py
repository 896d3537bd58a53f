"""The forms that values of settings may have: functions that test or read a text, and types made of them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

PREFIX = "ATTEST_"
"""What the name of every variable begins with."""
MOST_MONEY, _DECIMALS = 1_000_000, 9
_BLOCKLIST = re.compile(r"[0-9A-Za-z._~-]{1,64}")
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INDEX = re.compile(r"(?=.{2,128}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_LABEL = re.compile(r"(?!-)[\w-]{1,63}(?<!-)")
_SEVERITY = re.compile(r"(hate|sexual|self_harm|violence)=([1-7]|off)")
RETAINED = (
    "feedback",
    "refusal_report",
    "refusal_decision",
    "quarantine_decision",
    "verdict",
    "sample",
    "read",
    "source_opened",
    "check",
)
"""Kinds of entries that may go before the turn that they refer to, or refer to none."""
_KIND_DAYS = re.compile(rf"({'|'.join(RETAINED)})=([1-9][0-9]{{0,4}})")
_SCOPE = re.compile(r"(?:https|api)://[\w.:/-]{1,200}/\.default|[0-9a-fA-F-]{36}/\.default", re.ASCII)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_UNFIT = re.compile(r"[\x00-\x20\x7f-\x9f\\]")


def is_url(text: str) -> bool:
    """True for an http or https address with a host."""
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not _UNFIT.search(text)
        )
    except ValueError:
        return False


def is_host(text: str, *, labels: int) -> bool:
    """True for a host name of at least `labels` labels; no IP address."""
    parts = text.removesuffix(".").split(".")
    numeric = parts[-1].isdigit() or parts[-1].lower().startswith("0x")
    return len(parts) >= labels and not numeric and all(_LABEL.fullmatch(part) for part in parts)


def is_network(text: str) -> bool:
    """True for an IP address, or a network of them without bits beyond its length."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def is_blocklist(text: str) -> bool:
    """True for what Content Safety allows as the name of a blocklist."""
    return _BLOCKLIST.fullmatch(text) is not None


def is_guid(text: str) -> bool:
    """True for an id of Microsoft Entra ID."""
    return _GUID.fullmatch(text) is not None


def is_scope(text: str) -> bool:
    """True for a scope of Microsoft Entra ID that stands for all that was granted."""
    return _SCOPE.fullmatch(text) is not None


def is_word(text: str) -> bool:
    """True for one plain word."""
    return _WORD.fullmatch(text) is not None


def is_index(text: str) -> bool:
    """True for what Azure AI Search allows as the name of an index."""
    return _INDEX.fullmatch(text) is not None


def price(value: object) -> Decimal:
    """Read an amount of money, from 0 to a million, exactly as it was written. Raises ValueError."""
    try:
        amount = Decimal(str(value).strip())
    except InvalidOperation:
        amount = Decimal("nan")
    if not (amount.is_finite() and 0 <= amount <= MOST_MONEY and amount == round(amount, _DECIMALS)):
        raise ValueError(f"a number from 0 to {MOST_MONEY}, such as 0.15, with {_DECIMALS} decimals at most")
    return amount


def severities(pairs: Sequence[str]) -> dict[str, int | None]:
    """Read `hate=2` and the like: each category to its severity, 1 to 7, None for off, 4 where nothing is said. Raises ValueError."""
    matches = [_SEVERITY.fullmatch(pair) for pair in pairs]
    given = {m[1]: None if m[2] == "off" else int(m[2]) for m in matches if m}
    if len(given) < len(pairs):
        raise ValueError(
            "hate, sexual, self_harm, violence, each once with =1 to =7 or =off, such as hate=2,violence=6"
        )
    return {**dict.fromkeys(("hate", "sexual", "self_harm", "violence"), 4), **given}


def days_of_kinds(pairs: Sequence[str]) -> dict[str, int]:
    """Read `feedback=90` and the like: kinds of entries to the days for which they are kept. Raises ValueError."""
    matches = [_KIND_DAYS.fullmatch(pair) for pair in pairs]
    given = {m[1]: int(m[2]) for m in matches if m}
    if len(given) < len(pairs):
        raise ValueError(f"{', '.join(RETAINED)}, each once with =1 to =99999 days, such as feedback=90")
    return given


def parts(value: object) -> object:
    """Split a text at its commas: parts trimmed, the empty left out. Anything but a text comes back as it is."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def url(value: str) -> str:
    """Check that a text is an http or https address, and give it back. Raises ValueError."""
    if not is_url(value):
        raise ValueError("an http:// or https:// URL with a host, such as https://bot.example.com")
    return value


CommaList = Annotated[tuple[str, ...], BeforeValidator(parts)]
Keys = Annotated[tuple[SecretStr, ...], BeforeValidator(parts)]
Url = Annotated[str, AfterValidator(url)]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
Price = Annotated[Decimal, BeforeValidator(price)]
