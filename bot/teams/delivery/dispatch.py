"""The last step of an answer: out to the channel, in order, or kept until the channel can be reached, with a record of what became of it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from bot.teams.delivery.outbox import LATER, Outbox
from bot.teams.delivery.undelivered import Undelivered, Waiting
from bot.teams.history import ConversationHistory
from bot.teams.ports import Json, SendFailed
from bot.turn.entries.delivery import Deliveries, Delivery
from grounding.errors import StoreError, kind_and_way
from grounding.records import Turn

log = logging.getLogger(__name__)

TRIED_S = 3600.0
"""So long is it tried to deliver an answer; after that the conversation is told that it did not arrive, as soon as it can be."""
TOLD_S = 24 * 3600.0
"""So long is it tried to tell."""
UNREACHABLE, STOPPED, TAKEN_OVER = "unreachable", "stopped", "taken_over"
"""Why a reply was not delivered where no status of the channel says it: it was not reached; the person pressed Stop; another process had taken the message over."""

Send = Callable[[], Awaitable[str | None]]


class StopPressed(Exception):
    """The person no longer wants what is being sent; raised by a `Send`."""


class Dispatch:
    """Hands messages to the channel. What surely did not arrive waits in `undelivered`; what waits in a conversation goes before what is new.

    `why_not` makes the notice that an answer to a message never arrived.
    """

    def __init__(
        self,
        outbox: Outbox,
        undelivered: Undelivered,
        history: ConversationHistory,
        deliveries: Deliveries,
        why_not: Callable[[Json], Json],
    ) -> None:
        self._why_not = why_not
        self._outbox = outbox
        self._undelivered = undelivered
        self._history = history
        self._deliveries = deliveries

    async def say(self, inbound: Json, message: Json) -> None:
        """Deliver a notice of ours, or keep it for later. Raises SendFailed where the channel refuses it."""
        await self.deliver(Waiting(inbound, message), lambda: self._outbox.deliver(inbound, message))

    async def deliver(self, waiting: Waiting, send: Send, *, first: bool = False) -> bool:
        """Deliver with `send` what `waiting` tells of. True if it is out and all that follows from it is kept, the end of the activity that it answers among that. `first`: it is known that nothing older waits.

        Raises whatever `send` raises that is no reason to wait.
        """
        if not first and await self.older(waiting.inbound):
            await self._keep_waiting(waiting)
            return False
        delivery = _delivery(waiting).began()
        try:
            sent_id = await send()
        except StopPressed:
            await self._deliveries.write(_delivery(waiting).ended(STOPPED))
            return False
        except Exception as error:
            if isinstance(error, SendFailed) and is_for_later(error):
                await self._keep_waiting(replace(waiting, handed_over=None if error.unsent else delivery.handed_over))
                return False
            await self._deliveries.write(_undelivered(delivery, error))
            await _kept(self._history.remember(waiting.inbound, _asked(waiting), waiting.held))
            raise
        return await self._arrived(waiting, delivery, sent_id)

    async def again(self, waiting: Waiting) -> bool:
        """Try once more what was claimed; True if nothing of it waits any more. Raises StoreError."""
        delivery = replace(_delivery(waiting), handed_over=waiting.handed_over)
        try:
            sent_id = await self._sent(waiting)
        except SendFailed as error:
            return await self._failed_again(waiting, delivery, error)
        await self._undelivered.delivered(waiting)
        await self._arrived(waiting, delivery if delivery.handed_over else delivery.began(), sent_id)
        return True

    async def _sent(self, waiting: Waiting) -> str | None:
        if waiting.stream_id is None:
            return await self._outbox.deliver(waiting.inbound, waiting.message, patient=False)
        try:
            await self._outbox.replace(waiting.inbound, waiting.stream_id, waiting.message, patient=False)
        except SendFailed as error:
            if is_for_later(error):
                raise
            return await self._outbox.deliver(waiting.inbound, waiting.message, patient=False)
        return waiting.stream_id

    async def _failed_again(self, waiting: Waiting, delivery: Delivery, error: SendFailed) -> bool:
        age = self._undelivered.clock() - waiting.since
        if is_for_later(error) and age < (TRIED_S if waiting.entry_id else TOLD_S):
            return False
        await self._deliveries.write(_undelivered(delivery, error))
        if waiting.entry_id and is_for_later(error):
            log.error("an answer could not be delivered for %.0f minutes: %s", age / 60, error)
            told = replace(waiting, message=self._why_not(waiting.inbound), stream_id=None, entry_id="", turns=())
            await self._undelivered.exchange(told)
            await _kept(self._history.remember(waiting.inbound, _asked(waiting)))
            return False
        await self._undelivered.delivered(waiting)
        return True

    async def older(self, inbound: Json) -> Sequence[Waiting]:
        """What waits in this conversation and cannot be delivered now either, oldest first."""
        try:
            waits = await self._undelivered.claim_of(inbound)
            for n, waiting in enumerate(waits):
                if not await self.again(waiting):
                    return waits[n:]
        except StoreError as error:
            log.error("what waits could not be looked at: %s", error)  # noqa: TRY400  # one line is enough
        return ()

    async def _keep_waiting(self, waiting: Waiting) -> None:
        if await self._undelivered.put(waiting):
            log.warning("the channel cannot be reached: a message waits")
        else:
            await self._deliveries.write(_delivery(waiting).ended(TAKEN_OVER))

    async def _arrived(self, waiting: Waiting, delivery: Delivery, sent_id: str | None) -> bool:
        follows = self._history.arrived(waiting.inbound, waiting.turns, sent_id, waiting.entry_id, waiting.held)
        kept = await _kept(follows)
        await self._deliveries.write(delivery.ended(message=sent_id))
        return kept


async def _kept(storing: Awaitable[None]) -> bool:
    """Whether what follows from a message was stored."""
    try:
        await storing
    except StoreError as error:
        log.error("a turn was answered but not kept: %s", error)  # noqa: TRY400  # one line is enough
    except Exception as error:  # noqa: BLE001  # the answer is there: no apology may follow it
        log.error("a turn was answered but not kept: %s", kind_and_way(error))  # noqa: TRY400  # no customer text
    else:
        return True
    return False


def _asked(waiting: Waiting) -> list[Turn]:
    """What people said in a turn whose answer nobody will see: what they ask next may go on from it."""
    return [turn for turn in waiting.turns if turn.role != "assistant"]


def is_for_later(error: SendFailed) -> bool:
    """Whether the channel surely has not taken the message and may take it later."""
    return error.unsent or error.status in LATER


def _delivery(waiting: Waiting) -> Delivery:
    return Delivery(waiting.entry_id, waiting.inbound["channelId"])


def _undelivered(handed_over: Delivery, error: Exception) -> Delivery:
    """What became of a reply that the channel was to send. Where it did not answer, it may have the reply or not."""
    if isinstance(error, SendFailed) and error.unsent:
        return replace(handed_over, handed_over=None).ended(UNREACHABLE)
    if isinstance(error, SendFailed) and error.status:
        return handed_over.ended(str(error.status))
    return handed_over
