"""Sentences that say that something is free, against sources that have a price for it: "no fee for the third false dispatch", which costs $35."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from grounding.tables import table
from grounding.text import sentences, terms
from rai.check.reading.sources import Prepared
from rai.check.statements.prepared import Decision, PreparedStatement
from rai.claims.find import find_values
from rai.records import EvidenceSpan

_FEWEST, _MOST = 2, 0.75
"""Fewest words that the sentence says of what is free, and the least share of them that a source's sentence, with its heading, has to say of what it prices."""


@cache
def _free() -> re.Pattern[str]:
    phrases = sorted(table(__file__)["free"], key=lambda p: (-len(p), p))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, phrases))})(?![\w-])", re.IGNORECASE)


@cache
def _asks() -> frozenset[str]:
    return frozenset(terms(" ".join((*table(__file__)["asks"], *table(__file__)["free"]))))


def free_denied(said: PreparedStatement) -> Decision | None:
    """`contradicted` if a sentence says that something is free of which a sentence of a source gives a price and says no such thing; not where the answer names an
    amount or a condition, nor where a source says of the same that it is free.
    """
    if not _free().search(said.plain) or said.plain.endswith("?"):
        return None
    told = frozenset(terms(said.plain)) - _asks()
    conditions = any(cue.concept == "conditions" for part in said.parts for cue in part.clause.cues)
    if len(told) < _FEWEST or conditions or any(found.kind == "money" for found in find_values(said.plain)):
        return None
    against: EvidenceSpan | None = None
    for priced in _told(said):
        if len(told & priced.words) < max(_FEWEST, _MOST * len(told)):
            continue
        if priced.free:
            return None
        against = against or priced.span
    if against is None:
        return None
    return Decision("contradicted", (against,), f"{against.source} has a price for it: “{against.text}”.")


@dataclass(frozen=True, slots=True)
class _Priced:
    """A sentence of a source that has an amount or says that something is free. `words`: its terms, with those of what stands above it."""

    span: EvidenceSpan
    words: frozenset[str]
    free: bool


def _told(said: PreparedStatement) -> Iterator[_Priced]:
    for prepared in said.context.sources:
        units = {(p.unit.start, p.unit.end) for p in prepared.kinds.get("money", ()) if p.unit.field == "text"}
        for sentence in sentences(prepared.source.text):
            free = _free().search(sentence.text) is not None
            if free or any(start < sentence.end and sentence.start < end for start, end in units):
                span = EvidenceSpan(prepared.source.id, "text", sentence.start, sentence.end, sentence.text)
                words = frozenset(terms(sentence.text)) | _above(prepared, sentence.start)
                yield _Priced(span, words, free)


def _above(prepared: Prepared, start: int) -> frozenset[str]:
    """The words of the title, and of the last heading above an offset."""
    at = prepared.source.text.rfind("\n#", 0, start)
    at = 0 if at < 0 and prepared.source.text.startswith("#") else at
    end = prepared.source.text.find("\n", at + 1)
    heading = prepared.source.text[at:end] if at >= 0 and end > at else ""
    return frozenset(terms(f"{prepared.source.title} {heading}"))
