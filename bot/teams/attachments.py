"""What hangs on a message: files are read for this conversation, by the readers of the knowledge base and never into it; what cannot be read is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from bot.settings.groups.serving import LOOPBACK
from bot.teams.ports import Json
from bot.teams.render import plain, shorten
from bot.wording.teams import say
from grounding.errors import AttestError, ServiceUnavailable
from grounding.ingest.readers.guard import Guard

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


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of all that hangs on a message: the text that was read, and the names of what was and what could not be."""

    text: str = ""
    read: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def lines(self, language: str) -> str:
        """What the person is told, a paragraph each; empty where nothing hung on the message."""
        told = (("picture", self.pictures), ("file", self.unread), ("read", self.read))
        return "\n\n".join(
            say(name, language).format(names=", ".join(map(plain, names))) for name, names in told if names
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
    """Fetch and read what can be read. `loopback`: files may also come from this machine, as from a tool for trying the bot."""
    pictures = tuple(item.name for item in attached if item.kind == "picture")
    texts: list[str] = []
    read: list[str] = []
    unread: list[str] = []
    room = MAX_CHARS
    files = [item for item in attached if item.kind == "file"]
    with Guard() as guard:
        for item in files[:MOST]:
            text = await _text(item, guard, loopback=loopback) if room else ""
            if text:
                texts.append(f"{item.name}:\n{text[:room]}")
                room -= min(room, len(text))
            (read if text else unread).append(item.name)
    unread += [item.name for item in files[MOST:]]
    return Opened("\n\n".join(texts), tuple(read), pictures, tuple(unread))


async def _text(item: Attached, guard: Guard, *, loopback: bool) -> str:
    """The text of a file, empty if it cannot be had."""
    if not _may_fetch(item.url, loopback=loopback):
        return ""
    try:
        data = await _fetched(item.url)
        return (await asyncio.to_thread(guard.read, data, item.name)).text
    except (AttestError, aiohttp.ClientError, TimeoutError, ValueError) as error:
        log.info("an attached file was not read: %s", type(error).__name__)
        return ""


async def _fetched(url: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url, allow_redirects=False) as response:
        if response.status != 200:
            raise ServiceUnavailable("file", f"status {response.status}")
        data = await response.content.read(MAX_BYTES + 1)
        while len(data) <= MAX_BYTES and (more := await response.content.read(MAX_BYTES + 1 - len(data))):
            data += more
    if len(data) > MAX_BYTES:
        raise ValueError("too large")
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
