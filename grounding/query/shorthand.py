"""What people at a help desk type short ("phone no", "dpo", "return window") or call otherwise ("postage"), in the words of documents, by two small lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from grounding.query.conversation import FILLERS, content
from grounding.tables import yaml_table
from grounding.text import caseless, terms


@cache
def _full() -> dict[str, str]:
    table: dict[str, str] = yaml_table(__file__, "shorthand.yaml")
    return {caseless(str(typed)): meant for typed, meant in table.items()}


@cache
def _typed() -> re.Pattern[str]:
    longest = sorted(_full(), key=lambda typed: (-len(typed), typed))
    return re.compile(rf"(?<![\w&])(?:{'|'.join(map(re.escape, longest))})(?![\w&])", re.IGNORECASE)


def in_full(question: str) -> dict[str, str]:
    """The shorthand in an English question as it is typed there, each with what it is short for; in order, the longest where one holds another."""
    return {m.group(): _full()[caseless(m.group())] for m in _typed().finditer(question)}


@cache
def _otherwise() -> Mapping[str, Sequence[str]]:
    table: dict[str, list[str]] = yaml_table(__file__, "synonyms.yaml")
    return {caseless(word): tuple(others) for word, others in table.items()}


@cache
def _compared_by() -> Mapping[str, Sequence[str]]:
    table: dict[str, list[str]] = yaml_table(__file__, "comparisons.yaml")
    return {caseless(word): tuple(others) for word, others in table.items()}


def compared_by(question: str) -> dict[str, tuple[str, ...]]:
    """The words of an English question that say by what things are compared ("faster"), as they are typed there, each with what documents may call that."""
    words = (m.group() for m in _WORD.finditer(question))
    return {word: tuple(_compared_by()[caseless(word)]) for word in words if caseless(word) in _compared_by()}


_WORD = re.compile(r"(?<![\w-])[A-Za-z]{3,}(?![\w-])")


def called_otherwise(question: str) -> dict[str, tuple[str, ...]]:
    """The words of an English question that documents may call otherwise, as they are typed there, each with what they may call it, the likeliest first."""
    words = (m.group() for m in _WORD.finditer(question))
    return {word: tuple(_otherwise()[caseless(word)]) for word in words if caseless(word) in _otherwise()}


def said_as(question: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """For each content word of an English question the ways in which documents may say it, each as terms: its own, and what else it is called."""
    own = content(question) - FILLERS
    out = {}
    for word in question.split():
        if (said := frozenset(terms(word))) and said <= own:
            other = (frozenset(terms(way)) for ways in called_otherwise(word).values() for way in ways)
            out[said] = (said, *other)
    return tuple(out.values())
