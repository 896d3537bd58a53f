"""Turns of a search, each as it would be today."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from bot.desk.index import NAME, Desk
from bot.desk.search import DeskSearch
from bot.records import Ask
from bot.replay.today import todays
from bot.settings.load import load_settings
from tests.knowledge_base import PAGE, running, take_in_page

PRICE, OTHER = "How much is Watch Plus a month?", "Do you sell bicycles in Ghent?"


async def test_what_a_change_and_a_new_document_change_is_found_newest_first(tmp_path: Path) -> None:
    await take_in_page(load_settings(), tmp_path / "kb", lexical_only=True)
    async with running(load_settings()) as system:
        price, missing = [(await system.answer(Ask(q), None)).entry_id for q in (PRICE, OTHER)]
        erased = (await system.answer(Ask("And the week?"), None)).entry_id
        await cast(Any, system.ledger).erase([erased], "asked for")
    changed = (
        PAGE.replace("$9.99", "$12.50") + "\n\n## Bicycles\n\nWe sell bicycles in Ghent, in the shop at the harbour.\n"
    )
    await take_in_page(load_settings(), tmp_path / "kb", changed, lexical_only=True)
    desk = Desk(tmp_path / NAME)
    async with running(load_settings()) as system:
        await desk.follow(system.ledger)
        before = [e.seq async for e in system.ledger.entries()]
        gone, new, old = [turn async for turn in todays(system, desk, DeskSearch(), 10)]
        assert [turn.entry.entry_id for turn in (gone, new, old)] == [erased, missing, price]
        assert (gone.is_same, gone.found, "does not say what was asked" in gone.why) == (False, None, True)
        assert (new.then, new.now, new.is_same) == ("insufficient", "answered", False)
        assert (old.then, old.now, old.is_same) == ("answered", "answered", False)
        assert any(line.startswith("+") and "$12.50" in line for line in old.lines)
        assert any(line.startswith("-") and "$9.99" in line for line in old.lines)
        assert [turn.older for turn in (gone, new, old)] == [True, True, False]
        (first,) = [turn async for turn in todays(system, desk, DeskSearch(outcome="insufficient"), 10)]
        assert first.as_json()["now"] == "answered"
        assert [turn async for turn in todays(system, desk, DeskSearch(kind="verdict"), 10)] == []
        among = DeskSearch(among=frozenset({"somebody"}))
        assert [turn async for turn in todays(system, desk, among, 10)] == [], "turns of others are none of theirs"
        (one,) = [turn async for turn in todays(system, desk, DeskSearch(before=new.entry.seq), 1)]
        assert (one.entry.entry_id, one.older) == (price, False)
        assert [e.seq async for e in system.ledger.entries()] == before, "a replay writes nothing"
    await desk.close()
