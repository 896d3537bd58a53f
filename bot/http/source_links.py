"""Links to a cited passage that expire: made for one person's turn, useless for another's.

The signature is HMAC-SHA256 over entry, citation number, expiry and person. The person is not part of the URL:
whoever opens the link is measured against the person of the ledger entry, and access is checked again.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import quote

from bot.settings.settings import Settings

WHOLE = 0
"""In the place of a citation's number: the page with all the evidence of an answer."""
LINK_SECONDS = 7 * 24 * 3600
"""How long a link in a chat stays good: a working week, so that last week's answer can still be checked."""


@lru_cache(maxsize=1)
def _process_key() -> bytes:
    return secrets.token_bytes(32)


def link_key(key_file: Path) -> bytes:
    """32 bytes derived from the ledger's key file, so that all workers agree; from this process alone while it is not there."""
    try:
        material = key_file.read_bytes()
    except OSError:
        material = _process_key()
    return hmac.new(material, b"attest source links v1", hashlib.sha256).digest()


class SourceLinks:
    """Makes and checks the links of one deployment. `base` is the URL under which people reach the server.

    `key` is asked for each time: the ledger's key is made with the first entry, by whichever worker writes that.
    """

    def __init__(self, key: Callable[[], bytes], base: str = "", clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._base = base.rstrip("/")
        self._clock = clock

    @classmethod
    def of(cls, settings: Settings) -> SourceLinks:
        """The links of these settings; the base is `public_url`, or nothing: then links are paths."""
        return cls(partial(link_key, settings.files.ledger_key), settings.serving.public_url or "")

    def link(self, entry_id: str, n: int, user: str | None, seconds: int = LINK_SECONDS) -> str:
        """A URL (a path without a base) of citation `n` of that entry, good for `seconds` from now."""
        expiry = int(self._clock()) + seconds
        signature = self._sign(entry_id, n, expiry, user)
        return f"{self._base}/source/{quote(entry_id, safe='')}/{n}?exp={expiry}&sig={signature}"

    def evidence(self, entry_id: str, user: str | None, seconds: int = LINK_SECONDS) -> str:
        """A URL (a path without a base) of the page with all the evidence of that entry, good for `seconds` from now."""
        expiry = int(self._clock()) + seconds
        signature = self._sign(entry_id, WHOLE, expiry, user)
        return f"{self._base}/evidence/{quote(entry_id, safe='')}?exp={expiry}&sig={signature}"

    def left(self, expiry: str) -> int:
        """Seconds for which a link with this expiry, one that was found good, stays so."""
        return int(expiry) - int(self._clock())

    def check(self, entry_id: str, n: int, user: str | None, expiry: str, signature: str) -> str | None:
        """None if the link is good, else why not: "expired" or "invalid"."""
        if not (expiry.isascii() and expiry.isdigit() and len(expiry) <= 12):
            return "invalid"
        good = self._sign(entry_id, n, int(expiry), user)
        if not hmac.compare_digest(good.encode(), signature.encode()):
            return "invalid"
        return "expired" if int(expiry) < self._clock() else None

    def _sign(self, entry_id: str, n: int, expiry: int, user: str | None) -> str:
        person = "-" if user is None else "u" + user
        message = "\x00".join((entry_id, str(n), str(expiry), person))
        return hmac.new(self._key(), message.encode(), hashlib.sha256).hexdigest()


def source_link(settings: Settings, entry_id: str, n: int, user: str | None, seconds: int = LINK_SECONDS) -> str:
    """The link that a channel puts under citation `n` of a reply to `user` (None: a stranger)."""
    return SourceLinks.of(settings).link(entry_id, n, user, seconds)


def evidence_link(settings: Settings, entry_id: str, user: str | None) -> str:
    """The link that a channel puts below a reply to `user` (None: a stranger). Empty for a reply without an entry, and where nobody knows the address
    under which people reach the server; in local mode that is this machine.
    """
    base = settings.serving.public_url or (f"http://127.0.0.1:{settings.serving.port}" if settings.local_mode else "")
    if not (entry_id and base):
        return ""
    return SourceLinks(partial(link_key, settings.files.ledger_key), base).evidence(entry_id, user)
