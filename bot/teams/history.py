"""The last turns of each conversation, and which message carried which ledger entry.

Turns are rows that are only ever added, so two turns at the same time both stay (a stored list would lose one).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, false, insert, select, true

from bot.state import State, sent, turns
from bot.teams.inbox import Attempt, ended, fence, fenced_insert
from bot.teams.ports import Json
from grounding.records import Turn

KEEP = 20
CALL_S = 3600.0
"""A pause after which the next question is about another customer."""
MAX_TEXT = 8000
"""A kept turn is cut here; the channel itself allows far more."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is kept of a conversation: its last turns, oldest first, none older than the settings allow and none before a pause of an hour, and the ledger entry of the last answer that was sent there, empty where there is none."""

    turns: tuple[Turn, ...] = ()
    answered: str = ""


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before a message: whether an `earlier` one of its conversation is still worked on, whether something `waits` there for the channel, and what is `kept`, None where that is not known."""

    earlier: bool
    waits: bool
    kept: Recalled | None


class ConversationHistory:
    """Kept turns and sent answers. Times are seconds since the epoch."""

    def __init__(self, state: State, *, days: int, keep: int = KEEP, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._max_age = days * 86400.0
        self._keep = keep
        self._clock = clock

    async def before(self, activity: Json, *, earlier: ColumnElement[bool], waits: ColumnElement[bool]) -> Before:
        """What stands before a message, by one question, and so as it was at one moment. `earlier`, `waits`: the conditions of the fields of these names."""
        last = _last_entry(activity).scalar_subquery()
        told = select(earlier.label("earlier"), waits.label("waits"), last.label("answered")).subquery()
        said = self._recalled(activity).subquery()
        wanted = select(told, said).select_from(told.outerjoin(said, true())).order_by(said.c.id.desc())
        rows = await self._state.ask(lambda c: c.execute(wanted).all())
        first, lines = rows[0], [row for row in rows if row.role is not None]
        return Before(bool(first.earlier), bool(first.waits), Recalled(self._call(lines), first.answered or ""))

    async def kept(self, activity: Json) -> Recalled:
        """What is kept of the activity's conversation."""
        return (await self.before(activity, earlier=false(), waits=false())).kept or Recalled()

    def _recalled(self, activity: Json) -> Select[Any]:
        here = and_(_place(turns, activity), turns.c.at >= self._clock() - self._max_age)
        wanted = select(turns.c.id, turns.c.role, turns.c.text, turns.c.at).where(here)
        return wanted.order_by(turns.c.id.desc()).limit(self._keep)

    def _call(self, newest_first: Iterable[Any]) -> tuple[Turn, ...]:
        """The turns since a pause of an hour, oldest first: before it was another call."""
        call, newer = [], self._clock()
        for row in newest_first:
            if newer - row.at > CALL_S:
                break
            call.append(Turn(row.role, row.text))
            newer = row.at
        return tuple(reversed(call))

    async def remember(self, activity: Json, said: Sequence[Turn], held: Attempt | None = None) -> None:
        """Add turns to the activity's conversation, if it is still `held`, and drop what is beyond the last ones kept."""
        if said:
            await self._state.write(lambda c: self._add(c, activity, said, held))

    async def arrived(
        self, activity: Json, said: Sequence[Turn], sent_id: str | None, entry_id: str, held: Attempt | None
    ) -> None:
        """Keep, all or nothing, what follows from a message that is out: what was `said` in the turn, that message `sent_id` carried the answer of ledger entry `entry_id`, and that the
        activity is done, if it is still `held`. Without an id or an entry nothing leads from the message to it.
        """
        at = self._clock()  # when it is done, however often it is tried

        def work(connection: Connection) -> None:
            if said:
                self._add(connection, activity, said, held)
            if sent_id and entry_id:  # whoever has the activity by now: this message is in sight, and that is its entry
                row = {**_columns(activity), "activity": sent_id}
                connection.execute(delete(sent).where(_place(sent, activity), sent.c.activity == sent_id))
                connection.execute(insert(sent).values(**row, entry_id=entry_id, at=at, asked=activity.get("id")))
            if held is not None:
                connection.execute(ended(held))

        if said or (sent_id and entry_id) or held is not None:
            # the end of the activity is its own fence: done twice, the second comes to nothing
            await self._state.write(work, repeatable=held is not None or not said)

    def _add(self, connection: Connection, activity: Json, said: Sequence[Turn], held: Attempt | None) -> None:
        now, place = self._clock(), _columns(activity)
        for turn in said:
            row = {**place, "role": turn.role, "text": turn.text[:MAX_TEXT], "at": now, "activity": activity.get("id")}
            connection.execute(fenced_insert(turns, row, held))
        here = _place(turns, activity)
        newest = select(turns.c.id).where(here).order_by(turns.c.id.desc()).limit(self._keep).subquery()
        connection.execute(delete(turns).where(here, turns.c.id.not_in(select(newest.c.id))))

    async def forget(self, activity: Json, held: Attempt | None = None) -> None:
        """Delete the conversation's turns, if the activity is still `held`: the bot was removed from it, or another customer is spoken of."""
        await self._state.run(lambda c: c.execute(delete(turns).where(_place(turns, activity), *fence(held))))

    async def forget_message(self, activity: Json) -> None:
        """Delete the turns of one message, its answer among them, and what leads to that: it was edited or deleted."""
        asked = str(activity.get("id") or "")

        def work(connection: Connection) -> None:
            connection.execute(delete(turns).where(_place(turns, activity), turns.c.activity == asked))
            connection.execute(delete(sent).where(_place(sent, activity), sent.c.asked == asked))

        await self._state.run(work)

    async def entry_of(self, activity: Json, sent_id: str) -> str | None:
        """The ledger entry of the answer in message `sent_id`, if it was sent here and is not too old."""
        wanted = select(sent.c.entry_id).where(_place(sent, activity), sent.c.activity == sent_id)
        return await self._state.ask(lambda c: c.execute(wanted).scalar_one_or_none())

    async def last_entry(self, activity: Json) -> str | None:
        """The ledger entry of the last answer that was sent in the activity's conversation."""
        return await self._state.ask(lambda c: c.execute(_last_entry(activity)).scalar_one_or_none())


def _last_entry(activity: Json) -> Select[Any]:
    return select(sent.c.entry_id).where(_place(sent, activity)).order_by(sent.c.at.desc()).limit(1)


def _columns(activity: Json) -> dict[str, str]:
    return {"channel": activity["channelId"], "conversation": activity["conversation"]["id"]}


def _place(table: Any, activity: Json) -> Any:
    return and_(*(table.c[name] == value for name, value in _columns(activity).items()))
