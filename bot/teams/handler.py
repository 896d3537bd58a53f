"""What the bot does with a checked, authenticated activity: answer it, welcome, take feedback."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from bot.http.rate_limit import Limits
from bot.records import Answer
from bot.settings.settings import Settings
from bot.stop import Stop
from bot.teams.activity import (
    addressed,
    is_personal,
    is_teams,
    mentions_bot,
    wants_replies_in_body,
)
from bot.teams.composing import GRACE_S, Composed, Composer, delivery_of, language_of
from bot.teams.delivery.dispatch import STOPPED, TAKEN_OVER, Dispatch, StopPressed
from bot.teams.delivery.outbox import Outbox
from bot.teams.delivery.progress import finish, progress
from bot.teams.delivery.undelivered import Undelivered, Waiting
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.extension.messages import MessageExtension
from bot.teams.history import Before, ConversationHistory
from bot.teams.inbox import DELETED, EDITED, RELEASED_S, Abandoned, ActivityKey, Attempt, Inbox, key_of
from bot.teams.ports import Json, SendFailed
from bot.teams.question import begins_anew, said
from bot.teams.responses import Responses
from bot.teams.shown.render import notice
from bot.teams.worker import Busy, Job, Worker
from bot.turn.entries.delivery import Deliveries, Delivery
from bot.wording.conversation.teams import say, welcome
from grounding.errors import StoreError, kind_and_place, kind_and_way
from rai.ports import Ledger

log = logging.getLogger(__name__)

ORDER_S = 0.1
"""Seconds between two looks whether the message before one is done that another process has."""
MAX_DEATHS = 3
"""An activity may be what ends its process, and with it whatever waits there: so many are given for one."""
_UNKNOWN = Before(earlier=False, waits=True, kept=None)
"""Where nobody could look at what stands before a message, or nothing follows from it."""
LATE = "too_late"
"""Why a reply was not delivered, where no status of the channel says it: nobody waited any more."""


@dataclass(frozen=True, slots=True)
class Result:
    """The HTTP answer to an activity; `body` None is an empty one. `delivery`: of the reply in the body, to be told when it is sent."""

    status: int
    body: Json | None = None
    delivery: Delivery | None = None


class ActivityHandler:
    """The bot's behaviour. `working` are the activities that this process has in hand, each with the attempt that it is."""

    def __init__(
        self,
        settings: Settings,
        answer: Answer,
        ledger: Ledger,
        *,
        inbox: Inbox,
        history: ConversationHistory,
        outbox: Outbox,
        undelivered: Undelivered,
        deliveries: Deliveries,
        worker: Worker,
        limits: Limits,
        knowledge: PersonsKnowledge | None = None,
    ) -> None:
        self._settings = settings
        self._inbox = inbox
        self._history = history
        self._outbox = outbox
        self._deliveries = deliveries
        self._worker = worker
        self._undelivered = undelivered
        self._dispatch = Dispatch(outbox, undelivered, history, deliveries, _never_arrived)
        self._stops: dict[ActivityKey, Stop] = {}
        self._responses = Responses(settings, ledger, inbox, history, limits=limits)
        self._composer = Composer(
            settings,
            answer,
            history=history,
            deliveries=deliveries,
            limits=limits,
            responses=self._responses,
            knowledge=knowledge,
        )
        self.extension = (
            MessageExtension(settings, knowledge, answer, ledger, limits, report_gap=self._responses.report_gap)
            if knowledge
            else None
        )
        self.working: dict[ActivityKey, int] = {}
        self._unended: dict[ActivityKey, int] = {}

    async def receive(self, activity: Json) -> Result:
        """Take an activity and say at once how. Raises Busy, StoreError, RefusedRequest."""
        kind = activity["type"]
        if kind == "invoke":
            return await self._invoke(activity)
        if kind == "message":
            return await self._message(activity)
        if kind == "messageUpdate":
            return await self._edited(activity)
        if kind == "messageDelete":
            await self._deleted(activity)
        if kind in ("conversationUpdate", "installationUpdate"):
            self._worker.submit(_line(activity), lambda: self._arrive(activity))
        return Result(202)

    async def resume(self, found: Abandoned) -> None:
        """Go on with an activity whose process is gone, or apologise if it is old or several processes died with it."""
        if "type" not in found.activity:  # left by an older program, which took so what it did at once
            await self._inbox.done(found.key, found.number)
            return
        fresh = found.age_s <= RELEASED_S and found.deaths < MAX_DEATHS
        self._submit(found.activity, found.key, attempt=found.number, apologise=not fresh)

    async def end_rest(self) -> None:
        """Store the end of what was done while the state could not be written. Until then it is held, so that nobody does it again. Raises StoreError."""
        for key, attempt in list(self._unended.items()):
            await self._inbox.done(key, attempt)
            del self._unended[key]
            self._let_go(key)

    async def deliver_waiting(self) -> None:
        """Try once more what the channel could not be given. Raises Busy, StoreError."""
        for waiting in await self._undelivered.claim_due():
            self._worker.submit(_line(waiting.inbound), partial(self._again, waiting))

    async def _again(self, waiting: Waiting) -> None:
        await self._dispatch.again(waiting)

    async def _edited(self, activity: Json) -> Result:
        """A message was written anew: what was said of it is forgotten, and it is answered as it reads now."""
        self._worker.check()
        asked = key_of(activity)
        if not (await self._inbox.knows(asked) or is_personal(activity) or mentions_bot(activity)):
            return Result(202)
        key = replace(asked, activity=f"{asked.activity}{EDITED}{_version(activity)}")
        if await self._inbox.take(key, activity):
            await self._forget_message(activity, key.activity)
            try:
                self._submit(activity, key)
            except Busy:
                await self._inbox.forget(key)
                raise
        return Result(202)

    async def _deleted(self, activity: Json) -> None:
        """A message was taken back: what was said of it is forgotten now, and once more behind the turn that may be about to be remembered, whichever process has that."""
        await self._forget_message(activity)
        asked = key_of(activity)
        key = replace(asked, activity=f"{DELETED}{asked.activity}")
        if await self._inbox.take(key, activity):
            self._submit(activity, key)

    async def _forget_message(self, activity: Json, version: str = "") -> None:
        """End the turn of a message, whichever process has it, and forget what was said of it; the ledger keeps its entry. `version`: the edited form that is answered in its place."""
        asked = key_of(activity)
        await self._inbox.take_back(asked, version)
        for key in list(self.working):
            if key.activity != version and replace(key, activity=key.activity.partition(" ")[0]) == asked:
                self._stops.setdefault(key, Stop()).press()
        await self._history.forget_message(activity)
        await self._undelivered.forget(activity, asked.activity)

    async def _message(self, activity: Json) -> Result:
        self._worker.check()
        key = key_of(activity)
        in_body = wants_replies_in_body(activity)
        if not await self._inbox.take(key, activity, left_to_others=not in_body):
            return Result(200, {"activities": []}) if in_body else Result(202)
        try:
            if in_body:
                return await self._answer_in_body(activity, key)
            self._submit(activity, key)
        except Busy:
            await self._inbox.forget(key)
            raise
        return Result(202)

    def _submit(self, activity: Json, key: ActivityKey, *, attempt: int = 1, apologise: bool = False) -> None:
        async def job() -> None:
            before = _UNKNOWN if key in self._stops else await self._before(activity, key, job)
            if before is None:
                return
            try:
                if activity["type"] == "messageDelete":
                    await self._history.forget_message(activity)
                elif apologise:
                    await self._dispatch.say(activity, notice(say("restarted", language_of(activity))))
                elif key in self._stops:  # taken back before its turn came
                    pass
                elif not await self._converse(activity, Attempt(key, attempt), before):
                    self._let_go(key)
                    return
            except SendFailed as error:
                log.error("an answer could not be delivered: %s", error)  # noqa: TRY400  # one line is enough
            except Exception as error:  # noqa: BLE001  # whatever went wrong, the person who waits is told
                log.error("a message ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
                await self._apologise(activity, Attempt(key, attempt))
            await self._finish(key, attempt)

        self._worker.submit(_line(activity), job)
        self.working[key] = attempt

    async def _before(self, activity: Json, key: ActivityKey, job: Job) -> Before | None:
        """What stands before a message. None if one before it is still worked on, here or by another process; `job` then comes again soon, behind the others of its line."""
        try:
            earlier, waits = self._inbox.earlier(key), self._undelivered.waits(activity)
            before = await self._history.before(activity, earlier=earlier, waits=waits)
        except Exception as error:  # noqa: BLE001  # an answer out of order is better than none
            log.error("the order of a conversation cannot be known: %s", kind_and_place(error))  # noqa: TRY400  # no customer text
            return _UNKNOWN
        if not before.earlier:
            return before
        await asyncio.sleep(ORDER_S)
        self._worker.again(_line(activity), job)
        return None

    async def _apologise(self, activity: Json, held: Attempt) -> None:
        with suppress(Exception):  # an apology too many is better than silence
            if not await self._inbox.holds(held):
                return
        try:
            await self._dispatch.say(activity, notice(say("apology", language_of(activity))))
        except Exception as error:  # noqa: BLE001  # the channel may be what is broken
            log.error("an apology could not be delivered: %s", kind_and_place(error))  # noqa: TRY400  # no customer text

    async def _finish(self, key: ActivityKey, attempt: int) -> None:
        try:
            await self._inbox.done(key, attempt)
        except Exception as error:  # noqa: BLE001  # it is done, and must not be done again
            log.error("the end of a message is not stored yet: %s", kind_and_place(error))  # noqa: TRY400  # no customer text
            self._unended[key] = attempt
            return
        self._let_go(key)

    def _let_go(self, key: ActivityKey) -> None:
        self.working.pop(key, None)
        self._stops.pop(key, None)

    async def _answer_in_body(self, activity: Json, key: ActivityKey) -> Result:
        body: asyncio.Future[tuple[Json, Delivery | None]] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            before = await self._before(activity, key, job)
            if before is None:
                return
            try:
                composed = await self._composer.compose(activity, None, before.kept)
                delivery = delivery_of(activity, composed.reply)
                if body.done():
                    await self._deliveries.write(delivery.ended(LATE))
                else:
                    body.set_result((addressed(activity, composed.message), delivery))
                await self._keep(activity, composed, Attempt(key, 1))
            except Exception as error:  # noqa: BLE001  # as above
                log.error("a message ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
                if not body.done():
                    body.set_result((addressed(activity, notice(say("apology", language_of(activity)))), None))
            await self._finish(key, 1)

        self._worker.submit(_line(activity), job)
        self.working[key] = 1
        async with asyncio.timeout(2 * (self._settings.bounds.turn_deadline_s + GRACE_S)):
            message, delivery = await body
            return Result(200, {"activities": [message]}, delivery)

    async def _converse(self, activity: Json, held: Attempt, before: Before) -> bool:
        """Answer a message. True if its end is still to be stored: not where it was stored with the answer, or where another process has taken the message over, because this one was too slow."""
        stop = self._stops[held.key] = Stop()
        if held.number > 1:
            with suppress(StoreError):  # then another death counts nothing
                await self._inbox.begin(held)
        kept = before.kept
        if activity["type"] == "messageUpdate":
            if held.number > 1:  # whoever took it may have died before it ended the form before
                await self._forget_message(activity, held.key.activity)
            else:  # the turn before may have been remembered since
                await self._history.forget_message(activity)
            kept = None
        older: Sequence[Waiting] = ()
        if before.waits:
            older, kept = await self._dispatch.older(activity), None  # what is out by now is remembered
        asked = [turn for waiting in older for turn in waiting.turns]
        async with progress(self._outbox, activity, on_stop=stop.press) as shown:
            composed = await self._composer.compose(
                activity, shown.stage, kept, counted=held.number == 1, stop=stop, waiting=asked
            )
        reply, delivery = composed.reply, delivery_of(activity, composed.reply)
        if stop.pressed:  # what was made in vain is sent to nobody, so nothing follows from it
            await self._deliveries.write(delivery.ended(STOPPED))
            return True
        if not await self._inbox.holds(held):
            changed = await self._inbox.changed(held.key)
            await self._deliveries.write(delivery.ended(STOPPED if changed else TAKEN_OVER))
            return False
        if begins_anew(composed.asked, reply):
            await self._forget(activity, held)

        async def send() -> str | None:
            sent_id = await finish(self._outbox, activity, shown, composed.message)
            if shown.cancelled:
                raise StopPressed
            return sent_id

        entry_id = reply.entry_id if reply else ""
        turns = tuple(said(composed.asked, reply))
        waiting = Waiting(activity, composed.message, shown.stream_id, entry_id, turns=turns, held=held)
        return not await self._dispatch.deliver(waiting, send, first=not older)

    async def _keep(self, activity: Json, composed: Composed, held: Attempt) -> None:
        """Remember a turn that was answered in the body."""
        if begins_anew(composed.asked, composed.reply):
            await self._forget(activity, held)
        try:
            await self._history.remember(activity, list(said(composed.asked, composed.reply)), held)
        except StoreError as error:
            log.error("a turn was answered but not kept: %s", error)  # noqa: TRY400  # one line is enough
        except Exception as error:  # noqa: BLE001  # the answer is there: no apology may follow it
            log.error("a turn was answered but not kept: %s", kind_and_way(error))  # noqa: TRY400  # no customer text

    async def _forget(self, activity: Json, held: Attempt) -> None:
        try:
            await self._history.forget(activity, held)
            await self._undelivered.forget_turns(activity, held)
        except StoreError as error:
            log.error("a conversation was to be forgotten and was not: %s", error)  # noqa: TRY400  # one line is enough

    async def _invoke(self, activity: Json) -> Result:
        if (told := await self._responses.invoke(activity)) is not None:
            return Result(200, told)
        if self.extension is not None and (shown := await self.extension.invoke(activity)) is not None:
            body, entry_id = shown
            return Result(200, body, Delivery(entry_id, activity["channelId"]) if entry_id else None)
        return Result(501)

    async def _arrive(self, activity: Json) -> None:
        """Welcome once per installation; forget the conversation when the bot is removed from it."""
        key = ActivityKey(
            activity["channelId"], activity["conversation"]["id"], " welcome"
        )  # no activity's id has a space
        if activity["type"] == "installationUpdate" and activity.get("action") == "remove":
            await self._history.forget(activity)
            await self._undelivered.forget(activity)
            await self._inbox.forget(key)
        elif _someone_came(activity) and await self._inbox.once(key):
            try:
                await self._dispatch.say(
                    activity, notice(welcome(self._settings.answering.company, language_of(activity)))
                )
            except SendFailed as error:
                log.warning("a welcome could not be delivered: %s", error)


def _never_arrived(activity: Json) -> Json:
    return notice(say("undelivered", language_of(activity)))


def _someone_came(activity: Json) -> bool:
    """True if the bot was installed, or a person joined a chat of a channel that has no installations."""
    if activity["type"] == "installationUpdate":
        return True
    bot = activity["recipient"]["id"]
    added = [member.get("id") for member in activity.get("membersAdded") or ()]
    return bot in added if is_teams(activity) else any(who != bot for who in added)


def _version(activity: Json) -> str:
    """What tells one version of an edited message from another, and is the same when it is delivered again."""
    said = f"{activity.get('timestamp')}\n{activity.get('localTimestamp')}\n{activity.get('text')}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _line(activity: Json) -> str:
    return f"{activity['channelId']}\n{activity['conversation']['id']}"
