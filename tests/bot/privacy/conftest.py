"""A home with a real ledger and a real state.db, and what people wrote in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest_asyncio

from bot.compose.privacy import stores_over
from bot.privacy.erasure import Stores
from bot.settings.load import load_settings
from bot.state import State
from bot.teams.history import ConversationHistory
from bot.teams.inbox import ActivityKey, Inbox
from grounding.records import Turn
from rai.embedded.quarantine import DecisionFile
from rai.ledger.store import SqlLedger
from rai.screening.quarantine import Decided

CHANNEL = "msteams"


@dataclass
class Home:
    """The stores, and short ways to write into them as the program does."""

    path: Path
    stores: Stores
    ledger: SqlLedger
    state: State

    async def turn(
        self,
        question: str,
        user: str | None = "ada",
        conversation: str | None = "a:1",
        history: Sequence[str] = (),
        *,
        made_of: str | None = None,
        key: str | None = None,
    ) -> str:
        """A turn of the ledger, by its id. `made_of`: the entry of the answer that it reworks; `key`: how it is known who asked."""
        before = [{"role": "user", "text": text} for text in history]
        ask: dict[str, Any] = {
            "question": question,
            "user": user,
            "channel": CHANNEL,
            "conversation": conversation,
            "history": before,
        }
        if made_of is not None:
            ask["rework"] = {"how": "shorter", "entry_id": made_of, "language": ""}
        body = {
            "schema": 2,
            "ask": ask,
            "actor": {"user": user, "authenticated_by": key},
            "reply": {"outcome": "answered", "answer": "Yes."},
        }
        return (await self.ledger.append("turn", body)).entry_id

    async def feedback(self, entry_id: str | None, text: str, user: str = "ada") -> str:
        body = {
            "schema": 2,
            "entry_id": entry_id,
            "reaction": "dislike",
            "text": text,
            "user": user,
            "channel": CHANNEL,
        }
        return (await self.ledger.append("feedback", body)).entry_id

    async def report(self, entry_id: str, comment: str, user: str = "ada") -> str:
        body = {"schema": 2, "entry_id": entry_id, "user": user, "channel": CHANNEL, "comment": comment}
        return (await self.ledger.append("refusal_report", body)).entry_id

    async def decision(self, entry_id: str, report: str, remark: str) -> str:
        body = {"schema": 2, "entry_id": entry_id, "report": report, "decision": "wrong", "note": remark}
        return (await self.ledger.append("refusal_decision", body)).entry_id

    async def said(self, conversation: str, *texts: str, sent: str | None = None) -> None:
        """Turns that the server keeps of a conversation; `sent`: the entry of an answer that went out there."""
        place = {"channelId": CHANNEL, "conversation": {"id": conversation}}
        history = ConversationHistory(self.state, days=30)
        await history.remember(place, [Turn("user", text) for text in texts])
        if sent is not None:
            await history.arrived(place, [], f"m-{sent}", sent, None)

    async def came_in(self, conversation: str, text: str, sender: str, activity: str = "in-1") -> None:
        """A message that nobody has answered yet."""
        key = ActivityKey(CHANNEL, conversation, activity)
        body = {"type": "message", "text": text, "from": {"id": f"29:{sender}", "aadObjectId": sender}}
        await Inbox(self.state).take(key, body)

    async def quarantine(self, key: str, remark: str) -> str:
        """A decision on a passage, beside the ledger and in it."""
        DecisionFile(self.path / "quarantine.db").keep(key, Decided("released", "2026-11-01", remark))
        passage = {"id": key[:12], "doc_id": "a.md", "title": "A", "chunk_id": "c", "rule": "OR-01", "score": 0.9}
        body = {"schema": 2, "decision": "released", "note": remark, "channel": "cli", "passage": passage}
        return (await self.ledger.append("quarantine_decision", body)).entry_id

    async def bodies(self) -> dict[str, dict[str, Any]]:
        return {entry.entry_id: entry.body async for entry in self.ledger.entries()}

    async def gone(self) -> set[str]:
        """Entries whose body is gone."""
        return {name for name, body in (await self.bodies()).items() if body == {"erased": True}}

    async def kinds(self) -> list[str]:
        """The kinds of all entries that people or this room made, in their order."""
        return [entry.kind async for entry in self.ledger.entries() if entry.kind not in ("genesis", "upgrade")]

    def left(self, *texts: str) -> list[str]:
        """Of these texts, those that stand in a byte of a file of the home."""
        files = {path.name: path.read_bytes() for path in self.path.rglob("*") if path.is_file()}
        return [text for text in texts if any(text.encode() in content for content in files.values())]


class NotesOnTheWay:
    """Notes of nobody, which are forgotten just before entries go: `then` happens at that moment."""

    def __init__(self, then: Callable[[], Awaitable[object]]) -> None:
        self._then = then

    async def notes(self) -> dict[str, str]:
        return {}

    async def forget(self, ids: Sequence[str]) -> int:
        await self._then()
        return 0


@pytest_asyncio.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """Nothing is masked, so that what is erased was there."""
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    path, key = settings.files.home / "ledger.db", settings.files.ledger_key
    ledger = SqlLedger(path, key, redact=lambda body, _kind: body, busy_s=0.3)
    state = State(settings.files.home / "state.db", busy_s=0.3)
    await state.open()
    async with stores_over(settings, ledger) as stores:
        yield Home(settings.files.home, replace(stores, state=state), ledger, state)
    await state.close()
    await ledger.close()
