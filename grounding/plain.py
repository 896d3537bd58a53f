"""Records as plain values for JSON. What `dataclasses.asdict` gives, without the deep copy of every number and text in them:
a turn's reply and entry hold thousands, and none of them can change.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


def plain(value: Any) -> Any:
    """`value` with each record in it as a dict by field, in the order of its fields; lists, tuples and dicts are new, all else is shared."""
    kind: Any = type(value)
    if kind is str or kind is float or kind is int or value is None:
        return value
    names = _names(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if kind is list:
        return [plain(item) for item in value]
    if kind is tuple:
        return tuple([plain(item) for item in value])
    if kind is dict:
        return {key: plain(item) for key, item in value.items()}
    return value


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """Names of the fields of a record; None for what is none."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
