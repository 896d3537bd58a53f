"""What hangs on a message: files are read for this conversation, by the readers of the knowledge base and never into it; what cannot be read is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from bot.settings.groups.serving import LOOPBACK
from bot.teams.ports import Json
from bot.teams.shown.render import plain, shorten
from bot.wording.conversation.teams import say
from grounding.errors import AttestError, ServiceUnavailable
from grounding.ingest.readers.guarded.guard import Guard

log = logging.getLogger(__name__)

FILE = "application/vnd.microsoft.teams.file.download.info"
HOSTS = (".sharepoint.com", ".sharepoint.us", ".sharepoint.cn")
"""Where Teams keeps the files of chats. Nothing is fetched from anywhere else, whatever a message says."""
MOST, MAX_BYTES, MAX_CHARS, MAX_NAME = 3, 10 * 2**20, 8000, 80
"""Files that are read of one message, bytes of one, characters of all together, and UTF-16 units of a name."""
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Attached:
    """Something that hangs on a message. `url` is empty where there is nothing to fetch."""

    name: str
    kind: Literal["picture", "file"]
    url: str


Left = Literal["file", "file_large", "file_full", "file_many"]
"""Why a file, or the end of one, is left out, as `teams.yaml` says it: it cannot be read; it is too large; the files before it filled the room; there were too many."""


class _Unread(Exception):
    """Nothing was read of a file."""

    def __init__(self, why: Left) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of all that hangs on a message: the text that was read, and the names of what was and what was not, `left` by the reason."""

    text: str = ""
    read: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    left: Mapping[Left, tuple[str, ...]] = field(default_factory=dict)

    def lines(self, language: str) -> str:
        """What the person is told, a paragraph each; empty where nothing hung on the message."""
        told: list[tuple[str, tuple[str, ...]]] = [("picture", self.pictures), *self.left.items(), ("read", self.read)]
        limits = {"most": MOST, "mib": MAX_BYTES // 2**20, "characters": MAX_CHARS}
        return "\n\n".join(
            say(name, language).format(names=", ".join(map(plain, names)), **limits) for name, names in told if names
        )


def attached_to(activity: Json) -> list[Attached]:
    """The files and pictures of a message. Its own text as HTML, which Teams attaches to most messages, and cards are none."""
    found = []
    for item in activity.get("attachments") or ():
        kind = str(item.get("contentType") or "")
        if kind.startswith("image/"):
            found.append(Attached(_name(item, "image"), "picture", ""))
        elif kind == FILE:
            content = item.get("content")
            url = content.get("downloadUrl") if isinstance(content, dict) else None
            found.append(Attached(_name(item, "file"), "file", url if isinstance(url, str) else ""))
        elif kind and kind != "text/html" and not kind.startswith("application/vnd.microsoft."):
            found.append(Attached(_name(item, "file"), "file", ""))
    return found


def asked_nothing(files: Opened, language: str) -> str:
    """What is said to files and pictures without words: of what was read what is wanted to know, else what can be asked."""
    told = replace(files, read=()).lines(language)
    read = ", ".join(map(plain, files.read))
    return f"{told}\n\n{say('what_about', language).format(names=read) if read else say('help', language)}".strip()


async def opened(attached: Sequence[Attached], *, loopback: bool) -> Opened:
    """Fetch and read what can be read, as far as there is room. `loopback`: files may also come from this machine, as from a tool for trying the bot."""
    pictures = tuple(item.name for item in attached if item.kind == "picture")
    texts: list[str] = []
    read: list[str] = []
    left: dict[Left, tuple[str, ...]] = {}

    def leave(name: str, why: Left) -> None:
        left[why] = (*left.get(why, ()), name)

    room = MAX_CHARS
    files = [item for item in attached if item.kind == "file"]
    with Guard() as guard:
        for item in files[:MOST]:
            if not room:
                leave(item.name, "file_full")
                continue
            try:
                text = await _text(item, guard, loopback=loopback)
            except _Unread as unread:
                leave(item.name, unread.why)
                continue
            texts.append(f"{item.name}:\n{text[:room]}")
            read.append(item.name)
            if len(text) > room:
                leave(item.name, "file_full")
            room -= min(room, len(text))
    for item in files[MOST:]:
        leave(item.name, "file_many")
    return Opened("\n\n".join(texts), tuple(read), pictures, left)


async def _text(item: Attached, guard: Guard, *, loopback: bool) -> str:
    """The text of a file. Raises _Unread where there is none."""
    if not _may_fetch(item.url, loopback=loopback):
        raise _Unread("file")
    try:
        data = await _fetched(item.url)
        text = (await asyncio.to_thread(guard.read, data, item.name)).text
    except (AttestError, aiohttp.ClientError, TimeoutError, ValueError) as error:
        log.info("an attached file was not read: %s", type(error).__name__)
        raise _Unread("file") from error
    if not text:
        raise _Unread("file")
    return text


async def _fetched(url: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url, allow_redirects=False) as response:
        if response.status != 200:
            raise ServiceUnavailable("file", f"status {response.status}")
        data = await response.content.read(MAX_BYTES + 1)
        while len(data) <= MAX_BYTES and (more := await response.content.read(MAX_BYTES + 1 - len(data))):
            data += more
    if len(data) > MAX_BYTES:
        raise _Unread("file_large")
    return data


def _may_fetch(url: str, *, loopback: bool) -> bool:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return False
    if host in LOOPBACK:
        return loopback and parts.scheme in ("http", "https")
    return parts.scheme == "https" and parts.username is None and host.endswith(HOSTS)


def _name(item: Any, otherwise: str) -> str:
    name = item.get("name")
    return shorten(" ".join(name.split()), MAX_NAME) if isinstance(name, str) and name.strip() else otherwise
