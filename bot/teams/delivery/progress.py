"""Signs of life while a turn runs. They always stop with the turn, whichever way it ends.

In a one-to-one Teams chat: informative stream updates, then the checked answer as the stream's end. The answer itself
is never streamed: what was shown cannot be unseen, and it is not checked before it is whole. Elsewhere: typing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bot.records import Stage
from bot.teams.activity import is_personal, is_teams
from bot.teams.delivery.outbox import Outbox
from bot.teams.ports import Json, SendFailed
from bot.teams.shown.message_limits import MAX_INFORMATIVE
from bot.teams.shown.render import shorten

log = logging.getLogger(__name__)

TYPING_EVERY_S = 3.0
DOTS_AFTER_S = 0.3
"""An answer that is there sooner needs no sign of life before it, which would only keep it waiting."""
INFORM_EVERY_S = 1.5
"""Teams allows about one stream request a second."""
AGAIN_AFTER_S = 3.0
"""A stage that lasts is told again: only the answer to an update says that the person pressed Stop."""
FIRST_LABEL = "Looking into it"
CANCELLED = "cancel"
"""Occurs in the channel's words when the person pressed Stop; the other reasons of a 403 do not have it."""


class Progress:
    """What is shown of one running turn. `on_stop` is called when the person pressed Stop."""

    def __init__(
        self,
        outbox: Outbox,
        inbound: Json,
        *,
        stream: bool,
        every_s: float,
        again_s: float,
        on_stop: Callable[[], None],
    ) -> None:
        self._outbox = outbox
        self._inbound = inbound
        self._stream = stream
        self._every = every_s
        self._again = again_s
        self._on_stop = on_stop
        self._shown_at = 0.0
        self._label = FIRST_LABEL
        self._shown = ""
        self._sequence = 0
        self._ended = asyncio.Event()
        self.stream_id: str | None = None
        self.cancelled = False

    async def stage(self, stage: Stage) -> None:
        """Called by the pipeline when a stage begins; returns at once."""
        self._label = shorten(stage.label, MAX_INFORMATIVE // 2) or FIRST_LABEL

    async def run(self) -> None:
        """Send signs until the turn ends or the channel refuses one."""
        try:
            if not self._stream and await self._ends_within(min(DOTS_AFTER_S, self._every)):
                return
            while not self._ended.is_set():
                await self._signal()
                await self._ends_within(self._every)
        except SendFailed as error:
            self.cancelled = error.status == 403 and CANCELLED in error.detail.lower()
            if self.cancelled:
                self._on_stop()
            log.info("signs of life stopped: %s", error)

    async def _ends_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def end(self) -> None:
        """No further sign; one that is on its way is not cut off, so that the order holds."""
        self._ended.set()

    async def _signal(self) -> None:
        if not self._stream:
            await self._outbox.signal(self._inbound, {"type": "typing"})
            return
        now = asyncio.get_running_loop().time()
        told = self._label == self._shown and now - self._shown_at < self._again
        if told or (self._sequence and self.stream_id is None):
            return
        self._shown, self._shown_at = self._label, now
        self._sequence += 1
        info: Json = {"type": "streaminfo", "streamType": "informative", "streamSequence": self._sequence}
        if self.stream_id:
            info["streamId"] = self.stream_id
        given = await self._outbox.signal(self._inbound, {"type": "typing", "text": self._shown, "entities": [info]})
        self.stream_id = self.stream_id or given


@asynccontextmanager
async def progress(
    outbox: Outbox,
    inbound: Json,
    *,
    every_s: float | None = None,
    again_s: float = AGAIN_AFTER_S,
    on_stop: Callable[[], None] = lambda: None,
) -> AsyncIterator[Progress]:
    """Show that a turn runs for as long as the block does. `on_stop` is called as soon as the channel says that the person pressed Stop."""
    stream = is_teams(inbound) and is_personal(inbound)
    pace = every_s if every_s is not None else (INFORM_EVERY_S if stream else TYPING_EVERY_S)
    shown = Progress(outbox, inbound, stream=stream, every_s=pace, again_s=again_s, on_stop=on_stop)
    task = asyncio.create_task(shown.run())
    try:
        yield shown
    finally:
        shown.end()
        await _settle(task)


async def _settle(task: asyncio.Task[None]) -> None:
    try:
        await task
    except Exception:
        log.exception("signs of life ended with an error")


async def finish(outbox: Outbox, inbound: Json, shown: Progress, message: Json) -> str | None:
    """Deliver the answer as the end of what was shown; its id. Raises SendFailed.

    None as well when the person pressed Stop: then nothing is sent, and `shown.cancelled` says so.
    """
    if shown.cancelled:
        return None
    if shown.stream_id is None:
        return await outbox.deliver(inbound, message)
    info = {"type": "streaminfo", "streamId": shown.stream_id, "streamType": "final"}
    try:
        await outbox.deliver(inbound, {**message, "entities": [info, *message.get("entities", ())]})
    except SendFailed as error:
        if error.status != 403:
            raise
        if CANCELLED in error.detail.lower():
            shown.cancelled = True
            return None
        return await _late(outbox, inbound, shown.stream_id, message)
    return shown.stream_id


async def _late(outbox: Outbox, inbound: Json, stream_id: str, message: Json) -> str | None:
    """The stream is closed (two minutes are over): put the answer in its place, or send it by itself."""
    try:
        await outbox.replace(inbound, stream_id, message)
    except SendFailed:
        return await outbox.deliver(inbound, message)
    return stream_id
