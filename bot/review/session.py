"""Who may read the reviewers' pages: whoever signed in, or opened a link that works once, in that browser only.

Links and sessions lie in the server's state database. So every worker knows them, a restart ends none, and `attest review-link` on the machine
can make a link without a key and without a door that the network could reach: whoever may write that file (mode 0600), or in that database,
may let a reviewer in. Of what opens it holds hashes alone, and of the provider no token; it opens nothing for who reads a copy of it.

Whatever deletes several rows holds a lock, and everything else touches one row that is there, so that workers never wait for each other in a circle.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Delete,
    Float,
    Insert,
    Integer,
    String,
    Table,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from bot.records import Actor, ReviewerActor
from bot.review.roles import Role
from bot.state import State, metadata
from grounding.database.text import AnyString

COOKIE = "attest_review"
SESSION_SECONDS = 8 * 3600
"""A working day; after it a new link is needed."""
LINK_SECONDS = 15 * 60
"""How long a link that was asked for waits to be opened."""
SIGNING_IN_SECONDS = 10 * 60
"""How long somebody may take at the provider."""
NOTED_SECONDS = 30.0
"""A session that was used is written down no more often than this."""
MOST_WAITING = 10_000
"""Sign-ins that are begun and not ended, before the oldest are given up: anybody can begin one."""
BY_LINK = "link"
"""The door of sessions that a link opened."""

passes = Table(
    "review_passes",
    metadata,
    Column("hash", AnyString(64), primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("until", Float, nullable=False, index=True),
)
sessions = Table(
    "review_sessions",
    metadata,
    Column("hash", AnyString(64), primary_key=True),
    Column("door", String(64), nullable=False),
    Column("role", Integer, nullable=False),
    Column("user", AnyString(256)),
    Column("name", AnyString(256)),
    Column("tenant", AnyString(512)),
    Column("begun", Float, nullable=False),
    Column("used", Float, nullable=False),
    Column("idle", Float, nullable=False),
    Column("until", Float, nullable=False, index=True),
)
Kind = Literal["link", "sign-in"]
_LOCK = "review"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signed in. `user`: as the directory knows them; `tenant`: the provider's, or its issuer where it names none: `user` is unique in it."""

    user: str
    name: str
    tenant: str


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that was let in. `person`: None where a link did it; `secret`: the value of its cookie."""

    secret: str = field(repr=False)
    role: Role = Role.ADMINISTRATOR
    person: Person | None = None

    @property
    def mark(self) -> str:
        """The beginning of its hash: it tells sessions apart, and opens nothing."""
        return _hash("session", self.secret)[:8]

    @property
    def name(self) -> str:
        """Whom the page greets."""
        return self.person.name or self.person.user if self.person else "Reviewer by link"


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session as an administrator sees it; times are seconds since 1970."""

    key: str
    mark: str
    role: Role
    person: Person | None
    begun: float
    used: float
    until: float


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """How long a session of somebody who signed in lasts, and `door`: of whom it must come. Of a session that another door opened nothing is known. `most_waiting`: links, and sign-ins, that are begun and not ended (a few more where several begin at the same moment)."""

    door: str = ""
    seconds: float = SESSION_SECONDS
    idle_seconds: float = SESSION_SECONDS
    by_link: bool = True
    most_waiting: int = MOST_WAITING


class ReviewAccess:
    """Exchanges the token of a link, or a sign-in, for a session. Its owner opens and closes `state`. Everything here raises StoreError.

    `terms`: which sessions are admitted, and for how long. When the provider, the application or the groups of a role become others, the sessions of before are over.
    `clock`: seconds since 1970, that of `state` without one.
    """

    def __init__(
        self, state: State, clock: Callable[[], float] | None = None, terms: SessionTerms | None = None
    ) -> None:
        self._state = state
        self._clock = clock
        self._terms = terms or SessionTerms()

    async def offer(self, token: str | None = None, seconds: float = LINK_SECONDS) -> str:
        """The token of a new link, good for `seconds` (or `token` made one), at least 128 bits of chance."""
        token = token or new_token()
        await self._keep("link", token, seconds)
        return token

    async def redeem(self, token: str) -> Session | None:
        """A new session, or None if the token is wrong, too old or was used before, by whichever worker, or links open nothing here."""
        if not self._terms.by_link:
            return None
        session = Session(secrets.token_urlsafe(32))
        used = self._use("link", token)
        opened = self._opened(session, BY_LINK, SESSION_SECONDS, SESSION_SECONDS)

        def work(connection: Connection) -> Session | None:
            # one transaction: whoever revokes waits for it at the link, and then finds the session
            if connection.execute(used).rowcount != 1:
                return None
            connection.execute(opened)
            return session

        return await self._state.run(work)

    async def begin(self, secret: str) -> None:
        """Somebody goes to the provider; `secret` is of their browser alone."""
        await self._keep("sign-in", secret, SIGNING_IN_SECONDS)

    async def end(self, secret: str) -> bool:
        """They came back: True the first time, in time."""
        used = self._use("sign-in", secret)
        return await self._state.run(lambda c: c.execute(used).rowcount) == 1

    async def enter(self, person: Person, role: Role, before: str = "") -> Session:
        """A new session of somebody who signed in; the one that the browser had `before` ends."""
        session = Session(secrets.token_urlsafe(32), role, person)
        opened = self._opened(session, self._terms.door, self._terms.seconds, self._terms.idle_seconds)

        def work(connection: Connection) -> None:
            if before:
                connection.execute(_ended(before))
            connection.execute(opened)

        await self._state.run(work)
        return session

    async def admitted(self, secret: str) -> Session | None:
        """The session of this cookie; None if there is none, its time is over, or it was opened by a door that is shut now. It counts as used."""
        if not secret:
            return None
        now, name = self._now(), _hash("session", secret)
        due = (sessions.c.used <= now - NOTED_SECONDS).label("due")
        known = select(sessions, due).where(sessions.c.hash == name, *self._let_in(now))

        def work(connection: Connection) -> Session | None:
            row = connection.execute(known).first()
            if row is None:
                return None
            if row.due:
                connection.execute(update(sessions).where(sessions.c.hash == name).values(used=now))
            return Session(secret, Role(row.role), _person(row))

        return await self._state.run(work)

    async def leave(self, secret: str) -> None:
        """End a session."""
        await self._state.run(lambda c: c.execute(_ended(secret)))

    async def open_sessions(self) -> list[OpenSession]:
        """All sessions that are let in now, the newest first."""
        of = select(sessions).where(*self._let_in(self._now()))

        def work(connection: Connection) -> list[OpenSession]:
            rows = connection.execute(of.order_by(sessions.c.begun.desc(), sessions.c.hash))
            return [OpenSession(r.hash, r.hash[:8], Role(r.role), _person(r), r.begun, r.used, r.until) for r in rows]

        return await self._state.run(work)

    def _let_in(self, now: ColumnElement[float]) -> tuple[ColumnElement[bool], ...]:
        """What holds of a session that is let in: its door is open, and its time is not over."""
        doors = [
            door for door, is_open in ((self._terms.door, True), (BY_LINK, self._terms.by_link)) if door and is_open
        ]
        return sessions.c.door.in_(doors), sessions.c.until > now, sessions.c.used + sessions.c.idle > now

    async def expel(self, key: str) -> bool:
        """End the session of this key, as `open_sessions` names it; False if there is none."""
        gone = delete(sessions).where(sessions.c.hash == key)
        return await self._state.run(lambda c: c.execute(gone).rowcount) == 1

    async def revoke(self) -> int:
        """End every session, every link that waits to be opened, and every sign-in that is under way; how many they were."""

        def work(connection: Connection) -> int:
            return connection.execute(delete(passes)).rowcount + connection.execute(delete(sessions)).rowcount

        return await self._state.run(work, lock=_LOCK)

    def _now(self) -> ColumnElement[float]:
        """The time, as a part of a statement that is found out once: an index can be searched for it."""
        return select(self._state.now() if self._clock is None else literal(self._clock())).scalar_subquery()

    def _opened(self, session: Session, door: str, seconds: float, idle: float) -> Insert:
        """The statement that lets `session` in."""
        now, person = self._now(), session.person
        return insert(sessions).values(
            {
                "hash": _hash("session", session.secret),
                "door": door,
                "role": int(session.role),
                "user": person.user if person else None,
                "name": person.name if person else None,
                "tenant": person.tenant if person else None,
                "begun": now,
                "used": now,
                "idle": idle,
                "until": now + seconds,
            }
        )

    async def _keep(self, kind: Kind, secret: str, seconds: float) -> None:
        now = self._now()
        waits = insert(passes).values(hash=_hash(kind, secret), kind=kind, until=now + seconds)
        to_tidy = select(or_(_over(passes, now), _over(sessions, now), _waiting(kind) >= self._terms.most_waiting))

        def if_tidy(connection: Connection) -> bool:
            if connection.execute(to_tidy).scalar_one():
                return False
            connection.execute(waits)
            return True

        def tidied(connection: Connection) -> None:
            self._tidy(connection, kind, now)
            connection.execute(waits)

        # the lock is seldom taken: anybody can begin a sign-in, as often as they like
        if not await self._state.run(if_tidy):
            await self._state.run(tidied, lock=_LOCK)

    def _tidy(self, connection: Connection, kind: Kind, now: ColumnElement[float]) -> None:
        """Delete what is over, and of what waits the oldest where there is too much of it."""
        for table in (passes, sessions):
            connection.execute(delete(table).where(table.c.until <= now))
        if connection.execute(select(_waiting(kind))).scalar_one() >= self._terms.most_waiting:
            oldest = (
                select(passes.c.hash)
                .where(passes.c.kind == kind)
                .order_by(passes.c.until)
                .limit(max(1, self._terms.most_waiting // 10))
            )
            connection.execute(delete(passes).where(passes.c.hash.in_(oldest)))

    def _use(self, kind: Kind, secret: str) -> Delete:
        """The statement that uses up what waits: of all who say it at once it deletes a row for one."""
        return delete(passes).where(passes.c.hash == _hash(kind, secret), passes.c.until > self._now())


def named(session: Session) -> Actor:
    """Who acts in `session`, as the record keeps it. Who came by a link is no known person, but each session is told apart from every other."""
    if session.person is None:
        return Actor(authenticated_by=f"review {session.mark}")
    who = session.person
    return ReviewerActor(who.user, f"oidc {session.mark}", who.tenant, who.name, session.role.label)


def new_token() -> str:
    """The secret part of a link: 192 bits of chance, fit for a URL."""
    return secrets.token_urlsafe(24)


def form_token(session: Session) -> str:
    """What a form of `session` carries, so that no other page can fill one in."""
    return hmac.new(session.secret.encode("utf-8", "replace"), b"form", "sha256").hexdigest()


def admits_form(session: Session, token: str) -> bool:
    """True if `token` is that of `session`, which was let in."""
    return hmac.compare_digest(form_token(session).encode(), token.encode("utf-8", "replace"))


def _ended(secret: str) -> Delete:
    return delete(sessions).where(sessions.c.hash == _hash("session", secret))


def _over(table: Table, now: ColumnElement[float]) -> ColumnElement[bool]:
    return exists().where(table.c.until <= now)


def _waiting(kind: Kind) -> ColumnElement[int]:
    return select(func.count()).select_from(passes).where(passes.c.kind == kind).scalar_subquery()


def _person(row: Any) -> Person | None:
    return None if row.user is None else Person(row.user, row.name or "", row.tenant or "")


def _hash(kind: str, secret: str) -> str:
    # of 192 random bits: nothing slower is needed. The kind keeps a link from being taken for a session
    return hashlib.sha256(f"{kind} {secret}".encode("utf-8", "replace")).hexdigest()
