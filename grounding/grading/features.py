"""Relevance features of a sentence for a question: shares of its terms, names and wanted values. Grading and quoting share them.

A passage is judged by its best sentence in the light of its title and heading: an answer stands in one place, or it does not stand there.
Scores are computed by `embedded.grader`, which adds nearness in meaning and calibrates.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grounding.query.answer_kind import AnswerKind, answer_kind, counted, holds
from grounding.query.conversation import names
from grounding.records import Label, Passage, Span
from grounding.text import STOP_WORDS, body_start, caseless, sentences, terms

LABELS: tuple[tuple[float, Label], ...] = ((0.8, "Perfect"), (0.6, "Good"), (0.2, "Poor"), (0.0, "Awful"))
"""Lowest score of each label; the label scale of requirement 3-05, read from a score."""
YES_AT = 0.4
_IDENTIFIER = re.compile(r"\b(?=[\w.\-/]{0,80}\d)[A-Za-z0-9]+(?:[.\-/][A-Za-z0-9]+)*\b")
_MODEL = re.compile(r"^[a-z][a-z/.-]*\d|\d\.\d")
_AROUND = 0.7
"""Weight of a question term that stands not in the sentence but in the title or heading above it."""

READ = 256
"""Passages of which what does not hang on the question is kept, here and for quoting: 6 MB in all where each has 400 characters."""
UNRANKED = 0.75
"""Score of a passage that our search did not return (given by hand, or from the web before it is ranked)."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The terms of a question. `weights`: inverse document frequency of each; `named`: names and identifiers, lower case; `kind`: of value
    that is asked for.
    """

    weights: dict[str, float]
    named: tuple[str, ...]
    kind: AnswerKind | None
    counted: str | None


@dataclass(frozen=True, slots=True)
class SentenceCandidate:
    """A sentence that may hold the answer. Shares are in [0, 1].

    `around`: title and heading above it. `share`: idf-weighted share of the question's terms in it or above it.
    `named`: share of the question's names and identifiers, 1 if it has none. `typed`: it holds a value of the wanted kind, and speaks of what is to be counted.
    `covers`: question terms that stand in the sentence itself. `strange`: the question names a model or
    version (letters with digits, or digits with a point) that the passage does not speak of.
    """

    passage: int
    index: int
    start: int
    end: int
    text: str
    around: str
    share: float
    named: float
    typed: float
    strange: bool
    covers: frozenset[str]

    @property
    def embedded_as(self) -> str:
        """Text that is embedded for this sentence: with title and heading above it, since rows and steps do not say them again."""
        return f"{self.around}: {self.text}"


def label_of(score: float) -> Label:
    """The label (Awful, Poor, Good, Perfect) whose band holds `score`."""
    return next(label for least, label in LABELS if score >= least)


def binary_of(score: float) -> Literal["yes", "no"]:
    """The score as a word: "yes" from 0.4 on, where hybrid CRAG starts to keep a passage, otherwise "no"."""
    return "yes" if score >= YES_AT else "no"


def idf(asked: Set[str], texts: Sequence[Set[str]]) -> dict[str, float]:
    """Inverse document frequency of each term over `texts`, sets of terms: ln(1 + (n - held + 0.5) / (held + 0.5)).

    `held` of the `n` texts hold the term (smoothed, Robertson & Sparck Jones 1976).
    """
    counts = Counter(t for text in texts for t in asked & text)
    n = max(len(texts), 1)
    return {t: math.log(1 + (n - counts[t] + 0.5) / (counts[t] + 0.5)) for t in asked}


def place_score(passage: Passage) -> float:
    """Score of the passage in the search, in [0, 1]; of one that our search did not return, `UNRANKED`."""
    retrieved = passage.bm25 is not None or passage.semantic is not None or passage.score > 0
    return passage.score if retrieved else UNRANKED


def read_question(question: str, passages: Sequence[Passage]) -> QuestionTerms:
    """The terms of the question, weighed by their inverse document frequency over the passages at hand (smoothed, Robertson & Sparck
    Jones).

    A term that no passage holds weighs most: it is what the knowledge base may not know.
    """
    asked = set(terms(question))
    weights = idf(asked, [_terms_of(p.title, p.text) for p in passages])
    return QuestionTerms(weights, identifiers_and_names(question), answer_kind(question), counted(question))


def identifiers_and_names(question: str) -> tuple[str, ...]:
    """Codes, models and the words of names in a question, lower case, without accents."""
    identifiers = [m.group() for m in _IDENTIFIER.finditer(question)]
    words = [w for name in names(question) for w in name.split() if w.lower() not in STOP_WORDS]
    return tuple(dict.fromkeys(caseless(w) for w in [*identifiers, *words]))


def speaks_of(question: str, text: str) -> bool:
    """True if `text` names every model, version and code that the question names, so that it can be about them."""
    named = [caseless(m.group()) for m in _IDENTIFIER.finditer(question)]
    return all(stands_in(name, caseless(text)) for name in named if _MODEL.search(name))


def candidates(asked: QuestionTerms, passages: Sequence[Passage]) -> list[SentenceCandidate]:
    """Every sentence of every passage that says something, with its features."""
    return [c for number, passage in enumerate(passages) for c in _of_passage(asked, number, passage)]


def _of_passage(asked: QuestionTerms, number: int, passage: Passage) -> list[SentenceCandidate]:
    total = sum(asked.weights.values()) or 1.0
    plain = caseless(f"{passage.title}\n{passage.text}") if asked.named else ""
    strange = any(_MODEL.search(n) and not stands_in(n, plain) for n in asked.named)
    found = []
    for one in _sentences_of(passage.title, passage.locator or "", passage.text):
        span, held, above = one.span, one.held, one.above
        share = (
            sum(w * (1.0 if t in held else _AROUND if t in above else 0.0) for t, w in asked.weights.items()) / total
        )
        named = _named(asked, f"{one.around} {span.text}")
        typed = holds(span.text, asked.kind) and (asked.counted is None or asked.counted in held | above)
        found.append(
            SentenceCandidate(
                number,
                one.index,
                span.start,
                span.end,
                span.text,
                one.around,
                share,
                named,
                typed,
                strange,
                held & asked.weights.keys(),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage that says something, number `index` of it, with title and heading `around` it and the terms of both."""

    index: int
    span: Span
    around: str
    held: frozenset[str]
    above: frozenset[str]


@lru_cache(maxsize=READ)
def _sentences_of(title: str, locator: str, text: str) -> tuple[_Sentence, ...]:
    heading, found = locator, []
    for index, span in enumerate(sentences(text)):
        if is_heading(span.text, title):
            heading = span.text.lstrip("# ") if span.text.startswith("#") else heading
            continue
        around = f"{title} · {heading}" if heading and heading != title else title
        found.append(_Sentence(index, span, around, frozenset(terms(span.text)), frozenset(terms(around))))
    return tuple(found)


@lru_cache(maxsize=READ)
def _terms_of(title: str, text: str) -> frozenset[str]:
    return frozenset(terms(title)) | frozenset(terms(text))


def _named(asked: QuestionTerms, text: str) -> float:
    if not asked.named:
        return 1.0
    plain = caseless(text)
    return sum(stands_in(name, plain) for name in asked.named) / len(asked.named)


def stands_in(name: str, plain: str) -> bool:
    """True if `name` stands in the text as a whole word; "X2" is not in "X20"."""
    at = plain.find(name)
    while at >= 0:
        before, after = plain[at - 1 : at], plain[at + len(name) : at + len(name) + 1]
        if not before.isalnum() and not after.isalnum():
            return True
        at = plain.find(name, at + 1)
    return False


def is_heading(text: str, title: str) -> bool:
    """True for a heading, which says what follows, not what is so."""
    held = terms(text[body_start(text) :])
    return not held or text.startswith("#") or text == title or (len(held) < 2 and not any(c.isdigit() for c in text))


def lacks(asked: QuestionTerms, candidate: SentenceCandidate) -> list[str]:
    """Terms of the question that neither the sentence nor what is above it holds, weightiest first."""
    above = frozenset(terms(candidate.around))
    missing = [t for t in asked.weights if t not in candidate.covers and t not in above]
    return sorted(missing, key=lambda t: (-asked.weights[t], t))
