"""Sending with patience: the channel's own limits are waited for, within bounds; everything is checked before it goes."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from bot.teams.activity import addressed, is_teams
from bot.teams.ports import Json, SendFailed, Transport
from bot.teams.shown.message_limits import check_activity
from bot.teams.shown.render import plain_form

log = logging.getLogger(__name__)

RETRIED = frozenset({412, 429, 502, 504})
"""Statuses for which Microsoft asks for a retry with jitter (Teams, "Optimize your bot with rate limiting")."""
LATER = RETRIED | {503}
"""Statuses after which the message surely did not arrive, so that it may be sent again much later."""
TRIES = 5
BASE_S = 1.0
LONGEST_WAIT_S = 20.0


class Outbox:
    """Where finished activities go. `sleep` and `base_s` are parameters so that tests need not wait."""

    def __init__(
        self,
        transport: Transport,
        *,
        tries: int = TRIES,
        base_s: float = BASE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._transport = transport
        self._tries = tries
        self._base = base_s
        self._sleep = sleep

    async def deliver(self, inbound: Json, message: Json, *, patient: bool = True) -> str | None:
        """Send a message as the answer to `inbound`; the id that the channel gave it. Raises SendFailed after retries; not `patient`: after one try.

        A message that Teams would refuse goes out as its text alone: the person gets the answer, the log the reason.
        """
        problems = check_activity(message) if is_teams(inbound) else []
        if problems:
            log.error("a message would have been refused by Teams: %s", "; ".join(problems))
            message = plain_form(message)
        activity = addressed(inbound, message)
        return await self._patiently(lambda: self._transport.send(activity), self._tries if patient else 1)

    async def replace(self, inbound: Json, sent_id: str, message: Json, *, patient: bool = True) -> None:
        """Put `message` in the place of one sent before. Raises SendFailed after retries; not `patient`: after one try."""
        activity = {**addressed(inbound, message), "id": sent_id}
        await self._patiently(lambda: self._transport.update(activity), self._tries if patient else 1)

    async def signal(self, inbound: Json, activity: Json) -> str | None:
        """Send a sign of life once, without retries: it is stale a moment later. Raises SendFailed."""
        return await self._transport.send(addressed(inbound, activity))

    async def _patiently(
        self, attempt: Callable[[], Awaitable[str | None]] | Callable[[], Awaitable[None]], tries: int
    ) -> str | None:
        for n in range(1, tries + 1):
            try:
                return await attempt()
            except SendFailed as error:
                if n == tries or not (error.status in RETRIED or error.unsent):
                    raise
                wait = error.retry_after if error.retry_after is not None else self._base * 2 ** (n - 1)
            jitter = 1 + random.random() / 4  # noqa: S311  # spreads retries, guards nothing
            await self._sleep(min(wait * jitter, LONGEST_WAIT_S))
        raise AssertionError("unreachable")
