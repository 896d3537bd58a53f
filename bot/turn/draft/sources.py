"""Passages as the sources that a text is checked against."""

from __future__ import annotations

from collections.abc import Sequence

from grounding.evidence.choose import retired
from grounding.records import Passage
from rai.records import Source


def as_sources(passages: Sequence[Passage]) -> tuple[Source, ...]:
    """A source for each passage; one of an edition that another of them has replaced says by which."""
    by = retired(passages)
    titles = {p.doc_id: p.title for p in passages}
    return tuple(
        Source(
            p.chunk_id,
            p.text,
            p.title,
            p.updated,
            ", ".join(sorted(titles[doc_id] for doc_id in by.get(p.chunk_id, ()))),
        )
        for p in passages
    )
