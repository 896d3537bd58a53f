"""Which editions are older, and what fills the evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grounding.corrective.find import find
from grounding.evidence.choose import retired, superseded
from grounding.policy import Policy
from grounding.records import Passage
from tests.fakes.finding import ListedGrader, ListedRetriever, finding, passage


def titled(doc_id: str, title: str, updated: str | None = None) -> Passage:
    return Passage(doc_id, doc_id, title, "Text.", updated=updated)


@pytest.mark.parametrize(
    ("old", "new", "is_superseded", "is_retired"),
    [
        (titled("a", "Returns", "2025-01-01"), titled("b", "Returns", "2026-01-01"), True, False),
        (titled("a", "Delivery rates 2024 (OLD)"), titled("b", "Delivery rates"), True, True),
        (titled("a", "Prices 2023"), titled("b", "Prices 2025"), True, True),
        (
            titled("a", "Price list 2024 - EXPIRED"),
            titled("b", "Price list 2025 - supersedes that of 2024"),
            True,
            True,
        ),
        (titled("a", "Returns (2025)", "2025-01-01"), titled("b", "Returns", "2026-01-01"), True, True),
        (
            titled("a", "Returns and refunds (2025)", "2025-01-01"),
            titled("b", "Return an order", "2026-01-01"),
            True,
            True,
        ),
        (titled("a", "Returns and refunds", "2025-01-01"), titled("b", "Return an order", "2026-01-01"), True, False),
        (
            titled("shop/archive/prices-2025.csv", "Do not quote, kept for credit notes"),
            titled("shop/prices-2026.csv", "Prices 2026"),
            True,
            True,
        ),
        (titled("fares_2025_superseded.csv", "Do not quote"), titled("fares_2026.csv", "Fares 2026"), True, True),
        (titled("shop/archive/prices.csv", "Kept for old invoices"), titled("shop/prices.csv", "List"), True, True),
        (titled("shop/archive/repairs.csv", "Kept for old invoices"), titled("shop/prices.csv", "List"), False, False),
        (
            titled("rates-2024.csv", "Rates of 2024 - REPLACED by the 2025 list", "2026-03-01"),
            titled("rates-2025.csv", "Rates of 2025 per kilo and zone", "2025-02-01"),
            True,
            True,
        ),
        (titled("a", "Tarif, remplacé par 2025"), titled("b", "Tarif"), True, True),
        (
            titled(
                "a.csv", "Price list May 2024 - REPLACED by price-list-2025-04. For contracts before 1 April 2025 only."
            ),
            titled("price-list-2025-04.csv", "price list 2025 04"),
            True,
            True,
        ),
        (titled("prices/list_OLD.csv", "Price list"), titled("prices/list-new.csv", "Price list"), True, True),
        (titled("places/old-town.md", "Old town parking"), titled("places/new-town.md", "Castle"), False, False),
        (titled("notes/2024-a.md", "Minutes", "2024-01-01"), titled("notes/2025-b.md", "Menu"), False, False),
        (titled("a", "Wren X1", "2025-01-01"), titled("b", "Wren X2", "2026-01-01"), False, False),
        (titled("a", "Parking", "2025-01-01"), titled("b", "Breakfast", "2026-01-01"), False, False),
    ],
)
def test_an_older_edition_is_told_by_its_date_or_by_what_the_titles_say(
    old: Passage, new: Passage, is_superseded: bool, is_retired: bool
) -> None:
    """The page of another model is no older edition, whatever its date."""
    assert (old.chunk_id in superseded([new, old]), new.chunk_id in superseded([new, old])) == (is_superseded, False)
    assert retired([new, old]) == ({old.chunk_id: frozenset({new.doc_id})} if is_retired else {})


async def test_a_policy_that_fills_gives_the_rest_as_search_and_grader_agree_after_what_is_kept() -> None:
    """First in one order and last in the other comes before what is in the middle of both."""
    found = [passage(name) for name in "abcd"]
    grader = ListedGrader({"a": 0.1, "b": 0.9, "c": 0.3, "d": 0.2})
    for fill, expected in ((False, ["b"]), (True, ["b", "a", "c", "d"])):
        f = finding(
            replace(Policy(corrective=()), fill=fill), retriever=ListedRetriever(otherwise=found), grader=grader
        )
        await find(f)
        assert [p.chunk_id for p in f.result().kept] == ["b"]
        assert [p.chunk_id for p in f.result().filled] == expected
