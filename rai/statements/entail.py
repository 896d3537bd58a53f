"""Statements: how far one sentence of a source says the same, by words alone.

entailed: the sentence stands in a source after folding dashes, quotes, case, spacing and citation marks; or all its
content words stand in one sentence or row in the same order, with the same negation and the same hedges (only, unless,
at least), and that sentence has at most half as many words again.
contradicted: all content words in order in a sentence at most a quarter longer, but negated on one side only.
Paraphrase is beyond words: such a statement is `unchecked`, never entailed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.records import Span
from grounding.text import caseless, sentences, terms
from rai.records import EvidenceSpan, Source
from rai.statements.wording import NEGATION, content_terms, plain_words
from rai.support.sources import Prepared, caseless_field

_HEDGE = re.compile(
    r"\b(?:only|unless|except|if|until|may|might|must|always|never|all|every|some|at least|at most|up to|before|after|than|above|below|over|under|up|down|off|out)\b",
    re.IGNORECASE,
)
_SOLID = re.compile(r"\S+")
TRIES = 100
"""Places of a text where a sentence is looked for; one that stands within words as often is no quotation."""


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
    counted = Counter(mine)
    shares = [_shares(counted, _read(prepared.source)) for prepared in sources]
    found = [
        support
        for prepared, (_, whole) in zip(sources, shares, strict=True)
        for n in whole
        if (support := _compare(plain, mine, prepared.source, n)) is not None
    ]
    decided = [s for s in found if s.status == "entailed"] or found
    if decided:
        return min(decided, key=lambda s: (s.evidence[0].source, s.evidence[0].field, s.evidence[0].start))
    coverage = max((most for most, _ in shares), default=0) / len(mine)
    return Support(
        "unchecked",
        coverage,
        (),
        f"{coverage:.0%} of its words stand in one sentence of a source; words alone cannot decide.",
    )


def anywhere(sentence: str, sources: Sequence[Prepared]) -> float:
    """Share of a statement's content words that stand anywhere in the sources or their titles, in [0, 1]."""
    mine = set(content_terms(plain_words(sentence)))
    read = [_read(p.source) for p in sources]
    return sum(any(t in r.places or t in r.heading for r in read) for t in mine) / len(mine) if mine else 0.0


@dataclass(frozen=True, slots=True)
class _Read:
    """The content words of each sentence of a source, the sentences that have a word, the words of the title.

    `title`: all its words, which count for every sentence; `heading`: those of it that tell, as of a sentence.
    """

    units: tuple[tuple[Span, tuple[str, ...]], ...]
    places: dict[str, list[int]]
    title: frozenset[str]
    heading: frozenset[str]


@lru_cache(maxsize=512)
def _read(source: Source) -> _Read:
    units = tuple((span, content_terms(plain_words(span.text))) for span in sentences(source.text))
    places: dict[str, list[int]] = defaultdict(list)
    for n, (_, words) in enumerate(units):
        for term in set(words):
            places[term].append(n)
    heading = frozenset(content_terms(plain_words(source.title)))
    return _Read(units, dict(places), frozenset(terms(source.title)), heading)


def _shares(mine: Counter[str], read: _Read) -> tuple[int, list[int]]:
    """How many words the best sentence or the title has, the title counting for every sentence; the sentences that have all."""
    having: Counter[int] = Counter()
    all_of: Counter[int] = Counter()
    for term, times in mine.items():
        for n in read.places.get(term, ()):
            all_of[n] += 1
            if term not in read.title:
                having[n] += times
    titled = sum(times for term, times in mine.items() if term in read.title) if read.units else 0
    heading = sum(times for term, times in mine.items() if term in read.heading)
    whole = [n for n, count in all_of.items() if count == len(mine)]
    return max(heading, titled + max(having.values(), default=0)), whole


def _verbatim(plain: str, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    pieces = caseless(plain).rstrip(".!").split()
    if not pieces:
        return None
    hits = []
    for prepared in sources:
        text = prepared.source.text
        place = _place(pieces, text)
        if place and _whole(text, *place):
            hits.append(EvidenceSpan(prepared.source.id, "text", *place, text[slice(*place)]))
    return min(hits, key=lambda h: (h.source, h.start)) if hits else None


def _place(pieces: Sequence[str], text: str) -> tuple[int, int] | None:
    """Where the words `pieces` stand first in `text`, whatever space is between them, and not as parts of other words."""
    flat, wanted = _flat(text), " ".join(pieces)
    at = flat.find(wanted)
    for _ in range(TRIES):
        if at < 0:
            return None
        end = at + len(wanted)
        if not (_wordlike(flat[at - 1 : at]) or _wordlike(flat[end : end + 1])):
            starts = _word_starts(text)
            first, last = flat.count(" ", 0, at), flat.count(" ", 0, end)
            return starts[first] + _into(flat, at), starts[last] + _into(flat, end)
        at = flat.find(wanted, at + 1)
    return None


def _into(flat: str, at: int) -> int:
    """How far into its word `at` is."""
    return at - flat.rfind(" ", 0, at) - 1


def _wordlike(char: str) -> bool:
    return char.isalnum() or char == "_"


@lru_cache(maxsize=512)
def _flat(text: str) -> str:
    return " ".join(caseless_field(text).split())


@lru_cache(maxsize=512)
def _word_starts(text: str) -> tuple[int, ...]:
    return tuple(m.start() for m in _SOLID.finditer(text))


@lru_cache(maxsize=512)
def _beginnings(text: str) -> frozenset[int]:
    return frozenset(s.start for s in sentences(text))


def _whole(text: str, start: int, end: int) -> bool:
    """A part of a sentence may say the opposite of the whole ("It is free" of "It is free if …")."""
    opening = text[max(0, start - 40) : start]
    after = text[end : end + 1]
    at_start = (
        start in _beginnings(text)
        or re.search(r"(?:^|\n)\s*(?:[-*•]|\d{1,3}[.)]|#{1,6})\s*$|[\"“„'(|:]\s*$", opening) is not None
    )
    at_start = at_start or re.search(r"(?:^|[\s.])(?:yes|no),\s*$", opening, re.IGNORECASE) is not None
    return at_start and (not after or after in '.!?\n"”|;)' or not text[end:].strip())


def _compare(plain: str, mine: tuple[str, ...], source: Source, n: int) -> Support | None:
    """What sentence `n` of `source`, which has all words of `mine`, says of it; None if it decides nothing."""
    unit, theirs = _read(source).units[n]
    if not _in_order(mine, theirs) or unit.text.endswith("?"):
        return None
    span = EvidenceSpan(source.id, "text", unit.start, unit.end, unit.text)
    same_sense = _negations(plain) % 2 == _negations(plain_words(unit.text)) % 2
    # a sentence that says much more may take back what this one says ("free" of "free for members of the club")
    if same_sense and _hedges(plain) == _hedges(unit.text) and len(theirs) <= len(mine) * 1.5:
        return Support("entailed", 1.0, (span,), f"All its words stand in this order in one sentence of {span.source}.")
    # only near-equal sentences contradict: a longer one may negate something else
    if not same_sense and len(mine) >= 2 and len(theirs) <= len(mine) * 1.25:
        return Support("contradicted", 1.0, (span,), f"{span.source} says the opposite in the same words.")
    return None


def _in_order(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    rest = iter(theirs)
    return all(term in rest for term in mine)


def _negations(text: str) -> int:
    return len(NEGATION.findall(text))


def _hedges(text: str) -> list[str]:
    return sorted(h.lower() for h in _HEDGE.findall(text))
