"""URLs and e-mail addresses: linkify-it finds widely, exact validation follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from linkify_it import LinkifyIt
from linkify_it.tlds import TLDS

from rai.claims.found import Found

_TOKEN = re.compile(r"[^\s<>\"“”`|]{4,2048}")
_LIKELY = re.compile(r"[^\W_][.@][^\W_]|://", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-]|\.\w)")
_HOST = re.compile(
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:[^\W\d_]{2,24}|xn--[a-z0-9-]{2,59})\.?|localhost|\d{1,3}(?:\.\d{1,3}){3}",
    re.IGNORECASE,
)
# Country domains that are file endings or words: bare, `main.py` is a file and "it.is" lacks a space
_FILES = frozenset(
    [
        "py",
        "md",
        "sh",
        "rs",
        "pl",
        "ps",
        "cc",
        "ml",
        "so",
        "js",
        "ts",
        "zip",
        "mov",
        "in",
        "is",
        "it",
        "me",
        "to",
        "at",
        "be",
        "do",
        "no",
        "us",
        "my",
        "am",
        "pm",
    ]
)
_PRIVATE = ("example", "corp", "internal", "lan", "intranet")
"""Not in the public list of top-level domains, and still where a link can lead."""
_LINKIFY = LinkifyIt(options={"fuzzy_link": True, "fuzzy_email": False, "fuzzy_ip": False}).tlds([*TLDS, *_PRIVATE])


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a URL that decide where it leads: host without "www.", and all after it."""

    host: str
    rest: str

    @property
    def value(self) -> str:
        return f"https://{self.host}{self.rest}"


def parse(url: str) -> Address | None:
    """Host and rest of a URL, or None if it is not one. http and https, "www." and a final slash say the same."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        host, port = (parts.hostname or "").lower().removeprefix("www.").rstrip("."), parts.port
    except ValueError:
        return None
    if not _HOST.fullmatch(host):
        return None
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    path = parts.path.rstrip("/")
    return Address(host if port in (None, 80, 443) else f"{host}:{port}", path + query + fragment)


def find_url(text: str) -> list[Found]:
    """URLs and bare domains. `main.py` is a file, `a@b.com` an e-mail address, a full stop after a URL is not of it."""
    found: list[Found] = []
    for token in _TOKEN.finditer(text):
        if not _LIKELY.search(token.group()):
            continue
        for start, end in _spans(token.group()):
            address = _valid(token.group(), start, end)
            if address:
                found.append(Found("url", token.start() + start, token.start() + end, address.value))
    return found


@lru_cache(maxsize=4096)
def _spans(token: str) -> tuple[tuple[int, int], ...]:
    return tuple(
        (m.index, m.last_index)
        for m in _LINKIFY.match(token) or ()
        if m.schema in ("", "http:", "https:", "ftp:", "//")
    )


def _valid(token: str, start: int, end: int) -> Address | None:
    raw = token[start:end]
    if "@" in raw.split("/", 3)[-1 if "://" in raw else 0].split("/")[0] or (start and token[start - 1] == "@"):
        return None
    address = parse(raw)
    if address is None:
        return None
    plain = "://" not in raw and not raw.lower().startswith("www.") and "/" not in raw
    domain = raw.rpartition(".")[2]
    glued = plain and len(domain) > 2 and not domain.islower()  # "5 days.Call us" lacks a space
    return None if glued or (plain and address.host.rpartition(".")[2] in _FILES) else address


def find_email(text: str) -> list[Found]:
    """E-mail addresses, in lower case."""
    return [Found("email", m.start(), m.end(), m.group().lower()) for m in _EMAIL.finditer(text)]
