"""Metadata fields of a document, and how each is checked.

The same rules hold for front matter, attest.yaml, --acl files and corpus lines. A field that cannot be understood is an error and never a
default: a mistyped `groups` must not open a document to everyone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, get_args

from rapidfuzz.distance import OSA

from grounding.records import Trust

FIELDS = ("title", "url", "product", "updated", "internal", "groups", "trust")
EVERYONE = "everyone"
SLIPS = 2
"""Slips of the hand by which a name may differ from `groups` to be taken for a mistake."""
_BAD_URL = re.compile(r"^\s*(?:javascript|data|vbscript|file):|[\x00-\x20\x7f<>\"]", re.IGNORECASE)


class BadField(ValueError):
    """A metadata field has a value that is not allowed; the message names the field and what is allowed."""


def checked(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The known fields of `raw` in their own types; null text fields are absent.

    Raises BadField, also for a name that is nearly `groups`: what it was to close would stand open.
    """
    for name in raw:
        if isinstance(name, str) and name not in FIELDS and OSA.distance(name.lower().strip(), "groups") <= SLIPS:
            raise BadField(f"{name} is not known; did you mean groups?")
    found: dict[str, Any] = {}
    for name in FIELDS:
        if name in raw:
            value = _CHECKS[name](name, raw[name])
            if value is not None or name == "groups":
                found[name] = value
    return found


def of_itself(raw: Mapping[str, Any]) -> dict[str, Any]:
    """As `checked`, for what a document says about itself. Raises BadField also where it calls itself official: whoever can write a document
    could have its contacts believed by that; attest.yaml and the lines of a corpus say it.
    """
    found = checked(raw)
    if found.get("trust") == "official":
        raise BadField("trust: a document cannot call itself official; attest.yaml beside it can")
    return found


def groups(name: str, value: object) -> tuple[str, ...] | None:
    """Group names from a metadata value; None, or "everyone", is everyone; an empty list is nobody. Raises BadField."""
    if value is None or value == EVERYONE:
        return None
    if not isinstance(value, list) or not all(isinstance(group, str) and group.strip() for group in value):
        raise BadField(f"{name} must be a list of group names, [] for nobody or {EVERYONE}")
    return tuple(dict.fromkeys(group.strip() for group in value))


def _text(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadField(f"{name} must be text")
    return " ".join(str(value).split()) or None


def _url(name: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or _BAD_URL.search(value):
        raise BadField(f"{name} must be a web address without spaces")
    return value


def _flag(name: str, value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise BadField(f"{name} must be true or false")
    return value


def _date(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, dt.date):
        return value.isoformat()
    try:
        dt.datetime.fromisoformat(value)  # type: ignore[arg-type]  # anything but text lands in the except
    except (TypeError, ValueError):
        raise BadField(f"{name} must be an ISO 8601 date such as 2026-03-31") from None
    return str(value)


def _trust(name: str, value: object) -> str | None:
    if value is not None and value not in get_args(Trust):
        raise BadField(f"{name} must be one of {', '.join(get_args(Trust))}")
    return None if value is None else str(value)


_CHECKS = {
    "title": _text,
    "url": _url,
    "product": _text,
    "updated": _date,
    "internal": _flag,
    "groups": groups,
    "trust": _trust,
}
