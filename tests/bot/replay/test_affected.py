"""Past answers on text that has changed or gone, over a real system."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.desk.index import Desk
from bot.records import Ask
from bot.replay.affected import WHOLE_MAX, AffectedTurn, Untouched, affected, changed_documents, nearest
from bot.settings.load import load_settings
from bot.system import System
from rai.ledger.store import SqlLedger
from tests.knowledge_base import PAGE, running, take_in_page

QUESTION = "How much is Watch Plus a month?"


@asynccontextmanager
async def over(tmp_path: Path, page: str) -> AsyncIterator[tuple[System, Desk]]:
    """The system over `page`, and the index, which has followed."""
    await take_in_page(load_settings(), tmp_path / "kb", page, lexical_only=True)
    desk = Desk(tmp_path / "home" / "review.db")
    async with running(load_settings()) as system:
        await desk.follow(system.ledger)
        yield system, desk
    await desk.close()


@pytest.fixture
async def asked(tmp_path: Path) -> str:
    async with over(tmp_path, PAGE) as (system, _):
        reply = await system.answer(Ask(QUESTION, user="ada"), None)
        assert "$9.99" in reply.answer
        return reply.entry_id


async def found(system: System, desk: Desk, document: str = "", since: str = "") -> list[AffectedTurn | Untouched]:
    changed = await changed_documents(system, desk, document, since)
    return [turn async for turn in affected(system, desk, changed)]


async def test_a_changed_value_is_named_with_what_the_text_says_now(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE.replace("$9.99", "$12.50")) as (system, desk):
        (document,) = await changed_documents(system, desk)
        assert (document.doc_id, document.state, document.turns) == ("plans.md", "changed", 1)
        (turn,) = await found(system, desk)
    assert isinstance(turn, AffectedTurn)
    assert (turn.entry.entry_id, dict(turn.documents), turn.stands) == (asked, {"plans.md": "changed"}, False)
    money = next(claim for claim in turn.fallen if claim.kind == "money")
    assert (money.text, money.is_wrong) == ("$9.99", True)
    assert turn.as_json()["no_longer_supported"][0].keys() >= {"text", "then", "now", "instead", "unsupported"}


async def test_the_turns_of_some_people_alone(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE.replace("$9.99", "$12.50")) as (system, desk):
        every = await changed_documents(system, desk)
        for people, count in ((frozenset({"ada"}), 1), (frozenset({"bob"}), 0), (frozenset[str](), 0), (None, 1)):
            assert len(await changed_documents(system, desk, among=people)) == count
            assert len([turn async for turn in affected(system, desk, every, among=people)]) == count


async def test_what_is_said_in_other_words_still_stands(tmp_path: Path, asked: str) -> None:
    page = PAGE.replace("Watch Plus costs", "Every month Watch Plus costs")
    async with over(tmp_path, page) as (system, desk):
        (turn,) = await found(system, desk, "plans.md")
    assert isinstance(turn, AffectedTurn)
    assert not [claim for claim in turn.fallen if claim.is_wrong], turn.fallen
    assert turn.claims


async def test_a_change_elsewhere_in_the_document_touches_no_answer(tmp_path: Path, asked: str) -> None:
    long = PAGE.replace("# Support", "# Rooms\n\n" + "The cellar holds wine and tools. " * 60 + "\n\n# Support")
    async with over(tmp_path, long) as (system, desk):
        (turn,) = await found(system, desk)
    assert isinstance(turn, AffectedTurn | Untouched)
    if isinstance(turn, AffectedTurn):  # where the passage took the change in with it
        assert not [claim for claim in turn.fallen if claim.is_wrong]


async def test_what_is_gone_supports_nothing(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE) as (system, desk):
        assert await found(system, desk) == []
        assert await system.library.remove("plans.md")
        (document,) = await changed_documents(system, desk)
        assert (document.state, document.now, document.title != "") == ("gone", None, True)
        (turn,) = await found(system, desk, "plans.md")
    assert isinstance(turn, AffectedTurn)
    assert dict(turn.documents) == {"plans.md": "gone"}
    assert {claim.kind for claim in turn.fallen} >= {"money"}


async def test_a_day_leaves_out_what_changed_before(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE.replace("$9.99", "$12.50")) as (system, desk):
        assert await found(system, desk, since="2199-01-01") == []
        assert len(await found(system, desk, since="2020-01-01")) == 1
        assert await found(system, desk, "other.md") == []


async def test_turns_are_read_a_page_at_a_time(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE) as (system, desk):
        second = await system.answer(Ask(QUESTION), None)
        await desk.follow(system.ledger)
    async with over(tmp_path, PAGE.replace("$9.99", "$12.50")) as (system, desk):
        changed = await changed_documents(system, desk)
        (first,) = [turn async for turn in affected(system, desk, changed, size=1)]
        assert isinstance(first, AffectedTurn)
        assert first.entry.entry_id == second.entry_id
        (last,) = [turn async for turn in affected(system, desk, changed, before=first.entry.seq, size=1)]
        assert isinstance(last, AffectedTurn)
        assert last.entry.entry_id == asked


async def test_an_erased_turn_is_no_longer_found(tmp_path: Path, asked: str) -> None:
    async with over(tmp_path, PAGE.replace("$9.99", "$12.50")) as (system, desk):
        assert isinstance(system.ledger, SqlLedger)
        await system.ledger.erase(asked, "request")
        await desk.follow(system.ledger)
        assert await found(system, desk) == []


def test_of_a_long_text_the_nearest_paragraphs_are_read() -> None:
    parts = [f"Paragraph {n} speaks of the weather in town number {n}. " * 6 for n in range(80)]
    parts[57] = "Watch Plus costs $12.50 a month and covers cameras."
    text = "\n\n".join(parts)
    near = nearest(text, ["Watch Plus costs $9.99 a month and covers 5 cameras."])
    assert "$12.50" in near
    assert len(near) <= WHOLE_MAX + 200 < len(text)
    assert nearest("short", ["x"]) == "short"
