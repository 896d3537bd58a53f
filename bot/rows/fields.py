"""Reads fields of a JSON object by type. A field that is not as it should be raises InputError, which names it and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grounding.errors import InputError

Json = Mapping[str, Any]
"""A JSON object, such as a row."""
_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}


def text(data: Json, name: str) -> str:
    """A string that must be there; it may be empty."""
    value = data.get(name)
    if not isinstance(value, str):
        raise wrong(name, "a string", value)
    return value


def optional_text(data: Json, name: str) -> str | None:
    """A string, or None when it is absent or null."""
    return None if data.get(name) is None else text(data, name)


def texts(data: Json, name: str) -> tuple[str, ...]:
    """A list of strings; empty when absent or null."""
    value = data.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(name, "a list of strings", value)
    return tuple(value)


def objects(data: Json, name: str) -> list[Json]:
    """A list of objects that must be there; it may be empty."""
    value = data.get(name)
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise wrong(name, "a list of objects", value)
    return value


def whole_number(data: Json, name: str, default: int, low: int, high: int) -> int:
    """An integer in [low, high]; `default` when absent or null."""
    value = data.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise wrong(name, f"a whole number from {low} to {high}", value)
    return value


def wrong(name: str, allowed: str, value: Any) -> InputError:
    """The error for a field: what was found is named by its type, never quoted."""
    found = "is missing" if value is None else f"is {_NAMES.get(type(value), 'of another type')}"
    if found.removeprefix("is ") == allowed:
        found = "is out of range"
    return InputError(f"field {name!r} {found}; allowed: {allowed}", code="bad_field")
