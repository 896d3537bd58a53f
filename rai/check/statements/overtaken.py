"""Contradictions that only an older document tells, where a newer one speaks of the same."""

from __future__ import annotations

from grounding.text import terms
from rai.check.context import CheckContext
from rai.check.reading.newer import newer_of
from rai.check.statements.prepared import Decision


def is_overtaken(decision: Decision, sentence: str, context: CheckContext) -> bool:
    """True if all that contradicts `sentence` stands in documents of which a newer one has most of what the two have in common: that one may say what the sentence says."""
    if decision.status != "contradicted" or not decision.evidence:
        return False
    said = _words(sentence)
    texts = {text.source.id: text for text in context.sources}
    for span in decision.evidence:
        old = texts.get(span.source)
        common = said & _words(span.text)
        if old is None or not common:
            return False
        newer = (text for text in context.sources if text is not old and newer_of(text, old) == text.source)
        if not any(2 * len(common & _words(text.source.text)) > len(common) for text in newer):
            return False
    return True


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in terms(text))
