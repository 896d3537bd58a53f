"""Which entries a list shows, and which it reads for that."""

from __future__ import annotations

import pytest

from bot.events.kinds import EVERY, NAMES, QUIET, listed, shows, weight
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


@pytest.mark.parametrize("wanted", ["", "turn", "read", "all"])
async def test_what_a_list_reads_holds_what_it_shows(wanted: str) -> None:
    """And of turns their deliveries, from which their lines are made."""
    ledger, made = await filled("turn", "delivery", "read", "start")
    read = [e async for e in ledger.entries(kinds=listed(wanted))]
    assert [e for e in read if shows(e.kind, wanted)] == [e for e in made if shows(e.kind, wanted)]
    assert wanted != "turn" or made[1] in read


async def test_a_quiet_entry_weighs_less_than_another() -> None:
    _, made = await filled("turn", "read")
    assert weight(made[0]) > weight(made[1]) > 0
