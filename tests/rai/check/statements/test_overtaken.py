"""Sentences that an older document contradicts, where a newer one speaks of the same."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Source

OLD = "Parent handbook, edition 2023\n\n**Doctor's letter?** We ask for a doctor's letter after any absence of more than five days."
NEW = "To: all parents\nDate: 12 January 2026\n\nDoctor's letters are no longer needed, whatever the length of the absence."
OTHER = "To: all parents\nDate: 12 January 2026\n\nPlease tell the room team about any illness."
DENIED = "We do not ask for a doctor's letter after an absence."


@pytest.mark.parametrize(
    ("beside", "status"), [((), "contradicted"), ((OTHER,), "contradicted"), ((NEW,), "unchecked")]
)
def test_an_older_document_does_not_condemn_where_a_newer_one_speaks_of_it(
    beside: tuple[str, ...], status: str
) -> None:
    sources = [Source(str(n), text) for n, text in enumerate((OLD, *beside))]
    sentence = next(c for c in check_claims(DENIED, sources) if c.kind == "statement")
    assert sentence.status == status


ARTICLE = "KB-311\nLast edited: November 4, 2024\n\nThe work carries a one-year guarantee: if rodents get in through a place we sealed, we close it again free of charge."
UPDATE = "Date: February 6, 2025\nSubject: New rates\n\nThe guarantee on those jobs goes up from one year to 18 months."
ANSWER = "The work comes with an 18-month guarantee: if rodents get in through a place we sealed, we close it again free of charge."


@pytest.mark.parametrize(
    ("beside", "condemned"), [((), True), ((UPDATE,), False), ((UPDATE.replace("2025", "2023"),), True)]
)
def test_a_sentence_of_the_older_document_may_hold_what_the_newer_one_has(
    beside: tuple[str, ...], condemned: bool
) -> None:
    sources = [Source(str(n), text) for n, text in enumerate((ARTICLE, *beside))]
    value = next(c for c in check_claims(ANSWER, sources) if c.text == "18-month")
    assert value.unsupported is condemned
