"""Findings of moderation services on one scale, and the screening that they come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rai.records import Category, DocumentScreening, Screening

BLOCKS_AT = 0.5
"""The score from which a finding blocks, unless another threshold is set."""
TOP_SEVERITY = 7
"""The highest severity that the service tells."""


@dataclass(frozen=True, slots=True)
class ServiceFinding:
    """One thing that a service found in a text. `rule`: its name in the record; `score` in [0, 1]: how sure it is that the text must be blocked."""

    rule: str
    category: Category | None
    score: float


def severity_score(severity: int, at: int) -> float:
    """The score of a severity (0 to 7) where `at` (1 to 7) is the one that blocks: 0.5 where they meet, 1 at the top, linear on both sides."""
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
    """The decision on a text by the strongest of its `findings`, and on each document by its one finding or none."""
    judged = tuple(document_screening(i, found, threshold) for i, found in enumerate(documents))
    top = max(findings, key=lambda f: f.score, default=None)
    if top is None or top.score < threshold:
        score = top.score if top else 0.0
        return Screening("allow", score=score, documents=judged, threshold=threshold, by=by, notes=tuple(notes))
    return Screening("block", top.category, top.rule, top.score, judged, threshold, by=by, notes=tuple(notes))


def document_screening(index: int, found: ServiceFinding | None, threshold: float) -> DocumentScreening:
    """The decision on the document of this index by its finding, None if it has none."""
    if found is None or found.score < threshold:
        return DocumentScreening(index, "allow", None, found.score if found else 0.0)
    return DocumentScreening(index, "block", found.rule, found.score)
