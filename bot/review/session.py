"""Who may read the reviewers' pages: whoever opens the one-time link that `serve` prints, in that browser only."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable

COOKIE = "attest_review"
SESSION_SECONDS = 8 * 3600
"""A working day; after it a new start prints a new link."""


class ReviewDoor:
    """Exchanges the token, once, for a session. Everything is kept in this process and ends with it."""

    def __init__(self, token: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._clock = clock
        self._session: str | None = None
        self._until = 0.0

    @property
    def configured(self) -> bool:
        """False if this server was started without reviewers' pages."""
        return self._token is not None or self._session is not None

    def redeem(self, token: str) -> str | None:
        """The id of a new session, or None if the token is wrong or was used before."""
        if self._token is None or not hmac.compare_digest(self._token.encode(), token.encode("utf-8", "replace")):
            return None
        self._token = None
        self._session = secrets.token_urlsafe(32)
        self._until = self._clock() + SESSION_SECONDS
        return self._session

    def form_token(self) -> str:
        """What a form of this session carries, so that no other page can fill one in."""
        return hmac.new((self._session or "").encode(), b"form", "sha256").hexdigest()

    def admits_form(self, token: str) -> bool:
        """True if `token` is that of the running session."""
        return self._session is not None and hmac.compare_digest(
            self.form_token().encode(), token.encode("utf-8", "replace")
        )

    def admits(self, session: str) -> bool:
        """True if `session` is the id that `redeem` gave and its time is not over."""
        if self._session is None or self._clock() > self._until:
            return False
        return hmac.compare_digest(self._session.encode(), session.encode("utf-8", "replace"))
