"""Which activities were taken, so that each is answered once, and none is lost when the process ends in the middle.

An activity is `received` until it is `done`. Whoever works on it holds a lease and renews it; a lease that has run
out belongs to a process that is gone, and whoever takes it over goes on with the work. Safe with several workers: the number of the attempt
tells whose the lease is, so that a process that was only slow finds out before it answers; it is also the fence that each write carries which follows
from the activity (`fence`): what a slow process writes after another took over comes to nothing. Of a conversation the oldest activity that is not done comes
next, whichever process has it: times rise in the order in which activities were stored, so there is one order for all.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Insert,
    Table,
    Update,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from bot.state import Conflict, State, inbox
from bot.teams.ports import Json
from grounding.database.text import storable

LEASE_S = 3.5
"""Renewed every second. So a turn whose process is gone goes on within five seconds."""
UNHELD_S = 10.0
"""Seconds after which an activity that nobody holds is not waited for: whoever should have taken it over has not."""
EDITED, DELETED = " edited ", " deleted "
"""What stands behind the id of a message in the key of an edited form of it, and in front of it in that of its deletion: no activity's id has a space."""
_RELEASED = 0.0
"""The lease of what was let go of: it has run out, and no other has this end."""
RELEASED_S = 300.0
"""Seconds from when it came in that what was let go of is waited for: whoever takes it over goes on with it for so long."""
_STEP_S = 1e-6
"""What a time is later by, at least, than that of the activity stored before it in its conversation: a clock may be put back."""


@dataclass(frozen=True, slots=True)
class ActivityKey:
    """What makes an activity the same activity when it is delivered again."""

    channel: str
    conversation: str
    activity: str


@dataclass(frozen=True, slots=True)
class Abandoned:
    """An activity whose worker is gone, claimed as the attempt `number`. `deaths`: of workers that may have died of it: the first that had it, and those that had begun it; `age_s` since it came in."""

    key: ActivityKey
    activity: Json
    number: int
    deaths: int
    age_s: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try at an activity, its `number` from 1: that of the newest is the fence."""

    key: ActivityKey
    number: int


def fence(held: Attempt | None) -> tuple[ColumnElement[bool], ...]:
    """The condition of a write that follows from an activity: it is in hand, by this attempt, and stays so until the write is committed. None: no activity is in hand."""
    if held is None:
        return ()
    return (exists(select(literal(1)).where(_in_hand(held)).with_for_update(read=True)),)


def ended(held: Attempt) -> Update:
    """The end of an activity that is in hand by this attempt: its key stays against repeats, the words go. Nothing where another attempt has it."""
    return update(inbox).where(_in_hand(held)).values(status="done", body=None)


def fenced_insert(table: Table, row: Mapping[str, object], held: Attempt | None) -> Insert:
    """An insert of a row that comes to nothing behind the fence of `held`."""
    if held is None:
        return insert(table).values(**row).inline()  # nobody asks for its number
    values = select(*(literal(value, table.c[name].type) for name, value in row.items()))
    return insert(table).from_select(list(row), values.where(*fence(held)))


def key_of(activity: Json) -> ActivityKey:
    """The key of an activity; one without an id is a new one each time."""
    return ActivityKey(activity["channelId"], activity["conversation"]["id"], activity.get("id") or uuid.uuid4().hex)


class Inbox:
    """The durable list of activities. Times are seconds since the epoch, by the clock of `state` unless there is a `clock`."""

    def __init__(self, state: State, *, lease_s: float = LEASE_S, clock: Callable[[], float] | None = None) -> None:
        self._state = state
        self._lease = lease_s
        self._clock = clock

    async def take(self, key: ActivityKey, activity: Json, *, left_to_others: bool = False) -> bool:
        """True if this is the first delivery; False if it was taken before.

        Where the connection is lost behind it nobody knows whether it is stored, and a StoreError says so; `left_to_others`: then it is taken again, and perhaps found taken by us. Nobody holds on
        to it so, and whoever looks for what was left goes on with it, which is right for a message whose answer is sent by itself.
        """
        now, other = self._now(), inbox.alias()
        newest = select(func.max(other.c.received_at)).where(_with(key, other)).scalar_subquery()
        received_at = case((newest >= now, newest + _STEP_S), else_=now)
        row = {**_columns(key), "status": "received", "attempts": 1, "lease_until": now + self._lease}
        body = json.dumps(activity, ensure_ascii=False)
        lock = storable(f"inbox {key.channel} {key.conversation}")
        try:
            await self._state.write(
                lambda c: c.execute(insert(inbox).values(**row, received_at=received_at, body=body)),
                lock=lock,
                repeatable=left_to_others,
            )
        except Conflict:
            return False
        return True

    async def once(self, key: ActivityKey) -> bool:
        """True for the first who asks, False for all later ones: of what is done at once, and never taken over."""
        row = {**_columns(key), "status": "done", "attempts": 1, "lease_until": _RELEASED}
        noted = insert(inbox).values(**row, received_at=self._now(), body=None)
        try:
            await self._state.write(lambda c: c.execute(noted))
        except Conflict:
            return False
        return True

    async def done(self, key: ActivityKey, attempt: int = 1) -> None:
        """Finished by this attempt, as `ended` has it."""
        await self._state.write(lambda c: c.execute(ended(Attempt(key, attempt))), repeatable=True)

    async def forget(self, key: ActivityKey) -> None:
        """As if it had never come, so that a repeat is taken."""
        await self._state.run(lambda c: c.execute(delete(inbox).where(_is(key))))

    async def take_back(self, key: ActivityKey, version: str = "") -> None:
        """The message was edited or deleted: end it, and each edited form of it but `version`, wherever it is in hand. Whoever has it finds the fence moved."""
        mine = and_(_forms_of(key), inbox.c.activity != version, inbox.c.status == "received")
        ended = update(inbox).where(mine).values(status="done", body=None, attempts=inbox.c.attempts + 1)
        await self._state.write(lambda c: c.execute(ended))

    async def changed(self, key: ActivityKey) -> bool:
        """Whether the message was edited or deleted since."""
        own, other = inbox.alias(), inbox.alias()
        plain = key.activity.partition(EDITED)[0]
        later = and_(_forms_of(replace(key, activity=plain), other), other.c.received_at > own.c.received_at)
        gone = _is(replace(key, activity=f"{DELETED}{plain}"), other)
        wanted = select(literal(1)).where(_is(key, own), or_(later, gone)).limit(1)
        return await self._state.ask(lambda c: c.execute(wanted).first()) is not None

    async def renew(self, held: Mapping[ActivityKey, int]) -> None:
        """Hold on to what is still being worked on: keys with the attempt that holds them."""
        await self._set_lease(held, self._now() + self._lease)

    async def release(self, held: Mapping[ActivityKey, int]) -> None:
        """Let go of what could not be finished; the next process takes it up at once."""
        await self._set_lease(held, literal(_RELEASED))

    async def begin(self, held: Attempt) -> None:
        """Note that an activity which was taken over is worked on now: where its worker dies from here on, the activity may be the reason. What only waited there counts no further death."""
        begun = update(inbox).where(_in_hand(held)).values(begun=1)
        await self._state.write(lambda c: c.execute(begun), repeatable=True)

    async def holds(self, held: Attempt) -> bool:
        """Whether the activity is still this attempt's, and no other process has taken it over."""
        wanted = select(inbox.c.attempts).where(_is(held.key))
        return await self._state.ask(lambda c: c.execute(wanted).scalar_one_or_none()) == held.number

    def earlier(self, key: ActivityKey) -> ColumnElement[bool]:
        """The condition that something which came before it in its conversation is still worked on, by any process."""
        own, other = inbox.alias(), inbox.alias()
        earlier = or_(
            other.c.received_at < own.c.received_at,
            and_(other.c.received_at == own.c.received_at, other.c.activity < own.c.activity),
        )
        let_go = and_(other.c.lease_until == _RELEASED, other.c.received_at > self._now() - RELEASED_S)
        held = or_(other.c.lease_until > self._now() - UNHELD_S, let_go)
        return exists(select(literal(1)).where(_is(key, own), _with(key, other), held, earlier))

    async def knows(self, key: ActivityKey) -> bool:
        """Whether the activity came in before."""
        wanted = select(inbox.c.status).where(_is(key))
        return await self._state.ask(lambda c: c.execute(wanted).scalar_one_or_none()) is not None

    async def take_over(self, limit: int = 100) -> list[Abandoned]:
        """Claim what was received and whose lease has run out. Two processes never claim the same one."""
        now = self._now()

        def work(connection: Connection) -> list[Abandoned]:
            lapsed = and_(inbox.c.status == "received", inbox.c.lease_until < now)
            wanted = select(inbox, (now - inbox.c.received_at).label("age_s")).where(lapsed)
            rows = connection.execute(wanted.order_by(inbox.c.received_at).limit(limit)).all()
            claimed = []
            for row in rows:
                key = ActivityKey(row.channel, row.conversation, row.activity)
                unchanged = and_(_is(key), inbox.c.lease_until == row.lease_until, inbox.c.status == "received")
                died = row.lease_until != _RELEASED and (row.begun or not row.deaths)
                number, deaths = row.attempts + 1, row.deaths + died
                values = {"lease_until": now + self._lease, "attempts": number, "deaths": deaths, "begun": 0}
                if connection.execute(update(inbox).where(unchanged).values(values)).rowcount == 1:
                    claimed.append(Abandoned(key, json.loads(row.body), number, deaths, row.age_s))
            return claimed

        return await self._state.run(work)

    async def give_up(self) -> int:
        """Finish all that is not, without an answer, because an older state was put back and others answered since; how many they were. The keys stay against repeats."""
        finished = update(inbox).where(inbox.c.status == "received").values(status="done", body=None)
        return await self._state.run(lambda c: c.execute(finished).rowcount)

    async def trim(self, older_than_s: float) -> None:
        """Delete what is done and older."""
        before = self._now() - older_than_s
        await self._state.run(
            lambda c: c.execute(delete(inbox).where(inbox.c.status == "done", inbox.c.received_at < before))
        )

    def _now(self) -> ColumnElement[float]:
        return self._state.now() if self._clock is None else literal(self._clock())

    async def _set_lease(self, held: Mapping[ActivityKey, int], until: ColumnElement[float]) -> None:
        chosen = list(held.items())

        def work(connection: Connection) -> None:
            own = tuple_(inbox.c.channel, inbox.c.conversation, inbox.c.activity, inbox.c.attempts)
            for start in range(0, len(chosen), 200):
                part = [(key.channel, key.conversation, key.activity, n) for key, n in chosen[start : start + 200]]
                # a condition for each, joined by OR, would be a statement of its own for each number of them, and takes a tenth of a second to put together
                held = own.in_(part) & (inbox.c.status == "received")
                connection.execute(update(inbox).where(held).values(lease_until=until))

        if chosen:
            await self._state.run(work)


def _columns(key: ActivityKey) -> dict[str, str]:
    return {"channel": key.channel, "conversation": key.conversation, "activity": key.activity}


def _in_hand(held: Attempt) -> ColumnElement[bool]:
    return and_(_is(held.key), inbox.c.attempts == held.number, inbox.c.status == "received")


def _is(key: ActivityKey, rows: FromClause = inbox) -> ColumnElement[bool]:
    return and_(rows.c.channel == key.channel, rows.c.conversation == key.conversation, rows.c.activity == key.activity)


def _forms_of(key: ActivityKey, rows: FromClause = inbox) -> ColumnElement[bool]:
    """The message itself and its edited forms."""
    edited = rows.c.activity.startswith(f"{key.activity}{EDITED}", autoescape=True)
    return and_(
        rows.c.channel == key.channel,
        rows.c.conversation == key.conversation,
        or_(rows.c.activity == key.activity, edited),
    )


def _with(key: ActivityKey, rows: FromClause) -> ColumnElement[bool]:
    """What is not done in the conversation of `key`."""
    return and_(rows.c.channel == key.channel, rows.c.conversation == key.conversation, rows.c.status == "received")
