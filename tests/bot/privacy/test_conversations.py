"""What state.db holds of conversations: found as people wrote it, deleted with nothing left, kept where it is held."""

from __future__ import annotations

import sqlite3
import time

from bot.privacy import conversations
from bot.privacy.conversations import Kept
from bot.privacy.selection import Selection
from bot.teams.delivery.undelivered import Undelivered, Waiting
from bot.teams.inbox import ActivityKey, Inbox
from tests.bot.privacy.conftest import CHANNEL, Home

DAY_S = 86400.0
ONE, TWO = (CHANNEL, "a:1"), (CHANNEL, "a:2")


async def matching(home: Home, *theirs: tuple[str, str], **wanted: str) -> set[str]:
    selection = Selection(**wanted)  # type: ignore[arg-type]  # by name
    return {place[1] for place in await conversations.matching(home.state, selection, theirs)}


async def test_found_by_conversation_person_and_text(home: Home) -> None:
    await home.said("a:1", "I live in Elm Road")
    await home.said("a:2", "Hello")
    await home.came_in("a:3", "It is Elm  road", "ada")
    assert await matching(home, conversation="a:2") == {"a:2"}
    assert await matching(home, search="elm road") == {"a:1", "a:3"}
    assert await matching(home, person="ada") == {"a:3"}
    assert await matching(home, TWO, person="ada") == {"a:2", "a:3"}
    assert await matching(home, ONE, TWO, person="ada", search="elm road") == {"a:1", "a:3"}
    assert await matching(home, ONE, person="ada", conversation="a:2") == set()
    assert await conversations.matching(home.state, Selection(("e1",), "a:2"), ()) == set()


async def test_a_conversation_goes_with_all_its_rows(home: Home) -> None:
    await home.said("a:1", "canary-1", "canary-2", sent="e1")
    await home.came_in("a:1", "canary-3", "ada")
    await home.said("a:2", "stays-1", sent="e2")
    assert home.left("canary-1", "canary-2", "canary-3") == ["canary-1", "canary-2", "canary-3"]
    wanted = Kept(1, turns=2, inbox=1, sent=1)
    assert await conversations.count(home.state, [ONE]) == wanted
    assert await conversations.erase(home.state, [ONE]) == wanted
    assert await home.state.flush()
    assert home.left("canary-1", "canary-2", "canary-3") == []
    assert await conversations.count(home.state, [ONE]) == Kept()
    assert await conversations.all_of(home.state) == {TWO}
    assert home.left("stays-1") == ["stays-1"]


async def test_an_answer_that_waits_for_the_channel_is_found_and_goes_too(home: Home) -> None:
    inbound = {"channelId": ONE[0], "conversation": {"id": ONE[1]}, "from": {"id": "ada"}, "text": "canary-6"}
    await Undelivered(home.state).put(Waiting(inbound, {"text": "canary-7"}))
    assert await matching(home, person="ada") == await matching(home, search="canary-7") == {"a:1"}
    assert [row["table"] for row in await conversations.rows_of(home.state, [ONE])] == ["undelivered"]
    assert await conversations.erase(home.state, [ONE]) == Kept(1, inbox=1)
    assert await home.state.flush()
    assert home.left("canary-6", "canary-7") == []


async def test_which_message_carried_an_entry_goes_with_the_entry(home: Home) -> None:
    await home.said("a:1", "stays", sent="e1")
    assert await conversations.erase(home.state, [], ["e1", "e7"]) == Kept(sent=1)
    assert await conversations.count(home.state, [ONE]) == Kept(1, turns=1)


async def test_what_is_old_goes_and_what_is_held_or_unanswered_stays(home: Home) -> None:
    await home.said("a:1", "one", sent="e1")
    await home.said("a:2", "two", sent="e2")
    await home.came_in("a:1", "unanswered", "ada")
    await home.came_in("a:1", "answered", "ada", "in-2")
    await Inbox(home.state).done(ActivityKey(CHANNEL, "a:1", "in-2"))
    now = time.time()
    assert await conversations.trim(home.state, now - DAY_S) == Kept()
    wanted = Kept(1, turns=1, inbox=1, sent=1)
    assert await conversations.trim(home.state, now + DAY_S, {TWO}, dry=True) == wanted
    assert await conversations.trim(home.state, now + DAY_S, {TWO}) == wanted
    assert await conversations.count(home.state, [ONE, TWO]) == Kept(2, turns=1, inbox=1, sent=1)


async def test_rows_are_handed_out_with_their_table(home: Home) -> None:
    await home.said("a:1", "one", sent="e1")
    await home.said("a:2", "two")
    rows = await conversations.rows_of(home.state, [ONE])
    assert [(row["table"], row.get("text")) for row in rows] == [("turns", "one"), ("sent", None)]


async def test_a_reader_keeps_the_log_from_being_emptied(home: Home) -> None:
    """Whoever reads an older state still needs what was erased; that is said, and mended when they have ended."""
    await home.said("a:1", "canary-1")
    reader = sqlite3.connect(home.path / "state.db", timeout=0)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM turns").fetchone() == (1,)
    await conversations.erase(home.state, [ONE])
    assert not await home.state.flush()
    reader.close()
    assert await home.state.flush()
    assert home.left("canary-1") == []
