"""Expected answer type of a question: an amount, a duration, a telephone number … (after Li & Roth 2002, coarse classes).

A sentence that holds no value of the wanted kind can hardly be the answer, however near it is in words and meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from grounding.tables import yaml_table
from grounding.text import STOP_WORDS, stem, terms


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """An answer type: its name, a pattern for questions that ask for it, and a pattern for text in a sentence that can be it. `cues`: terms with which a
    question asks for it and which a text need not say that holds it: a telephone number needs no "phone" beside it.
    """

    name: str
    asked: re.Pattern[str]
    held: re.Pattern[str]
    cues: frozenset[str] = frozenset()


def _kinds() -> tuple[AnswerKind, ...]:
    table: dict[str, Any] = yaml_table(__file__, "answer_kinds.yaml")

    def pattern(text: str, *, cased: bool = False) -> re.Pattern[str]:
        whole = text
        for name in ("length", "number", "units"):  # one of them holds the others
            whole = whole.replace(f"<{name}>", table[name])
        return re.compile(whole, re.RegexFlag(0) if cased else re.IGNORECASE)

    return tuple(
        AnswerKind(
            kind["name"],
            pattern(kind["asked"]),
            pattern(kind["held"], cased=kind.get("cased", False)),
            frozenset(terms(kind.get("cues", ""))),
        )
        for kind in table["kinds"]
    )


KINDS = _kinds()
"""Every kind of `answer_kinds.yaml`, in its order: the first that a question asks for counts."""


def answer_kind(question: str) -> AnswerKind | None:
    """Answer type of a question: the first whose words it uses, or None when it asks for no value."""
    return next((kind for kind in KINDS if kind.asked.search(question)), None)


_COUNTED = re.compile(r"\b(?:how many|how much|wie viele?|combien d[e'’])\s+([^\W\d_]{3,})", re.IGNORECASE)


def counted(question: str) -> str | None:
    """The thing that a question wants counted or measured, stemmed ("lumen" of "how many lumens"), so that only sentences about it can
    answer.
    """
    match = _COUNTED.search(question)
    return stem(match.group(1).lower()) if match and match.group(1).lower() not in STOP_WORDS else None


def holds(sentence: str, kind: AnswerKind | None) -> bool:
    """True if the sentence holds a value of the kind, or no kind is wanted."""
    return kind is None or kind.held.search(sentence) is not None
