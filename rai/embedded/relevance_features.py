"""The features of relevance: what in an answer speaks to its question, by words and kinds of value; no model is needed for them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from grounding.query.answer_kind import answer_kind, holds
from grounding.query.conversation import leans, names
from grounding.text import caseless, fold, sentences, stem, terms
from rai.check.phrasing.antonyms import alike, generic, key
from rai.check.phrasing.plain import substance

FEATURES = (
    "near",  # best cosine of a part of the question with a sentence or the whole answer
    "near_whole",  # cosine of the two as wholes
    "near_apart",  # as `near`, with the names that both say left out
    "near_mean",  # mean over the answer's sentences of the cosine with the question
    "said",  # share of what the question asks about (no names, no framing words) that the answer says, or a synonym of it
    "echoed",  # share of what the best sentence tells that the question asked about
    "named",  # share of the question's names that the answer says
    "unnamed",  # 1 if it has names and the answer says none
    "held",  # 1 if a value of the wanted kind is there: an amount, a time, a phone number
    "missing",  # 1 if it asks for a value (not whether) of a kind that the answer does not hold
    "stray_yes",  # 1 if the answer says yes or no to a question for something else
    "leans",  # 1 if the question leans on what was said before
    "brief",  # 1 / (1 + number of things asked about)
    "silent",  # 1 if the answer says nothing of what the question asks about, nor a synonym, nor a value of the wanted kind
    "length",  # log(1 + words) of the answer
)
MEANING = 4
"""How many of them, the first, need an embedder."""
LIMIT = 12
"""Most sentences of an answer that are compared with the question; an answer has three, a pasted page many."""
_PARTS = 3
"""Most parts of a question that are read, the last."""
_BRIEF = 2
"""Most terms of an answer that has nothing to compare."""
_PREFIX = 5
"""Letters at the beginning of a word by which slips and inflections of it are told."""
_YES_NO = re.compile(
    r"^(?:(?:so|and|but|also|or|ok|okay|hi|hello|please)\W+)*(?:is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|am)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^\W*(?:yes|yeah|yep|no|nope|unfortunately|sorry|certainly|sure|absolutely|indeed|of course|correct|not)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"(?:,\s*|\s)(?:and|or|also)\s+(?=(?:what|when|where|which|who|how|why|is|are|do|does|can|could|will)\b)",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"^\W*(?:yes|yeah|yep|no|nope|certainly|sure|absolutely|indeed|of course|correct|not)\b", re.IGNORECASE
)
_LIGHT = frozenset(
    stem(w)
    for w in "last next first new old many much long often kind kinds type types sort good better best great well possible available offer "
    "offers offered provide provides provided use used make take give allow allowed accept sure wonder wondering tell please work works".split()
)
"""Words that a question and a sentence about something else share easily."""


@dataclass(frozen=True, slots=True)
class RelatedQuestion:
    """A question as it was read: its `parts` (sentences or clauses that ask for one thing each), the terms that it asks about (`topics`), its
    names, and whether yes or no answers it.
    """

    text: str
    parts: tuple[str, ...]
    topics: tuple[str, ...]
    names: tuple[str, ...]
    yes_no: bool


def read_question(question: str) -> RelatedQuestion:
    """Reads a question, which may be a whole turn, or several sentences of a conversation."""
    parts = [p.strip() for s in sentences(question) for p in _JOINED.split(s.text) if terms(p)][-_PARTS:]
    named = tuple(caseless(n) for n in names(question))
    of_names = {t for n in named for t in terms(n)}
    every = dict.fromkeys(terms(question))
    topics = tuple(t for t in every if t not in of_names and t not in _LIGHT and not generic(key(t)))
    return RelatedQuestion(
        question,
        tuple(parts) or (question,),
        topics or tuple(every),
        named,
        any(_YES_NO.match(p) for p in parts),
    )


def told_sentences(answer: str) -> list[str]:
    """The sentences of an answer that tell something: no questions, greetings and offers of help. Of more than LIMIT the first and last ones."""
    told = [s.text for s in sentences(answer) if substance(s.text)]
    return told if len(told) <= LIMIT else told[: LIMIT // 2] + told[-(LIMIT // 2) :]


CLASHES, OPEN, FITS = 0.05, 0.6, 0.95
"""Scores of an answer of a few words: of another kind than asked for, of a kind that cannot be told, of the kind asked for."""


def brief_answer(asked: RelatedQuestion, answer: str) -> float | None:
    """The score of an answer that has nothing to compare: silence, "Yes.", "$19.", "In Lyon."; None for one with words enough.

    "Yes." answers a yes-or-no question alone; an amount answers what asks for an amount. A question without words ("And?")
    cannot be judged, so whatever tells something meets it.
    """
    told = told_sentences(answer)
    if not told:
        return 0.0 if not _VERDICT.match(answer) else FITS if asked.yes_no or not terms(asked.text) else CLASHES
    if not terms(asked.text):
        return 1.0
    if len({t for s in told for t in terms(s)}) > _BRIEF:
        return None
    met = [any(holds(s, kind) for s in told) for part in asked.parts if (kind := answer_kind(part))]
    if any(met) or (asked.yes_no and _VERDICT.match(answer)):
        return FITS
    if any(t in asked.topics for s in told for t in terms(s)):
        return FITS
    return CLASHES if met and not asked.yes_no else OPEN


def apart(asked: RelatedQuestion, texts: Sequence[str]) -> list[str]:
    """`texts` with "it" for each name of the question, so that only what is said of it remains."""
    if not asked.names:
        return list(texts)
    pattern = re.compile("|".join(rf"(?:the )?{re.escape(n)}(?:['’]s)?" for n in asked.names), re.IGNORECASE)
    return [" ".join(pattern.sub("it", fold(t)).split()) for t in texts]


def word_features(asked: RelatedQuestion, answer: str, told: Sequence[str]) -> list[float]:
    """The features that need no embedder, in the order of FEATURES[MEANING:]. `told`: the answer's sentences that tell something."""
    said = [_vocabulary(s) for s in told]
    groups = [frozenset({t, t[:_PREFIX] + "-" if len(t) > _PREFIX else t}) | alike(t) for t in asked.topics]
    every = frozenset().union(*said) if said else frozenset()
    echoed = max((_share_asked(asked, s) for s in told), default=0.0)
    plain = caseless(answer)
    named = [n in plain or set(terms(n)) <= every for n in asked.names]
    met = [(part, any(holds(s, kind) for s in told)) for part in asked.parts if (kind := answer_kind(part))]
    opens = opens_with_verdict(answer)
    return [
        sum(not g.isdisjoint(every) for g in groups) / max(len(groups), 1),
        echoed,
        sum(named) / len(named) if named else 0.0,
        float(bool(named) and not any(named)),
        float(any(ok for _, ok in met)),
        float(any(not ok and not _YES_NO.match(part) for part, ok in met)),
        float(opens and not asked.yes_no),
        float(leans(asked.text)),
        1 / (1 + len(asked.topics)),
        float(not any(ok for _, ok in met) and all(g.isdisjoint(every) for g in groups)),
        math.log1p(sum(len(s.split()) for s in told)),
    ]


def opens_with_verdict(answer: str) -> bool:
    """True if an answer begins by yes, no or the like."""
    return bool(_OPENING.match(answer))


def _share_asked(asked: RelatedQuestion, sentence: str) -> float:
    own = frozenset(terms(sentence))
    return len(own.intersection(asked.topics)) / max(len(own), 1)


def _vocabulary(sentence: str) -> frozenset[str]:
    """The terms of a sentence; every two in a row as one ("high chairs", highchair); and their beginnings, marked "-", for slips and inflections."""
    own = terms(sentence)
    pairs = (a + b for a, b in pairwise(own))
    return frozenset([*own, *pairs, *(t[:_PREFIX] + "-" for t in own if len(t) > _PREFIX)])
