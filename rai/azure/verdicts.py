"""What services say, as findings on one scale: pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rai.records import Category, DocumentScreening, Screening

BLOCKS_AT = 0.5
"""Where every finding of `severity_score` and every yes of a service begins to block."""
TOP_SEVERITY = 7


@dataclass(frozen=True, slots=True)
class ServiceFinding:
    """One thing that a service found. `score` in [0, 1]."""

    rule: str
    category: Category | None
    score: float


def severity_score(severity: int, at: int) -> float:
    """A severity (0 to 7) beside the one that blocks (`at`, 1 to 7): 0.5 where they meet, 1 at the top, linear on both sides."""
    if severity < at:
        return round(BLOCKS_AT * severity / at, 4)
    above = (severity - at) / (TOP_SEVERITY - at) if at < TOP_SEVERITY else 1.0
    return round(BLOCKS_AT + (1 - BLOCKS_AT) * above, 4)


def screening(
    findings: Iterable[ServiceFinding],
    documents: Sequence[ServiceFinding | None],
    *,
    by: str,
    threshold: float = BLOCKS_AT,
    notes: Sequence[str] = (),
) -> Screening:
    """The strongest finding decides on the text, and one or none on each document."""
    judged = tuple(document_screening(i, found, threshold) for i, found in enumerate(documents))
    top = max(findings, key=lambda f: f.score, default=None)
    if top is None or top.score < threshold:
        score = top.score if top else 0.0
        return Screening("allow", score=score, documents=judged, threshold=threshold, by=by, notes=tuple(notes))
    return Screening("block", top.category, top.rule, top.score, judged, threshold, by=by, notes=tuple(notes))


def document_screening(index: int, found: ServiceFinding | None, threshold: float) -> DocumentScreening:
    """The decision on one document."""
    if found is None or found.score < threshold:
        return DocumentScreening(index, "allow", None, found.score if found else 0.0)
    return DocumentScreening(index, "block", found.rule, found.score)
