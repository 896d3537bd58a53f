"""The addresses of a running server, and the lines that `attest serve` prints of them: what is reached where, what is shut and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.settings.settings import Settings

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - read, never bound
"""Hosts that stand for every address of the machine, and one by which the machine itself reaches the server."""
LOCAL = (
    "Local mode: whoever reaches this port may read everything and ask as anyone, and nothing tells a reverse proxy from a "
    "person. Before you put one in front, set ATTEST_PUBLIC_URL or ATTEST_LOCAL=off."
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a running server is reached. `review` holds the token that opens the page once; None: the command prints one. `desk`: where reviewers sign in; None: nobody does.

    `ended_by` names the settings that ended local mode; it is empty in it.
    """

    chat: str | None
    messages: str
    review: str | None
    bot: Literal["registered", "anonymous", "shut"]
    api: Literal["open", "key", "shut"]
    ended_by: tuple[str, ...]
    desk: str | None = None

    def lines(self) -> tuple[str, ...]:
        """Four lines for the person who started it."""
        return (
            f"Chat page: {self.chat or self._no_chat()}",
            self._bot(),
            self._desk(),
            self._api() if self.ended_by else LOCAL,
        )

    def _desk(self) -> str:
        if self.desk is not None:
            return f"Reviewers sign in: {self.desk}"
        return f"Reviewers' page, a link that works once: {self.review or 'attest review-link, on this machine, prints one'}"

    def _no_chat(self) -> str:
        why, be = " and ".join(self.ended_by), "is" if len(self.ended_by) == 1 else "are"
        return (
            f'shut, because {why} {be} set: it, "as", requests without a key and anonymous bots are for local mode alone; '
            f"to try things on this machine, start another server without {'it' if be == 'is' else 'them'}"
        )

    def _bot(self) -> str:
        if self.bot == "shut":
            return (
                "Bot endpoint: shut, because ATTEST_BOT_APP_ID is not set and an anonymous bot is for local mode alone"
            )
        tools = " for Bot Framework Emulator or Agents Playground" if self.bot == "anonymous" else ""
        return f"Bot endpoint{tools}: {self.messages}"

    def _api(self) -> str:
        if self.api == "shut":
            return "API and /metrics: shut, because ATTEST_API_KEYS is not set"
        return "API and /metrics: with a bearer key of ATTEST_API_KEYS, from this machine too"


def addresses_of(settings: Settings, port: int, token: str | None) -> Addresses:
    """The URLs of a server that listens on `port`; `public_url` is what people see."""
    base = base_url(settings, port)
    unregistered: Literal["anonymous", "shut"] = "anonymous" if settings.local_mode else "shut"
    return Addresses(
        chat=f"{base}/chat" if settings.local_mode else None,
        messages=f"{base}/api/messages",
        review=review_link(base, token) if token else None,
        bot="registered" if settings.bot.app_id is not None else unregistered,
        api="open" if settings.local_mode else "key" if settings.serving.api_keys else "shut",
        ended_by=() if settings.local_mode else settings.serves_others or ("ATTEST_LOCAL=off",),
        desk=f"{base}/review" if settings.signin.is_on else None,
    )


def base_url(settings: Settings, port: int) -> str:
    """The URL by which people reach the server, without a slash at the end: the public one, else that of its own address."""
    host = f"[{settings.serving.host}]" if ":" in settings.serving.host else settings.serving.host
    return (settings.serving.public_url or f"http://{ANYWHERE.get(settings.serving.host, host)}:{port}").rstrip("/")


def review_link(base: str, token: str) -> str:
    """The URL of the reviewers' page with a token that opens it once."""
    return f"{base}/review?token={token}"
