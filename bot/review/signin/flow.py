"""One way to the provider and back: what ties it to the browser that began it, and where it leads in the end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote, urlsplit

PREFIX = "attest_sign_in_"
HOME = "/review"
_BEFORE_THE_DOOR = ("/review/sign-in", "/review/signed-in", "/review/signed-out", "/review/sign-out")
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Flow:
    """A sign-in that was begun. `secret` lies in a cookie of that browser, and the server knows its hash alone; all that travels is made of it: `state` and
    `nonce` come back and must fit, the `verifier` of PKCE shows that whoever brings the code began the flow. `to`: the page that was wanted.
    """

    secret: str = field(repr=False)
    to: str = HOME

    @classmethod
    def begin(cls, to: str) -> Self:
        """A new one, of 256 bits of chance."""
        return cls(secrets.token_urlsafe(32), own_page(to))

    @classmethod
    def of_cookie(cls, value: str) -> Self:
        """As a browser brings it; whatever it brings is a flow, of which nobody knows unless it was begun here."""
        secret, _, to = value.partition(".")
        try:
            wanted = base64.urlsafe_b64decode(to).decode()
        except ValueError:
            wanted = HOME
        return cls(secret, own_page(wanted))

    @property
    def cookie(self) -> str:
        """The value of its cookie."""
        return f"{self.secret}.{base64.urlsafe_b64encode(self.to.encode()).decode()}"

    @property
    def state(self) -> str:
        return self._made("state")

    @property
    def nonce(self) -> str:
        return self._made("nonce")

    @property
    def verifier(self) -> str:
        return self._made("verifier")

    def is_of(self, state: str) -> bool:
        """True if `state` is this flow's own."""
        return hmac.compare_digest(self.state.encode(), state.encode("utf-8", "replace"))

    def _made(self, what: str) -> str:
        made = hmac.new(self.secret.encode("utf-8", "replace"), what.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


def cookie_name(state: str) -> str:
    """The name of a flow's cookie: each has its own, so that several pages of a browser can sign in at once."""
    return PREFIX + hashlib.sha256(state.encode("utf-8", "replace")).hexdigest()[:12]


def own_page(to: str) -> str:
    """`to` if it is a page of the desk, else its first page: nobody is sent elsewhere after signing in."""
    if len(to) > _LONGEST or not to.isascii() or not to.isprintable() or "\\" in to:
        return HOME
    try:
        parts = urlsplit(to)
    except ValueError:
        return HOME
    own = parts.path == HOME or parts.path.startswith(f"{HOME}/")
    own = own and not {"..", "."} & set(unquote(parts.path).split("/"))  # a browser would walk out of the desk by them
    if parts.scheme or parts.netloc or not own or parts.path.startswith(_BEFORE_THE_DOOR) or "token=" in parts.query:
        return HOME
    return to
