"""Texts that a pattern is likely to be slow on: made of what it repeats itself, behind what leads there, before what it cannot take."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_REPEATS = frozenset({sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT})
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "a-",
    sre.CATEGORY_WORD: "a1",
    sre.CATEGORY_NOT_WORD: " -'",
}
_USUAL = "a1 -'.,:/A\n\t_#|(é"
ENDS = ("", "\x00", "!\n\x00")


def attacks(pattern: str, flags: int, size: int, seed: int = 0) -> Iterator[str]:
    """Texts of about `size` characters for one pattern, the same ones for the same seed."""
    draw = random.Random(f"{seed}{pattern!a}")
    tree = _parser.parse(pattern, flags & ~re.UNICODE)
    for lead, body in dict.fromkeys(_pumps(list(tree), "", draw)):
        for end in ENDS:
            yield lead + _long(body, size) + end
        yield _long(lead + body, size)
        yield _long(body + draw.choice(_USUAL), size) + "\x00"
    whole = _sample(list(tree), draw)
    if whole:
        yield _long(whole, size)
        yield _long(whole[:-1] or whole, size) + "\x00"


def _long(piece: str, size: int) -> str:
    return (piece * (size // max(1, len(piece)) + 1))[:size]


def _pumps(nodes: list[Any], lead: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """What stands before each repetition, and one round of it, at every depth."""
    for kind, argument in nodes:
        if kind in _REPEATS:
            _, most, body = argument
            for _ in range(3):
                if most > 1 and (piece := _sample(list(body), draw)):
                    yield lead, piece
            yield from _pumps(list(body), lead, draw)
        else:
            for inner in _inside(kind, argument):
                yield from _pumps(list(inner), lead, draw)
        lead += _sample([(kind, argument)], draw)


def _inside(kind: Any, argument: Any) -> list[Any]:
    if kind is sre.BRANCH:
        return list(argument[1])
    if kind is sre.SUBPATTERN:
        return [argument[-1]]
    if kind is sre.ATOMIC_GROUP:
        return [argument]
    return [argument[1]] if kind in (sre.ASSERT, sre.ASSERT_NOT) else []


def _sample(nodes: list[Any], draw: random.Random) -> str:
    """A text that the nodes match, but for what must stand around."""
    return "".join(_one(kind, argument, draw) for kind, argument in nodes)


def _one(kind: Any, argument: Any, draw: random.Random) -> str:
    if kind is sre.LITERAL:
        return chr(argument)
    if kind is sre.NOT_LITERAL:
        return draw.choice([c for c in _USUAL if c != chr(argument)])
    if kind is sre.ANY:
        return draw.choice("a1 -")
    if kind is sre.IN:
        return draw.choice(_members(argument))
    if kind in _REPEATS:
        least, _, body = argument
        return "".join(_sample(list(body), draw) for _ in range(max(1, min(least, 40))))
    if kind is sre.BRANCH:
        return _sample(list(draw.choice(argument[1])), draw)
    inside = _inside(kind, argument) if kind not in (sre.ASSERT, sre.ASSERT_NOT) else []
    return "".join(_sample(list(i), draw) for i in inside)


def _members(items: list[Any]) -> str:
    """Some characters of a class."""
    if items[0][0] is sre.NEGATE:
        return "".join(c for c in _USUAL if c not in _members([*items[1:], (sre.LITERAL, 0)])) or "~"
    out = ""
    for kind, argument in items:
        if kind is sre.LITERAL:
            out += chr(argument)
        elif kind is sre.RANGE:
            out += chr(argument[0]) + chr(argument[1])
        elif kind is sre.CATEGORY:
            out += _CATEGORIES[argument]
    return out
