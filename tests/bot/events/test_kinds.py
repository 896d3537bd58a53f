"""Which entries a list shows, and how far a search reaches past those that tell of looking alone."""

from __future__ import annotations

import pytest

from bot.events.kinds import EVERY, NAMES, QUIET, shows, weight, without_quiet
from rai.records import Entry
from tests.fakes.ledger import FakeLedger


async def filled(*kinds: str) -> tuple[FakeLedger, list[Entry]]:
    ledger = FakeLedger()
    return ledger, [await ledger.append(kind, {}) for kind in kinds]


def test_quiet_kinds_are_kinds() -> None:
    assert set(NAMES) > QUIET
    assert EVERY not in NAMES
    assert "content" not in NAMES  # a ledger gives none by itself, so a filter for it would find nothing


@pytest.mark.parametrize(
    ("kind", "wanted", "shown"),
    [
        ("turn", "", True),
        ("start", "", True),
        ("read", "", False),
        ("check", "", False),
        ("source_opened", "", False),
        ("delivery", "", False),
        ("delivery", "delivery", True),
        ("read", "all", True),
        ("turn", "all", True),
        ("read", "read", True),
        ("turn", "read", False),
        ("read", "turn", False),
    ],
)
def test_what_a_list_shows(kind: str, wanted: str, shown: bool) -> None:
    assert shows(kind, wanted) is shown


async def test_quiet_entries_hide_no_others_from_a_search() -> None:
    """Five that count are found behind twenty quiet ones, where five places would be taken by those."""
    ledger, made = await filled(*["turn"] * 5, *["read"] * 20)
    found = [e async for e in without_quiet(ledger.entries(newest_first=True), 8)]
    assert found == made[4::-1]


async def test_a_search_ends_also_among_quiet_entries() -> None:
    ledger, made = await filled("turn", *["read"] * 100, "turn")
    assert [e async for e in without_quiet(ledger.entries(newest_first=True), 3)] == [made[-1]]
    assert [e async for e in without_quiet(ledger.entries(), 1)] == [made[0]]
    assert weight(made[0]) > weight(made[1]) > 0
