"""The part that words play where somebody is spoken to: a program, a person, a clerk; what one says and must not; whose instructions.

A word is of one part or of none. Rows of parts say who gives an order to whom whichever words were chosen: "copilots, mention" and "summarisers: state" are one to them. The
parts (roles.json beside this module) are in English; other languages come to it as English words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from grounding.tables import table

_PARTS: dict[str, str] = {word: part.upper() for part, words in table(__file__).items() for word in words.split()}
"""The part of each word, in capitals; "" of a small word that stays itself."""
_TOKEN = re.compile(r"\w+|[:,;.!?()\[\]{}\"“”<>|#*=-]")
_KEPT = frozenset({"linked", "telephoned", "numbered"})
_REACH, _FOLLOWING = 10, 3
"""Most tokens between two parts that count as a pair, and most parts after one that are looked at."""


def roles(plain: str, most: int) -> Counter[str]:
    """The parts of a text's words, their rows of two and three with small words and signs between them, and pairs further apart, with how often each is there.

    `plain`: in lower case, links and numbers as one word each; `most`: tokens that are looked at.
    """
    row = ["^", *map(_role, _TOKEN.findall(plain)[:most])]
    at = [(i, role) for i, role in enumerate(row) if role.isupper()]
    found = Counter(f"~{role}" for _, role in at)
    found.update(f"~{' '.join(some)}" for some in _rows(row))
    found.update(_pairs(at))
    return found


def _role(token: str) -> str:
    """The token's part; itself where it is a small word or a sign, else a gap."""
    if token in _PARTS:
        return _PARTS[token] or token
    return token if token in _KEPT or not (token[0].isalnum() or token[0] == "_") else "_"


def _rows(row: list[str]) -> Iterator[list[str]]:
    """Each two and each three that stand side by side, a part among them."""
    for length in (2, 3):
        for start in range(len(row) - length + 1):
            if any(map(str.isupper, some := row[start : start + length])):
                yield some


def _pairs(at: list[tuple[int, str]]) -> Iterable[str]:
    for i, (place, role) in enumerate(at):
        yield from (f"~{role}..{other}" for there, other in at[i + 1 : i + 1 + _FOLLOWING] if there - place <= _REACH)
