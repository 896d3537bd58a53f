"""Passages as sources of the check: what an edition that has been replaced says is marked as that."""

from __future__ import annotations

from bot.turn.draft.sources import as_sources
from grounding.records import Passage

OLD = Passage("c1", "orders/returns-2025.txt", "Returns (2025)", "within 30 days", updated="2025-02-10")
NEW = Passage("c2", "orders/returns.md", "Returns", "within 45 days", updated="2026-03-01")


def test_a_replaced_edition_names_what_took_its_place() -> None:
    old, new = as_sources([OLD, NEW])
    assert (old.id, old.text, old.title, old.updated) == ("c1", "within 30 days", "Returns (2025)", "2025-02-10")
    assert (old.replaced_by, new.replaced_by) == ("Returns", "")


def test_an_old_document_alone_still_holds() -> None:
    assert [source.replaced_by for source in as_sources([OLD])] == [""]
