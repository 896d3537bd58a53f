"""A database that was put back to an older state, and goes on: nothing is done twice, nothing that was erased is there again, what is missing is on record."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.compose.privacy import erasures_noted, open_stores
from bot.compose.record import open_record
from bot.compose.restoring import restored
from bot.operator import operator
from bot.places import places_of
from bot.privacy import erasure
from bot.privacy.selection import Selection
from bot.records import Ask
from bot.review.session import ReviewAccess
from bot.settings.settings import Settings
from bot.state import State
from bot.teams.delivery.undelivered import Undelivered, Waiting
from bot.teams.history import ConversationHistory
from bot.teams.inbox import Inbox, key_of
from grounding.errors import InputError, SettingsError, StoreError
from grounding.records import Turn
from rai.records import Outcome
from tests.e2e.processes import settings_over
from tests.knowledge_base import PAGE, running, take_in_page
from tests.postgres.faults import run
from tests.postgres.older import put_back, taken
from tests.postgres.shared import made, server_over

QUESTION = "What does Watch Plus cost a month?"
ADA, BOB = ({"channelId": "msteams", "conversation": {"id": f"a:{n}"}, "id": "m1"} for n in (1, 2))


async def asked(settings: Settings, user: str, conversation: str) -> tuple[Outcome, str, str]:
    async with running(settings) as system:
        reply = await system.answer(Ask(QUESTION, user=user, channel="msteams", conversation=conversation), None)
        return reply.outcome, reply.answer, reply.entry_id


async def in_hand(settings: Settings) -> None:
    """What the database holds while servers are at work: what was said, an answer that waits, a message and a session."""
    state = State(places_of(settings).state)
    await state.open()
    history = ConversationHistory(state, days=30)
    await history.remember(ADA, [Turn("user", "I am Ada")])
    await history.remember(BOB, [Turn("user", "I am Bob")])
    await Undelivered(state).put(Waiting(BOB, {"text": "late"}))
    await Inbox(state).take(key_of(BOB), BOB)
    await ReviewAccess(state).offer()
    await state.close()


async def erased(settings: Settings, wanted: Selection) -> None:
    async with open_stores(settings) as stores:
        await erasure.erase(stores, wanted, "on request", operator())


def said(url: str) -> list[str]:
    return [text for (text,) in run(url, "SELECT text FROM turns ORDER BY id")]


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    made(database_url, tmp_path)
    return server_over(database_url, tmp_path / "one", tmp_path)


async def test_six_hours_back(database_url: str, settings: Settings, tmp_path: Path) -> None:
    two = server_over(database_url, tmp_path / "two", tmp_path)
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    before = [(await asked(settings, user, place))[2] for user, place in (("ada", "a:1"), ("bob", "a:2"))]
    await in_hand(settings)
    async with open_record(settings) as record:
        count = (await record.verify()).entries
    taken(database_url)
    # what those six hours brought
    await take_in_page(settings, tmp_path / "kb", PAGE.replace("$9.99", "$12.99"), lexical_only=True)
    outcome, answer, later = await asked(two, "ada", "a:1")
    assert (outcome, "$12.99" in answer) == (Outcome.ANSWERED, True)
    await erased(settings, Selection(person="ada"))
    assert said(database_url) == ["I am Bob"]
    async with open_record(settings) as record:
        newest = (await record.verify()).entries
    put_back(database_url)
    async with open_record(settings) as record:
        assert f"truncated: {count} entries, but the anchor has seen {newest}" in ((await record.verify()).why or "")
        entry = await record.get(before[0])
        assert entry is not None
        assert "reply" in entry.body  # it is there again
    assert said(database_url) == ["I am Ada", "I am Bob"]

    done = await restored(settings, "the disk failed", [])
    assert done.missing == (count + 1, newest)
    assert done.dropped == {"answers": 1, "messages": 1, "sessions": 1}
    again = done.repeated
    assert (again.erasures, again.entries, again.rows, again.gone) == (
        1,
        1,
        1,
        1,
    )  # the later turn is missing by itself
    assert said(database_url) == ["I am Bob"]
    assert run(database_url, "SELECT status, body FROM inbox") == [("done", None)]
    async with open_record(settings) as record:
        assert (await record.verify()).ok
        kinds = [e.kind async for e in record.entries(newest_first=True, limit=2)]
        assert kinds == ["erase", "restored"]
        assert done.entry.body["missing"] == {"first": count + 1, "last": newest}
        entry, other = await record.get(before[0]), await record.get(before[1])
        assert entry is not None
        assert other is not None
        assert ("reply" in entry.body, "reply" in other.body) == (False, True)
        assert await record.get(later) is None
    for server in (two, settings):
        outcome, answer, _ = await asked(server, "bob", "a:2")
        assert (outcome, "$9.99" in answer, "$12.99" in answer) == (Outcome.ANSWERED, True, False)
    await take_in_page(two, tmp_path / "kb", PAGE.replace("$9.99", "$14.99"), lexical_only=True)
    async with running(settings) as system:
        reply = await system.answer(Ask(QUESTION), None)
        assert "$14.99" in reply.answer
        assert (await system.ledger.verify()).ok


async def test_a_server_that_was_not_stopped_says_that_it_has_to_start_again(
    database_url: str, settings: Settings, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    async with running(settings) as system:
        taken(database_url)
        put_back(database_url)
        await restored(settings, "x", [])
        assert system.keep_up is not None
        with pytest.raises(StoreError, match="an older state of the store was put back; start this program again"):
            await system.keep_up()


async def test_where_nothing_is_missing_it_says_so(settings: Settings, tmp_path: Path) -> None:
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    for _ in range(2):
        done = await restored(settings, "x", [])
        assert (done.missing, done.repeated.entries) == (None, 0)
    async with open_record(settings) as record:
        assert (await record.verify()).ok


async def test_a_published_checkpoint_tells_what_the_anchor_of_this_machine_does_not(
    database_url: str, settings: Settings, tmp_path: Path
) -> None:
    settings = settings.changed(ledger_checkpoints=SecretStr(str(tmp_path / "worm")))
    (tmp_path / "worm").mkdir()
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    taken(database_url)
    await asked(settings, "ada", "a:1")
    async with running(settings) as system:
        assert system.checkpoints is not None
        published = await system.checkpoints.publish()
    assert published is not None
    for anchor in (tmp_path / "keys").rglob("*.anchor"):
        anchor.unlink()
    put_back(database_url)
    done = await restored(settings, "x", [])
    assert done.missing is not None
    assert done.missing[1] == published.size


async def test_lists_of_other_machines_are_repeated_and_a_changed_one_is_refused(
    database_url: str, settings: Settings, tmp_path: Path
) -> None:
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    _, _, entry_id = await asked(settings, "ada", "a:1")
    taken(database_url)
    other = settings.changed(database_erasures_file=tmp_path / "other.jsonl")
    await erased(other, Selection(entries=(entry_id,)))
    assert not settings.erasures_file.exists()
    text = (tmp_path / "other.jsonl").read_text()
    assert (tmp_path / "other.jsonl").stat().st_mode & 0o777 == 0o600
    assert "ada" not in text
    assert "a:1" not in text
    put_back(database_url)
    changed = tmp_path / "changed.jsonl"
    changed.write_text(text.replace(entry_id, entry_id[:-1] + ("0" if entry_id[-1] != "0" else "1")))
    with pytest.raises(InputError, match="line 1 is not as it was written with this ledger key"):
        await restored(settings, "x", [changed])
    torn = tmp_path / "torn.jsonl"
    torn.write_text(text[:40])  # of a machine that was killed while it noted another
    done = await restored(settings, "x", [torn, tmp_path / "other.jsonl"])
    assert (done.repeated.erasures, done.repeated.entries, done.repeated.torn) == (1, 1, (f"{torn}: line 1",))
    async with open_record(settings) as record:
        entry = await record.get(entry_id)
        assert entry is not None
        assert entry.body == {"erased": True}


async def test_what_was_said_after_an_erasure_stays(database_url: str, settings: Settings, tmp_path: Path) -> None:
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    await in_hand(settings)
    await erased(settings, Selection(conversation="a:1"))
    state = State(places_of(settings).state)
    await state.open()
    await ConversationHistory(state, days=30).remember(ADA, [Turn("user", "Ada again")])
    await state.close()
    done = await restored(settings, "x", [])
    assert (done.repeated.erasures, done.repeated.rows) == (1, 0)
    assert said(database_url) == ["I am Bob", "Ada again"]


async def test_nothing_is_erased_that_cannot_be_noted(database_url: str, settings: Settings, tmp_path: Path) -> None:
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    await in_hand(settings)
    with pytest.raises(StoreError, match=r"nothing was erased: the list of erasures, .* cannot be written"):
        await erased(settings.changed(database_erasures_file=tmp_path / "no" / "list"), Selection(conversation="a:1"))
    assert "I am Ada" in said(database_url)


async def test_files_of_a_home_have_no_list(tmp_path: Path) -> None:
    settings = settings_over(tmp_path / "home")
    with pytest.raises(SettingsError, match="ATTEST_DATABASE_URL is not set"):
        await restored(settings, "x", [])
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    _, _, entry_id = await asked(settings, "ada", "a:1")
    await erased(settings, Selection(entries=(entry_id,)))
    assert not settings.erasures_file.exists()
    assert erasures_noted(settings).read() == ()
