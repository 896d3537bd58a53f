"""Statements: how far one sentence of a source says the same, by words alone.

entailed: the sentence stands in a source after folding dashes, quotes, case, spacing and citation marks; or all its
content words stand in one sentence or row in the same order, with the same negation and the same hedges (only, unless,
at least), and that sentence has at most half as many words again.
contradicted: all content words in order in a sentence at most a quarter longer, but negated on one side only.
Paraphrase is beyond words: such a statement is `unchecked`, never entailed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import caseless, sentences, terms
from rai.records import EvidenceSpan
from rai.statements.wording import NEGATION, content_terms, plain_words
from rai.support.sources import Prepared, Unit, caseless_field

_HEDGE = re.compile(
    r"\b(?:only|unless|except|if|until|may|might|must|always|never|all|every|some|at least|at most|up to|before|after|than|above|below|over|under|up|down|off|out)\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Support:
    """How a source supports a statement. `coverage` in [0, 1]: content words of the statement in the best sentence."""

    status: str
    coverage: float
    evidence: tuple[EvidenceSpan, ...]
    why: str


def judge(sentence: str, sources: Sequence[Prepared]) -> Support:
    """The best support that any one sentence or row of `sources` gives `sentence`."""
    plain = plain_words(sentence)
    verbatim = _verbatim(plain, sources)
    if verbatim:
        return Support("entailed", 1.0, (verbatim,), f"Stands word for word in {verbatim.source}.")
    mine = content_terms(plain)
    if not mine:
        return Support("unchecked", 0.0, (), "Has no words that a source could confirm.")
    found = [_compare(plain, mine, prepared, unit) for prepared in sources for unit in prepared.units]
    decided = [s for s in found if s.status == "entailed"] or [s for s in found if s.status == "contradicted"]
    if decided:
        return min(decided, key=lambda s: (s.evidence[0].source, s.evidence[0].field, s.evidence[0].start))
    coverage = max((s.coverage for s in found), default=0.0)
    return Support(
        "unchecked",
        coverage,
        (),
        f"{coverage:.0%} of its words stand in one sentence of a source; words alone cannot decide.",
    )


def anywhere(sentence: str, sources: Sequence[Prepared]) -> float:
    """Share of a statement's content words that stand anywhere in the sources or their titles, in [0, 1]."""
    mine = set(content_terms(plain_words(sentence)))
    theirs = {t for p in sources for u in p.units for t in _unit_content(_unit_text(p, u))}
    return len(mine & theirs) / len(mine) if mine else 0.0


def _verbatim(plain: str, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    pieces = [re.escape(piece) for piece in caseless(plain).rstrip(".!").split()]
    if not pieces:
        return None
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)")
    hits = []
    for prepared in sources:
        match = pattern.search(caseless_field(prepared.source.text))
        if match and _whole(prepared.source.text, match.start(), match.end()):
            hits.append(
                EvidenceSpan(prepared.source.id, "text", *match.span(), prepared.source.text[slice(*match.span())])
            )
    return min(hits, key=lambda h: (h.source, h.start)) if hits else None


def _whole(text: str, start: int, end: int) -> bool:
    """A part of a sentence may say the opposite of the whole ("It is free" of "It is free if …")."""
    begins = {s.start for s in sentences(text)}
    opening = text[max(0, start - 40) : start]
    after = text[end : end + 1]
    at_start = (
        start in begins or re.search(r"(?:^|\n)\s*(?:[-*•]|\d{1,3}[.)]|#{1,6})\s*$|[\"“„'(|:]\s*$", opening) is not None
    )
    at_start = at_start or re.search(r"(?:^|[\s.])(?:yes|no),\s*$", opening, re.IGNORECASE) is not None
    return at_start and (not after or after in '.!?\n"”|;)' or not text[end:].strip())


def _compare(plain: str, mine: tuple[str, ...], prepared: Prepared, unit: Unit) -> Support:
    text = _unit_text(prepared, unit)
    theirs = _unit_content(text)
    within = set(theirs) | (set(terms(prepared.source.title)) if unit.field == "text" else set())
    coverage = sum(term in within for term in mine) / len(mine)
    if unit.field != "text" or not _in_order(mine, theirs) or text.rstrip().endswith("?"):
        return Support("unchecked", coverage, (), "")
    span = EvidenceSpan(prepared.source.id, "text", unit.start, unit.end, text)
    same_sense = _negations(plain) % 2 == _negations(plain_words(text)) % 2
    # a sentence that says much more may take back what this one says ("free" of "free for members of the club")
    if same_sense and _hedges(plain) == _hedges(text) and len(theirs) <= len(mine) * 1.5:
        return Support("entailed", 1.0, (span,), f"All its words stand in this order in one sentence of {span.source}.")
    # only near-equal sentences contradict: a longer one may negate something else
    if not same_sense and len(mine) >= 2 and len(theirs) <= len(mine) * 1.25:
        return Support("contradicted", coverage, (span,), f"{span.source} says the opposite in the same words.")
    return Support("unchecked", coverage, (), "")


def _unit_text(prepared: Prepared, unit: Unit) -> str:
    text = prepared.source.text if unit.field == "text" else prepared.source.title
    return text[unit.start : unit.end]


@lru_cache(maxsize=16384)
def _unit_content(text: str) -> tuple[str, ...]:
    return content_terms(plain_words(text))


def _in_order(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    rest = iter(theirs)
    return all(term in rest for term in mine)


def _negations(text: str) -> int:
    return len(NEGATION.findall(text))


def _hedges(text: str) -> list[str]:
    return sorted(h.lower() for h in _HEDGE.findall(text))
