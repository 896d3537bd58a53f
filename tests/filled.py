"""Records with every field filled, as their types say: what a product's record may hold at most."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from bot.stop import Stop

_PLAIN: Mapping[Any, Any] = {
    bool: True,
    int: 3,
    float: 0.5,
    Decimal: Decimal("0.25"),
    datetime: datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
    Stop: Stop(),
}


def filled(kind: Any, name: str = "value") -> Any:
    """A value of the type: every field of a record, one item in every collection, the first of several choices; a text is the field's name."""
    if kind is str or kind is Any:
        return f"{name} text"
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return filled(inside[0], name)
    if origin is Literal:
        return inside[0]
    if origin in (Union, types.UnionType):
        return filled(next(each for each in inside if each is not type(None)), name)
    if origin is tuple:
        return tuple(filled(each, name) for each in inside if each is not Ellipsis)
    if origin in (list, set, frozenset):
        return origin([filled(inside[0], name)])
    if origin is not None and issubclass(origin, Mapping):
        return {filled(inside[0], name): filled(inside[1], name)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    assert is_dataclass(kind), f"{name}: say what a {kind} looks like"
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{each.name: filled(hints[each.name], each.name) for each in fields(kind)})  # type: ignore[operator]  # a record's class
