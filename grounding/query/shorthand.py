"""What people at a help desk type short ("phone no", "dpo", "return window"), in the words of documents, by a small list."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import yaml

from grounding.text import caseless


@cache
def _full() -> dict[str, str]:
    table: dict[str, str] = yaml.safe_load(files("grounding.query").joinpath("shorthand.yaml").read_text("utf-8"))
    return {caseless(str(typed)): meant for typed, meant in table.items()}


@cache
def _typed() -> re.Pattern[str]:
    longest = sorted(_full(), key=lambda typed: (-len(typed), typed))
    return re.compile(rf"(?<![\w&])(?:{'|'.join(map(re.escape, longest))})(?![\w&])", re.IGNORECASE)


def in_full(question: str) -> dict[str, str]:
    """The shorthand in an English question as it is typed there, each with what it is short for; in order, the longest where one holds another."""
    return {m.group(): _full()[caseless(m.group())] for m in _typed().finditer(question)}
