"""Values that only a replaced edition still has: the thirty days of last year's returns page, in a message of today."""

from __future__ import annotations

import re
from collections.abc import Collection

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.lexicon.load import cues
from rai.check.reading.role_words import role_terms
from rai.check.statements.terms import language
from rai.claims.found import Found
from rai.records import SUPPORTED, Claim

_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d{2}(?![\w-]|\.\d)")


def of_a_replaced_edition(n: int, claim: Claim, found: Found, finding: Finding, answer: Answer) -> Finding | None:
    """The doubt about a supported value whose places all lie in replaced editions (`Source.replaced_by`), or of which such a place says more of what the sentence says than any
    that still holds: 30 days of a claim are no 30 days of a return. None where the answer or the question speaks of the past or of the year of that edition: then it is what was asked for.
    """
    old = {s.source.id: s.source for s in answer.context.sources if s.source.replaced_by}
    held = dict.fromkeys(span.source for span in finding.evidence)
    all_of_it = held.keys() <= old.keys()
    if (
        not old
        or not held
        or claim.kind == "entity"
        or finding.status not in SUPPORTED
        or not (all_of_it or _says_most(n, answer, old.keys()))
    ):
        return None
    spans = tuple(span for span in finding.evidence if span.source in old)
    if not spans:
        return None  # what shows it still holds
    question = answer.context.question.source.text if answer.context.question else ""
    sentence, source = answer.sentence(n), old[spans[0].source]
    years = {*_YEAR.findall(source.title), (source.updated or "")[:4]}
    told_of_it = years.intersection(_YEAR.findall(f"{sentence} {question}"))
    if told_of_it or answer.around[found].frame.past or _speaks_of_the_past(sentence):
        return None
    title = source.title or source.id
    has = f"Only {title} has {claim.text}" if all_of_it else f"{title} has {claim.text} for this"
    why = f"{has}, and {source.replaced_by} has replaced that edition."
    return Finding("unchecked", spans, why, rule="replaced-edition")


def _says_most(n: int, answer: Answer, old: Collection[str]) -> bool:
    """True if a place of the value in a replaced edition shares more words with its sentence than each that still holds, and one more than a few do by chance."""
    said = role_terms(answer.sentence(n))
    shared = {True: 0, False: 0}
    for place in answer.standing(n):
        replaced = place.source.id in old
        shared[replaced] = max(shared[replaced], len(said & (place.unit.terms | role_terms(place.source.title))))
    return shared[True] >= _SHARED and shared[True] > shared[False]


_SHARED = 2


def _speaks_of_the_past(sentence: str) -> bool:
    return any(cue.concept == "past" and cue.key == "past" for cue in cues(sentence, language(sentence)))
