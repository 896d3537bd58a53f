"""Text that every database takes."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Dialect, String, Text
from sqlalchemy.types import TypeDecorator

_UNKEPT = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with U+FFFD for what some database does not keep: U+0000, and halves of surrogate pairs."""
    return _UNKEPT.sub("�", text)


class AnyText(TypeDecorator[str]):
    """Text of people and channels, kept alike by every database."""

    impl: type[Text] | type[String] = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return value if value is None else storable(value)


class AnyString(AnyText):
    """The same, for keys, of a length."""

    impl = String
    cache_ok = True
