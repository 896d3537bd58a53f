"""Coverage of a question by an answer: which parts it answers, told by words and values. Used for quotes and for a model's drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.query.answer_kind import holds
from grounding.quoting.question_parts import Part, Reading
from grounding.text import sentences, terms

GENERIC = frozenset(
    terms(
        "how long much many often what which who whom when where why can could do does is are may must will until cost costs price fee charge number need want get "
        "know tell please customer client guest he she they we you it and also btw much time there any"
    )
)
"""Words by which a part asks, which say nothing of what it asks about."""
_ABSTAINS = re.compile(
    r"\b(?:not found in the sources|(?:sources?|documents?|information|passages?) (?:do(?:es)?|did|is|are) ?(?:not|n['’]t)\b|(?:do(?:es)?|did) not (?:say|mention|state|tell)|don['’]t (?:say|mention|state)|nothing (?:about|on) )",
    re.IGNORECASE,
)


_OF_ANY_NAMES = frozenset({"person", "address"})
"""Kinds of values that any two words with capitals may seem to be: "Watch Pro" is nobody who won a cup."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A part of a question as it was asked, and whether the answer covers it."""

    part: str
    answered: bool


def coverage(reading: Reading, answer: str) -> tuple[Covered, ...]:
    """For each part of the question whether `answer` (with the titles of what it cites) answers it.

    A part that wants a value is answered where a line holds a value of that kind, and, if another part wants the same kind, says a word
    that is this part's own; every other where its own words are spoken of. A line that only says that the sources do not tell answers
    nothing.
    """
    lines = [line for line in _lines(answer) if not _ABSTAINS.search(line)]
    return tuple(Covered(part.text, _is_answered(part, reading.parts, lines)) for part in reading.parts)


def _lines(answer: str) -> list[str]:
    return [span.text for line in answer.splitlines() if line.strip() for span in sentences(line)]


def _is_answered(part: Part, parts: Sequence[Part], lines: Sequence[str]) -> bool:
    own = _own(part, parts)
    if part.wants is not None:
        held = [line for line in lines if holds(line, part.wants)]
        if part.wants.name in _OF_ANY_NAMES and own and not any(_speaks_of(own, line) for line in lines):
            return False
        rivals = any(p is not part and p.wants is not None and p.wants.name == part.wants.name for p in parts)
        return any(_speaks_of(own, line) for line in held) if rivals and own else bool(held)
    return not own or any(_speaks_of(own, line) for line in lines)


def _own(part: Part, parts: Sequence[Part]) -> frozenset[str]:
    others = frozenset(w for p in parts if p is not part for w in terms(p.text))
    return frozenset(terms(part.text)) - others - GENERIC


def _speaks_of(words: frozenset[str], line: str) -> bool:
    return not words.isdisjoint(terms(line))
