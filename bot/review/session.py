"""Who may read the reviewers' pages: whoever opens a link that works once, in that browser only.

Links and sessions lie in the server's state database. So every worker knows them, and `attest review-link` on the machine
can make a link without a key and without a door that the network could reach: whoever may write that file (mode 0600)
may let a reviewer in. The file holds hashes alone; it opens nothing for who reads a copy of it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from typing import Literal

from sqlalchemy import Column, Connection, Float, String, Table, delete, insert, select

from bot.records import Actor
from bot.state import State, metadata

COOKIE = "attest_review"
SESSION_SECONDS = 8 * 3600
"""A working day; after it a new link is needed."""
LINK_SECONDS = 15 * 60
"""How long a link that was asked for waits to be opened."""

passes = Table(
    "review_passes",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("until", Float, nullable=False, index=True),
)
Kind = Literal["link", "session"]


class ReviewAccess:
    """Exchanges the token of a link, once, for a session. Its owner opens and closes `state`. Everything here raises StoreError."""

    def __init__(self, state: State, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock

    async def offer(self, token: str | None = None, seconds: float = LINK_SECONDS) -> str:
        """The token of a new link, good for `seconds` (or `token` made one), at least 128 bits of chance."""
        token = token or new_token()
        await self._keep("link", token, seconds)
        return token

    async def redeem(self, token: str) -> str | None:
        """The id of a new session, or None if the token is wrong, too old or was used before, by whichever worker."""
        now = self._clock()
        used = delete(passes).where(passes.c.hash == _hash("link", token), passes.c.until > now)
        if await self._state.run(lambda c: c.execute(used).rowcount) != 1:
            return None
        session = secrets.token_urlsafe(32)
        await self._keep("session", session, SESSION_SECONDS)
        return session

    async def admits(self, session: str) -> bool:
        """True if `session` is the id that `redeem` gave and its time is not over."""
        known = select(passes.c.hash).where(passes.c.hash == _hash("session", session), passes.c.until > self._clock())
        return bool(session) and await self._state.run(lambda c: c.execute(known).first() is not None)

    async def revoke(self) -> None:
        """End every session, and every link that waits to be opened."""
        await self._state.run(lambda c: c.execute(delete(passes)))

    async def _keep(self, kind: Kind, secret: str, seconds: float) -> None:
        now = self._clock()

        def work(connection: Connection) -> None:
            connection.execute(delete(passes).where(passes.c.until <= now))
            connection.execute(insert(passes).values(hash=_hash(kind, secret), kind=kind, until=now + seconds))

        await self._state.run(work)


def named(session: str) -> Actor:
    """Who acts in `session`, as the record keeps it: no person is known, but its own is told apart from every other."""
    return Actor(authenticated_by=f"review {_hash('session', session)[:8]}")


def new_token() -> str:
    """The secret part of a link: 192 bits of chance, fit for a URL."""
    return secrets.token_urlsafe(24)


def form_token(session: str) -> str:
    """What a form of `session` carries, so that no other page can fill one in."""
    return hmac.new(session.encode("utf-8", "replace"), b"form", "sha256").hexdigest()


def admits_form(session: str, token: str) -> bool:
    """True if `token` is that of `session`, which was let in."""
    return hmac.compare_digest(form_token(session).encode(), token.encode("utf-8", "replace"))


def _hash(kind: Kind, secret: str) -> str:
    # of 192 random bits: nothing slower is needed. The kind keeps a link from being taken for a session
    return hashlib.sha256(f"{kind} {secret}".encode("utf-8", "replace")).hexdigest()
