"""Messages that the channel could not be given yet, kept until it takes them or they are too old. Safe with several workers.

A row is claimed by moving the time of its next try: two processes never try the same one at the same time. Of one conversation only the oldest is
claimed, so that what waits arrives in order.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, select, update

from bot.state import State, undelivered
from bot.teams.inbox import Attempt, fence, fenced_insert
from bot.teams.ports import Json
from grounding.records import Turn

FIRST_S, LONGEST_S = 5.0, 60.0
"""Seconds to the second try, and between later ones at most; in between they double."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message for the conversation of `inbound`. `stream_id`: of the stream that it was to end, which is over by now.

    `held`: the activity that it answers, while that is in hand; it is not stored. `entry_id`: of the turn that it answers, empty where it is a notice; `handed_over`: when the channel was first given it; `turns`: what the
    conversation remembers of the turn once it is delivered. `row`, `since`, `tries`: as kept.
    """

    inbound: Json
    message: Json
    stream_id: str | None = None
    entry_id: str = ""
    handed_over: str | None = None
    turns: tuple[Turn, ...] = ()
    held: Attempt | None = None
    row: int = 0
    since: float = 0.0
    tries: int = 0

    def body(self) -> str:
        """As it is stored."""
        said = [[turn.role, turn.text] for turn in self.turns]
        kept = {
            "inbound": self.inbound,
            "message": self.message,
            "stream_id": self.stream_id,
            "entry_id": self.entry_id,
            "handed_over": self.handed_over,
            "turns": said,
        }
        return json.dumps(kept, ensure_ascii=False)


class Undelivered:
    """The durable list. Times are seconds since the epoch."""

    def __init__(self, state: State, *, first_s: float = FIRST_S, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._first = first_s
        self.clock = clock

    async def put(self, waiting: Waiting) -> bool:
        """Keep it for later; False if the activity that it answers is another attempt's by now, which answers it. Raises StoreError."""
        now = self.clock()
        row = {
            **_columns(waiting.inbound),
            "activity": str(waiting.inbound.get("id") or ""),
            "body": waiting.body(),
            "since": now,
            "due": now + self._first,
            "tries": 1,
        }
        kept = fenced_insert(undelivered, row, waiting.held).execution_options(preserve_rowcount=True)
        return await self._state.run(lambda c: c.execute(kept).rowcount == 1)

    async def claim_due(self, limit: int = 50) -> list[Waiting]:
        """What is to be tried now: of each conversation its oldest, if that is due. Raises StoreError."""
        heads = select(func.min(undelivered.c.id)).group_by(undelivered.c.channel, undelivered.c.conversation)
        due = and_(undelivered.c.id.in_(heads), undelivered.c.due <= self.clock())
        return await self._claim(select(undelivered).where(due).order_by(undelivered.c.id).limit(limit))

    def waits(self, inbound: Json) -> ColumnElement[bool]:
        """The condition that something waits in the conversation of `inbound`."""
        return exists(select(undelivered.c.id).where(_place(inbound)))

    async def claim_of(self, inbound: Json) -> list[Waiting]:
        """All that waits in the conversation of `inbound`, oldest first: something is to be said there now. Raises StoreError."""
        return await self._claim(select(undelivered).where(_place(inbound)).order_by(undelivered.c.id))

    async def delivered(self, waiting: Waiting) -> None:
        """It is out, or nobody wants it: the row goes, with its words. Raises StoreError."""
        await self._state.run(lambda c: c.execute(delete(undelivered).where(undelivered.c.id == waiting.row)))

    async def exchange(self, waiting: Waiting) -> None:
        """Keep `waiting` as it is now in the place of what its row held. Raises StoreError."""
        values = {"body": waiting.body()}
        await self._state.run(
            lambda c: c.execute(update(undelivered).where(undelivered.c.id == waiting.row).values(values))
        )

    async def forget_turns(self, inbound: Json, held: Attempt | None = None) -> None:
        """What waits in a conversation is still delivered, and not remembered there: another customer is spoken of by now. Nothing if `inbound` is no longer `held`. Raises StoreError."""
        wanted = select(undelivered).where(_place(inbound), *fence(held))
        for row in await self._state.run(lambda c: c.execute(wanted).all()):
            await self.exchange(replace(_waiting(row), turns=()))

    async def forget(self, inbound: Json, activity: str | None = None) -> None:
        """Take away what waits in a conversation, or what waits there as the answer to one message. Raises StoreError."""
        which = _place(inbound) if activity is None else and_(_place(inbound), undelivered.c.activity == activity)
        await self._state.run(lambda c: c.execute(delete(undelivered).where(which)))

    async def drop(self) -> int:
        """Take away all that waits, because an older state was put back: it was delivered since, or is too old; how many they were. Raises StoreError."""
        return await self._state.run(lambda c: c.execute(delete(undelivered)).rowcount)

    async def _claim(self, wanted: Any) -> list[Waiting]:
        now = self.clock()
        found = await self._state.ask(lambda c: c.execute(wanted).all())
        if not found:
            return []

        def work(connection: Connection) -> list[Waiting]:
            claimed = []
            for row in found:
                wait = min(self._first * 2**row.tries, LONGEST_S)
                unchanged = and_(undelivered.c.id == row.id, undelivered.c.due == row.due)
                values = {"due": now + wait, "tries": row.tries + 1}
                if connection.execute(update(undelivered).where(unchanged).values(values)).rowcount == 1:
                    claimed.append(_waiting(row))
            return claimed

        return await self._state.run(work)


def _waiting(row: Any) -> Waiting:
    kept = json.loads(row.body)
    turns: Sequence[Sequence[Any]] = kept.pop("turns")
    made = Waiting(**kept, turns=tuple(Turn(role, text) for role, text in turns))
    return replace(made, row=row.id, since=row.since, tries=row.tries)


def _columns(inbound: Json) -> dict[str, str]:
    return {"channel": inbound["channelId"], "conversation": inbound["conversation"]["id"]}


def _place(inbound: Json) -> Any:
    return and_(*(undelivered.c[name] == value for name, value in _columns(inbound).items()))
