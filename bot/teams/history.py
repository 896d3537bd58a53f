"""The last turns of each conversation, and which message carried which ledger entry.

Turns are rows that are only ever added, so two turns at the same time both stay (a stored list would lose one).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, select

from bot.state import State, sent, turns
from bot.teams.inbox import Attempt, fence, fenced_insert
from bot.teams.ports import Json
from grounding.records import Turn

KEEP = 20
CALL_S = 3600.0
"""A pause after which the next question is about another customer."""
MAX_TEXT = 8000
"""A kept turn is cut here; the channel itself allows far more."""


class ConversationHistory:
    """Kept turns and sent answers. Times are seconds since the epoch."""

    def __init__(self, state: State, *, days: int, keep: int = KEEP, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._max_age = days * 86400.0
        self._keep = keep
        self._clock = clock

    async def recall(self, activity: Json) -> tuple[Turn, ...]:
        """The last turns of the activity's conversation, oldest first, none older than the settings allow, and none before a pause of an hour: then it is another call."""
        now = self._clock()
        since = now - self._max_age
        wanted = (
            select(turns.c.role, turns.c.text, turns.c.at)
            .where(_place(turns, activity), turns.c.at >= since)
            .order_by(turns.c.id.desc())
            .limit(self._keep)
        )
        rows = await self._state.ask(lambda c: c.execute(wanted).all())
        call, newer = [], now
        for row in rows:
            if newer - row.at > CALL_S:
                break
            call.append(Turn(row.role, row.text))
            newer = row.at
        return tuple(reversed(call))

    async def remember(self, activity: Json, said: Sequence[Turn], held: Attempt | None = None) -> None:
        """Add turns to the activity's conversation, if it is still `held`, and drop what is beyond the last ones kept."""
        now = self._clock()
        place = _columns(activity)
        rows = [
            {**place, "role": t.role, "text": t.text[:MAX_TEXT], "at": now, "activity": activity.get("id")}
            for t in said
        ]

        def work(connection: Connection) -> None:
            for row in rows:
                connection.execute(fenced_insert(turns, row, held))
            here = _place(turns, activity)
            newest = select(turns.c.id).where(here).order_by(turns.c.id.desc()).limit(self._keep).subquery()
            connection.execute(delete(turns).where(here, turns.c.id.not_in(select(newest.c.id))))

        if rows:
            await self._state.write(work)

    async def forget(self, activity: Json, held: Attempt | None = None) -> None:
        """Delete the conversation's turns, if the activity is still `held`: the bot was removed from it, or another customer is spoken of."""
        await self._state.run(lambda c: c.execute(delete(turns).where(_place(turns, activity), *fence(held))))

    async def forget_message(self, activity: Json) -> None:
        """Delete the turns of one message, its answer among them: it was edited or deleted."""
        mine = and_(_place(turns, activity), turns.c.activity == str(activity.get("id") or ""))
        await self._state.run(lambda c: c.execute(delete(turns).where(mine)))

    async def record_sent(self, activity: Json, sent_id: str, entry_id: str) -> None:
        """Note that message `sent_id` carried the answer of ledger entry `entry_id`."""
        row = {**_columns(activity), "activity": sent_id}

        def work(connection: Connection) -> None:
            connection.execute(delete(sent).where(_place(sent, activity), sent.c.activity == sent_id))
            connection.execute(insert(sent).values(**row, entry_id=entry_id, at=self._clock()))

        await self._state.write(work, repeatable=True)

    async def entry_of(self, activity: Json, sent_id: str) -> str | None:
        """The ledger entry of the answer in message `sent_id`, if it was sent here and is not too old."""
        wanted = select(sent.c.entry_id).where(_place(sent, activity), sent.c.activity == sent_id)
        return await self._state.ask(lambda c: c.execute(wanted).scalar_one_or_none())

    async def last_entry(self, activity: Json) -> str | None:
        """The ledger entry of the last answer that was sent in the activity's conversation."""
        wanted = select(sent.c.entry_id).where(_place(sent, activity)).order_by(sent.c.at.desc()).limit(1)
        return await self._state.ask(lambda c: c.execute(wanted).scalar_one_or_none())


def _columns(activity: Json) -> dict[str, str]:
    return {"channel": activity["channelId"], "conversation": activity["conversation"]["id"]}


def _place(table: Any, activity: Json) -> Any:
    return and_(*(table.c[name] == value for name, value in _columns(activity).items()))
