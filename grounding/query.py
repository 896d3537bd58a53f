"""Conversation to query by extractive summarization: which sentences of it the search needs.

The last question is always kept. What it leans on is added only when it leans: a question that names its subject is
hurt by more history (measured on MTRAG-UN), one that says "it" is lost without it (measured on DSTC11).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.errors import InputError
from grounding.records import Query, Sentence, Turn
from grounding.text import body_start, sentences, terms

MAX_LAST = 4
"""Sentences kept of the last turn; Azure's extractive summarization keeps 3 by default, 1 to 20."""
MAX_EARLIER = 2
RECENT_TURNS = 8

_LEANS = re.compile(
    r"\b(it|its|that|this|these|those|they|them|their|there|he|she|him|her|one|ones|same|other|another|either|both|the first|the second|again|instead|also|too)\b"
    r"|^\s*(and|but|or|so|then|what about|how about|what if|and if)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b(?:[A-Z][\w'’-]*|[A-Z0-9]+[-/][A-Z0-9-/]+)(?:[ -](?:[A-Z][\w'’-]*|of|and|the|\d[\w.-]*))*")
_NOT_NAMES = frozenset(
    [
        "i",
        "hi",
        "hello",
        "hey",
        "thanks",
        "thank",
        "yes",
        "no",
        "ok",
        "okay",
        "please",
        "sorry",
        "can",
        "could",
        "would",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "how",
        "my",
        "your",
        "our",
        "the",
        "a",
        "an",
        "and",
        "but",
        "or",
        "so",
        "if",
        "it",
        "this",
        "that",
        "there",
        "they",
        "we",
        "you",
        "he",
        "she",
        "customer",
        "agent",
        "good",
        "great",
        "sure",
    ]
)


def last_asked(turns: Sequence[Turn]) -> int:
    """Index of the turn that asks: the last one of a customer or user, else the last with text. Raises InputError."""
    with_text = [i for i, t in enumerate(turns) if t.text.strip()]
    if not with_text:
        raise InputError("the conversation has no text")
    asked = [i for i in with_text if turns[i].role in ("customer", "user")]
    return asked[-1] if asked else with_text[-1]


def turn_sentences(turns: Sequence[Turn], index: int) -> list[Sentence]:
    """Sentences of one turn that say something: greetings and thanks hold no term and are left out."""
    spans = sentences(turns[index].text)
    return [Sentence(index, s.start, s.end, s.text, 0.0) for s in spans if terms(s.text[body_start(s.text) :])]


def leans(text: str) -> bool:
    """True if a question depends on what was said before: it points back, or says too little to stand alone."""
    return bool(_LEANS.search(text)) or len(set(terms(text))) <= 2


def names(text: str) -> list[str]:
    """Names and identifiers as they stand, in order: capitalised runs that do not merely begin a sentence."""
    starts = {s.start + body_start(s.text) for s in sentences(text)}
    found = []
    for match in _NAME.finditer(text):
        name = re.sub(r"(?: (?:of|and|the))+$", "", match.group())
        if name.lower() in _NOT_NAMES:
            continue
        first, _, rest = name.partition(" ")
        if match.start() in starts and first.lower() in _NOT_NAMES and rest:
            name = rest
        elif match.start() in starts and not rest and not any(c.isdigit() or c.isupper() for c in name[1:]):
            continue
        found.append(name)
    return found


def missing_names(turns: Sequence[Turn], asked: int, limit: int = 2) -> tuple[str, ...]:
    """The names said most recently before the question, newest first, that the question does not say itself."""
    said = turns[asked].text.lower()
    out: list[str] = []
    for turn in reversed(turns[max(0, asked - RECENT_TURNS) : asked]):
        for name in reversed(names(turn.text)):
            known = any(name.lower() in other.lower() for other in out)
            if name.lower() not in said and not known:
                out.append(name)
        if len(out) >= limit:
            break
    return tuple(out[:limit])


def assemble(chosen: Sequence[Sentence], entities: Sequence[str], note: str | None = None) -> Query:
    """A query in the order of the conversation, after the names it needs."""
    ordered = sorted(chosen, key=lambda s: (s.turn, s.start))
    text = " ".join([*entities, *(s.text for s in ordered)])
    return Query(text, tuple(ordered), tuple(entities), note)


def last_turn_query(turns: Sequence[Turn], note: str) -> Query:
    """The degraded query: the last question whole. Raises InputError for a conversation without text."""
    asked = last_asked(turns)
    text = turns[asked].text
    whole = [Sentence(asked, s.start, s.end, s.text, 1.0) for s in sentences(text)]
    return assemble(whole, (), note)
