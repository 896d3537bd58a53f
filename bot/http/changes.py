"""What a repair changed, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_TOKEN = re.compile(r"\s+|\w+(?:[.,:@/-]\w+)*|[^\w\s]")
_TOO_MANY = 4000
"""Tokens beyond which the middle is shown as one change: comparing takes quadratic time at worst."""


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch that stayed, was taken out, or was put in."""

    kind: Literal["same", "out", "in"]
    text: str


def changes(before: str, after: str) -> list[Change]:
    """`same` and `out` joined are `before`, `same` and `in` joined are `after`."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    begin = _common(old, new)
    end = _common(old[begin:][::-1], new[begin:][::-1])
    middle = (old[begin : len(old) - end], new[begin : len(new) - end])
    made = [Change("same", "".join(old[:begin])), *_between(*middle), Change("same", "".join(old[len(old) - end :]))]
    return [change for change in made if change.text]


def _common(a: list[str], b: list[str]) -> int:
    """How many tokens both begin with."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _between(old: list[str], new: list[str]) -> Iterator[Change]:
    if len(old) + len(new) > _TOO_MANY:
        yield from (Change("out", "".join(old)), Change("in", "".join(new)))
        return
    for name, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if name == "equal":
            yield Change("same", "".join(old[i:j]))
        else:
            yield from (Change("out", "".join(old[i:j])), Change("in", "".join(new[k:m])))
