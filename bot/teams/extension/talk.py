"""What of a message to a customer is of the talk and of no source: whom one writes to and who signs, "today", when they booked, how old they are and how large their things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.tables import table
from rai.personal.names import GREETING, SIGNED, TITLE
from rai.records import Claim

_WORDS = table(__file__)


def _any(words: Sequence[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_ADDRESSED = re.compile(
    rf"(?:\b(?i:{GREETING})[ \t,]+(?:{TITLE})?|\b{TITLE}|\b(?i:{SIGNED}),?\s{{1,3}})(?:[A-ZÀ-Þ][\w.'-]* )?$"
)
"""What stands before the name of whom one writes to, or who signs."""
_NAMED = rf"{TITLE}(?P<name>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)[ \t]*"
_CALLED = tuple(
    re.compile(rf"{before}{_NAMED}(?={behind})")
    for before, behind in (
        (rf"(?:^|[.!?\n]\s*|(?i:\b{GREETING})[ \t]+)", r"[,.!?:\n—–]|$"),
        (r"[,—–]\s*", r"[.!?\n]|$"),
    )
)
"""Whom one writes to, by title and name where a sentence begins or ends: "…, Mr Doyle!". "Your technician, Mr Doyle, comes" says that there is one."""
_YOURS = re.compile(rf"\b(?:{_any(_WORDS['yours'])})\s+$", re.IGNORECASE)
_SIZE = re.compile(rf"(?:{_any(_WORDS['sizes'])})\W*$", re.IGNORECASE)
_YOU = re.compile(rf"\b(?:{_any(_WORDS['you'])})\b", re.IGNORECASE)
_DID = re.compile(rf"\b(?:{_any(_WORDS['did'])})\b", re.IGNORECASE)
_AGED = re.compile(
    rf"\b(?:{_any(_WORDS['yours'])})(?: [^\W\d_]{{2,20}}){{1,3}} (?:{_any(_WORDS['aged'])}) $", re.IGNORECASE
)
_EDGE = re.compile(r"[,;:.!?](?=\s|$)|\n")
HELD_BY_NOTHING = frozenset({"no-source", "perhaps-worked-out"})
"""The rules of a value that no passage has."""
_OLDEST = 120
_CLAUSE_MAX = 160
"""Characters to each side in which the clause of a date begins and ends."""


def is_of_the_talk(claim: Claim, text: str) -> bool:
    """Whether a value of the message `text` is of the talk itself and of no source, if no source has it."""
    if claim.rule in HELD_BY_NOTHING:
        return _is_their_own(claim, text)
    if claim.rule in ("no-name", "name-alone") and is_addressed(text, claim.start, claim.end):
        return True
    if claim.status != "unchecked":
        return False
    if claim.rule == "relative-day":
        return True
    return claim.rule == "name-alone" and _ADDRESSED.search(text[max(0, claim.start - 40) : claim.start]) is not None


def is_addressed(text: str, start: int, end: int) -> bool:
    """True if the name at `text[start:end]`, its title before or in it, calls the person that one writes to."""
    found = (called for pattern in _CALLED for called in pattern.finditer(text))
    return any(called.start() < end and start < called.end() and end >= called.end("name") for called in found)


def _is_their_own(claim: Claim, text: str) -> bool:
    """True of the day on which they booked or bought, of an age, and of the size of what is theirs."""
    before = text[max(0, claim.start - _CLAUSE_MAX) : claim.start]
    if claim.kind == "quantity":
        return _SIZE.search(claim.text) is not None and _YOURS.search(before) is not None
    if claim.kind == "number":
        return claim.text.isdecimal() and int(claim.text) <= _OLDEST and _AGED.search(before) is not None
    if claim.kind != "date":
        return False
    clause = f"{_EDGE.split(before)[-1]} {_EDGE.split(text[claim.end : claim.end + _CLAUSE_MAX])[0]}"
    return _YOU.search(clause) is not None and _DID.search(clause) is not None
