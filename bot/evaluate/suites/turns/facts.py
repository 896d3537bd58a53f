"""Rows of turns.jsonl, and the verdict on a reply by the facts that a right answer says.

A fact is a list of spellings of which any will do. Texts are compared without case, kinds of space and dash, and bold marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bot.evaluate.rows import Row, RowErrors
from bot.rows import fields
from bot.view.reply import DELIVERED
from grounding.errors import InputError

Verdict = Literal["right", "long", "half", "beside", "wrong", "refused", "broken"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
WORST: tuple[Verdict, ...] = ("wrong", "broken", "beside", "half", "refused", "long")
"""What went wrong, the worst first: a wrong answer costs more than none."""
Expect = Literal["answered", "insufficient", "ask_back", "smalltalk"]
EXPECTS: tuple[Expect, ...] = get_args(Expect)

MOST_WORDS = 120
MOST_WORDS_OF: Mapping[str, int] = dict.fromkeys(("procedure", "filter", "compare", "two_part", "pasted"), 220)
"""Words that a right answer has at most, by kind: one that is longer than its passage is no answer."""
INTENTS = frozenset({"greeting", "thanks", "farewell", "help", "about", "new", "smalltalk"})

_SPACE = re.compile(r"\s+")
_ALIKE = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2011": "-", "–": "-", "’": "'"})


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that is asked. `must`: facts, each by its spellings; `must_not`: what only a wrong answer says."""

    must: tuple[tuple[str, ...], ...]
    must_not: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row of turns.jsonl. `asked`: the form of `POST /api/ask`; `docs`: where the answer stands, empty if the row does not tell."""

    id: str
    kind: str
    expect: Expect
    asked: Mapping[str, Any]
    parts: tuple[Part, ...]
    docs: tuple[str, ...]

    @property
    def has_facts(self) -> bool:
        """True if something is told that a right answer says."""
        return any(part.must for part in self.parts)

    @property
    def is_answerable(self) -> bool:
        """True if an answer is wanted, or will do beside asking back."""
        return self.expect == "answered" or (self.expect == "ask_back" and self.has_facts)

    @property
    def facts(self) -> tuple[tuple[str, ...], ...]:
        """The facts of all parts, in order."""
        return tuple(fact for part in self.parts for fact in part.must)


def turn_row(path: Path, row: Row) -> TurnRow:
    """A row of turns.jsonl, read. Raises InputError that names file, row and field."""
    with RowErrors(path, row):
        return _turn_row(row)


def _turn_row(row: Row) -> TurnRow:
    expect = fields.text(row, "expect")
    if expect not in EXPECTS:
        raise InputError(f"field 'expect' is {expect!r}; allowed: {', '.join(EXPECTS)}")
    history = fields.objects(row, "history") if row.get("history") is not None else []
    parts = fields.objects(row, "parts") if row.get("parts") is not None else []
    docs = row.get("doc")
    return TurnRow(
        fields.text(row, "id"),
        fields.optional_text(row, "kind") or "all",
        next(known for known in EXPECTS if known == expect),
        {
            "question": fields.text(row, "question"),
            "as": fields.optional_text(row, "as"),
            "history": [dict(turn) for turn in history],
        },
        tuple(Part(_must(part), fields.texts(part, "must_not")) for part in parts),
        tuple(doc.removeprefix("kb/") for doc in ((docs,) if isinstance(docs, str) else fields.texts(row, "doc"))),
    )


def _must(part: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    facts = part.get("must")
    if not isinstance(facts, list) or not all(
        isinstance(fact, list) and fact and all(isinstance(spelling, str) and spelling for spelling in fact)
        for fact in facts
    ):
        raise fields.wrong("parts[].must", "a list of facts, each a list of spellings", facts)
    return tuple(tuple(fact) for fact in facts)


def normal(text: str) -> str:
    """`text` in lower case, with one kind of dash, quote and space, so that a fact is found in any of its spellings."""
    return _SPACE.sub(" ", text.translate(_ALIKE).replace("**", "")).lower()


def holds(text: str, fact: Sequence[str]) -> bool:
    """True if any spelling of the fact stands in `text`, which is `normal`."""
    return any(normal(spelling) in text for spelling in fact)


def judged(row: TurnRow, reply: Mapping[str, Any] | None) -> Verdict:
    """How a reply, in the form of `ask --json`, meets the row; None is a question that was not taken."""
    if reply is None:
        return "broken"
    said = reply.get("outcome") in DELIVERED
    if row.expect == "smalltalk":
        if reply.get("intent") in INTENTS and not reply.get("citations"):
            return "right"
        return "beside" if said else "refused"
    if not said and reply.get("outcome") != "insufficient":
        return "broken"
    text, asked_back = normal(str(reply.get("answer") or "")), bool(reply.get("clarification"))
    if row.is_answerable:
        if row.expect == "ask_back" and asked_back:
            return "right"
        return _answered(row, text) if said else "refused"
    if not said:
        return "right"
    return "wrong" if _forbidden(row, text) else "beside"


def _answered(row: TurnRow, text: str) -> Verdict:
    held = [holds(text, fact) for fact in row.facts]
    bad = _forbidden(row, text)
    if all(held) and not bad:
        return "right" if len(text.split()) <= MOST_WORDS_OF.get(row.kind, MOST_WORDS) else "long"
    if bad:
        return "wrong"
    return "half" if any(held) else "beside"


def _forbidden(row: TurnRow, text: str) -> bool:
    return any(normal(spelling) in text for part in row.parts for spelling in part.must_not)
