"""Grading without a model: how much of what the question asks a passage holds, and where.

Every number here is explained by words of question and passage; `embedded.grader` adds nearness in meaning and calibrates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from grounding.records import Label, Passage, Span
from grounding.text import body_start, sentences, terms

LABELS: tuple[tuple[float, Label], ...] = ((0.8, "Perfect"), (0.6, "Good"), (0.2, "Poor"), (0.0, "Awful"))
"""Lowest score of each label; the label scale of requirement 3-05, read from a score."""
YES_AT = 0.4


@dataclass(frozen=True, slots=True)
class Match:
    """How a passage meets a question by words. All shares are idf-weighted and in [0, 1].

    `whole`: share of the question's terms in title and passage; `sentence`: the best share of one sentence with its
    title; `extract`: that sentence; `missing`: question terms that the passage lacks, weightiest first.
    """

    whole: float
    sentence: float
    extract: Span | None
    missing: tuple[str, ...]


def label_of(score: float) -> Label:
    """The label whose band holds `score`."""
    return next(label for least, label in LABELS if score >= least)


def binary_of(score: float) -> Literal["yes", "no"]:
    """Yes from 0.4 on, where hybrid CRAG starts to keep a passage."""
    return "yes" if score >= YES_AT else "no"


def weights(question: Sequence[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Inverse document frequency of each question term over the passages at hand (Robertson & Sparck Jones, smoothed).

    A term that no passage holds weighs most: it is what the knowledge base may not know.
    """
    counts = Counter(t for text in texts for t in set(question) & text)
    n = len(texts)
    return {t: math.log(1 + (n - counts[t] + 0.5) / (counts[t] + 0.5)) for t in set(question)}


def match(question: Sequence[str], passage: Passage, idf: Mapping[str, float]) -> Match:
    """Compare one passage with the question's terms."""
    total = sum(idf[t] for t in set(question)) or 1.0
    title = frozenset(terms(passage.title)) | frozenset(terms(passage.locator or ""))
    whole = title | frozenset(terms(passage.text))
    best, extract = 0.0, None
    for span in sentences(passage.text):
        held = frozenset(terms(span.text[body_start(span.text) :]))
        direct = sum(idf[t] for t in set(question) & held)
        share = (direct + 0.5 * sum(idf[t] for t in set(question) & (title - held))) / total
        if held and (extract is None or share > best):
            best, extract = share, span
    missing = sorted((t for t in set(question) - whole), key=lambda t: (-idf[t], t))
    share_whole = sum(idf[t] for t in set(question) & whole) / total
    return Match(min(1.0, share_whole), min(1.0, best), extract, tuple(missing))
