"""Who may read the reviewers' pages: whoever signed in, or opened a link that works once, in that browser only.

Links and sessions lie in the server's state database. So every worker knows them, a restart ends none, and `attest review-link` on the machine
can make a link without a key and without a door that the network could reach: whoever may write that file (mode 0600)
may let a reviewer in. Of what opens the file holds hashes alone, and of the provider no token; it opens nothing for who reads a copy of it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    String,
    Table,
    delete,
    func,
    insert,
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
    Column("hash", String(64), primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("until", Float, nullable=False, index=True),
)
sessions = Table(
    "review_sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
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
    """How long a session of somebody who signed in lasts, and `door`: of whom it must come. Of a session that another door opened nothing is known. `most_waiting`: links, and sign-ins, that are begun and not ended."""

    door: str = ""
    seconds: float = SESSION_SECONDS
    idle_seconds: float = SESSION_SECONDS
    by_link: bool = True
    most_waiting: int = MOST_WAITING


class ReviewAccess:
    """Exchanges the token of a link, or a sign-in, for a session. Its owner opens and closes `state`. Everything here raises StoreError.

    `terms`: which sessions are admitted, and for how long. When the provider, the application or the groups of a role become others, the sessions of before are over.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.time, terms: SessionTerms | None = None) -> None:
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
        if not self._terms.by_link or not await self._use("link", token):
            return None
        return await self._open(BY_LINK, Role.ADMINISTRATOR, None, SESSION_SECONDS, SESSION_SECONDS)

    async def begin(self, secret: str) -> None:
        """Somebody goes to the provider; `secret` is of their browser alone."""
        await self._keep("sign-in", secret, SIGNING_IN_SECONDS)

    async def end(self, secret: str) -> bool:
        """They came back: True the first time, in time."""
        return await self._use("sign-in", secret)

    async def enter(self, person: Person, role: Role, before: str = "") -> Session:
        """A new session of somebody who signed in; the one that the browser had `before` ends."""
        if before:
            await self.leave(before)
        return await self._open(self._terms.door, role, person, self._terms.seconds, self._terms.idle_seconds)

    async def admitted(self, secret: str) -> Session | None:
        """The session of this cookie; None if there is none, its time is over, or it was opened by a door that is shut now. It counts as used."""
        if not secret:
            return None
        now, name = self._clock(), _hash("session", secret)
        known = select(sessions).where(sessions.c.hash == name, *self._let_in(now))

        def work(connection: Connection) -> Session | None:
            row = connection.execute(known).first()
            if row is None:
                return None
            if now - row.used >= NOTED_SECONDS:
                connection.execute(update(sessions).where(sessions.c.hash == name).values(used=now))
            return Session(secret, Role(row.role), _person(row))

        return await self._state.run(work)

    async def leave(self, secret: str) -> None:
        """End a session."""
        await self._state.run(lambda c: c.execute(delete(sessions).where(sessions.c.hash == _hash("session", secret))))

    async def open_sessions(self) -> list[OpenSession]:
        """All sessions that are let in now, the newest first."""
        of = select(sessions).where(*self._let_in(self._clock()))

        def work(connection: Connection) -> list[OpenSession]:
            rows = connection.execute(of.order_by(sessions.c.begun.desc(), sessions.c.hash))
            return [OpenSession(r.hash, r.hash[:8], Role(r.role), _person(r), r.begun, r.used, r.until) for r in rows]

        return await self._state.run(work)

    def _let_in(self, now: float) -> tuple[ColumnElement[bool], ...]:
        """What holds of a session that is let in: its door is open, and its time is not over."""
        doors = [
            door for door, is_open in ((self._terms.door, True), (BY_LINK, self._terms.by_link)) if door and is_open
        ]
        return sessions.c.door.in_(doors), sessions.c.until > now, sessions.c.used + sessions.c.idle > now

    async def expel(self, key: str) -> bool:
        """End the session of this key, as `open_sessions` names it; False if there is none."""
        gone = delete(sessions).where(sessions.c.hash == key)
        return await self._state.run(lambda c: c.execute(gone).rowcount) == 1

    async def revoke(self) -> None:
        """End every session, every link that waits to be opened, and every sign-in that is under way."""

        def work(connection: Connection) -> None:
            connection.execute(delete(passes))
            connection.execute(delete(sessions))

        await self._state.run(work)

    async def _open(self, door: str, role: Role, person: Person | None, seconds: float, idle: float) -> Session:
        now, secret = self._clock(), secrets.token_urlsafe(32)
        row = {
            "hash": _hash("session", secret),
            "door": door,
            "role": int(role),
            "user": person.user if person else None,
            "name": person.name if person else None,
            "tenant": person.tenant if person else None,
            "begun": now,
            "used": now,
            "idle": idle,
            "until": now + seconds,
        }

        def work(connection: Connection) -> None:
            connection.execute(delete(sessions).where(sessions.c.until <= now))
            connection.execute(insert(sessions).values(row))

        await self._state.run(work)
        return Session(secret, role, person)

    async def _keep(self, kind: Kind, secret: str, seconds: float) -> None:
        now = self._clock()

        def work(connection: Connection) -> None:
            connection.execute(delete(passes).where(passes.c.until <= now))
            waiting = connection.execute(
                select(func.count()).select_from(passes).where(passes.c.kind == kind)
            ).scalar_one()
            if waiting >= self._terms.most_waiting:
                oldest = (
                    select(passes.c.hash)
                    .where(passes.c.kind == kind)
                    .order_by(passes.c.until)
                    .limit(max(1, self._terms.most_waiting // 10))
                )
                connection.execute(delete(passes).where(passes.c.hash.in_(oldest)))
            connection.execute(insert(passes).values(hash=_hash(kind, secret), kind=kind, until=now + seconds))

        await self._state.run(work)

    async def _use(self, kind: Kind, secret: str) -> bool:
        used = delete(passes).where(passes.c.hash == _hash(kind, secret), passes.c.until > self._clock())
        return await self._state.run(lambda c: c.execute(used).rowcount) == 1


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


def _person(row: Any) -> Person | None:
    return None if row.user is None else Person(row.user, row.name or "", row.tenant or "")


def _hash(kind: str, secret: str) -> str:
    # of 192 random bits: nothing slower is needed. The kind keeps a link from being taken for a session
    return hashlib.sha256(f"{kind} {secret}".encode("utf-8", "replace")).hexdigest()
